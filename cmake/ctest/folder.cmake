# The tests of harness_add_perf_test() without a project: a folder for ctest, from an installed
# harness. Needs neither a compiler nor a build tool.
#
#   cmake -DFOLDER=perf -DSUITE=ci [-DNAME=perf] [-DDELTA=5%] ... -P <prefix>/share/harness/ctest/folder.cmake
#   ctest --test-dir perf -L perf
#
# Takes the words of harness_add_perf_test() as variables, lists with semicolons; HARNESS is the
# program, where it is not the one installed beside this file. It runs where this was called.
cmake_minimum_required(VERSION 3.21)
include("${CMAKE_CURRENT_LIST_DIR}/HarnessAddPerfTest.cmake")

if(NOT FOLDER)
  message(FATAL_ERROR "folder.cmake: -DFOLDER=DIR says where the tests go")
endif()
set(here "${CMAKE_CURRENT_SOURCE_DIR}")
cmake_path(ABSOLUTE_PATH FOLDER BASE_DIRECTORY "${here}" NORMALIZE)
if(NOT HARNESS)
  find_program(HARNESS harness PATHS "${CMAKE_CURRENT_LIST_DIR}/../../../bin" NO_DEFAULT_PATH
    NO_CACHE REQUIRED)
endif()
file(REAL_PATH "${HARNESS}" HARNESS BASE_DIRECTORY "${here}")
if(NOT NAME)
  set(NAME perf)
endif()
if(NOT SUITE AND NOT FILTERS AND NOT COMMAND)
  set(SUITE ci)
endif()
if(NOT BASELINE)
  set(BASELINE main)
endif()
if(NOT DB)
  set(DB "${FOLDER}/history.db")
endif()

foreach(key IN LISTS HARNESS_PERF_ONE HARNESS_PERF_MANY)
  foreach(word IN LISTS ${key})
    harness_perf_keep(${key} "${word}")
  endforeach()
endforeach()
set(harness_perf_GOOGLE_BENCHMARK "${GOOGLE_BENCHMARK}")
harness_perf_settings(folder.cmake "${HARNESS}" "${here}" "${here}")
harness_perf_text(text)
file(WRITE "${FOLDER}/CTestTestfile.cmake" "${text}")
message("ctest --test-dir ${FOLDER} -L perf")
