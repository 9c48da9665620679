// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit/unwind/oracle.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

namespace offwait::test {
namespace {

// libdw takes most of the time, and with sanitizers ten times as much.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kFiles = 2;
#else
constexpr std::size_t kFiles = 20;
#endif

using Sized = std::pair<std::uintmax_t, std::string>;

/// Regular files under these directories, each inode once, the largest first.
std::vector<Sized> largest_files(const std::vector<std::string>& directories) {
  namespace fs = std::filesystem;
  std::set<Sized> files;
  for (const std::string& directory : directories) {
    const auto options = fs::directory_options::skip_permission_denied;
    for (const auto& entry : fs::recursive_directory_iterator(directory, options)) {
      std::error_code error;
      if (!entry.is_symlink(error) && entry.is_regular_file(error) && entry.file_size(error) > 100000) {
        files.emplace(entry.file_size(error), entry.path().string());
      }
    }
  }
  return {files.rbegin(), files.rend()};
}

void compare(const std::vector<Sized>& files, std::size_t most) {
  Comparison all;
  std::size_t compared = 0;
  for (const auto& [size, path] : files) {
    const Comparison one = compare_with_libdw(path);
    if (one.rows == 0) {
      continue;
    }
    INFO(path);
    CHECK(one.differences == std::vector<std::string>{});
    CHECK(one.entries == one.functions);
    std::cout << path << ": " << one.rows << " rows, " << one.unfit << " unfit\n";
    all.rows += one.rows;
    all.unfit += one.unfit;
    all.fp_lost += one.fp_lost;
    if (++compared == most) {
      break;
    }
  }
  std::cout << compared << " files, " << all.rows << " rows compared with libdw, " << all.unfit
            << " do not fit into a row, " << all.fp_lost << " without the caller's fp\n";
  CHECK(compared > 0);
  CHECK(all.unfit * 1000 < all.rows);
  CHECK(all.fp_lost * 1000 < all.rows);
}

}  // namespace

TEST_CASE("the tables of the largest files installed say what libdw says") {
  compare(largest_files({"/usr/lib", "/usr/bin"}), kFiles);
}

// arm64_test.sh downloads the files.
TEST_CASE("the tables of arm64 files say what libdw says", "[.arm64]") {
  const char* root = std::getenv("OFFWAIT_ARM64_ROOT");
  REQUIRE(root != nullptr);
  compare(largest_files({root}), 20);
}

}  // namespace offwait::test
