# generated/build_info.h: version, commit and flags of this build, refreshed at every build.
include("${CMAKE_CURRENT_LIST_DIR}/HarnessVersion.cmake")
set(HARNESS_COMMIT "" CACHE STRING "The commit of a tree without git, as HarnessVersion.cmake says")
set(HARNESS_BRANCH "" CACHE STRING "Its branch, or that of a commit that is checked out without one")
harness_identify("${PROJECT_SOURCE_DIR}" "" "${HARNESS_COMMIT}" tree) # wrong ones are told at once
harness_check_branch("${HARNESS_BRANCH}")

string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
add_custom_target(harness_build_info
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}"
    "-DOUTPUT=${PROJECT_BINARY_DIR}/generated/build_info/build_info.h"
    "-DVERSION=${PROJECT_VERSION}" "-DCOMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
    "-DFLAGS=${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}" "-DTYPE=${CMAKE_BUILD_TYPE}"
    "-DCOMMIT=${HARNESS_COMMIT}" "-DBRANCH=${HARNESS_BRANCH}"
    -P "${PROJECT_SOURCE_DIR}/cmake/build_info.cmake"
  BYPRODUCTS "${PROJECT_BINARY_DIR}/generated/build_info/build_info.h"
  VERBATIM)
add_dependencies(harness_machine harness_build_info)
target_include_directories(harness_machine PRIVATE "${PROJECT_BINARY_DIR}/generated/build_info")
