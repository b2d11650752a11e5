# `cmake --install` and `cpack`: bin/harness, the libraries that a bare Linux machine lacks, and
# share/harness. It runs from wherever it is unpacked. CUDA's runtime is linked in, cuBLAS and NVML
# are opened at run time, so the same archive starts with and without a GPU.
#
# Components: program; bundle, the libraries; profile, the scopes library for other projects. The
# tar.gz holds all three. `cpack -G DEB` makes two packages, harness and libharness-profile-dev,
# which take the libraries from the distribution instead. A rule that names none is of program.
#
# The libraries lie in a folder of their own: installed into /usr/local they hide nobody's.
set(HARNESS_LIBRARY_FOLDER lib/harness)

set_target_properties(harness PROPERTIES INSTALL_RPATH "$ORIGIN/../${HARNESS_LIBRARY_FOLDER}")
# The old kind of search path also serves the libraries that the libraries need.
target_link_options(harness PRIVATE LINKER:--disable-new-dtags)
install(TARGETS harness RUNTIME DESTINATION bin)

install(CODE "
  set(HARNESS_OPENED \"${HARNESS_OPENBLAS_FILE}\")
  set(HARNESS_BINARY \"$<TARGET_FILE:harness>\")
  set(HARNESS_LIBRARY_FOLDER \"${HARNESS_LIBRARY_FOLDER}\")" COMPONENT bundle)
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/bundle.cmake" COMPONENT bundle)

# What a plugin is compiled against: this one header, with an example. It lies in the build folder,
# too.
configure_file("${PROJECT_SOURCE_DIR}/harness/plugin/plugin.h"
  "${PROJECT_BINARY_DIR}/include/harness/plugin.h" COPYONLY)
install(FILES harness/plugin/plugin.h DESTINATION include/harness COMPONENT plugin)
install(FILES examples/plugin/template.c examples/plugin/template.cu examples/plugin/like.c
  examples/plugin/like.cu examples/plugin/axpy.c examples/plugin/CMakeLists.txt
  DESTINATION share/harness/examples/plugin COMPONENT plugin)

include(HarnessManual)         # man pages, completion
include(HarnessPackageCTest)   # find_package(harness), for other projects
include(HarnessPackageProfile) # the scopes library, for other projects
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/harness)
# What these pages and those of docs link to.
foreach(file CONTRIBUTING.md ci/peers_targets.py harness/machine/environment.h kernels/team.h
    tests/fuzz/README.md tests/guides/guide.py tests/measure/fake_sycl.c)
  get_filename_component(folder "${file}" DIRECTORY)
  install(FILES "${file}" DESTINATION "share/harness/${folder}")
endforeach()
if(HARNESS_HAVE_CUDA AND NOT HARNESS_CUDA_HOST) # its runtime is linked in
  install(FILES "${CUDAToolkit_LIBRARY_ROOT}/EULA.txt" DESTINATION share/harness/licences
    RENAME cuda-runtime.txt OPTIONAL)
endif()
install(DIRECTORY docs examples plots DESTINATION share/harness PATTERN web EXCLUDE
  PATTERN examples/plugin EXCLUDE PATTERN docs/images/draw.sh PERMISSIONS OWNER_READ OWNER_WRITE
  OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(PROGRAMS ci/gpu.sh ci/alert.sh ci/gate.sh ci/package.sh ci/branch.sh
  ci/comment.sh ci/history.sh ci/merge.sh ci/nightly.sh ci/pr.sh ci/shard.sh DESTINATION share/harness/ci)
install(FILES ci/forge.sh ci/gpu_predictions.json ci/gpu_races.py ci/gpu_table.py ci/gpu_torch.py ci/lib.sh ci/nvbench_method.py DESTINATION share/harness/ci)
install(DIRECTORY ci/docker ci/github ci/gitlab ci/kubernetes ci/slurm DESTINATION share/harness/ci USE_SOURCE_PERMISSIONS)

# After all that is installed, as the components are known then. Packing takes what is built; it
# does not build.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_SYSTEM_NAME)
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME "harness-${PROJECT_VERSION}-${CPACK_SYSTEM_NAME}")
set(CPACK_PACKAGE_VENDOR "")
# Whoever hands packages to others says where they hear of them; nothing reaches this address.
set(HARNESS_MAINTAINER "the harness authors <authors@harness.invalid>" CACHE STRING
  "Who packages name as their maintainer: NAME <ADDRESS>")
set(CPACK_PACKAGE_CONTACT "${HARNESS_MAINTAINER}")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/package_config.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package_stage.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package_repack.cmake")
set(CPACK_HARNESS_OPENBLAS "${HARNESS_HAVE_OPENBLAS}")
set(CPACK_HARNESS_SOURCE "${PROJECT_SOURCE_DIR}")
set(CPACK_HARNESS_BUILD_INFO "${PROJECT_BINARY_DIR}/generated/build_info")
include(CPack)
