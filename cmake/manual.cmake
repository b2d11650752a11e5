# cmake -DHARNESS=program -DFOLDER=dir -P manual.cmake
# Writes FOLDER/man1/*.1 and FOLDER/{bash/harness,zsh/_harness,fish/harness.fish}.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE "${FOLDER}") # pages of commands that are no more
file(MAKE_DIRECTORY "${FOLDER}/man1" "${FOLDER}/bash" "${FOLDER}/zsh" "${FOLDER}/fish")

function(write_help file)
  execute_process(COMMAND ${HARNESS} help ${ARGN} OUTPUT_FILE "${FOLDER}/${file}"
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

execute_process(COMMAND ${HARNESS} help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "^.*\ncommands:\n" "" help "${help}")
string(REGEX REPLACE "\n\n.*$" "\n" help "${help}")
string(REPLACE ";" "," help "${help}")
string(REGEX MATCHALL "  [a-z-]+ [^\n]*\n" lines "${help}")
if(NOT lines)
  message(FATAL_ERROR "`harness help` lists no commands")
endif()
write_help(man1/harness.1 --man)
foreach(line IN LISTS lines)
  string(REGEX MATCH "[a-z-]+" command "${line}")
  write_help("man1/harness-${command}.1" --man "${command}")
endforeach()
write_help(bash/harness --completion bash)
write_help(zsh/_harness --completion zsh)
write_help(fish/harness.fish --completion fish)
file(TOUCH "${FOLDER}/done")
