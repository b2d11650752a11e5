# The page of `harness report` and `harness serve`: plots/web, bundled with Plotly into one HTML
# file that travels inside the binary. npm fetches what plots/web/package-lock.json pins, at configure
# time and into the build tree; building needs no network. Why these two packages:
# docs/decisions/0014-page-bundle.md.
#
# HARNESS_PAGE is the file, or empty, and then the configure output says why.
set(HARNESS_WEB AUTO CACHE STRING "The page of report and serve: AUTO, ON (required) or OFF")
set_property(CACHE HARNESS_WEB PROPERTY STRINGS AUTO ON OFF)
set(HARNESS_PAGE "")

# Copies package files of `source` to `folder` and runs `npm ci` there, unless that was done with
# the same files before. Sets `failed` to the reason where it did not work, else to nothing.
function(harness_npm_ci source folder failed)
  set(files package.json package-lock.json .npmrc)
  set(digests "")
  foreach(file IN LISTS files)
    file(SHA256 "${source}/${file}" digest)
    string(APPEND digests "${digest}\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}/${file}")
  endforeach()
  set(done "")
  if(EXISTS "${folder}/installed")
    file(READ "${folder}/installed" done)
  endif()
  set(${failed} "" PARENT_SCOPE)
  if(done STREQUAL digests)
    return()
  endif()
  file(MAKE_DIRECTORY "${folder}")
  foreach(file IN LISTS files)
    file(COPY_FILE "${source}/${file}" "${folder}/${file}")
  endforeach()
  execute_process(
    COMMAND "${HARNESS_NPM}" ci --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000
    WORKING_DIRECTORY "${folder}" TIMEOUT 900
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT result EQUAL 0)
    string(STRIP "${said}" said)
    set(${failed} "npm ci failed (${result}): ${said}" PARENT_SCOPE)
    return()
  endif()
  file(WRITE "${folder}/installed" "${digests}")
endfunction()

# Sets `failed` to why there can be no page, or to nothing after all packages are there.
function(harness_web_packages folder failed)
  find_program(HARNESS_NODE node)
  find_program(HARNESS_NPM npm)
  mark_as_advanced(HARNESS_NODE HARNESS_NPM)
  if(HARNESS_WEB STREQUAL "OFF")
    set(reason "switched off by HARNESS_WEB=OFF")
  elseif(NOT HARNESS_NODE OR NOT HARNESS_NPM)
    set(reason "node and npm were not found (Debian and Ubuntu: apt-get install nodejs npm)")
  else()
    harness_npm_ci("${PROJECT_SOURCE_DIR}/plots/web" "${folder}" reason)
  endif()
  set(${failed} "${reason}" PARENT_SCOPE)
endfunction()

set(web_folder "${PROJECT_BINARY_DIR}/web")
harness_web_packages("${web_folder}/packages" web_failed)
if(web_failed AND HARNESS_WEB STREQUAL "ON")
  message(FATAL_ERROR "HARNESS_WEB=ON, but the page cannot be built: ${web_failed}")
elseif(web_failed)
  message(STATUS "Without the page of report and serve: ${web_failed}")
else()
  set(HARNESS_PAGE "${web_folder}/page.html")
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/plots/web/src/*.js"
    "${PROJECT_SOURCE_DIR}/plots/web/style/*.css")
  add_custom_command(OUTPUT "${HARNESS_PAGE}"
    COMMAND "${HARNESS_NODE}" "${PROJECT_SOURCE_DIR}/plots/web/bundle.mjs"
      "${web_folder}/packages" "${HARNESS_PAGE}"
    DEPENDS ${web_sources} "${PROJECT_SOURCE_DIR}/plots/web/bundle.mjs"
      "${PROJECT_SOURCE_DIR}/plots/web/page.html" "${web_folder}/packages/installed"
    COMMENT "Bundling the page" VERBATIM)
  install(FILES "${web_folder}/packages/node_modules/plotly.js-basic-dist-min/LICENSE"
    DESTINATION share/harness/licences RENAME plotly.js.txt)
endif()
