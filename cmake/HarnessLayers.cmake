# One target a folder. Code includes "layer/header.h"; the include path of a target holds its own
# layer and those it names, so an include that points up does not compile.
#
# The path is build/layers/<layer>, where <layer> is a link to the source folder.

function(harness_layer_includes layer folder)
  set(root "${PROJECT_BINARY_DIR}/layers/${layer}")
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${folder}" "${root}/${layer}" SYMBOLIC)
  add_library(harness_${layer}_includes INTERFACE)
  target_include_directories(harness_${layer}_includes INTERFACE "${root}")
endfunction()

# The sources of one folder: .c and .cc always, .cu where CUDA is built.
function(harness_layer_sources target layer)
  set(folder "${PROJECT_SOURCE_DIR}/harness/${layer}")
  if(NOT TARGET harness_${layer}_includes)
    harness_layer_includes(${layer} "${folder}")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.c" "${folder}/*.cc" "${folder}/*.h")
  if(HARNESS_HAVE_CUDA)
    file(GLOB cuda CONFIGURE_DEPENDS "${folder}/*.cu")
    harness_cuda_sources(${cuda})
    list(APPEND sources ${cuda})
  endif()
  target_sources(${target} PRIVATE ${sources})
  target_link_libraries(${target} PRIVATE harness_flags)
endfunction()

# harness_layer(name USES lower... LIBRARIES lib...)
function(harness_layer layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LIBRARIES")
  add_library(harness_${layer} STATIC)
  harness_layer_sources(harness_${layer} ${layer})
  target_link_libraries(harness_${layer} PUBLIC harness_${layer}_includes)
  foreach(lower IN LISTS arg_USES)
    target_link_libraries(harness_${layer} PUBLIC harness_${lower})
  endforeach()
  target_link_libraries(harness_${layer} PUBLIC ${arg_LIBRARIES})
  set_target_properties(harness_${layer} PROPERTIES LINKER_LANGUAGE C)
endfunction()
