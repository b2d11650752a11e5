# What another project needs to gate its speed: find_package(harness) gives the program as
# harness::harness and the function harness_add_perf_test(), see docs/ctest.md. The config finds the
# rest by where it lies itself, so the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_executable(harness::harness ALIAS harness) # the same name in the build tree
install(FILES cmake/ctest/HarnessAddPerfTest.cmake cmake/ctest/folder.cmake cmake/ctest/tests.cmake
  DESTINATION share/harness/ctest)
install(PROGRAMS cmake/ctest/perf.sh DESTINATION share/harness/ctest)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/harness")
set(HARNESS_PROGRAM bin/harness)
set(HARNESS_CTEST share/harness/ctest)
configure_package_config_file(cmake/harness-config.cmake.in
  "${PROJECT_BINARY_DIR}/harness-config.cmake" INSTALL_DESTINATION "${package}"
  PATH_VARS HARNESS_PROGRAM HARNESS_CTEST)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/harness-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT) # a program: nothing is linked
install(FILES "${PROJECT_BINARY_DIR}/harness-config.cmake"
  "${PROJECT_BINARY_DIR}/harness-config-version.cmake" DESTINATION "${package}")
