// SPDX-License-Identifier: GPL-2.0-or-later
// A frame of a stack: a place in code, with the names that are known for it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace offwait {

/// All strings are hostile bytes: escape them in every output. Frames are interned: no two in a Trace are
/// equal.
struct Frame {
  /// Recording files have the numbers: new ones are appended.
  enum class Kind : std::uint8_t {
    user,
    kernel,
    boundary,  ///< no place in code, but the `--` of a text trace that has no kernel frames before it
  };

  /// Demangled, `ns::do_commit(int)`; empty if no name is known. If a frame of a text trace does not have the
  /// form of to_string(), this is the whole text.
  std::string function{};
  /// For a function without a name: the virtual address in the module where it begins, if that is known.
  std::optional<std::uint64_t> begin{};
  /// The distance from the function's start. If neither `function` nor `begin` is known, it is the virtual
  /// address in the module, in the process (for the modules `anon` and `unknown`), or in the kernel.
  std::optional<std::uint64_t> offset{};
  /// A file name without directory, `perf-PID.map`, or in brackets `[kernel]`, `[ext4]`, `[vdso]`. The names
  /// of the kernel and of the vdso have no brackets if the function has no name. Empty if it is not known.
  std::string module{};
  std::string file{};      ///< source file; empty: not known
  std::uint32_t line = 0;  ///< in `file`
  bool inlined = false;    ///< the function was inlined into that of the next frame
  Kind kind = Kind::user;

  friend bool operator==(const Frame&, const Frame&) = default;
  // clang-tidy 14 takes its own 0 for one of ours.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Frame&, const Frame&) = default;
};

inline constexpr std::size_t kFrameKinds = 3;

/// The frame's text in the text form of a trace and in JSON; not escaped.
///   `function+0xoff (module)`
///   `function (inlined) (module)`
///   `[module+0xbegin]+0xoff`     function without a name; all its places have the same text up to the `]`
///   `[module+0xoff]`             neither name nor begin is known
/// Each is followed by ` at file:line` where a file is known. Unknown parts are left out.
std::string to_string(const Frame& frame);

/// The frame without source file and line.
Frame without_line(Frame frame);

/// The frame without offset, source file and line: equal for all places of one function.
Frame function_of(const Frame& frame);

}  // namespace offwait
