# What a CUDA variant is made of, as one digest. What a device has verified is that text: when any
# part of it changes, the record speaks of an older source.
#
#   harness_source_closure(files "${PROJECT_SOURCE_DIR}" kernels/gemm/gemm_cuda_bf16.cu)
#   harness_source_digest(digest "${PROJECT_SOURCE_DIR}" ${files})
#
# It is the variant's file and those that it links (harness_variant(... LINKS ...)), with what they
# include in quotation marks, transitively, of kernels/ and models/. The headers of harness/ are left
# out: they say how a kernel is called and judged, not what it computes.
# tests/cuda/variant_sources.py compares it with what the compiler read and the linker needs.
#
# Paths are relative to `root`, which is a checkout of any commit: variant_digests.cmake asks for
# those of an older one.

# The files of kernels/ and models/ that a file includes.
function(harness_source_includes out root file)
  get_property(known GLOBAL PROPERTY "HARNESS_INCLUDES_${root}/${file}" SET)
  if(known)
    get_property(found GLOBAL PROPERTY "HARNESS_INCLUDES_${root}/${file}")
    set(${out} ${found} PARENT_SCOPE)
    return()
  endif()
  set(found "")
  cmake_path(GET file PARENT_PATH folder)
  file(STRINGS "${root}/${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" name "${line}")
    foreach(path IN ITEMS "${folder}/${name}" "${name}")
      cmake_path(NORMAL_PATH path)
      if(path MATCHES "^(kernels|models)/" AND EXISTS "${root}/${path}")
        list(APPEND found "${path}")
        break()
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set_property(GLOBAL PROPERTY "HARNESS_INCLUDES_${root}/${file}" "${found}")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# These files and all that they include, sorted.
function(harness_source_closure out root)
  set(open ${ARGN})
  set(closure "")
  while(open)
    list(POP_FRONT open file)
    if(NOT file IN_LIST closure)
      list(APPEND closure "${file}")
      harness_source_includes(found "${root}" "${file}")
      list(APPEND open ${found})
    endif()
  endwhile()
  list(SORT closure)
  set(${out} ${closure} PARENT_SCOPE)
endfunction()

function(harness_source_digest out root)
  set(digests "")
  foreach(file IN LISTS ARGN)
    file(SHA256 "${root}/${file}" digest)
    string(APPEND digests "${digest} ${file}\n")
  endforeach()
  string(SHA256 digest "${digests}")
  set(${out} ${digest} PARENT_SCOPE)
endfunction()
