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
  int exit_status = 1;  ///< offwait's exit status if this error ends it
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
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

/// A success without a value.
using Status = Result<std::monostate>;
inline Status success() { return std::monostate{}; }

#define OFFWAIT_JOIN_EXPANDED(a, b) a##b
#define OFFWAIT_JOIN(a, b) OFFWAIT_JOIN_EXPANDED(a, b)
#define OFFWAIT_TRY_AS(result, declaration, ...) \
  auto result = (__VA_ARGS__);                   \
  if (!result) return std::move(result).error(); \
  declaration = std::move(result).value() /* NOLINT(bugprone-macro-parentheses) */

/// `OFFWAIT_TRY(const auto file, open_file(path));` declares `file` with the value of the Result that the
/// expression gives; if that is an error, the enclosing function returns it. The declaration may also name a
/// variable that exists. Two statements, so not the body of an `if` without braces.
#define OFFWAIT_TRY(declaration, ...) \
  OFFWAIT_TRY_AS(OFFWAIT_JOIN(offwait_result_, __LINE__), declaration, __VA_ARGS__)

/// `OFFWAIT_TRY_STATUS(write(text));` returns the error of a Status from the enclosing function.
#define OFFWAIT_TRY_STATUS(...)                                    \
  do {                                                             \
    auto offwait_status = (__VA_ARGS__);                           \
    if (!offwait_status) return std::move(offwait_status).error(); \
  } while (false)

}  // namespace offwait
