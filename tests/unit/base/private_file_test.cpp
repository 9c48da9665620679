// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/private_file.h"

#include <catch2/catch.hpp>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/temporary_directory.h"

namespace offwait {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

void write_file(const std::string& path, const std::string& content, mode_t mode) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, mode));
  REQUIRE(::write(file.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  REQUIRE(::fchmod(file.get(), mode) == 0);
}

TEST_CASE("a private file is readable for its owner alone") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "new";
  const mode_t before = ::umask(0);
  const bool opened = open_private(path).ok();
  ::umask(before);
  REQUIRE(opened);
  CHECK(mode_of(path) == 0600);
}

TEST_CASE("a file that was there keeps its content until it is emptied, and is closed to others") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "old";
  write_file(path, "old", 0644);
  REQUIRE(open_private(path).ok());
  CHECK(mode_of(path) == 0600);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK(status.st_size == 3);
}

TEST_CASE("a symbolic link is not followed, except in /dev") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "link";
  const std::string leads_to = directory / "target";
  REQUIRE(::symlink(leads_to.c_str(), path.c_str()) == 0);
  const Result<UniqueFd> opened = open_private(path);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().message ==
        "cannot write " + path + ": it is a symbolic link; name the file that it leads to");
  CHECK(::access(leads_to.c_str(), F_OK) != 0);
  CHECK(open_private("/dev/fd/1").ok());
}

TEST_CASE("another user's link in /dev is not followed") {
  if (::geteuid() != 0) return;  // only root can give links away
  const test::TemporaryDirectory directory;
  const std::string path = "/dev/shm/offwait-link-" + std::to_string(::getpid());
  const std::string leads_to = directory / "target";
  REQUIRE(::symlink(leads_to.c_str(), path.c_str()) == 0);
  REQUIRE(::lchown(path.c_str(), 65534, 65534) == 0);
  const bool opened = open_private(path).ok();
  ::unlink(path.c_str());
  CHECK_FALSE(opened);
  CHECK(::access(leads_to.c_str(), F_OK) != 0);
}

TEST_CASE("another user's named pipe is not written") {
  if (::geteuid() != 0) return;
  const test::TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0666) == 0);
  REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
  const UniqueFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  CHECK_FALSE(open_private(path).ok());
  REQUIRE(::chown(path.c_str(), 0, 0) == 0);
  CHECK(open_private(path).ok());
}

TEST_CASE("another user's file is not written") {
  if (::geteuid() != 0) return;  // only root can give files away
  const test::TemporaryDirectory directory;
  const std::string path = directory / "other";
  write_file(path, "", 0666);
  REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
  const Result<UniqueFd> opened = open_private(path);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().message ==
        "cannot write " + path + ": it belongs to another user, who could read it; name another file");
  CHECK(mode_of(path) == 0666);
}

TEST_CASE("two recorders do not share a file") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "file";
  Result<UniqueFd> first = open_private(path);
  Result<UniqueFd> second = open_private(path);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(take_file(first->get(), "file").ok());
  const Status taken = take_file(second->get(), "file");
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().message == "another offwait records into file: name another file");
  *first = UniqueFd();
  CHECK(take_file(second->get(), "file").ok());
}

TEST_CASE("a file that another program removes or cuts is noticed") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "file";
  write_file(path, "0123456789", 0600);
  Result<UniqueFd> file = open_private(path);
  REQUIRE(file.ok());
  CHECK(check_unchanged(file->get(), "file", 10, true).ok());
  CHECK(check_unchanged(file->get(), "file", 4, true).ok());  // standard output may have had bytes before
  REQUIRE(::truncate(path.c_str(), 9) == 0);
  const Status cut = check_unchanged(file->get(), "file", 10, true);
  REQUIRE_FALSE(cut.ok());
  CHECK(cut.error().message == "cannot go on writing file: another program has emptied or cut the file");
  REQUIRE(::unlink(path.c_str()) == 0);
  const Status removed = check_unchanged(file->get(), "file", 9, true);
  REQUIRE_FALSE(removed.ok());
  CHECK(removed.error().message == "cannot go on writing file: another program has removed the file");
  CHECK_FALSE(is_in_directory(file->get()));
  // What never was in a directory cannot be removed from it.
  CHECK(check_unchanged(file->get(), "file", 9, false).ok());
}

}  // namespace
}  // namespace offwait
