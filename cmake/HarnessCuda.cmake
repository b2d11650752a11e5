# Code for one GPU architecture alone, such as 90a, which has instructions that no other one has
# (wgmma, setmaxnreg). A file that uses them is no part of the targets that are compiled for all
# architectures: it becomes an object library of its own.
#
#   harness/<room>/*_sm90a.cu         found by harness_room_sources(); HARNESS_HAVE_SM90A=1 there
#   harness_variant(gemm cuda_wgmma REQUIRES CUDA ARCH 90a)
#
# Such code cannot be launched on another architecture: a variant's supports() says so. The host
# layer (HARNESS_CUDA=HOST) has no model of these instructions in their headers, so there it is left
# out; tests/cuda_asm runs the kernels by their asm statements.

set(HARNESS_CUDA_ARCH_WHY "compiled for one GPU architecture alone, which the host layer is not")

function(harness_cuda_arch target arch)
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES ${arch}-real)
endfunction()

# The headers of device code (kernels/cuda) are a library of their own below all rooms: whoever
# compiles CUDA may include them, and nothing else of kernels/.
set(HARNESS_CUDA_ROOT "${PROJECT_BINARY_DIR}/rooms/cuda")
file(MAKE_DIRECTORY "${HARNESS_CUDA_ROOT}/kernels")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/kernels/cuda" "${HARNESS_CUDA_ROOT}/kernels/cuda" SYMBOLIC)

# Adds the *_sm90a.cu files of a room to its target.
function(harness_room_sm90a target room)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/harness/${room}/*_sm90a.cu")
  if(NOT sources OR HARNESS_CUDA_HOST)
    return()
  endif()
  add_library(${target}_sm90a OBJECT ${sources})
  target_link_libraries(${target}_sm90a PRIVATE harness_flags harness_${room}_includes harness_device
    harness_cuda)
  target_include_directories(${target}_sm90a PRIVATE "${HARNESS_CUDA_ROOT}")
  harness_cuda_arch(${target}_sm90a 90a)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_sm90a>)
  target_compile_definitions(${target} PRIVATE HARNESS_HAVE_SM90A=1)
endfunction()
