# Run at install time: copies the shared libraries that HARNESS_BINARY needs and the system may lack
# into HARNESS_LIBRARY_FOLDER, also those of HARNESS_OPENED, which it opens as it runs, and the licence texts that the distribution keeps of them into
# share/harness/licences.
#
# Not copied: the C library and its loader, which must be the system's own, and what belongs to the
# GPU's driver.
set(system "^(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libmvec|libcuda|libnvidia-.*)\\.so.*")
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${HARNESS_BINARY}" LIBRARIES ${HARNESS_OPENED}
  RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "${system}")
if(missing)
  message(FATAL_ERROR "not found on this system, so they cannot be packed: ${missing}")
endif()

# The package that a file came from; empty where there is no dpkg or it does not know.
function(find_package_of file out)
  set(${out} "" PARENT_SCOPE)
  find_program(DPKG_QUERY dpkg-query)
  if(NOT DPKG_QUERY)
    return()
  endif()
  # /lib may be a link to /usr/lib, and packages name either.
  string(REGEX REPLACE "^/usr/lib/" "/lib/" short "${file}")
  foreach(name IN ITEMS "${file}" "${short}")
    execute_process(COMMAND "${DPKG_QUERY}" --search "${name}" OUTPUT_VARIABLE found ERROR_QUIET)
    if(found MATCHES "^([^:, ]+)")
      set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

foreach(library IN LISTS libraries HARNESS_OPENED)
  cmake_path(GET library FILENAME name) # by which it is looked for
  file(REAL_PATH "${library}" file)
  file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/${HARNESS_LIBRARY_FOLDER}" TYPE FILE
    RENAME "${name}" FILES "${file}")
  find_package_of("${file}" package)
  file(REAL_PATH "/usr/share/doc/${package}/copyright" licence)
  if(package AND EXISTS "${licence}")
    file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/share/harness/licences" TYPE FILE
      RENAME "${package}.txt" FILES "${licence}")
  else()
    message(WARNING "no licence text of ${name} found: add it before you pass the package on")
  endif()
endforeach()
