# offwait_program(NAME SOURCE...): a program whose timing is the point, for tests and examples: no sanitizers and always -O2,
# whatever the build. OFFWAIT_PROGRAMS names the directory of another build, whose programs (and BPF objects) are
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
