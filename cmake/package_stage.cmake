# Run by cpack when the files lie in its folder, before they are packed: what Debian's policy wants
# of a package. A tar.gz stays as it is.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
find_program(HARNESS_GZIP gzip REQUIRED)

function(compress file)
  execute_process(COMMAND "${HARNESS_GZIP}" -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Debian's own form, as the version is that of the source alone. What changed stands in CHANGELOG.md.
function(write_changelog doc package)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH
  file(WRITE "${doc}/changelog" "${package} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * CHANGELOG.md.gz beside this file says what a user sees.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress("${doc}/changelog")
endfunction()

# Where compilers for other architectures look, too. Its own place no longer leads to the rest.
function(move_pkgconfig root)
  find_program(HARNESS_DPKG_ARCHITECTURE dpkg-architecture REQUIRED)
  execute_process(COMMAND "${HARNESS_DPKG_ARCHITECTURE}" -qDEB_HOST_MULTIARCH
    OUTPUT_VARIABLE triplet OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB files "${root}/lib/pkgconfig/*.pc")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" text)
    string(REGEX REPLACE "^prefix=[^\n]*" "prefix=/usr" text "${text}")
    file(WRITE "${root}/lib/${triplet}/pkgconfig/${name}" "${text}")
    file(CHMOD "${root}/lib/${triplet}" "${root}/lib/${triplet}/pkgconfig" DIRECTORY_PERMISSIONS
      OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    file(CHMOD "${root}/lib/${triplet}/pkgconfig/${name}" FILE_PERMISSIONS OWNER_READ OWNER_WRITE
      GROUP_READ WORLD_READ)
  endforeach()
  file(REMOVE_RECURSE "${root}/lib/pkgconfig")
endfunction()

function(stage component package)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
  set(doc "${root}/share/doc/${package}")
  file(MAKE_DIRECTORY "${doc}")
  file(COPY_FILE "${CPACK_HARNESS_SOURCE}/LICENSE" "${doc}/copyright")
  write_changelog("${doc}" "${package}")
  file(COPY_FILE "${CPACK_HARNESS_SOURCE}/CHANGELOG.md" "${doc}/CHANGELOG.md")
  compress("${doc}/CHANGELOG.md")
  file(GLOB pages "${root}/share/man/man1/*.1")
  foreach(page IN LISTS pages)
    compress("${page}")
  endforeach()
  file(CHMOD "${doc}" DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  file(GLOB texts "${doc}/*")
  file(CHMOD ${texts} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

stage(program harness)
stage(profile libharness-profile-dev)
move_pkgconfig("${CPACK_TEMPORARY_DIRECTORY}/profile/usr")

# Its libraries are the distribution's: no search path of its own. Licences are in `copyright`.
set(root "${CPACK_TEMPORARY_DIRECTORY}/program/usr")
file(RPATH_REMOVE FILE "${root}/bin/harness")
file(REMOVE "${root}/share/harness/LICENSE" "${root}/share/harness/CHANGELOG.md")
# zsh of Debian looks here.
if(EXISTS "${root}/share/zsh/site-functions")
  file(RENAME "${root}/share/zsh/site-functions" "${root}/share/zsh/vendor-completions")
endif()
