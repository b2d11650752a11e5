# What another project needs to gate its speed, or to make kernels for it: find_package(harness) gives
# the program as harness::harness, the function harness_add_perf_test() (docs/ctest.md), and what
# plugins are compiled with as harness::plugin; harness.pc says the latter to other builds. Both find
# the rest by where they lie themselves, so the tree may be moved. The component plugin has them, too,
# without the program. They lie in the build folder as they do where it is installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_executable(harness::harness ALIAS harness) # the same name in the build tree
install(FILES cmake/ctest/HarnessAddPerfTest.cmake cmake/ctest/folder.cmake cmake/ctest/tests.cmake
  DESTINATION share/harness/ctest)
install(PROGRAMS cmake/ctest/perf.sh DESTINATION share/harness/ctest)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/harness")
# A build folder of before has them where they would be found first, and say nothing that is right.
file(REMOVE "${PROJECT_BINARY_DIR}/harness-config.cmake"
  "${PROJECT_BINARY_DIR}/harness-config-version.cmake")
set(HARNESS_PROGRAM bin/harness)
set(HARNESS_CTEST share/harness/ctest)
configure_package_config_file(cmake/harness-config.cmake.in
  "${PROJECT_BINARY_DIR}/${package}/harness-config.cmake" INSTALL_DESTINATION "${package}"
  PATH_VARS HARNESS_PROGRAM HARNESS_CTEST CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/${package}/harness-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT) # a program: nothing is linked
# Nothing is linked: it is of any architecture.
set(HARNESS_PC_PREFIX ../..)
foreach(name harness harness-plugin) # the latter says what it is, the former was there first
  configure_file(cmake/harness.pc.in "${PROJECT_BINARY_DIR}/share/pkgconfig/${name}.pc" @ONLY)
endforeach()
foreach(component program plugin)
  install(FILES "${PROJECT_BINARY_DIR}/${package}/harness-config.cmake"
    "${PROJECT_BINARY_DIR}/${package}/harness-config-version.cmake" DESTINATION "${package}"
    COMPONENT ${component})
  install(FILES "${PROJECT_BINARY_DIR}/share/pkgconfig/harness.pc"
    "${PROJECT_BINARY_DIR}/share/pkgconfig/harness-plugin.pc" DESTINATION share/pkgconfig
    COMPONENT ${component})
endforeach()
