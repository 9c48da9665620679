# Flags for offwait's own C++ code, including the sanitizers. Workloads and examples do without these flags, as
# their timing matters.
add_library(offwait_flags INTERFACE)
target_compile_options(offwait_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Werror -fno-omit-frame-pointer)
if(OFFWAIT_SANITIZE)
  # UBSan's vptr check uses a pipe to find out whether memory can be read, and the sandbox does not allow pipes.
  target_compile_options(offwait_flags INTERFACE -fsanitize=${OFFWAIT_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all)
  target_link_options(offwait_flags INTERFACE -fsanitize=${OFFWAIT_SANITIZE})
  if(OFFWAIT_SANITIZE MATCHES address)
    # At a fixed address there is nothing to relocate: 1.5 million places, half of the time that a program takes to start.
    target_link_options(offwait_flags INTERFACE -no-pie)
    # GCC says so itself, clang does not.
    target_compile_definitions(offwait_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:__SANITIZE_ADDRESS__>)
  endif()
endif()
# GCC 12 reports every `"literal" + std::string` as overlapping (PR105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(offwait_flags INTERFACE -Wno-restrict)
endif()
