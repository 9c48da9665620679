# offwait_program(NAME SOURCE...) adds a program for tests or examples whose timing matters: it has no sanitizers and is
# always compiled with -O2. OFFWAIT_PROGRAMS names the directory of another build; its programs (and BPF objects) are then
# used instead of building the same again.
find_package(Threads REQUIRED)
function(offwait_program name)
  if(OFFWAIT_PROGRAMS)
    file(RELATIVE_PATH directory ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    add_executable(${name} IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${OFFWAIT_PROGRAMS}/${directory}/${name})
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_compile_options(${name} PRIVATE -O2 -g -fno-omit-frame-pointer -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wsign-conversion -Wold-style-cast -Wimplicit-fallthrough -Werror)
  target_link_libraries(${name} PRIVATE Threads::Threads)
endfunction()
