# Read by cpack for each generator: the version of what was built, what differs between the tar.gz
# and the .deb, and the time that stands in both.
# Of several configurations each has its header; without `cpack -C` any does, as the source has the version.
set(harness_info "${CPACK_HARNESS_BUILD_INFO}/${CPACK_BUILD_CONFIG}/build_info.h")
if(NOT EXISTS "${harness_info}")
  file(GLOB harness_info "${CPACK_HARNESS_BUILD_INFO}/build_info.h" "${CPACK_HARNESS_BUILD_INFO}/*/build_info.h")
  list(SUBLIST harness_info 0 1 harness_info)
endif()
file(STRINGS "${harness_info}" harness_line REGEX "BUILD_VERSION")
if(harness_line MATCHES "\"(.+)\"")
  set(CPACK_PACKAGE_VERSION "${CMAKE_MATCH_1}")
  set(CPACK_PACKAGE_FILE_NAME "harness-${CPACK_PACKAGE_VERSION}-${CPACK_SYSTEM_NAME}")
endif()

if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  # The libraries are the distribution's. What is neither theirs nor of the scopes library belongs
  # to the program: one package a group.
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL bundle)
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER "${component}" upper)
    set(CPACK_COMPONENT_${upper}_GROUP program)
  endforeach()
  set(CPACK_COMPONENT_PROFILE_GROUP profile)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has its own
  set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

  set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME harness)
  set(CPACK_DEBIAN_PROGRAM_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
  # Opened or started at run time, where they are.
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "gnuplot-nox, libmicrohttpd12 | libmicrohttpd12t64")
  if(CPACK_HARNESS_OPENBLAS)
    string(APPEND CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS ", libopenblas0")
  endif()
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "cmake, git, python3")
  set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "benchmark suite that says whether something got slower
Sweeps kernels and GPT forward passes, checks every result before it times it,
keeps percentiles and raw samples in a SQLite history, and judges changes with
stated error rates. Gates other projects' benchmarks through CTest.")

  set(CPACK_DEBIAN_PROFILE_PACKAGE_NAME libharness-profile-dev)
  set(CPACK_DEBIAN_PROFILE_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PROFILE_PACKAGE_SECTION libdevel)
  # Programs with <harness/profile_cuda.h> are linked with -lstdc++.
  set(CPACK_DEBIAN_PROFILE_PACKAGE_DEPENDS "libc6-dev, g++ | libstdc++-dev")
  set(CPACK_DEBIAN_PROFILE_DESCRIPTION "scopes of harness, for one's own programs
Header, static library, CMake package and pkg-config file of the scopes that
`harness profile` reads.")
endif()

# Every file gets the time of the commit, or what SOURCE_DATE_EPOCH says: the same source gives the
# same bytes whenever and wherever it is packed.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  set(harness_epoch "")
  find_program(HARNESS_GIT git)
  if(HARNESS_GIT AND EXISTS "${CPACK_HARNESS_SOURCE}/.git")
    execute_process(COMMAND "${HARNESS_GIT}" -C "${CPACK_HARNESS_SOURCE}" log -1 --format=%ct
      OUTPUT_VARIABLE harness_epoch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(harness_epoch)
    set(ENV{SOURCE_DATE_EPOCH} "${harness_epoch}")
  endif()
endif()
