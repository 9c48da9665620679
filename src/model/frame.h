// SPDX-License-Identifier: GPL-2.0-or-later
// A frame of a stack: a place in code, as far as it has names.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace offwait {

/// All strings are hostile bytes: escape them in every output. Frames are interned: no two in a Trace are
/// equal.
struct Frame {
  enum class Kind : std::uint8_t {
    user,
    kernel,
    boundary,  ///< no place in code: a text trace has `--` before user frames, but no kernel frames before it
  };

  /// `ns::do_commit(int)`, demangled; empty: no name is known. A frame of a text trace that has another form
  /// than to_string() gives is all function.
  std::string function{};
  /// Of a function without a name: the virtual address in the module where it begins, if that is known.
  std::optional<std::uint64_t> begin{};
  /// From the function's begin. Where neither `function` nor `begin` is known: the virtual address in the
  /// module, or in the process for the modules `anon` and `unknown`, or in the kernel.
  std::optional<std::uint64_t> offset{};
  /// File name without directory, `[kernel]`, `[ext4]`, `[vdso]`, `perf-PID.map`; of kernel and vdso without
  /// brackets if the function has no name; empty: not known.
  std::string module{};
  std::string file{};      ///< source file; empty: not known
  std::uint32_t line = 0;  ///< in `file`
  bool inlined = false;    ///< into the function of the next frame
  Kind kind = Kind::user;

  friend bool operator==(const Frame&, const Frame&) = default;
  // clang-tidy 14 takes its own 0 for one of ours.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Frame&, const Frame&) = default;
};

/// The frame's text in the text form of a trace and in JSON; not escaped.
///   `function+0xoff (module)`
///   `function (inlined) (module)`
///   `[module+0xbegin]+0xoff`     a function without a name: equal up to the `]` for all its places
///   `[module+0xoff]`             neither name nor begin is known
/// each with ` at file:line` where a file is known. What is not known is left out.
std::string to_string(const Frame& frame);

/// The frame without source file and line.
Frame without_line(Frame frame);

/// The frame without offset, source file and line: equal for all places of one function.
Frame function_of(const Frame& frame);

}  // namespace offwait
