// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace offwait::test {

/// A new directory, which the destructor removes with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::array<char, 64> name{"/tmp/offwait-unit-XXXXXX"};
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name.data();
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  TemporaryDirectory(TemporaryDirectory&&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace offwait::test
