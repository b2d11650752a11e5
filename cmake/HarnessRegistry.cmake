# What is measured, one line each:
#
#   harness_operation(gemm)                      # kernels/gemm/gemm.c defines gemm_kernels[]
#   harness_variant(gemm naive)                  # kernels/gemm/gemm_naive.c defines gemm_naive[]
#   harness_variant(gemm simd ISA)               # compiled once an instruction set, see below
#   harness_variant(gemm openblas REQUIRES OPENBLAS)
#   harness_variant(gemm cuda_tiled REQUIRES CUDA)  # kernels/gemm/gemm_cuda_tiled.cu
#   harness_variant(gemm cuda_wgmma REQUIRES CUDA ARCH 90a)  # for sm_90a alone, see HarnessCuda
#
# A line compiles the file into an object library, adds it to the generated registry, and adds the
# test kernel.<operation>.<variant>, which checks the variant on its kernel's odd sizes (and the
# same once more by each lesser instruction set of an ISA variant). Variants
# whose requirement is missing stay in `harness list` with the reason.
#
# LINKS: other .cu files whose functions a CUDA variant needs, and those whose functions they need:
# they are part of its digest. HARNESS_VARIANT_LINKS has those of all variants below it.
#
# ALSO: names of further variants in the same file (other dtypes), for their tests and the list.
#
# HOST_TEST: options of `harness verify` for the test on CUDA's host layer, where all of a forward's
# models would take minutes.
#
# PEER: somebody else's library, opened at run time. It stays open, with what it has allocated: its
# test looks for no leaks (AddressSanitizer's other checks stay).
#
# NO_TEST: a line harness_variant_test() for several has it.
#
# LESSER_TEST: filters of `harness verify` for the tests by lesser instruction sets.
#
# HIDDEN: for tests of the harness itself; no test of its own.
#
# ISA: the same file is compiled with SIMD_ISA undefined (the variant's table and its run-time
# choice) and once more with SIMD_ISA=avx512, avx2 and portable (the code; SIMD_NAME(f) gives
# f_avx512 and so on, see kernels/simd.h).
#
# BF16, with ISA: once more with SIMD_ISA=avx512_bf16, which has all of avx512, the products of pairs
# of bfloat16 and their rounding (kernels/simd_bf16.h). VNNI, with ISA: once more with
# SIMD_ISA=avx512_vnni, which has all of avx512 and the products of four bytes (kernels/simd_int8.h).
# AMX, with ISA: once more with SIMD_ISA=avx512_amx, which has all of avx512 and matrix tiles
# (kernels/simd_amx.h).

include(HarnessSources) # digests

set_property(GLOBAL PROPERTY HARNESS_OPERATIONS "")
set_property(GLOBAL PROPERTY HARNESS_VARIANTS "")
set_property(GLOBAL PROPERTY HARNESS_MISSING "")
set_property(GLOBAL PROPERTY HARNESS_SOURCE_ROWS "")
set_property(GLOBAL PROPERTY HARNESS_FORCED "")
set_property(GLOBAL PROPERTY HARNESS_SOURCES "") # of each variant: SHA-256, or "-"

set(HARNESS_ISA_FLAGS_avx512 -mavx512f -mavx512vl -mavx512dq -mavx512bw -mavx2 -mfma
  -mprefer-vector-width=512)
set(HARNESS_ISA_FLAGS_avx512_bf16 ${HARNESS_ISA_FLAGS_avx512} -mavx512bf16)
set(HARNESS_ISA_FLAGS_avx512_vnni ${HARNESS_ISA_FLAGS_avx512} -mavx512vnni)
set(HARNESS_ISA_FLAGS_avx512_amx ${HARNESS_ISA_FLAGS_avx512}) # tiles are inline assembly
set(HARNESS_ISA_FLAGS_avx2 -mavx2 -mfma)
set(HARNESS_ISA_FLAGS_portable "")

