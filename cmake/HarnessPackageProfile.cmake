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

# The same with a GPU: what prof_cuda_*() is made of is linked into one object, in which these are the
# only names, so that none of the rooms' own meets one of the program that it is linked to. The scopes
# library stays outside: there is one of it in a program.
set(inside harness_profile_cuda harness_timeline harness_cupti harness_gputrace harness_core
  harness_text harness_stats harness_base)
set(inside_files "")
foreach(room IN LISTS inside)
  list(APPEND inside_files "$<TARGET_FILE:${room}>")
endforeach()
list(POP_FRONT inside_files whole)
# Without link-time optimisation, whatever the flags say: what that leaves in an object is not code yet,
# so there would be none in the archive, or beside it the rooms' own names once more.
foreach(room IN LISTS inside)
  set_target_properties(${room} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_options(${room} PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-lto>")
endforeach()
set(guest "${PROJECT_BINARY_DIR}/libharness_profile_cuda_guest.a")
add_custom_command(OUTPUT "${guest}"
  COMMAND "${CMAKE_LINKER}" -r -o profile_cuda_guest.o --whole-archive "${whole}" --no-whole-archive
    --start-group ${inside_files} --end-group
  COMMAND "${CMAKE_OBJCOPY}" --wildcard "--keep-global-symbol=prof_cuda_*" profile_cuda_guest.o
  COMMAND "${CMAKE_COMMAND}" -E rm -f "${guest}"
  COMMAND "${CMAKE_AR}" qcs "${guest}" profile_cuda_guest.o
  DEPENDS ${inside} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}" VERBATIM
  COMMENT "Linking libharness_profile_cuda.a for programs of others")
add_custom_target(profile_cuda_guest ALL DEPENDS "${guest}")
add_dependencies(harness profile_cuda_guest)
install(FILES "${PROJECT_SOURCE_DIR}/harness/profile_cuda/profile_cuda.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/harness" COMPONENT profile)
install(FILES "${guest}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" RENAME libharness_profile_cuda.a
  COMPONENT profile)

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
foreach(name harness-profile harness-profile-cuda)
  configure_file(cmake/${name}.pc.in "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT profile)
endforeach()
