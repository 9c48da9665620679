// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <fcntl.h>

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
