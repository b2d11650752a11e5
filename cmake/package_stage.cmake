# Run by cpack when the files lie in its folder, before they are packed: what Debian's policy wants
# of a package. A tar.gz stays as it is.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
find_program(HARNESS_GZIP gzip REQUIRED)

function(compress file)
  execute_process(COMMAND "${HARNESS_GZIP}" -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(stage component package)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
  set(doc "${root}/share/doc/${package}")
  file(MAKE_DIRECTORY "${doc}")
  file(COPY_FILE "${CPACK_HARNESS_SOURCE}/LICENSE" "${doc}/copyright")
  file(COPY_FILE "${CPACK_HARNESS_SOURCE}/CHANGELOG.md" "${doc}/changelog")
  compress("${doc}/changelog")
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

# Its libraries are the distribution's: no search path of its own. Licences are in `copyright`.
set(root "${CPACK_TEMPORARY_DIRECTORY}/program/usr")
file(RPATH_REMOVE FILE "${root}/bin/harness")
file(REMOVE "${root}/share/harness/LICENSE" "${root}/share/harness/CHANGELOG.md")
# zsh of Debian looks here.
if(EXISTS "${root}/share/zsh/site-functions")
  file(RENAME "${root}/share/zsh/site-functions" "${root}/share/zsh/vendor-completions")
endif()
