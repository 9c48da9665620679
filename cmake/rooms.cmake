# A whole build with OFFWAIT_TOGETHER takes half of the time, and one after a change takes longer. The files that the
# compiler gets together share their unnamed namespaces.
option(OFFWAIT_TOGETHER "Compile several files of a room at once" OFF)
function(offwait_together target)
  if(OFFWAIT_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    # GCC takes an unnamed namespace of an included file for one that several files share.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# offwait_room(NAME [DEPENDS room...] [LIBRARIES lib...]) makes src/NAME a static library that is linked to the
# rooms it depends on and to no others. tests/rooms.py checks the includes as well.
function(offwait_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(TRANSFORM ROOM_DEPENDS PREPEND offwait_ OUTPUT_VARIABLE depends)
  if(sources)
    add_library(offwait_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(offwait_${name} PRIVATE offwait_flags)
    offwait_together(offwait_${name})
  else()
    add_library(offwait_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(offwait_${name} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(offwait_${name} ${scope} ${depends} ${ROOM_LIBRARIES})
endfunction()
