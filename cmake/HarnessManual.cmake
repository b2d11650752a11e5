# Manual pages and completion files, written by the program itself from its tables of commands and
# options, each time it was linked. A program that cannot run here, or only under a sanitizer's
# conditions, writes none; nor does a build of the target harness alone.
if(HARNESS_SANITIZE OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
  return()
endif()

set(manual "${PROJECT_BINARY_DIR}/manual")
add_custom_command(OUTPUT "${manual}/done"
  COMMAND "${CMAKE_COMMAND}" "-DHARNESS=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:harness>"
    "-DFOLDER=${manual}" -P "${PROJECT_SOURCE_DIR}/cmake/manual.cmake"
  DEPENDS harness "${PROJECT_SOURCE_DIR}/cmake/manual.cmake"
  COMMENT "Manual pages and completion" VERBATIM)
add_custom_target(harness_manual ALL DEPENDS "${manual}/done")

install(DIRECTORY "${manual}/man1" DESTINATION share/man OPTIONAL)
install(FILES "${manual}/bash/harness" DESTINATION share/bash-completion/completions OPTIONAL)
install(FILES "${manual}/zsh/_harness" DESTINATION share/zsh/site-functions OPTIONAL)
install(FILES "${manual}/fish/harness.fish" DESTINATION share/fish/vendor_completions.d OPTIONAL)
