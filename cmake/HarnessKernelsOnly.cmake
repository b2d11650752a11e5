# HARNESS_KERNELS_ONLY: the kernels and their tests alone, for a processor whose libraries are not at
# hand. Nothing but a C compiler and its OpenMP is needed: of base, host and core come the few files that
# kernels use, and the tests run without cmocka (tests/portable).
find_package(OpenMP REQUIRED COMPONENTS C)
include(HarnessRooms)
set(BUILD_TESTING OFF) # those of the variants run by `harness verify`
include(HarnessRegistry)

foreach(room base stats host core)
  harness_room_includes(${room} "${PROJECT_SOURCE_DIR}/harness/${room}")
  add_library(harness_${room} STATIC)
  target_link_libraries(harness_${room} PUBLIC harness_${room}_includes PRIVATE harness_flags)
endforeach()
target_sources(harness_base PRIVATE harness/base/clean.c harness/base/digest.c
  harness/base/error.c harness/base/file.c harness/base/memory.c harness/base/strbuf.c harness/base/utf8.c)
target_sources(harness_stats PRIVATE harness/stats/random.c harness/stats/stats_dist.c)
target_sources(harness_host PRIVATE harness/host/control_group.c harness/host/host_cache.c
  harness/host/host_file.c
  harness/host/host_memory.c harness/host/matrix_tiles.c harness/host/processors.c harness/host/thread_pinning.c)
target_sources(harness_core PRIVATE harness/core/kernel.c harness/core/registry.c harness/core/tensor.c)
target_link_libraries(harness_base PUBLIC OpenMP::OpenMP_C m)
target_link_libraries(harness_stats PUBLIC harness_base)
target_link_libraries(harness_host PUBLIC harness_stats)
target_link_libraries(harness_core PUBLIC harness_host)

add_subdirectory(kernels)
harness_registry_generate()
add_subdirectory(tests/portable)
