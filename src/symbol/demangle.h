// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/unique_fd.h"

namespace offwait {

/// Symbols' names for people. Symbols are hostile, and demanglers are not made for that: libiberty's crashes
/// on
/// `_ZN1fUlDTsZT_EE_E`; it and libstdc++'s take 2^n steps to read `_ZN1AcvT_`, n times `IT_`, `IiE`, and to
/// write names whose substitutions are nested n deep. So libiberty's runs in a child process with a second
/// of CPU time, which allocates no memory and may only read and write; what goes wrong there costs the name.
/// The child is made at the first C++ name, and anew after one that it could not finish.
/// Not for several threads at once.
class Demangler {
 public:
  Demangler() = default;
  ~Demangler();
  Demangler(const Demangler&) = delete;
  Demangler& operator=(const Demangler&) = delete;
  Demangler(Demangler&&) = delete;
  Demangler& operator=(Demangler&&) = delete;

  /// A C++ symbol demangled with its template arguments and parameters, any other as it is; without an
  /// `@VERSION` (of a symbol table). A result over 1024 bytes is cut there, at a character, and ends in
  /// `…`. A mangled name over 1024 bytes, or that takes libiberty more than the second, stays mangled.
  std::string operator()(std::string_view symbol);

  /// Four names have cost their child process: those that come later stay mangled.
  bool given_up() const { return lost_ >= 4; }

 private:
  bool start();
  void stop();
  /// The name, up to 1025 bytes of it; empty when the child is lost.
  std::string ask(std::string_view mangled);

  UniqueFd socket_;  // to the child, when there is one; keeps messages apart: a mangled name, then its answer
  pid_t child_ = -1;
  int lost_ = 0;
};

}  // namespace offwait
