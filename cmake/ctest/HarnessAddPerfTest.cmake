# harness_add_perf_test(): measurements as CTest tests, gated against a baseline. docs/ctest.md.
#
#   harness_add_perf_test(NAME name
#     [SUITE name | FILTERS filter...          kernels of harness itself
#      | COMMAND program [arg...]              any program, a target or a path, timed as a whole
#        [GOOGLE_BENCHMARK]]                   ... or a Google Benchmark program, by its own times
#     [BASELINE name]      default NAME: of the history, or baselines/<machine class>/<name>.json
#     [DB file]            the history; default <build>/perf/history.db
#     [LAUNCHES n]         fresh processes, the unit of evidence; default the suite's, else 10
#     [DELTA share...]     changes within this do not matter: 3%, or p95=10%, "gemm/*=5%"
#     [METRICS name...]    what is compared; default p50
#     [DEVICE device]      of kernels; default cpu with one core left free
#     [OPTIONS option...]  more for `harness run` (not with GOOGLE_BENCHMARK)
#     [PLOTS figure...]    attached to each verdict; default distribution-box trend; NONE: none
#     [LABELS label...]    besides "perf"
#     [TIMEOUT seconds]    of the measuring; default 1500
#     [WORKING_DIRECTORY dir])  where it runs; baselines/ is at the top of the project that this is in;
#                          default the source folder
#
# Tests: NAME.record measures, once and with nothing beside it; it fails where a result is
# wrong, and is skipped with all that it has where this machine can measure nothing of it.
# NAME.<group> gates one group of what it measured: a kernel, with dots for its slashes, or
# "verdict" for a COMMAND and where no kernel is found. Exit status 0 no regression, 1 regression, 77
# (skipped) cannot tell, or this is the first recording of all for machines of this class and there is
# no baseline for them: the next run is gated against it. Groups are found when ctest starts, by what
# `harness run --dry-run` says.
# With HARNESS_PERF_AGAINST=REF the commit where HEAD left REF and HEAD are built and measured in turn.
# Target: NAME-baseline makes the newest recording the baseline, in place of what it was.

cmake_policy(VERSION 3.21) # of this file alone
set(HARNESS_PERF_FOLDER "${CMAKE_CURRENT_LIST_DIR}")
set(HARNESS_PERF_ONE NAME SUITE BASELINE DB LAUNCHES DEVICE TIMEOUT WORKING_DIRECTORY)
set(HARNESS_PERF_MANY FILTERS COMMAND DELTA METRICS OPTIONS PLOTS LABELS)
set(HARNESS_PERF_SETTINGS NAME HARNESS KIND ARGUMENTS BASELINE DB LAUNCHES DELTA METRICS DEVICE
  OPTIONS PLOTS LABELS TIMEOUT WORKING_DIRECTORY SOURCE BUILD BUILD_COMMAND)

# Keeps a word that was given behind `key`, in the caller's harness_perf_<key>. Words of a command line
# are kept as CMake would write them: a list loses empty ones, and splits or joins those with ; [ or ].
function(harness_perf_keep key word)
  if("${word}" STREQUAL "" AND key MATCHES "^(SUITE|FILTERS|OPTIONS)$")
    return() # of a wrapper that was given none: it means something to a COMMAND alone
  endif()
  if(word MATCHES "\\]=====?(\\]|$)") # the brackets that it is kept in: all of ctest would stop there
    message(FATAL_ERROR "harness_add_perf_test: no word may have ]====] or ]=====] in it, or end in ]==== or \
]=====: ${word}")
  endif()
  set(kept "${word}")
  if(key MATCHES "^(SUITE|FILTERS|COMMAND|OPTIONS)$")
    set(kept "${harness_perf_${key}} [====[\n${word}]====]") # that first line break is none of the word
  elseif(NOT "${harness_perf_${key}}" STREQUAL "" AND NOT key IN_LIST HARNESS_PERF_ONE)
    set(kept "${harness_perf_${key}};${word}")
  endif()
  set(harness_perf_${key} "${kept}" PARENT_SCOPE)
