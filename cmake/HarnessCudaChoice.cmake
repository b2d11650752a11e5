# What HARNESS_CUDA says, in one word: AUTO, ON, OFF or HOST. ON and OFF may be said in whatever way
# CMake has for them. A slip is an error: taken for AUTO, nobody would notice it.
function(harness_cuda_choice value out)
  string(TOUPPER "${value}" word)
  if(word MATCHES "^(ON|YES|TRUE|Y|1)$")
    set(word ON)
  elseif(word MATCHES "^(OFF|NO|FALSE|N|0)$")
    set(word OFF)
  elseif(NOT word MATCHES "^(AUTO|HOST)$")
    message(FATAL_ERROR "HARNESS_CUDA is \"${value}\"; it may be AUTO, ON, OFF or HOST")
  endif()
  set(${out} ${word} PARENT_SCOPE)
endfunction()
