// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/far_files.h"

#include <catch2/catch.hpp>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read_file.h"

using namespace offwait;

TEST_CASE("the kernel answers for its own file systems") {
  for (const char* near : {"ext4", "xfs", "btrfs", "overlay", "tmpfs"}) CHECK(is_near(near));
  for (const char* far : {"fuse", "fuse.sshfs", "fuseblk", "nfs4", "cifs", "9p", "ceph", ""}) {
    CHECK_FALSE(is_near(far));
  }
}

TEST_CASE("a far file is copied with what identifies it; what is no file is not") {
  char path[] = "/tmp/offwait-far-XXXXXX";
  const UniqueFd file(mkstemp(path));
  REQUIRE(file);
  const std::string text(100'000, 'x');
  REQUIRE(write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  struct stat status {};
  REQUIRE(fstat(file.get(), &status) == 0);
  std::optional<FarFile> copy = copy_far_file(path, 7);
  REQUIRE(copy);
  CHECK(copy->status.st_ino == status.st_ino);
  REQUIRE(lseek(copy->copy.get(), 0, SEEK_SET) == 0);
  CHECK(read_all(copy->copy.get()) == text);
  unlink(path);
  CHECK_FALSE(copy_far_file(path, 7));
  CHECK_FALSE(copy_far_file("/tmp", 7));
  CHECK_FALSE(copy_far_file("/dev/null", 7));
  CHECK(silent_file_systems().empty());
}