# The instruction sets of the target processor family, best first.
set(HARNESS_ISAS portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(HARNESS_ISAS avx512 avx2 portable)
  set(HARNESS_ISAS_BF16 avx512_bf16)
  set(HARNESS_ISAS_VNNI avx512_vnni)
  set(HARNESS_ISAS_AMX avx512_amx)
endif()

# -O3 whatever the build type is: what is measured is not the debugging build of a kernel. Lines are
# enough to debug it by: of variables little is left, and to describe them takes as long as the rest.
#
# With the sanitizers nothing is measured, and a file of unrolled loops takes them four times as long.
# A null pointer and what is beyond an object AddressSanitizer finds without UndefinedBehaviorSanitizer;
# threads share what their callers give them. libFuzzer feeds parsers: clang takes ten minutes for a file
# of unrolled loops with its counters.
# Behind harness_flags: the last word counts.
add_library(harness_kernel_flags INTERFACE)
if(HARNESS_SANITIZE MATCHES "fuzzer|thread")
  target_compile_options(harness_kernel_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize=all>")
elseif(HARNESS_SANITIZE MATCHES "address" AND HARNESS_SANITIZE MATCHES "undefined")
  target_compile_options(harness_kernel_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize=null,object-size>")
  # Of each check in unrolled loops AddressSanitizer would guard UndefinedBehaviorSanitizer's notes as it
  # guards the program's own variables: half of all that is registered, and searched for leaks, by each
  # process. What kernels compute on is the heap's.
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(harness_kernel_flags INTERFACE
      "$<$<COMPILE_LANGUAGE:C,CXX>:SHELL:--param asan-globals=0>")
  endif()
elseif(NOT HARNESS_SANITIZE)
  target_compile_options(harness_kernel_flags INTERFACE
    "$<$<AND:$<COMPILE_LANGUAGE:C>,$<NOT:$<CONFIG:Debug>>>:-O3>"
    "$<$<AND:$<COMPILE_LANGUAGE:C>,$<CONFIG:RelWithDebInfo>>:-g1>")
endif()

function(harness_kernel_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE harness_flags harness_kernel_flags harness_kernels_includes
    harness_models_includes harness_core harness_base OpenMP::OpenMP_C)
  target_link_libraries(harness_kernel_objects INTERFACE ${name} $<TARGET_OBJECTS:${name}>)
endfunction()

# The digest of what a CUDA variant is made of, see HarnessSources.cmake, and a row of it for
# generated/variant_sources.txt: NAME DIGEST FILE LINKED... : all files.
function(harness_variant_source out name source)
  set(roots "")
  foreach(file IN ITEMS "${source}" ${ARGN})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    list(APPEND roots "${file}")
  endforeach()
  harness_source_closure(files "${PROJECT_SOURCE_DIR}" ${roots})
  harness_source_digest(digest "${PROJECT_SOURCE_DIR}" ${files})
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE paths)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${paths})
  list(JOIN roots " " roots)
  list(JOIN files " " files)
  set_property(GLOBAL APPEND_STRING PROPERTY HARNESS_SOURCE_ROWS
    "${name} ${digest} ${roots} : ${files}\n")
  set(${out} ${digest} PARENT_SCOPE)
endfunction()

function(harness_operation operation)
  set_property(GLOBAL APPEND PROPERTY HARNESS_OPERATIONS ${operation})
  file(GLOB common CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${operation}.c"
    "${CMAKE_CURRENT_SOURCE_DIR}/${operation}_common*.c")
  harness_kernel_objects(kernel_${operation} ${common})
endfunction()

function(harness_variant operation variant)
  cmake_parse_arguments(PARSE_ARGV 2 arg "ISA;BF16;VNNI;AMX;HIDDEN;PEER;NO_TEST" "REQUIRES;ARCH"
    "LIBRARIES;LINKS;ALSO;HOST_TEST;LESSER_TEST")
  set(why "")
  if(HARNESS_KERNELS_ONLY AND NOT variant MATCHES "^(naive|simd|simd_bf16|simd_int8|fake)$")
    set(why "built without libraries")
  elseif(arg_REQUIRES AND NOT HARNESS_HAVE_${arg_REQUIRES})
    set(why "${HARNESS_${arg_REQUIRES}_WHY}")
  elseif(arg_ARCH AND HARNESS_CUDA_HOST)
    set(why "${HARNESS_CUDA_ARCH_WHY}")
  endif()
  if(why)
    foreach(missing IN ITEMS ${variant} ${arg_ALSO})
      set_property(GLOBAL APPEND_STRING PROPERTY HARNESS_MISSING
        "    { \"${operation}\", \"${missing}\", \"${why}\" },\n")
    endforeach()
    return()
  endif()
  set(name ${operation}_${variant})
  set(suffix c)
  if(arg_REQUIRES STREQUAL "CUDA")
    set(suffix cu)
  endif()
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}.${suffix}")
  harness_kernel_objects(kernel_${name} "${source}")
  set(digest -)
  if(arg_REQUIRES STREQUAL "CUDA")
    harness_cuda_sources("${source}")
    target_link_libraries(kernel_${name} PRIVATE harness_cuda harness_device)
    if(arg_ARCH)
      harness_cuda_arch(kernel_${name} ${arg_ARCH})
    endif()
    harness_variant_source(digest ${name} "${source}" ${arg_LINKS} ${HARNESS_VARIANT_LINKS})
  endif()
  if(arg_REQUIRES STREQUAL "OPENBLAS")
    target_link_libraries(kernel_${name} PRIVATE harness_openblas)
  endif()
  target_link_libraries(kernel_${name} PRIVATE ${arg_LIBRARIES})
  target_link_libraries(harness_kernel_objects INTERFACE ${arg_LIBRARIES})
  if(arg_ISA)
    set(isas ${HARNESS_ISAS})
    if(arg_BF16)
      list(PREPEND isas ${HARNESS_ISAS_BF16})
    endif()
    if(arg_VNNI)
      list(PREPEND isas ${HARNESS_ISAS_VNNI})
    endif()
    if(arg_AMX)
      list(PREPEND isas ${HARNESS_ISAS_AMX})
    endif()
    harness_isa_objects(kernel_${name} "${CMAKE_CURRENT_SOURCE_DIR}/${name}.c" ${isas})
  endif()
  set_property(GLOBAL APPEND PROPERTY HARNESS_VARIANTS ${name})
  set_property(GLOBAL APPEND PROPERTY HARNESS_SOURCES ${digest})
  if(arg_HIDDEN OR arg_NO_TEST)
    return()
  endif()
  set(options ${arg_HOST_TEST}) # of the host layer alone
  if(NOT arg_REQUIRES STREQUAL CUDA)
    set(options "")
  endif()
  foreach(tested IN ITEMS ${variant} ${arg_ALSO})
    harness_variant_test(${operation} ${tested} "" REQUIRES ${arg_REQUIRES} OPTIONS ${options})
    if(arg_PEER AND BUILD_TESTING)
      set_property(TEST kernel.${operation}.${tested} PROPERTY
        ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
    endif()
  endforeach()
  if(arg_ISA)
    if(NOT arg_BF16 AND NOT arg_VNNI) # of two with AVX-512 the machine says which one is best
      list(REMOVE_ITEM isas avx512)
    endif()
    foreach(isa IN LISTS isas)
      harness_variant_test(${operation} ${variant} ${isa} OPTIONS ${arg_LESSER_TEST})
    endforeach()
  endif()
endfunction()

# Checks a variant on its kernels' odd sizes; with an instruction set: by that one, not the best.
# OPTIONS: of `harness verify`, where the device is there or a layer on the host. WITH: further
# variants, as far as they are built.
function(harness_variant_test operation variant isa)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "REQUIRES" "OPTIONS;WITH")
  set(name kernel.${operation}.${variant})
  set(environment "")
  set(device cpu)
  set(filters "${operation}/*/${variant}")
  foreach(other IN LISTS arg_WITH)
    if(TARGET kernel_${operation}_${other})
      list(APPEND filters "${operation}/*/${other}")
    endif()
  endforeach()
  if(arg_REQUIRES STREQUAL CUDA)
    set(device cuda) # none here: 77, and the test shows as skipped
    if(HARNESS_CUDA_HOST)
      set(environment "HARNESS_CUBLAS=$<TARGET_FILE:cuda_host_cublas>")
      # Shapes that are half of all work on the host layer, and there for CPU kernels that write
      # around the caches, or for a grid larger than a GPU: with one kernel once.
      if(operation STREQUAL gemm)
        list(APPEND filters "!gemm/*seq=170,*" "gemm/linear/${variant}/*seq=170,*")
      elseif(operation STREQUAL attention AND NOT variant MATCHES decode)
        list(APPEND filters "!attention/*batch=11,*" "attention/causal/${variant}/*batch=11,*")
      endif()
    else()
      set(arg_OPTIONS "")
    endif()
  endif()
  if(isa)
    string(APPEND name .${isa})
    set(environment HARNESS_ISA=${isa})
  endif()
  add_test(NAME ${name}
    COMMAND harness verify ${filters} --device ${device} --test-shapes --seed 1 ${arg_OPTIONS})
  set_tests_properties(${name} PROPERTIES LABELS "unit;kernel" SKIP_RETURN_CODE 77 TIMEOUT 900
    PROCESSORS 2 ENVIRONMENT "${environment}")
