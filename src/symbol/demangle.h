// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

namespace offwait {

struct Demangled {
  std::vector<std::string> names;  ///< one for each symbol
  bool given_up = false;           ///< four symbols ended their process; those after them stay mangled
};

/// The names of symbols as people read them. C++ names are demangled with template arguments and parameters,
/// Rust names (of both kinds) without their hash; any other name stays as it is. An `@VERSION` of a symbol
/// table is left out. A result over 1024 bytes is cut at a character and ends in `…`. A mangled name over
/// 1024 bytes stays mangled. Symbols are hostile, and demanglers are not made for that: libiberty crashes on
/// `_ZN1fUlDTsZT_EE_E`; both it and libstdc++ take 2^n steps to read `_ZN1AcvT_`, n times `IT_`, `IiE`, and
/// to write names whose substitutions are nested n deep. So libiberty runs confined; a symbol that crashes it
/// or takes it more than a second of CPU time stays mangled.
Demangled demangle(const std::vector<std::string>& symbols);

}  // namespace offwait
