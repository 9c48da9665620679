# Flags for offwait's own C++ code. Sanitizers are part of them: a target without them is a workload or
# an example, whose timing is the point.
add_library(offwait_flags INTERFACE)
target_compile_options(offwait_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Werror -fno-omit-frame-pointer)
if(OFFWAIT_SANITIZE)
  # To check a vptr UBSan asks with a pipe whether memory can be read: the sandbox has none.
  target_compile_options(offwait_flags INTERFACE -fsanitize=${OFFWAIT_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all)
  target_link_options(offwait_flags INTERFACE -fsanitize=${OFFWAIT_SANITIZE})
endif()
# GCC 12 reports every `"literal" + std::string` as overlapping (PR105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(offwait_flags INTERFACE -Wno-restrict)
endif()
