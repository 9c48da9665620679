// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace offwait {

/// A symbol's name for people: a C++ name demangled with its template arguments and parameters, any
/// other as it is; without an `@VERSION` (of a symbol table). A result over 1024 bytes is cut there, at a
/// character, and ends in `…`. A mangled name over 4096 bytes is not demangled; libstdc++ 12 itself refuses
/// those over 1024.
/// Not bounded: what __cxa_demangle builds before the cut. A symbol made for it (substitutions nested n
/// deep in 9n bytes) takes time and memory in 2^n.
std::string demangle(std::string_view symbol);

}  // namespace offwait
