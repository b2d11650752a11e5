# Run by cpack when the packages are made: packs them once more, by tools that sort. cpack takes
# files in the order in which the file system gives them, and as the user's own.
#
# Times are those of SOURCE_DATE_EPOCH, see package_config.cmake; without it, of a tree that is in no
# repository, the packages stay as cpack made them.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  return()
endif()
# cpack -D CPACK_HARNESS_LEVEL=1 packs fast rather than small.
if(NOT DEFINED CPACK_HARNESS_LEVEL)
  set(CPACK_HARNESS_LEVEL 6)
endif()
set(ENV{LC_ALL} C)
set(ENV{TZ} UTC0)
set(work "${CPACK_TEMPORARY_DIRECTORY}.repack")
set(modes u+rwX,go+rX,go-w) # whatever the umask was

function(repack_archive package)
  file(MAKE_DIRECTORY "${work}")
  execute_process(COMMAND tar -xpzf "${package}" -C "${work}" COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB tops RELATIVE "${work}" "${work}/*")
  execute_process(
    COMMAND tar --sort=name --owner=0 --group=0 --numeric-owner --format=gnu
      "--mode=${modes}" "--mtime=@$ENV{SOURCE_DATE_EPOCH}" -cf - -C "${work}" ${tops}
    COMMAND gzip -${CPACK_HARNESS_LEVEL}n
    OUTPUT_FILE "${package}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# dpkg-deb sorts, and takes no time after SOURCE_DATE_EPOCH; earlier ones are lifted to it.
function(repack_deb package)
  execute_process(COMMAND dpkg-deb --raw-extract "${package}" "${work}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND chmod -R ${modes} "${work}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND sort -k 2 -o "${work}/DEBIAN/md5sums" "${work}/DEBIAN/md5sums"
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND find "${work}" -exec touch -h -d "@$ENV{SOURCE_DATE_EPOCH}" {} +
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND dpkg-deb --root-owner-group -z${CPACK_HARNESS_LEVEL} --build "${work}" "${package}"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(package IN LISTS CPACK_PACKAGE_FILES)
  file(REMOVE_RECURSE "${work}")
  if(package MATCHES "\\.tar\\.gz$")
    repack_archive("${package}")
  elseif(package MATCHES "\\.deb$")
    repack_deb("${package}")
  endif()
endforeach()
file(REMOVE_RECURSE "${work}")
