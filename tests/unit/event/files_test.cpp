// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/files.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "event/assemble.h"
#include "model/validate.h"
#include "offwait/event.h"
#include "recordings.h"

namespace offwait {
namespace {

using test::RecordingByHand;

constexpr std::uint32_t kDisk = 254 << 20 | 1;
constexpr std::uint8_t kToRoot = OFFWAIT_FILE_TO_ROOT;

offwait_file record_of(const std::vector<std::string>& names, std::uint8_t flags) {
  offwait_file record{};
  record.type = OFFWAIT_RECORD_FILE;
  record.flags = flags;
  record.id = 7;
  record.dev = kDisk;
  record.inode = 12;
  record.generation = 3;
  for (const std::string& name : names) {
    name.copy(record.parts + record.length, name.size());
    record.length += static_cast<std::uint32_t>(name.size()) + 1;
  }
  return record;
}

std::string path_of(const std::vector<std::string>& names, std::uint8_t flags) {
  return kernel_file(record_of(names, flags)).path;
}

TEST_CASE("a path is told from its last name to its first") {
  CHECK(path_of({"c", "b", "a"}, kToRoot) == "/a/b/c");
  CHECK(path_of({"c", "b", "a"}, OFFWAIT_FILE_TO_FILE_SYSTEM) == "/a/b/c");
  CHECK(path_of({"c", "b"}, 0) == ".../b/c");
  CHECK(path_of({}, kToRoot) == "/");
  CHECK(path_of({}, 0).empty());
  CHECK(path_of({"\n\x1b[2J", " "}, kToRoot) == "/ /\n\x1b[2J");
}

TEST_CASE("a record that lies about its length is read within its bounds") {
  offwait_file record = record_of({"a"}, kToRoot);
  record.length = UINT32_MAX;
  std::fill(std::begin(record.parts), std::end(record.parts), 'x');
  CHECK(kernel_file(record).path == "/" + std::string(OFFWAIT_PATH_BYTES, 'x'));
}

/// The object of a file of the file system on kDisk.
Object object_of(const KernelFile& file, const std::vector<KernelMount>& mounts) {
  KernelRecording recording;
  recording.files[7] = file;
  recording.mounts = mounts;
  TraceBuilder builder;
  Files files(recording, builder);
  const ObjectId id = files.with_id(7);
  REQUIRE(id != kNoObject);
  CHECK(files.with_id(7) == id);
  CHECK(files.with_id(8) == kNoObject);
  CHECK(files.with_id(0) == kNoObject);
  return builder.trace().objects.at(id);
}

TEST_CASE("files, journals and metadata are objects") {
  CHECK(object_of(kernel_file(record_of({"b", "a"}, kToRoot | OFFWAIT_FILE_DELETED)), {}) ==
        Object{.kind = Object::Kind::file,
               .deleted = true,
               .device = {254, 1},
               .inode = 12,
               .generation = 3,
               .path = "/a/b"});
  offwait_file record = record_of({}, 0);
  record.inode = 0;
  record.generation = 0;
  record.kind = OFFWAIT_FILE_JOURNAL;
  CHECK(object_of(kernel_file(record), {}) == Object{.kind = Object::Kind::journal, .device = {254, 1}});
  record.kind = OFFWAIT_FILE_METADATA;
  CHECK(object_of(kernel_file(record), {}) == Object{.kind = Object::Kind::metadata, .device = {254, 1}});
}

TEST_CASE("a file known by its inode alone is where its file system is mounted") {
  const auto path = [](const std::vector<std::string>& names, const std::vector<KernelMount>& mounts) {
    return object_of(kernel_file(record_of(names, OFFWAIT_FILE_TO_FILE_SYSTEM)), mounts).path;
  };
  const std::vector<std::string> names = {"c", "b", "a"};
  CHECK(path(names, {}) == "/a/b/c");
  CHECK(path(names, {{kDisk, "/", "/"}}) == "/a/b/c");
  CHECK(path(names, {{kDisk + 1, "/", "/other"}, {kDisk, "/", "/mnt"}}) == "/mnt/a/b/c");
  CHECK(path({}, {{kDisk, "/", "/mnt"}}) == "/mnt");
  CHECK(path(names, {{kDisk, "/a", "/data"}}) == "/data/b/c");
  CHECK(path(names, {{kDisk, "/a/b/c", "/etc/hosts"}}) == "/etc/hosts");
  CHECK(path(names, {{kDisk, "/a/b/cc", "/etc/hosts"}}) == "/a/b/c");
  CHECK(path(names, {{kDisk, "/a/b", "/deep"}, {kDisk, "/a", "/data"}}) == "/data/b/c");
}

struct Recorded : RecordingByHand {
  Recorded() : RecordingByHand(1'000'000, 100'000'000) {
    seen(11, 500, 1000, "main");
    left(11, 500, OFFWAIT_STATE_RUNNING, 99'000'000);
    recording.disks[kDisk] = "vda";
    for (const std::uint32_t id : {1U, 2U}) {
      KernelFile& file = recording.files[id];
      file.inode = id;
      file.path = "/" + std::to_string(id);
    }
  }

