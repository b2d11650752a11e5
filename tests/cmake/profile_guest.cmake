# libharness_profile_cuda.a of a build with link-time optimisation: it has code, under its own names
# alone. Rooms of one file each, in the folder WORK, built by the compiler COMPILER and the
# generator GENERATOR.
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
file(CREATE_LINK "${CMAKE_CURRENT_LIST_DIR}/../../cmake" "${WORK}/cmake" SYMBOLIC)
file(WRITE "${WORK}/CMakeLists.txt" [[
cmake_minimum_required(VERSION 3.25)
project(toy VERSION 1.0 LANGUAGES C)
add_executable(harness main.c)
foreach(room profile profile_cuda timeline cupti gputrace core text stats base)
  file(WRITE "${PROJECT_BINARY_DIR}/${room}.c"
    "int base_name(int x);\nint prof_cuda_${room}(int x);\nint prof_cuda_${room}(int x) { return base_name(x) + 1; }\n")
  add_library(harness_${room} STATIC "${PROJECT_BINARY_DIR}/${room}.c")
endforeach()
target_sources(harness_base PRIVATE base_name.c)
include(cmake/HarnessPackageProfile.cmake)
]])
file(WRITE "${WORK}/main.c" "int main(void) { return 0; }\n")
file(WRITE "${WORK}/base_name.c" "int base_name(int x);\nint base_name(int x) { return 2 * x; }\n")
file(WRITE "${WORK}/user.c"
  "int prof_cuda_profile_cuda(int x);\nint main(void) { return prof_cuda_profile_cuda(0) - 1; }\n")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "${ARGN}: ${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

# How people ask for it.
set(plain "-DCMAKE_C_FLAGS=-flto")
set(fat "-DCMAKE_C_FLAGS=-flto -ffat-lto-objects")
set(property -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON)
foreach(way plain fat property)
  set(build "${WORK}/${way}")
  set(archive "${build}/libharness_profile_cuda_guest.a")
  run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}" -B "${build}"
    "-DCMAKE_C_COMPILER=${COMPILER}" ${${way}})
  run("${CMAKE_COMMAND}" --build "${build}" --target profile_cuda_guest)
  run("${COMPILER}" "${WORK}/user.c" "${archive}" -o "${build}/user")
  run("${build}/user")
  run("${NM}" --defined-only --extern-only "${archive}")
  if(NOT said MATCHES " T prof_cuda_profile_cuda" OR said MATCHES "base_name|__gnu_lto")
    message(SEND_ERROR "${way}, names of the archive: ${said}")
  endif()
  file(STRINGS "${archive}" lto REGEX "\\.gnu\\.lto")
  if(lto)
    message(SEND_ERROR "${way}: the archive has sections of link-time optimisation")
  endif()
endforeach()
