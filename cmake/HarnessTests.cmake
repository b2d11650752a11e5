# Unit tests: each tests/<room>/test_<name>.c is a cmocka program and the CTest unit.<name>. Nothing
# is listed: a room's CMakeLists.txt calls harness_room_tests() and says what is special.
#
#   harness_room_tests(store)                        # links harness_store
#   harness_room_tests(launch LIBRARIES harness_registry)   # and this
#   harness_room_tests(kernels ROOMS device)         # of no room of harness/ itself
#
# EXCEPT: names of tests that are not built here, and why stands beside it.
# NAMES: a variable that gets the names.

# What tests of several rooms share.
set(HARNESS_TESTS_SUPPORT "${PROJECT_SOURCE_DIR}/tests/support")

# cmocka hands every test a state, and few need it. Behind harness_flags: clang takes the last word.
# A test spends its time in the rooms, which are optimised: its own source is compiled in a fifth of the
# time without, in a quarter with the sanitizers.
add_library(harness_test_flags INTERFACE)
target_compile_options(harness_test_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:-Wno-unused-parameter>"
  "$<$<AND:$<COMPILE_LANGUAGE:C>,$<NOT:$<CONFIG:Release>>>:-O0>")

function(harness_unit_test name source)
  add_executable(test_${name} "${source}")
  cmake_path(GET source PARENT_PATH folder)
  target_include_directories(test_${name} PRIVATE "${folder}" "${HARNESS_TESTS_SUPPORT}")
  file(RELATIVE_PATH source_folder "${CMAKE_CURRENT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}")
  string(REGEX REPLACE "/$" "" source_folder "${source_folder}")
  target_compile_definitions(test_${name} PRIVATE
    HARNESS_SOURCE_DIR="${source_folder}" HARNESS_TEST_DIR=".")
  target_link_libraries(test_${name} PRIVATE harness_flags harness_test_flags PkgConfig::cmocka
    ${ARGN})
  add_test(NAME unit.${name} COMMAND test_${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 900)
endfunction()

function(harness_room_tests room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMES" "ROOMS;LIBRARIES;EXCEPT")
  if(NOT arg_ROOMS)
    set(arg_ROOMS ${room})
  endif()
  list(TRANSFORM arg_ROOMS PREPEND harness_)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/test_*.c")
  set(names "")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "^test_" "" name "${name}")
    if(NOT name IN_LIST arg_EXCEPT)
      harness_unit_test(${name} "${source}" ${arg_ROOMS} ${arg_LIBRARIES})
      list(APPEND names ${name})
    endif()
  endforeach()
  if(arg_NAMES)
    set(${arg_NAMES} ${names} PARENT_SCOPE)
  endif()
endfunction()

# harness_cuda_test(cuda_gemm FILE.cc LIBRARY...): of CUDA code or of the host layer itself; C++
# because kernels are. Only where HARNESS_CUDA=HOST.
function(harness_cuda_test name source)
  if(NOT HARNESS_CUDA_HOST)
    return()
  endif()
  add_executable(test_${name} "${source}")
  target_include_directories(test_${name} PRIVATE "${HARNESS_TESTS_SUPPORT}"
    "${PROJECT_SOURCE_DIR}/tests/cuda_host")
  target_compile_definitions(test_${name} PRIVATE
    HARNESS_CUBLAS_STUB="$<TARGET_FILE:cuda_host_cublas>")
  target_compile_options(test_${name} PRIVATE -Wno-unknown-pragmas) # unroll
  target_link_libraries(test_${name} PRIVATE
    harness_flags PkgConfig::cmocka ${ARGN} cuda_host ${CMAKE_DL_LIBS})
  set_target_properties(test_${name} PROPERTIES CXX_STANDARD 20)
  add_dependencies(test_${name} cuda_host_cublas)
  add_test(NAME unit.${name} COMMAND test_${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 900
    ENVIRONMENT "HARNESS_CUBLAS=$<TARGET_FILE:cuda_host_cublas>")
endfunction()

# harness_cuda_tests(LIBRARY...): all tests/<folder>/test_*.cc of CUDA code of a folder.
function(harness_cuda_tests)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/test_*cuda*.cc")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "^test_" "" name "${name}")
    harness_cuda_test(${name} "${source}" ${ARGN})
  endforeach()
endfunction()
