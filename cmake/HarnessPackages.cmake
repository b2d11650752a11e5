# Libraries from the distribution; ci/setup.sh installs them. docs/decisions/0002 says why each.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(SQLite3 3.37 REQUIRED) # STRICT tables
find_package(benchmark REQUIRED)
find_package(ZLIB REQUIRED)
find_package(EXPAT REQUIRED) # Catch2's results

pkg_check_modules(cjson REQUIRED IMPORTED_TARGET GLOBAL libcjson)
add_library(cjson::cjson ALIAS PkgConfig::cjson)

# Its header alone is used here, the library is opened by what computes with it (kernels/openblas.h):
# the build's programs look where it was found, too, and the package takes it from there.
pkg_check_modules(openblas openblas)
set(HARNESS_HAVE_OPENBLAS ${openblas_FOUND})
set(HARNESS_OPENBLAS_WHY "OpenBLAS was not found when this was built")
add_library(harness_openblas INTERFACE)
if(HARNESS_HAVE_OPENBLAS)
  target_include_directories(harness_openblas SYSTEM INTERFACE ${openblas_INCLUDE_DIRS})
  list(APPEND CMAKE_BUILD_RPATH ${openblas_LIBRARY_DIRS})
  find_file(HARNESS_OPENBLAS_FILE NAMES libopenblas.so.0 libopenblas.so
    PATHS ${openblas_LIBRARY_DIRS} NO_DEFAULT_PATH NO_CACHE)
endif()

# Optional: `harness serve` says how to get it where it is not there. Its header alone is used here,
# the library is opened when a server starts.
pkg_check_modules(microhttpd libmicrohttpd>=0.9.75)
set(HARNESS_HAVE_MICROHTTPD ${microhttpd_FOUND})

if(BUILD_TESTING)
  pkg_check_modules(cmocka IMPORTED_TARGET GLOBAL cmocka)
  if(NOT cmocka_FOUND)
    message(FATAL_ERROR "The tests need cmocka. Run ci/setup.sh --tests, or configure with "
      "-DBUILD_TESTING=OFF to build without them.")
  endif()
endif()
