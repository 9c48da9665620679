// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <fcntl.h>

#include "base/monotonic.h"
#include "base/nanos.h"
#include "base/read_file.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {
namespace {

TEST_CASE("seconds of nanoseconds") {
  CHECK(to_seconds(0) == 0.0);
  CHECK(to_seconds(1) == 1e-9);
  CHECK(to_seconds(kSecond) == 1.0);
  CHECK(to_seconds(-3 * kSecond / 2) == -1.5);
}

TEST_CASE("the offset of a time namespace's clock") {
  CHECK(monotonic_offset("monotonic           0         0\nboottime            0         0\n") == 0);
  CHECK(monotonic_offset("monotonic     100000         5\nboottime      200000         0\n") ==
        100'000 * kSecond + 5);
  CHECK(monotonic_offset("monotonic         -3         0\nboottime            0         0\n") ==
        -3 * kSecond);
  CHECK(monotonic_offset("") == 0);
}

TEST_CASE("a result is a value or an error") {
  Result<std::string> value = std::string("text");
  CHECK(value.ok());
  CHECK(static_cast<bool>(value));
  CHECK(*value == "text");
  CHECK(value->size() == 4);
  value.value() += "s";
  CHECK(*value == "texts");

  const Result<std::string> error = Error{"no"};
  CHECK_FALSE(error.ok());
  CHECK_FALSE(static_cast<bool>(error));
  CHECK(error.error().message == "no");

  CHECK(success().ok());
  CHECK_FALSE(Status(Error{"no"}).ok());
}

TEST_CASE("a value that can only be moved can be taken out of a result") {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = std::move(result).value();
  REQUIRE(taken);
  CHECK(*taken == 7);
}

Result<int> half(int number) {
  if (number % 2 != 0) return Error{std::to_string(number) + " is odd", 2};
  return number / 2;
}

Status is_even(int number) {
  OFFWAIT_TRY([[maybe_unused]] const int ignored, half(number));
  return success();
}

Result<std::unique_ptr<int>> quarter(int number, int& calls) {
  int result = 0;
  OFFWAIT_TRY(const int first, half((++calls, number)));
  OFFWAIT_TRY(result, half(first));
  OFFWAIT_TRY_STATUS(is_even(result));
  OFFWAIT_TRY(auto owned, Result<std::unique_ptr<int>>(std::make_unique<int>(result)));
  return owned;
}

TEST_CASE("the first error ends the function that tries several things") {
  int calls = 0;
  const Result<std::unique_ptr<int>> eight = quarter(8, calls);
  REQUIRE(eight);
  CHECK(**eight == 2);
  CHECK(calls == 1);
  for (const auto& [number, message] : {std::pair{3, "3 is odd"}, {6, "3 is odd"}, {4, "1 is odd"}}) {
    const Result<std::unique_ptr<int>> error = quarter(number, calls);
    REQUIRE_FALSE(error);
    CHECK(error.error().message == message);
    CHECK(error.error().exit_status == 2);
  }
  CHECK(calls == 4);
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST_CASE("a file descriptor is closed once, by its last owner") {
  static_assert(!std::is_copy_constructible_v<UniqueFd> && !std::is_copy_assignable_v<UniqueFd>);
  const UniqueFd none;
  CHECK_FALSE(static_cast<bool>(none));
  CHECK(none.get() == -1);

  int fd = -1;
  int other = -1;
  {
    UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    REQUIRE(static_cast<bool>(first));
    fd = first.get();
    UniqueFd second(std::move(first));
    CHECK(second.get() == fd);
    CHECK(is_open(fd));
    UniqueFd third(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    other = third.get();
    third = std::move(second);
    CHECK(third.get() == fd);
    CHECK(is_open(fd));
  }
  CHECK_FALSE(is_open(fd));
  CHECK_FALSE(is_open(other));
}

TEST_CASE("A file that fails while it is read gives what there was") {
  CHECK(read_file("/proc/self/comm") == "unit_base\n");
  CHECK(read_file("/proc/self/mem").empty());  // address 0 cannot be read
  CHECK(read_file("/proc/self/no such file").empty());
}

}  // namespace
}  // namespace offwait