  void wait(std::uint64_t block, std::uint64_t wake, offwait_object kind = OFFWAIT_OBJECT_NONE,
            std::uint64_t object = 0) {
    offwait_wait wait = test::wait_of(11, block, wake, wake, {OFFWAIT_WAKER_DISK, kDisk});
    wait.flags = static_cast<std::uint8_t>(kind << OFFWAIT_OBJECT_SHIFT) | OFFWAIT_WAIT_IOWAIT;
    wait.object = object;
    append(wait);
  }
  void request(std::uint64_t issue, std::uint64_t complete, std::uint32_t file) {
    offwait_io io = test::io_of(11, kDisk, issue, complete, 4096);
    io.file = file;
    io.operation = OFFWAIT_IO_WRITE;
    append(io);
  }

  std::vector<std::string> files_of_waits() const {
    const Trace made = trace();
    const Status valid = validate(made);
    if (!valid.ok()) FAIL(valid.error().message);
    std::vector<std::string> out;
    for (const Wait& wait : made.waits) {
      out.push_back(wait.object == kNoObject ? "-" : made.objects.at(wait.object).path);
    }
    return out;
  }
};

TEST_CASE("a wait is for the file of its call, else for that of the request that ended it") {
  Recorded t;
  t.request(2'000'000, 2'999'000, 1);
  t.request(2'100'000, 2'999'500, 2);
  t.wait(2'000'000, 3'000'000);
  t.request(3'500'000, 3'999'000, 1);
  t.request(3'500'000, 4'000'001, 2);
  t.wait(3'500'000, 4'000'000);
  t.request(4'500'000, 4'899'999, 1);  // too long before
  t.wait(4'500'000, 5'000'000);
  t.request(5'500'000, 5'999'000, 0);  // of no known file
  t.wait(5'500'000, 6'000'000);
  t.request(6'500'000, 6'999'000, 1);
  t.wait(6'500'000, 7'000'000, OFFWAIT_OBJECT_FILE, 2);
  t.wait(7'500'000, 8'000'000, OFFWAIT_OBJECT_FILE, 3);  // lost
  t.wait(8'500'000, 9'000'000, OFFWAIT_OBJECT_PIPE, 77);
  CHECK(t.files_of_waits() == std::vector<std::string>{"/2", "/1", "-", "-", "/2", "-", "pipe:[77]"});
  const Trace trace = t.trace();
  REQUIRE(trace.disk_ios.size() == 7);
  CHECK(trace.objects.at(trace.disk_ios[0].file).path == "/1");
  CHECK(trace.disk_ios[5].file == kNoObject);
  CHECK(trace.disk_ios[0].operation == DiskOperation::write);
}

}  // namespace
}  // namespace offwait
