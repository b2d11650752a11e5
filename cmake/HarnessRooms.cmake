# One target a room, which is a folder of harness/. Code includes "room/header.h"; the include path
# of a target holds its own room and those it names, with all below them, so an include that points
# up does not compile.
#
# The path is build/rooms/<room>, where the room's name leads to the source folder: a link, or, for a
# room with rooms inside (chart, cli, importers, reporters, session), a folder of links to its headers alone, so that
# whoever sees it does not see those.

function(harness_room_name out room)
  string(REPLACE "/" "_" name "${room}")
  set(${out} "harness_${name}" PARENT_SCOPE)
endfunction()

# harness_room_includes(chart/types FOLDER): the target harness_chart_types_includes. kernels/ and
# models/ are seen as a whole.
function(harness_room_includes room folder)
  harness_room_name(name ${room})
  set(root "${PROJECT_BINARY_DIR}/rooms/${name}")
  cmake_path(GET room PARENT_PATH parent)
  file(MAKE_DIRECTORY "${root}/${parent}")
  if(IS_SYMLINK "${root}/${room}")
    file(REMOVE "${root}/${room}") # or what is put in there would go into the source folder
  elseif(IS_DIRECTORY "${root}/${room}")
    file(REMOVE_RECURSE "${root}/${room}") # links to headers that may be no more
  endif()
  if(room MATCHES "^(chart|cli|importers|reporters|session)$")
    file(MAKE_DIRECTORY "${root}/${room}")
    file(GLOB headers CONFIGURE_DEPENDS "${folder}/*.h")
    foreach(header IN LISTS headers)
      cmake_path(GET header FILENAME file)
      file(CREATE_LINK "${header}" "${root}/${room}/${file}" SYMBOLIC)
    endforeach()
  else()
    file(CREATE_LINK "${folder}" "${root}/${room}" SYMBOLIC)
  endif()
  add_library(${name}_includes INTERFACE)
  target_include_directories(${name}_includes INTERFACE "${root}")
endfunction()

# The sources of a room: .c and .cc always, .cu where CUDA is built.
function(harness_room_sources target room)
  set(folder "${PROJECT_SOURCE_DIR}/harness/${room}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.c" "${folder}/*.cc" "${folder}/*.h")
  if(HARNESS_HAVE_CUDA)
    file(GLOB cuda CONFIGURE_DEPENDS "${folder}/*.cu")
    list(FILTER cuda EXCLUDE REGEX "_sm90a\\.cu$")
    if(cuda)
      harness_cuda_sources(${cuda})
      list(APPEND sources ${cuda})
      target_compile_definitions(${target} PRIVATE HARNESS_HAVE_CUDA=1)
      target_include_directories(${target} PRIVATE "${HARNESS_CUDA_ROOT}")
      harness_room_sm90a(${target} ${room})
    endif()
  endif()
  target_sources(${target} PRIVATE ${sources})
  target_link_libraries(${target} PRIVATE harness_flags)
  if(NOT HARNESS_SANITIZE) # 128 KiB of stack are enough, see tests/faults
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C>:-Wframe-larger-than=32768>")
  endif()
endfunction()

# harness_room(chart/types USES lower... LIBRARIES lib...): the target harness_chart_types.
# OBJECTS: its objects are parts of whoever links it, for the rooms of the program itself.
function(harness_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OBJECTS" "" "USES;LIBRARIES")
  harness_room_name(name ${room})
  set(kind STATIC)
  if(arg_OBJECTS)
    set(kind OBJECT)
  endif()
  add_library(${name} ${kind})
  harness_room_includes(${room} "${PROJECT_SOURCE_DIR}/harness/${room}")
  harness_room_sources(${name} ${room})
  target_link_libraries(${name} PUBLIC ${name}_includes)
  foreach(lower IN LISTS arg_USES)
    harness_room_name(lower ${lower})
    target_link_libraries(${name} PUBLIC ${lower})
  endforeach()
  target_link_libraries(${name} PUBLIC ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
endfunction()
