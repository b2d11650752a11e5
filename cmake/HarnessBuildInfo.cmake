# generated/build_info/build_info.h: version, commit and flags of this build, refreshed at every build.
include("${CMAKE_CURRENT_LIST_DIR}/HarnessVersion.cmake")
set(HARNESS_COMMIT "" CACHE STRING "The commit of a tree without git, as HarnessVersion.cmake says")
set(HARNESS_BRANCH "" CACHE STRING "Its branch, or that of a commit that is checked out without one")
harness_identify("${PROJECT_SOURCE_DIR}" "" "${HARNESS_COMMIT}" tree) # wrong ones are told at once
harness_check_branch("${HARNESS_BRANCH}")

# By a generator of several configurations each has a header of its own.
get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
set(folder "${PROJECT_BINARY_DIR}/generated/build_info")
set(type "${CMAKE_BUILD_TYPE}")
string(TOUPPER "${type}" upper)
set(flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${upper}}")
if(multi)
  string(APPEND folder "/$<CONFIG>")
  set(type "$<CONFIG>")
  set(flags "${CMAKE_C_FLAGS} ")
  foreach(one IN LISTS CMAKE_CONFIGURATION_TYPES)
    string(TOUPPER "${one}" upper)
    string(APPEND flags "$<$<CONFIG:${one}>:${CMAKE_C_FLAGS_${upper}}>")
  endforeach()
endif()
add_custom_target(harness_build_info
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${folder}/build_info.h"
    "-DVERSION=${PROJECT_VERSION}" "-DCOMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
    "-DFLAGS=${flags}" "-DTYPE=${type}" "-DCOMMIT=${HARNESS_COMMIT}" "-DBRANCH=${HARNESS_BRANCH}"
    -P "${PROJECT_SOURCE_DIR}/cmake/build_info.cmake"
  BYPRODUCTS "${folder}/build_info.h"
  VERBATIM)
add_dependencies(harness_machine harness_build_info)
target_include_directories(harness_machine PRIVATE "${folder}")
