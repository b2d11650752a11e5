# HARNESS_KERNELS_ONLY: the kernels and their tests alone, for a processor whose libraries are not at
# hand. Nothing but a C compiler and its OpenMP is needed: of base and core come the few files that
# kernels use, and the tests run without cmocka (tests/portable).
find_package(OpenMP REQUIRED COMPONENTS C)
include(HarnessLayers)
set(BUILD_TESTING OFF) # those of the variants run by `harness verify`
include(HarnessRegistry)

foreach(layer base core)
  harness_layer_includes(${layer} "${PROJECT_SOURCE_DIR}/harness/${layer}")
  add_library(harness_${layer} STATIC)
  target_link_libraries(harness_${layer} PUBLIC harness_${layer}_includes PRIVATE harness_flags)
endforeach()
target_sources(harness_base PRIVATE harness/base/clean.c harness/base/digest.c harness/base/error.c
  harness/base/file.c harness/base/memory.c harness/base/random.c harness/base/stats_dist.c
  harness/base/strbuf.c harness/base/utf8.c)
target_sources(harness_core PRIVATE harness/core/host.c harness/core/host_memory.c harness/core/kernel.c
  harness/core/registry.c harness/core/shape.c harness/core/spread.c harness/core/tensor.c)
target_link_libraries(harness_base PUBLIC OpenMP::OpenMP_C m)
target_link_libraries(harness_core PUBLIC harness_base)

add_subdirectory(kernels)
harness_registry_generate()
add_subdirectory(tests/portable)
