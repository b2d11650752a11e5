# Data files that travel inside the binary: base/resource.h finds them by name.
file(GLOB suites CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/harness/launch/suites/*.json")
file(GLOB presets CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/plots/presets/*.json")
file(GLOB gnuplot CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/plots/gnuplot/*")
file(GLOB schema CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/harness/store/*.sql")
file(GLOB plugin_templates CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/plugin/*.c"
  "${PROJECT_SOURCE_DIR}/examples/plugin/*.cu") # what `harness plugin new` writes
set(resource_files ${suites} ${presets} "${PROJECT_SOURCE_DIR}/plots/places.json" ${gnuplot} ${schema}
  "${PROJECT_SOURCE_DIR}/baselines/verification.json" "${PROJECT_SOURCE_DIR}/kernels/torch/peer.py"
  "${PROJECT_SOURCE_DIR}/harness/plugin/tensors.py"
  "${PROJECT_SOURCE_DIR}/harness/plugin/cuda_tensors.py" "${PROJECT_SOURCE_DIR}/harness/plugin/guest.py"
  "${PROJECT_SOURCE_DIR}/harness/judge/cell.py"
  ${plugin_templates} "${PROJECT_SOURCE_DIR}/harness/plugin/plugin.h" ${HARNESS_PAGE})

set(generated "${PROJECT_BINARY_DIR}/generated/resources.c")
add_custom_command(OUTPUT "${generated}"
  COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${generated}" "-DFILES=${resource_files}"
    -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
  DEPENDS ${resource_files} "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
  COMMENT "Embedding data files" VERBATIM)
set_source_files_properties("${generated}" PROPERTIES OBJECT_DEPENDS "${resource_files}")
add_library(harness_resources STATIC "${generated}")
target_link_libraries(harness_resources PRIVATE harness_flags)
