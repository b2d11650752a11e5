# What another project needs to use the scopes library: headers as <harness/profile.h>, the archive,
# a CMake package (find_package(harness-profile), target harness::profile) and harness-profile.pc.
# `cmake --install build --component profile --prefix DIR` installs these alone. Both files find the
# rest by where they lie themselves, so the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(folder "${PROJECT_SOURCE_DIR}/harness/profile")
install(FILES "${folder}/profile.h" "${folder}/trace.h" "${folder}/summary.h" "${folder}/export.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/harness" COMPONENT profile)
add_dependencies(harness harness_profile) # what is packed is built with the program
install(TARGETS harness_profile ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT profile)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/harness-profile")
configure_package_config_file(cmake/harness-profile-config.cmake.in
  "${PROJECT_BINARY_DIR}/harness-profile-config.cmake" INSTALL_DESTINATION "${package}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/harness-profile-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/harness-profile-config.cmake"
  "${PROJECT_BINARY_DIR}/harness-profile-config-version.cmake"
  DESTINATION "${package}" COMPONENT profile)

file(RELATIVE_PATH HARNESS_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" HARNESS_PC_PREFIX "${HARNESS_PC_PREFIX}")
configure_file(cmake/harness-profile.pc.in "${PROJECT_BINARY_DIR}/harness-profile.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/harness-profile.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT profile)
