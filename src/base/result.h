// SPDX-License-Identifier: GPL-2.0-or-later
// Errors as values that must be looked at. `std::expected` is not usable here: GCC 12's header does
// not compile under clang 14, which builds the fuzzers and runs clang-tidy.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace offwait {

/// Why something could not be done: one sentence for the user, without a trailing full stop or
/// newline, that says what to do where there is something to do.
struct [[nodiscard]] Error {
  std::string message;
  int exit_status = 1;  ///< of offwait, if it ends for this
};

/// Either a value or an Error. `T` is never `Error`.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(*-explicit-*)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*-explicit-*)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// Only when ok().
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Only when not ok().
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// A success without a value.
using Status = Result<std::monostate>;
inline Status success() { return std::monostate{}; }

}  // namespace offwait
