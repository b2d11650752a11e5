# harness_knocks(TEST...): these tests do something bad to the harness, count how often it held, and
# say so in the file $HARNESS_KNOCKS (tests/support/knocks.h, tests/cli/lib.sh). They carry the label
# reliability, and tests/reliability makes a table of what they say. Called where the tests are made.
function(harness_knocks)
  set(folder "${PROJECT_BINARY_DIR}/reliability")
  file(MAKE_DIRECTORY "${folder}")
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS reliability)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "HARNESS_KNOCKS=${folder}/${test}.tsv")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY HARNESS_KNOCKS ${ARGN})
endfunction()
