# Prints a table that reliability.table has just made, once: other calls of ctest have none to show.
if(NOT EXISTS "${FOLDER}/table.txt")
  return()
endif()
file(RENAME "${FOLDER}/table.txt" "${FOLDER}/last_table.txt")
execute_process(COMMAND "${CMAKE_COMMAND}" -E cat "${FOLDER}/last_table.txt")