endfunction()

# Checks the words that choose what is measured, and how. Sets harness_perf_KIND.
function(harness_perf_check who)
  if(NOT "${harness_perf_unknown}" STREQUAL "")
    message(FATAL_ERROR "${who}: unknown: ${harness_perf_unknown}")
  endif()
  if(NOT harness_perf_NAME MATCHES "^[A-Za-z0-9_.+-]+$")
    message(FATAL_ERROR "${who}: NAME is needed, of letters, digits and _ . + -")
  endif()
  set(who "${who} ${harness_perf_NAME}")
  string(LENGTH "${harness_perf_NAME}" length)
  if(length GREATER 66) # a label has 95, and the date and " base" stand behind it
    message(FATAL_ERROR "${who}: NAME is longer than 66 characters")
  endif()
  foreach(share IN LISTS harness_perf_DELTA)
    string(REGEX REPLACE "^.*=" "" share "${share}")
    if(NOT share MATCHES "^([0-9]+\\.?[0-9]*|\\.[0-9]+)%$|^0?\\.[0-9]+$")
      message(FATAL_ERROR "${who}: DELTA ${share} is no share: write 5% or 0.05")
    endif()
  endforeach()
  set(kind "")
  foreach(way SUITE FILTERS COMMAND)
    if(DEFINED harness_perf_${way})
      list(APPEND kind ${way})
    endif()
  endforeach()
  list(LENGTH kind ways)
  if(NOT ways EQUAL 1)
    message(FATAL_ERROR "${who}: one of SUITE, FILTERS and COMMAND")
  endif()
  if(harness_perf_GOOGLE_BENCHMARK AND NOT kind STREQUAL "COMMAND")
    message(FATAL_ERROR "${who}: GOOGLE_BENCHMARK goes with COMMAND")
  elseif(harness_perf_GOOGLE_BENCHMARK AND DEFINED harness_perf_OPTIONS)
    message(FATAL_ERROR "${who}: OPTIONS are of `harness run`, not of a Google Benchmark program; \
write its own behind COMMAND")
  endif()
  if(kind STREQUAL "COMMAND" AND NOT harness_perf_GOOGLE_BENCHMARK AND
      (length GREATER 31 OR harness_perf_NAME MATCHES "[+]")) # as `harness run --name` takes it
    message(FATAL_ERROR "${who}: NAME is that of the benchmark, too, where a COMMAND is timed: at most \
31 letters, digits and _ . -")
  endif()
  if(harness_perf_DEVICE AND kind STREQUAL "COMMAND")
    message(FATAL_ERROR "${who}: DEVICE goes with SUITE and FILTERS")
  endif()
  set(harness_perf_KIND ${kind} PARENT_SCOPE)
endfunction()