endfunction()

# harness_forced(gemm): kernels/gemm/gemm_cuda_forced.cu has parameters of CUDA variants, for
# `harness verify --all-settings`. It is part of no variant's digest: what it forces is what their
# own plans choose elsewhere.
function(harness_forced operation)
  if(NOT HARNESS_HAVE_CUDA OR HARNESS_KERNELS_ONLY)
    return()
  endif()
  set(name ${operation}_cuda_forced)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cu")
  harness_kernel_objects(kernel_${name} "${source}")
  harness_cuda_sources("${source}")
  target_link_libraries(kernel_${name} PRIVATE harness_cuda harness_device)
  set_property(GLOBAL APPEND PROPERTY HARNESS_FORCED ${name})
endfunction()

# Makes `target` the code for one instruction set.
function(harness_isa_target target isa)
  target_compile_definitions(${target} PRIVATE SIMD_ISA=${isa} SIMD_ISA_${isa}=1)
  if(isa MATCHES "^avx512_")
    target_compile_definitions(${target} PRIVATE SIMD_ISA_avx512=1)
  endif()
  if(isa STREQUAL avx512_amx)
    target_compile_definitions(${target} PRIVATE SIMD_AMX=1)
  endif()
  target_compile_options(${target} PRIVATE ${HARNESS_ISA_FLAGS_${isa}})
