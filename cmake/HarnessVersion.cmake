# harness_identify(SOURCE FALLBACK GIVEN OUT): what a source tree is. Sets OUT_VERSION, OUT_COMMIT,
# OUT_DIRTY, and OUT_GIT where the tree is a checkout.
#
#   at the tag v0.2.0       0.2.0
#   14 commits after it     0.2.0+14.g3f2a91c
#   no such tag             FALLBACK+g3f2a91c; FALLBACK is the version of project()
#   no commit known         FALLBACK
#
# No two commits have one version; it says nothing of uncommitted changes, OUT_DIRTY does.
#
# The commit is what git says; in an archive that git made, what it wrote into cmake/git_archive.txt;
# in any other tree GIVEN: the full hash, or what harness_git_describe has git print.
#
# The same commit has the same version in every clone: without a tag commits are not counted, as a
# shallow clone has fewer, and hashes have 7 digits even where git would print more, because that
# clone has a second object which begins with them.
set(harness_git_describe describe --tags --match "v[0-9]*" --long --always --abbrev=64)

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

# The day of the source, as 2026-11-26 in UTC: of SOURCE_DATE_EPOCH, else of the commit; "" where
# nothing says. The same commit has the same in every build.
function(harness_source_date source out)
  set(seconds "$ENV{SOURCE_DATE_EPOCH}")
  find_program(HARNESS_GIT git)
  mark_as_advanced(HARNESS_GIT)
  if(seconds STREQUAL "" AND HARNESS_GIT AND EXISTS "${source}/.git")
    execute_process(COMMAND "${HARNESS_GIT}" -C "${source}" log -1 --format=%ct
      OUTPUT_VARIABLE seconds OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  elseif(seconds STREQUAL "")
    harness_archive_field("${source}" time seconds)
  endif()
  set(${out} "" PARENT_SCOPE)
  if(seconds MATCHES "^[0-9]+$")
    set(kept "$ENV{SOURCE_DATE_EPOCH}")
    set(ENV{SOURCE_DATE_EPOCH} "${seconds}") # what TIMESTAMP goes by
    string(TIMESTAMP date "%Y-%m-%d" UTC)
    if(kept STREQUAL "")
      unset(ENV{SOURCE_DATE_EPOCH})
    endif()
    set(${out} "${date}" PARENT_SCOPE)
  endif()
endfunction()

# In the form of harness_git_describe, as are the two below.
function(harness_archive_says source out)
  harness_archive_field("${source}" describe described)
  harness_archive_field("${source}" commit text)
  if(text AND described MATCHES "^(v.*-[0-9]+-g)[0-9a-f]+$")
    string(PREPEND text "${CMAKE_MATCH_1}")
  elseif(text AND described)
    string(PREPEND text "${described}-0-g")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(harness_git_says source out)
  set(${out} "" PARENT_SCOPE)
  find_program(HARNESS_GIT git)
  mark_as_advanced(HARNESS_GIT)
  if(HARNESS_GIT AND EXISTS "${source}/.git")
    execute_process(COMMAND "${HARNESS_GIT}" -C "${source}" ${harness_git_describe} HEAD
      OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(${out} "${text}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Sets OUT_VERSION, OUT_COMMIT and OUT_DIRTY; an empty commit where the text has no whole hash.
function(harness_read_description text fallback out)
  set(version "${fallback}")
  set(commit "")
  set(dirty 0)
  string(REGEX MATCH "^((v.+)-([0-9]+)-g)?([0-9a-f]+)(-dirty)?$" matched "${text}")
  string(LENGTH "${CMAKE_MATCH_4}" digits)
  if(digits EQUAL 40 OR digits EQUAL 64) # SHA-1, SHA-256
    set(commit "${CMAKE_MATCH_4}")
    set(tag "${CMAKE_MATCH_2}")
    set(after "${CMAKE_MATCH_3}")
    if(CMAKE_MATCH_5)
      set(dirty 1)
    endif()
    string(SUBSTRING "${commit}" 0 7 short)
    if(NOT tag MATCHES "^v([0-9][0-9A-Za-z.~]*)$")
      string(APPEND version "+g${short}")
    elseif(after EQUAL 0)
      set(version "${CMAKE_MATCH_1}")
    else()
      set(version "${CMAKE_MATCH_1}+${after}.g${short}")
    endif()
  endif()
  foreach(name IN ITEMS version commit dirty)
    string(TOUPPER "${name}" upper)
    set(${out}_${upper} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

# Stops where what is given says nothing, or something else than the tree itself.
function(harness_check_given given known)
  harness_read_description("${given}" "" said)
  if(NOT said_COMMIT)
    list(JOIN harness_git_describe " " command)
    string(REPLACE "v[0-9]*" "'v[0-9]*'" command "${command}")
    message(FATAL_ERROR "HARNESS_COMMIT is \"${given}\": give all digits of the commit's hash, as "
      "`git rev-parse HEAD` prints them, or what `git ${command} --dirty` prints")
  elseif(known AND NOT said_COMMIT STREQUAL known)
    message(FATAL_ERROR "HARNESS_COMMIT is ${said_COMMIT}, but this tree is of commit ${known}; "
      "it is for trees without git: configure with -UHARNESS_COMMIT")
  endif()
endfunction()

function(harness_identify source fallback given out)
  harness_git_says("${source}" text)
  set(git OFF)
  if(text)
    set(git ON)
  else()
    harness_archive_says("${source}" text)
  endif()
  harness_read_description("${text}" "${fallback}" tree)
  if(NOT given STREQUAL "")
    harness_check_given("${given}" "${tree_COMMIT}")
    if(NOT tree_COMMIT)
      harness_read_description("${given}" "${fallback}" tree)
    endif()
  endif()
  set(${out}_GIT ${git} PARENT_SCOPE)
  foreach(name IN ITEMS VERSION COMMIT DIRTY)
    set(${out}_${name} "${tree_${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

# The branch becomes a string in C and an argument of a command.
function(harness_check_branch given)
  if(given MATCHES "[][ \t\r\n\"\\~^:?*]")
    message(FATAL_ERROR "HARNESS_BRANCH is \"${given}\": that is no name of a branch")
  endif()
endfunction()
