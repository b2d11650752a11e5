# harness_version(SOURCE FALLBACK OUT): the version of a source tree.
#
#   at the tag v0.2.0                    0.2.0
#   14 commits after it                  0.2.0+14.g3f2a91c
#   no such tag, or no git               FALLBACK, the version of project()
#   an archive that git made of a tag    as the tag; cmake/git_archive.txt holds what git wrote
#
# harness_archive_commit(SOURCE OUT): the commit of such an archive, or nothing.

# A line of cmake/git_archive.txt; in a checkout, where git has filled in nothing, it is empty.
function(harness_archive_field source name out)
  set(${out} "" PARENT_SCOPE)
  if(EXISTS "${source}/cmake/git_archive.txt")
    file(STRINGS "${source}/cmake/git_archive.txt" line REGEX "^${name}: ")
    string(REGEX REPLACE "^${name}: *" "" line "${line}")
    if(NOT line MATCHES "[$%]")
      set(${out} "${line}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(harness_archive_commit source out)
  harness_archive_field("${source}" commit commit)
  set(${out} "${commit}" PARENT_SCOPE)
endfunction()

function(harness_version source fallback out)
  set(described "")
  find_program(HARNESS_GIT git)
  mark_as_advanced(HARNESS_GIT)
  if(HARNESS_GIT AND EXISTS "${source}/.git")
    execute_process(
      COMMAND "${HARNESS_GIT}" -C "${source}" describe --tags --match "v[0-9]*" --abbrev=7 HEAD
      OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  else()
    harness_archive_field("${source}" describe described)
  endif()
  set(version "${fallback}")
  if(described MATCHES "^v([0-9][0-9A-Za-z.~]*)(-([0-9]+)-(g[0-9a-f]+))?$")
    set(version "${CMAKE_MATCH_1}")
    if(CMAKE_MATCH_3)
      string(APPEND version "+${CMAKE_MATCH_3}.${CMAKE_MATCH_4}")
    endif()
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()
