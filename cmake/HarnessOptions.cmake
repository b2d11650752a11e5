# Build type, language standards, warnings, sanitizers, CUDA.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program) # see HarnessPackage

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # GNU: fused multiply-add contraction stays the compiler's default
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(HARNESS_WERROR "Treat warnings as errors (CI does)" OFF)
set(HARNESS_SANITIZE "" CACHE STRING "Sanitizers, such as address,undefined or thread")
option(HARNESS_COVERAGE "Instrument for gcov" OFF)
set(HARNESS_CUDA AUTO CACHE STRING "CUDA backend: AUTO, ON, OFF, or HOST (see tests/cuda_host)")
set_property(CACHE HARNESS_CUDA PROPERTY STRINGS AUTO ON OFF HOST)
include(HarnessCudaChoice)
harness_cuda_choice("${HARNESS_CUDA}" HARNESS_CUDA)

# Flags of all our own C and C++ code, as a target, so that nothing leaks to other projects.
add_library(harness_flags INTERFACE)
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wvla)
target_compile_options(harness_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>"
  "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>"
  "$<$<AND:$<BOOL:${HARNESS_WERROR}>,$<COMPILE_LANGUAGE:C,CXX>>:-Werror>")
target_compile_definitions(harness_flags INTERFACE _GNU_SOURCE)

# What is passed on must not hold the folder it was built in: the same source gives the same bytes
# anywhere. Elsewhere debuggers and reports shall find the files.
set(HARNESS_REPRODUCIBLE AUTO CACHE STRING "File names in the program are relative: ON, OFF, or AUTO, in Release")
set(reproducible "$<BOOL:${HARNESS_REPRODUCIBLE}>")
if(HARNESS_REPRODUCIBLE STREQUAL "AUTO")
  set(reproducible "$<CONFIG:Release,MinSizeRel>")
endif()
target_compile_options(harness_flags INTERFACE # of two that fit, gcc takes the last
  "$<$<AND:${reproducible},$<COMPILE_LANGUAGE:C,CXX>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=;-ffile-prefix-map=${PROJECT_BINARY_DIR}=build>")

# Two hundred test programs with their debug information: lld links them in half of the time. What is
# passed on is linked by what the distribution's own packages are linked by.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL CMAKE_SYSTEM_PROCESSOR)
  include(CheckLinkerFlag)
  check_linker_flag(C -fuse-ld=lld HARNESS_HAS_LLD)
  if(HARNESS_HAS_LLD)
    add_link_options($<$<NOT:$<CONFIG:Release>>:-fuse-ld=lld>)
  endif()
endif()

if(HARNESS_SANITIZE)
  target_compile_options(harness_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${HARNESS_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  # At a fixed address: what the sanitizers keep of each place in the source holds addresses, 880,000 in
  # the program, which else are written anew whenever it is started.
  target_link_options(harness_flags INTERFACE -fsanitize=${HARNESS_SANITIZE}
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
if(HARNESS_COVERAGE)
  target_compile_options(harness_flags INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:--coverage>")
  target_link_options(harness_flags INTERFACE --coverage)
endif()

# CUDA: AUTO takes it where an nvcc is found that can; the reason for its absence shows in `harness list`.
# HOST compiles the .cu files as C++ for the CPU, against the small CUDA runtime in tests/cuda_host:
# the kernels' own source runs in the tests, where no GPU is. Nothing else is it good for.
set(HARNESS_HAVE_CUDA OFF)
set(HARNESS_CUDA_HOST OFF)
set(HARNESS_CUDA_WHY "switched off by HARNESS_CUDA=OFF")
if(HARNESS_CUDA STREQUAL "HOST")
  set(HARNESS_HAVE_CUDA ON)
  set(HARNESS_CUDA_HOST ON)
  set(HARNESS_CUDA_WHY "")
elseif(NOT HARNESS_CUDA STREQUAL "OFF")
  harness_find_cuda("${HARNESS_CUDA}" HARNESS_CUDA_WHY)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  if(HARNESS_CUDA_WHY STREQUAL "")
    enable_language(CUDA)
    # Not every CMake knows that nvcc can.
    foreach(dialect STANDARD EXTENSION)
      if(NOT CMAKE_CUDA20_${dialect}_COMPILE_OPTION)
        set(CMAKE_CUDA20_${dialect}_COMPILE_OPTION -std=c++20)
      endif()
    endforeach()
    find_package(CUDAToolkit REQUIRED)
    set(HARNESS_HAVE_CUDA ON)
  elseif(HARNESS_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HARNESS_CUDA=ON, but ${HARNESS_CUDA_WHY}; set CUDACXX to another nvcc")
  endif()
endif()

# What compiles a .cu file: nvcc, or for HOST the C++ compiler. Everything CUDA links to it.
add_library(harness_cuda INTERFACE)
if(HARNESS_CUDA_HOST)
  add_subdirectory(tests/cuda_host)
  target_link_libraries(harness_cuda INTERFACE cuda_host)
elseif(HARNESS_HAVE_CUDA)
  target_link_libraries(harness_cuda INTERFACE CUDA::cudart_static)
  target_compile_options(harness_cuda INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo;-Xcompiler=-Wall,-Wextra>"
    "$<$<AND:$<BOOL:${HARNESS_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings>")
endif()

# For the tests that read them, registers and spills of every kernel are kept beside its object, whose
# machine code is not packed then.
if(HARNESS_HAVE_CUDA AND BUILD_TESTING AND NOT HARNESS_CUDA_HOST)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/nvcc_resources.sh"
    ${CMAKE_CUDA_COMPILER_LAUNCHER})
endif()

# Call on the .cu sources of a target, in the folder that adds them.
function(harness_cuda_sources)
  if(HARNESS_CUDA_HOST)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX
      COMPILE_OPTIONS "-std=gnu++20;-Wno-unknown-pragmas")
  endif()
endfunction()
