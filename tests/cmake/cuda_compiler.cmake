# Which nvcc HARNESS_CUDA=AUTO and ON take: AUTO leaves out one that is too old or compiles nothing,
# and a project with ON is refused. Projects of one file each, in the folder WORK, by the generator
# GENERATOR, and stubs of nvcc.
set(choice_file "${CMAKE_CURRENT_LIST_DIR}/../../cmake/HarnessCudaChoice.cmake")
file(REMOVE_RECURSE "${WORK}")
file(WRITE "${WORK}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES NONE)
include(\"${choice_file}\")
harness_find_cuda(\${CHOICE} why)
message(STATUS \"why: <\${why}>, compiler: <\${CMAKE_CUDA_COMPILER}>\")
")
unset(ENV{CUDAFLAGS})
unset(ENV{CUDAHOSTCXX})

# A program that says it is this version, and compiles nothing.
function(stub version path)
  file(WRITE "${path}" "#!/bin/sh
case $1 in --version) echo 'Cuda compilation tools, release ${version}, V${version}.89';; *) exit 1;; esac
")
  file(CHMOD "${path}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# expect(WHY COMPILER OPTION...): how configuring ends, twice, as the second time has a cache.
function(expect why compiler)
  file(REMOVE_RECURSE "${WORK}/build")
  foreach(time first second)
    execute_process(COMMAND "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}" -B "${WORK}/build" ${ARGN}
      RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE told)
    if(NOT status EQUAL 0 OR NOT said MATCHES "why: <${why}>, compiler: <${compiler}>")
      message(SEND_ERROR "${ARGN}, ${time} time: ${said}${told}")
    endif()
  endforeach()
  if(ARGN MATCHES "AUTO" AND why AND NOT told MATCHES "CUDA is left out")
    message(SEND_ERROR "${ARGN}: nothing tells that CUDA is left out")
  endif()
endfunction()

stub(11.8 "${WORK}/old/nvcc")
stub(12.0 "${WORK}/new/nvcc")
foreach(way CUDACXX CUDA_HOME)
  foreach(other CUDACXX CUDA_HOME)
    unset(ENV{${other}})
  endforeach()
  set(ENV{PATH} "${WORK}/old:$ENV{PATH}")
  set(file /nvcc)
  if(way STREQUAL "CUDA_HOME") # a folder with bin/nvcc, or with nvcc
    set(file "")
  endif()
  set(ENV{${way}} "${WORK}/old${file}")
  expect("nvcc 11.8 at ${WORK}/old/nvcc is too old, 12.0 or newer is needed" "" -DCHOICE=AUTO)
  expect("nvcc 11.8 at ${WORK}/old/nvcc is too old, 12.0 or newer is needed" "" -DCHOICE=ON)
  set(ENV{${way}} "${WORK}/new${file}")
  expect("nvcc at ${WORK}/new/nvcc did not work when this was built" ".*NOTFOUND" -DCHOICE=AUTO)
endforeach()
expect("" "${WORK}/new/nvcc" -DCHOICE=ON) # CMake itself will say what is wrong with it
expect("" "${WORK}/new/nvcc" -DCHOICE=AUTO "-DCMAKE_CUDA_COMPILER=${WORK}/new/nvcc")
