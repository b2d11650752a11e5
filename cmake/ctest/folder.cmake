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

set(words "")
foreach(word NAME SUITE FILTERS COMMAND BASELINE DB LAUNCHES DELTA METRICS DEVICE OPTIONS PLOTS
    LABELS TIMEOUT WORKING_DIRECTORY)
  if(DEFINED ${word})
    list(APPEND words ${word} ${${word}})
  endif()
endforeach()
if(GOOGLE_BENCHMARK)
  list(APPEND words GOOGLE_BENCHMARK)
endif()
harness_perf_settings(folder.cmake "${HARNESS}" "${here}" "${here}" ${words})
harness_perf_text(text)
file(WRITE "${FOLDER}/CTestTestfile.cmake" "${text}")
message("ctest --test-dir ${FOLDER} -L perf")
