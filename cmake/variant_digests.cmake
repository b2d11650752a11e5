# The digests of CUDA variants in any tree, a line each on the error output: NAME DIGEST. For records
# of what a device verified at an older commit, see ci/verification_sources.py.
#
#   cmake -DROOT=TREE -DROWS=build/dev/generated/variant_sources.txt -P cmake/variant_digests.cmake
#
# ROWS: which files a variant begins with, as the build wrote it. A variant without all of them in
# this tree has no line.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/HarnessSources.cmake")

file(STRINGS "${ROWS}" rows)
foreach(row IN LISTS rows)
  string(REGEX REPLACE " : .*" "" row "${row}")
  string(REPLACE " " ";" words "${row}")
  list(POP_FRONT words name digest)
  set(absent FALSE)
  foreach(file IN LISTS words)
    if(NOT EXISTS "${ROOT}/${file}")
      set(absent TRUE)
    endif()
  endforeach()
  if(NOT absent)
    harness_source_closure(files "${ROOT}" ${words})
    harness_source_digest(digest "${ROOT}" ${files})
    message("${name} ${digest}")
  endif()
endforeach()
