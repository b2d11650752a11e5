# Libraries from the distribution; ci/setup.sh installs them. docs/decisions/0002 says why each.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(SQLite3 3.37 REQUIRED) # STRICT tables
find_package(benchmark REQUIRED)
find_package(ZLIB REQUIRED)

pkg_check_modules(cjson REQUIRED IMPORTED_TARGET GLOBAL libcjson)
add_library(cjson::cjson ALIAS PkgConfig::cjson)

pkg_check_modules(openblas IMPORTED_TARGET GLOBAL openblas)
set(HARNESS_HAVE_OPENBLAS ${openblas_FOUND})
set(HARNESS_OPENBLAS_WHY "OpenBLAS was not found when this was built")

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
