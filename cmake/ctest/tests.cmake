# Read by ctest with the settings of one harness_add_perf_test(): adds its tests.
#
# The words of a command line are CMake's code here, in brackets or as a variable in quotes, so that
# each arrives as it was given: a list loses empty ones, and splits or joins those with ; [ or ].
cmake_policy(VERSION 3.21)
set(name "${HARNESS_PERF_NAME}")
set(script "${CMAKE_CURRENT_LIST_DIR}/perf.sh")
set(program FALSE)
set(whole FALSE) # one verdict on all of it
if(HARNESS_PERF_KIND MATCHES "COMMAND|GOOGLE_BENCHMARK")
  set(program TRUE)
endif()

set(common [[--harness "${HARNESS_PERF_HARNESS}" --name "${name}" --db "${HARNESS_PERF_DB}"
  --baseline "${HARNESS_PERF_BASELINE}"]])
foreach(share IN LISTS HARNESS_PERF_DELTA)
  string(APPEND common " --delta [====[${share}]====]")
endforeach()
foreach(metric IN LISTS HARNESS_PERF_METRICS)
  string(APPEND common " --metric [====[${metric}]====]")
endforeach()
if(HARNESS_PERF_BUILD AND program)
  string(APPEND common [[ --source "${HARNESS_PERF_SOURCE}" --build "${HARNESS_PERF_BUILD}"
    --build-command "${HARNESS_PERF_BUILD_COMMAND}"]])
endif()

# The words that choose what is measured.
set(selection "")
set(measuring "${HARNESS_PERF_OPTIONS}")
if(HARNESS_PERF_KIND STREQUAL "SUITE")
  set(selection "--suite ${HARNESS_PERF_ARGUMENTS}")
elseif(HARNESS_PERF_KIND STREQUAL "FILTERS")
  set(selection "${HARNESS_PERF_ARGUMENTS}")
endif()
if(HARNESS_PERF_DEVICE)
  string(APPEND measuring [[ --device "${HARNESS_PERF_DEVICE}"]])
endif()

set(launches "")
if(HARNESS_PERF_LAUNCHES)
  set(launches [[--launches "${HARNESS_PERF_LAUNCHES}"]])
elseif(NOT HARNESS_PERF_KIND STREQUAL "SUITE")
  set(launches "--launches 10")
endif()
if(program)
  cmake_language(EVAL CODE "add_test(\"\${name}.record\" \"\${script}\" record ${common} ${launches}
    ${HARNESS_PERF_KIND} ${measuring} -- ${HARNESS_PERF_ARGUMENTS})")
  set(groups verdict)
  set(whole TRUE)
else()
  cmake_language(EVAL CODE "add_test(\"\${name}.record\" \"\${script}\" record ${common} ${launches}
    KERNELS ${measuring} ${selection})")
  # Keys end in /variant/math/dims/device/cache. Where they cannot be had, the recording says why, and
  # all that it has is judged at once.
  set(groups "")
  cmake_language(EVAL CODE "execute_process(
    COMMAND \"\${script}\" keys --harness \"\${HARNESS_PERF_HARNESS}\" KERNELS ${measuring} ${selection}
    WORKING_DIRECTORY \"\${HARNESS_PERF_WORKING_DIRECTORY}\"
    OUTPUT_VARIABLE keys ERROR_QUIET RESULT_VARIABLE failed)")
  if(NOT failed)
    string(REGEX REPLACE "(/[^/\n]+)(/[^/\n]+)(/[^/\n]+)(/[^/\n]+)(/[^/\n]+)\n" ";" groups
      "${keys}")
    list(REMOVE_DUPLICATES groups)
    list(REMOVE_ITEM groups "")
  endif()
  if(NOT groups)
    set(groups verdict)
    set(whole TRUE)
  endif()
endif()
set_tests_properties("${name}.record" PROPERTIES FIXTURES_SETUP "harness-perf-${name}"
  RUN_SERIAL TRUE SKIP_RETURN_CODE 77 LABELS "${HARNESS_PERF_LABELS}" TIMEOUT "${HARNESS_PERF_TIMEOUT}"
  WORKING_DIRECTORY "${HARNESS_PERF_WORKING_DIRECTORY}")

string(REPLACE ";" "," plots "${HARNESS_PERF_PLOTS}")
foreach(group IN LISTS groups)
  string(REPLACE "/" "." test "${name}.${group}")
  set(filter "\"${group}\"")
  if(whole)
    set(filter "")
  endif()
  cmake_language(EVAL CODE
    "add_test(\"\${test}\" \"\${script}\" judge ${common} --plots \"\${plots}\" ${filter})")
  set_tests_properties("${test}" PROPERTIES FIXTURES_REQUIRED "harness-perf-${name}"
    SKIP_RETURN_CODE 77 LABELS "${HARNESS_PERF_LABELS}" TIMEOUT 120
    WORKING_DIRECTORY "${HARNESS_PERF_WORKING_DIRECTORY}")
endforeach()