endfunction()

# The code of a SIMD file, once for each instruction set that follows.
function(harness_isa_objects name source)
  foreach(isa IN LISTS ARGN)
    harness_kernel_objects(${name}_${isa} "${source}")
    harness_isa_target(${name}_${isa} ${isa})
  endforeach()
endfunction()

# Writes generated/registry.c: registry_builtin() over the lists above.
function(harness_registry_generate)
  get_property(operations GLOBAL PROPERTY HARNESS_OPERATIONS)
  get_property(variants GLOBAL PROPERTY HARNESS_VARIANTS)
  get_property(sources GLOBAL PROPERTY HARNESS_SOURCES)
  get_property(missing GLOBAL PROPERTY HARNESS_MISSING)
  get_property(forced GLOBAL PROPERTY HARNESS_FORCED)
  set(declarations "")
  set(operation_rows "")
  set(variant_rows "")
  set(source_rows "")
  set(symbol_rows "")
  set(forced_rows "")
  foreach(operation IN LISTS operations)
    string(APPEND declarations "extern const struct kernel *const ${operation}_kernels[];\n")
    string(APPEND operation_rows "    ${operation}_kernels,\n")
  endforeach()
  foreach(variant digest IN ZIP_LISTS variants sources)
    string(REPLACE - "" digest "${digest}")
    string(APPEND source_rows "    \"${digest}\",\n")
    string(APPEND declarations "extern const struct variant ${variant}[];\n")
    string(APPEND variant_rows "    ${variant},\n")
    string(APPEND symbol_rows "    \"${variant}\",\n")
  endforeach()
  foreach(variant IN LISTS forced)
    string(APPEND declarations "extern const struct variant ${variant}[];\n")
    string(APPEND forced_rows "    ${variant},\n")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/registry.c.in"
    "${PROJECT_BINARY_DIR}/generated/registry.c" @ONLY)
  get_property(rows GLOBAL PROPERTY HARNESS_SOURCE_ROWS)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/variant_sources.txt" CONTENT "${rows}" @ONLY)
  add_library(harness_registry STATIC "${PROJECT_BINARY_DIR}/generated/registry.c")
  target_link_libraries(harness_registry PRIVATE harness_flags)
  target_link_libraries(harness_registry PUBLIC harness_core harness_kernel_objects
    OpenMP::OpenMP_C m)
endfunction()

add_library(harness_kernel_objects INTERFACE)
harness_room_includes(kernels "${PROJECT_SOURCE_DIR}/kernels")
harness_room_includes(models "${PROJECT_SOURCE_DIR}/models")
