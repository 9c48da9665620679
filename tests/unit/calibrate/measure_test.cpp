// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/measure.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace offwait {
namespace {

constexpr Nanos kShort = 300'000'000;
constexpr Nanos kLong = 600 * kSecond;

/// A file without a name, and a pipe to which nothing has been written.
class Scene {
 public:
  Scene() {
    file_.reset(std::tmpfile());
    REQUIRE(file_ != nullptr);
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    cancel_ = UniqueFd(ends[0]);
    other_end_ = UniqueFd(ends[1]);
  }
  Measured measured(std::uint64_t size) const { return {::fileno(file_.get()), size, "'it'"}; }
  int cancel() const { return cancel_.get(); }
  void interrupt() const { REQUIRE(::write(other_end_.get(), "x", 1) == 1); }
  std::uint64_t size() const {
    struct stat status {};
    REQUIRE(::fstat(::fileno(file_.get()), &status) == 0);
    return static_cast<std::uint64_t>(status.st_size);
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  UniqueFd cancel_;
  UniqueFd other_end_;
};

TEST_CASE("a file is filled once, without a hole, with what no disk can compress") {
  const Scene scene;
  const std::uint64_t size = 20 * kLargeBlock;
  const auto filled = fill(scene.measured(size + kLargeBlock / 2), kLong, scene.cancel());
  REQUIRE(filled);
  CHECK(*filled == size);
  CHECK(scene.size() == size);
  std::set<std::uint64_t> words;
  std::size_t count = 0;
  for (std::uint64_t at = 0; at < size; at += kSmallBlock) {
    std::uint64_t word = 0;
    REQUIRE(::pread(scene.measured(size).fd, &word, sizeof(word), static_cast<off_t>(at)) == sizeof(word));
    words.insert(word);
    ++count;
  }
  CHECK(words.count(0) == 0);
  CHECK(words.size() >= count / 20);  // each thread has one block of its own
}

TEST_CASE("a slow disk gets as much as it can take in the time") {
  const Scene scene;
  const auto filled = fill(scene.measured(std::uint64_t{1} << 40), kShort, scene.cancel());
  REQUIRE(filled);
  CHECK(*filled >= kLargeBlock);
  CHECK(*filled == scene.size());
  CHECK(*filled < std::uint64_t{1} << 40);
}

TEST_CASE("what is measured stays inside, and reading changes nothing") {
  const Scene scene;
  const std::uint64_t size = 3 * kLargeBlock;
  REQUIRE(fill(scene.measured(size), kLong, scene.cancel()));
  const auto write = measure(scene.measured(size), Direction::write, kShort, scene.cancel());
  REQUIRE(write);
  CHECK(scene.size() == size);
  const auto read = measure(scene.measured(size), Direction::read, kShort, scene.cancel());
  REQUIRE(read);
  for (const Throughput& throughput : {*write, *read}) {
    CHECK(throughput.bytes_per_s > 0);
    CHECK(throughput.ios_per_s > 0);
  }
}

TEST_CASE("a measurement that is interrupted ends with an error") {
  const Scene scene;
  REQUIRE(fill(scene.measured(kLargeBlock), kLong, scene.cancel()));
  scene.interrupt();
  CHECK(measure(scene.measured(kLargeBlock), Direction::read, kLong, scene.cancel()).error().message ==
        "interrupted");
}

TEST_CASE("a file that cannot be measured is an error") {
  const Scene scene;
  CHECK(measure(scene.measured(kLargeBlock - 1), Direction::read, kLong, scene.cancel()).error().message ==
        "'it' is too small to be measured");
  CHECK(fill(scene.measured(0), kLong, scene.cancel()).error().message == "'it' is too small to be measured");
  // The file ends before the size that is claimed.
  CHECK(measure(scene.measured(kLargeBlock), Direction::read, kLong, scene.cancel()).error().message ==
        "cannot read 'it': Input/output error");
  const UniqueFd read_only(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  CHECK(fill({read_only.get(), kLargeBlock, "'it'"}, kLong, scene.cancel()).error().message ==
        "cannot write 'it': Bad file descriptor");
}

}  // namespace
}  // namespace offwait