# Checks what was kept for the function or the script `who`, and fills in the rest: harness_perf_*
# for each of HARNESS_PERF_SETTINGS, in the caller's scope.
function(harness_perf_settings who harness folder build)
  harness_perf_check(${who})
  set(harness_perf_ARGUMENTS "${harness_perf_${harness_perf_KIND}}")
  if(harness_perf_GOOGLE_BENCHMARK)
    set(harness_perf_KIND GOOGLE_BENCHMARK)
  endif()
  set(harness_perf_HARNESS "${harness}")
  foreach(default "BASELINE=${harness_perf_NAME}" "DB=${build}/perf/history.db" "TIMEOUT=1500"
      "WORKING_DIRECTORY=${folder}")
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" default "${default}")
    if(NOT DEFINED harness_perf_${CMAKE_MATCH_1})
      set(harness_perf_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  if(NOT DEFINED harness_perf_PLOTS)
    set(harness_perf_PLOTS distribution-box trend)
  endif()
  cmake_path(ABSOLUTE_PATH harness_perf_DB BASE_DIRECTORY "${build}")
  cmake_path(ABSOLUTE_PATH harness_perf_WORKING_DIRECTORY BASE_DIRECTORY "${folder}")
  list(PREPEND harness_perf_LABELS perf)
  list(REMOVE_DUPLICATES harness_perf_LABELS)
  foreach(setting IN LISTS HARNESS_PERF_SETTINGS)
    if(DEFINED harness_perf_${setting})
      set(harness_perf_${setting} "${harness_perf_${setting}}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# The text that ctest reads: the settings, and what makes tests of them.
function(harness_perf_text out)
  set(text "# Made by harness_add_perf_test().\n")
  foreach(setting IN LISTS HARNESS_PERF_SETTINGS)
    string(APPEND text "set(HARNESS_PERF_${setting} [=====[${harness_perf_${setting}}]=====])\n")
  endforeach()
  set(${out} "${text}include([====[${HARNESS_PERF_FOLDER}/tests.cmake]====])\n" PARENT_SCOPE)
endfunction()

# Of a build in several configurations: that of `ctest -C`, in whatever case, as CMake's own tests are
# chosen. Where it names none they are told as not run, too, beside all other tests of the project.
function(harness_perf_choice out file)
  set(text "string(TOLOWER \"\${CTEST_CONFIGURATION_TYPE}\" harness_perf_type)\n\
set(harness_perf_chosen FALSE)\n")
  foreach(type IN LISTS CMAKE_CONFIGURATION_TYPES)
    string(TOLOWER "${type}" low)
    string(APPEND text "if(harness_perf_type STREQUAL [====[${low}]====])\n\
  set(harness_perf_chosen TRUE)\n  include([====[${file}-${type}.cmake]====])\nendif()\n")
  endforeach()
  set(${out} "${text}if(NOT harness_perf_chosen)\n\
  add_test([====[${harness_perf_NAME}.record]====] NOT_AVAILABLE)\n\
  set_tests_properties([====[${harness_perf_NAME}.record]====] PROPERTIES\n\
    LABELS [====[${harness_perf_LABELS}]====])\nendif()\n" PARENT_SCOPE)
endfunction()

# Is that folder one that each side has of its own: does git track it with the sources?
function(harness_perf_is_of_sources out folder)
  foreach(place folder CMAKE_SOURCE_DIR)
    execute_process(COMMAND git -C "${${place}}" rev-parse --show-toplevel
      OUTPUT_VARIABLE top_${place} ERROR_QUIET RESULT_VARIABLE outside)
  endforeach()
  execute_process(COMMAND git -C "${folder}" ls-files --error-unmatch -- .
    OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE untracked)
  set(${out} FALSE PARENT_SCOPE)
  if(NOT outside AND NOT untracked AND top_folder STREQUAL top_CMAKE_SOURCE_DIR)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# The cache's variables that say how this tree is built. What its files set besides, those of each side
# set for themselves.
function(harness_perf_configured out)
  set(names CMAKE_PREFIX_PATH CMAKE_INTERPROCEDURAL_OPTIMIZATION CMAKE_EXE_LINKER_FLAGS CMAKE_SHARED_LINKER_FLAGS
    CMAKE_MODULE_LINKER_FLAGS)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(language IN LISTS languages)
    list(APPEND names CMAKE_${language}_FLAGS)
  endforeach()
  foreach(name IN LISTS names)
    foreach(type IN LISTS CMAKE_BUILD_TYPE CMAKE_CONFIGURATION_TYPES)
      string(TOUPPER "${type}" type)
      list(APPEND names ${name}_${type})
    endforeach()
  endforeach()
  # Where packages were found, but for those that this build has made, and those of the sources.
  get_property(packages GLOBAL PROPERTY PACKAGES_FOUND)
  foreach(package IN LISTS packages)
    set(folder "$CACHE{${package}_DIR}")
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR "${folder}" NORMALIZE made)
    if(IS_DIRECTORY "${folder}" AND NOT made)
      harness_perf_is_of_sources(own "${folder}")
      if(NOT own)
        list(APPEND names ${package}_DIR)
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# What configures $SOURCE in $BUILD as this tree is, and builds it in the configuration of ctest. The
# options of the project's own come last, and so go over all others.
function(harness_perf_build_command out)
  set(options "")
  set(settings CMAKE_BUILD_TYPE CMAKE_TOOLCHAIN_FILE)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(language IN LISTS languages)
    list(APPEND settings CMAKE_${language}_COMPILER)
  endforeach()
  foreach(setting IN LISTS settings)
    set(value_${setting} "${${setting}}")
  endforeach()
  harness_perf_configured(configured)
  foreach(setting IN LISTS configured)
    set(value_${setting} "$CACHE{${setting}}")
  endforeach()
  foreach(setting IN LISTS settings configured)
    if(NOT value_${setting} STREQUAL "")
      string(REPLACE "'" "'\\''" value "${value_${setting}}")
      string(APPEND options " '-D${setting}=${value}'")
    endif()
  endforeach()
  foreach(option IN LISTS HARNESS_PERF_AGAINST_OPTIONS)
    string(REPLACE "'" "'\\''" option "${option}")
    string(APPEND options " '${option}'")
  endforeach()
  set(${out} "cmake -S \"$SOURCE/@TOP@\" -B \"$BUILD\" -G '${CMAKE_GENERATOR}'${options} && \
cmake --build \"$BUILD\" --parallel \"$(nproc)\" $<$<BOOL:$<CONFIG>>:--config $<CONFIG>>" PARENT_SCOPE)
endfunction()

# Takes its words one by one: ARGN is a list.
function(harness_add_perf_test)
  foreach(key IN LISTS HARNESS_PERF_ONE HARNESS_PERF_MANY)
    unset(harness_perf_${key}) # the caller's
  endforeach()
  set(harness_perf_GOOGLE_BENCHMARK FALSE)
  set(harness_perf_unknown "")
  set(key unknown)
  set(n 0)
  while(n LESS ARGC)
    set(word "${ARGV${n}}")
    math(EXPR n "${n} + 1")
    if(word STREQUAL "GOOGLE_BENCHMARK")
      set(harness_perf_GOOGLE_BENCHMARK TRUE)
      set(key unknown)
    elseif(word IN_LIST HARNESS_PERF_ONE OR word IN_LIST HARNESS_PERF_MANY)
      set(key "${word}")
    else()
      if(key STREQUAL "COMMAND" AND NOT DEFINED harness_perf_COMMAND AND TARGET "${word}")
        set(word "$<TARGET_FILE:${word}>")
      endif()
      harness_perf_keep(${key} "${word}")
      if(key IN_LIST HARNESS_PERF_ONE)
        set(key unknown)
      endif()
    endif()
  endwhile()
  harness_perf_settings(harness_add_perf_test "$<TARGET_FILE:harness::harness>"
    "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
  # What HARNESS_PERF_AGAINST builds: as this was configured, from wherever in its repository it lies.
  set(harness_perf_BUILD "${CMAKE_BINARY_DIR}")
  set(harness_perf_SOURCE "${CMAKE_SOURCE_DIR}")
  harness_perf_build_command(harness_perf_BUILD_COMMAND)
  harness_perf_text(text)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/harness-perf/${harness_perf_NAME}")
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi)
    file(GENERATE OUTPUT "${file}-$<CONFIG>.cmake" CONTENT "${text}")
    harness_perf_choice(choice "${file}")
    file(WRITE "${file}.cmake" "${choice}")
  else()
    file(GENERATE OUTPUT "${file}.cmake" CONTENT "${text}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}.cmake")
  add_custom_target("${harness_perf_NAME}-baseline"
    COMMAND "${HARNESS_PERF_FOLDER}/perf.sh" baseline --harness "${harness_perf_HARNESS}"
      --name "${harness_perf_NAME}" --db "${harness_perf_DB}" --baseline "${harness_perf_BASELINE}"
    WORKING_DIRECTORY "${harness_perf_WORKING_DIRECTORY}" VERBATIM)
endfunction()
