# HARNESS_CUDA in all the ways that people say it; a slip is refused (in a CMake of its own, as the
# refusal ends it).
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/HarnessCudaChoice.cmake")

if(DEFINED VALUE)
  harness_cuda_choice("${VALUE}" choice)
  return()
endif()

foreach(row AUTO=AUTO auto=AUTO HOST=HOST host=HOST ON=ON on=ON 1=ON TRUE=ON yes=ON
    OFF=OFF off=OFF 0=OFF FALSE=OFF No=OFF)
  string(REPLACE "=" ";" row "${row}")
  list(GET row 0 value)
  list(GET row 1 wanted)
  harness_cuda_choice("${value}" choice)
  if(NOT choice STREQUAL "${wanted}")
    message(SEND_ERROR "${value} is ${choice}, not ${wanted}")
  endif()
endforeach()

foreach(value nvcc 2 onn "" AUTO,ON)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DVALUE=${value}" -P "${CMAKE_CURRENT_LIST_FILE}"
    RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  if(status EQUAL 0 OR NOT said MATCHES "HARNESS_CUDA is \"${value}\"; it may be AUTO, ON, OFF or HOST")
    message(SEND_ERROR "\"${value}\" was not refused: ${said}")
  endif()
endforeach()
