// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/files.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analyse.h"
#include "analysis/file_calls.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

constexpr const char* kSync = "io_schedule;ext4_sync_file;__x64_sys_fdatasync;--;fdatasync;commit";
constexpr const char* kWrite = "io_schedule;vfs_write;__x64_sys_pwrite64;--;__libc_pwrite;commit";
constexpr const char* kRead = "io_schedule;filemap_read;__x64_sys_pread64;--;__libc_pread;get";

void request(test::Program& program, const std::string& tid, long issue_us, long complete_us,
             const std::string& more) {
  program.line(fmt::format("io {} disk=vda issue={}000 complete={}000 {}", tid, issue_us, complete_us, more));
}

/// Two writers sync a log, and the first one writes a table; each does something every 10 ms for 100 ms.
test::Program writers() {
  test::Program program(100'000);
  program.thread(1, "writer-1");
  program.thread(2, "writer-2");
  program.line("thread 3 tgid=3 comm=kworker start=0 exit=- outside=kernel");
  program.line("object 7 kind=file dev=8:1 inode=1 path=/log");
  program.line("object 8 kind=file dev=8:1 inode=2 path=/table deleted=yes");
  program.line("object 9 kind=journal dev=8:1");
  program.line("object 10 kind=futex tgid=1 address=1000");
  for (long at = 0; at < 100'000; at += 10'000) {
    program.wait(1, at, at + 4000, "disk:vda", fmt::format("class=disk object=7 stack={}", kSync));
    request(program, "1", at, at + 3000, "bytes=8192 file=7 op=write");
    request(program, "3", at + 3000, at + 4000, "bytes=4096 file=9 op=write");
    program.wait(1, at + 5000, at + 8000, "disk:vda", fmt::format("class=disk object=8 stack={}", kWrite));
    request(program, "1", at + 5000, at + 8000, "bytes=16384 file=8 op=write");
    program.wait(2, at + 1000, at + 4000, "thread:1", fmt::format("class=lock object=7 stack={}", kSync));
    program.wait(2, at + 4000, at + 5000, "thread:1", "class=futex object=10");
    program.wait(2, at + 6000, at + 7000, "disk:vda", fmt::format("class=disk stack={}", kRead));
    program.wait(3, at, at + 2000, "disk:vda", "class=disk object=7");
    request(program, "-", at + 8000, at + 9000, "bytes=0 op=other");
  }
  return program;
}

FoundFiles files(const test::Program& program) { return files_of(program.trace()); }

Findings analysed(const test::Program& program) {
  const Result<Findings> found = analyse(program.trace(), {});
  if (!found) FAIL(found.error().message);
  return *found;
}

}  // namespace

TEST_CASE("files are ranked by the time that the target's threads waited for them") {
  const FoundFiles found = files(writers());
  REQUIRE(found.rows.size() == 3);
  CHECK(found.files == 3);
  CHECK(found.wait_s == Approx(0.1));
  const FoundFile& log = found.rows[0];
  CHECK(log.name.path == "/log");
  CHECK_FALSE(log.name.deleted);
  CHECK(log.waits == 20);
  CHECK(log.wait_s == Approx(0.07));
  CHECK(log.longest_s == Approx(0.004));
  REQUIRE(log.threads.size() == 2);
  CHECK(log.threads[0].name == "writer-1");
  CHECK(log.threads[0].wait_s == Approx(0.04));
  CHECK(log.threads[1].wait_s == Approx(0.03));
  REQUIRE(log.calls.size() == 1);
  CHECK(log.calls[0].name == "fdatasync");
  CHECK(log.calls[0].action == FileAction::sync);
  CHECK(log.calls[0].waits == 20);
  CHECK(log.stack.frames.back().function == "commit");
  CHECK(log.stack_s == Approx(0.07));
  CHECK(found.rows[1].name.path == "/table");
  CHECK(found.rows[1].name.deleted);
  CHECK(found.rows[1].calls.at(0).action == FileAction::write);
  CHECK(found.unknown_s == Approx(0.01));
}

TEST_CASE("requests count for their files, whoever sent them, in the direction that they went") {
  test::Program program = writers();
  request(program, "-", 99'000, 100'000, "bytes=512 file=8 op=read");   // complete at the window's end
  request(program, "-", 99'000, 100'001, "bytes=9999 file=8 op=read");  // after it
  request(program, "-", 99'000, 99'500, "bytes=100 file=8");            // of a recording that does not say
  const FoundFiles found = files(program);
  CHECK(found.ios == 42);
  CHECK(found.bytes == 81'920 + 40'960 + 163'840 + 612);
  CHECK(found.unknown_ios == 10);
  CHECK(found.unknown_bytes == 0);
  CHECK(found.rows[0].bytes == 81'920);
  CHECK(found.rows[0].ios == 10);
  const FoundFile& table = found.rows[1];
  CHECK(table.bytes == 163'840 + 612);
  CHECK(table.read_bytes == 512);
  CHECK(table.written_bytes == 163'840);
  const FoundFile& journal = found.rows[2];
  CHECK(journal.name.kind == Object::Kind::journal);
  CHECK(journal.name.disk == "vda");
  CHECK(journal.waits == 0);
  CHECK(journal.written_bytes == 40'960);
}

TEST_CASE("waits for files are clipped to the window, and count where they end") {
  test::Program program(10'000);
  program.thread(1, "reader");
  program.line("object 0 kind=file inode=1 path=/a");
  program.wait(1, 1000, 2000, "disk:vda", fmt::format("class=disk object=0 stack={}", kRead));
  program.line(fmt::format("wait 1 block=4000000 wake=- run=- waker=- class=disk object=0 stack={}", kRead));
  const FoundFiles found = files(program);
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].waits == 1);
  CHECK(found.rows[0].wait_s == Approx(0.007));
  CHECK(found.rows[0].longest_s == Approx(0.006));
  CHECK(found.rows[0].calls.at(0).waits == 1);
}

TEST_CASE("of many files the first ones have rows") {
  test::Program program(10'000);
  program.thread(1, "reader");
  for (std::size_t i = 0; i < kMostFiles + 5; ++i) {
    program.line(fmt::format("object {} kind=file inode={} path=/{}", i, i + 1, i));
    request(program, "1", 1000, 2000, fmt::format("bytes={} file={} op=read", 512 * (i + 1), i));
  }
  const FoundFiles found = files(program);
  CHECK(found.files == kMostFiles + 5);
  REQUIRE(found.rows.size() == kMostFiles);
  CHECK(found.rows.front().name.path == fmt::format("/{}", kMostFiles + 4));
  CHECK(found.rows.back().name.path == "/5");
}

TEST_CASE("a stack says which call a thread waits in, and what that does") {
  struct Case {
    const char* stack;
    const char* call;
    FileAction action;
  };
  test::Program program(10'000);
  program.thread(1, "a");
  const std::vector<Case> cases = {
      {kSync, "fdatasync", FileAction::sync},
      {kWrite, "pwrite", FileAction::write},
      {"io_schedule;ext4_sync_file;vfs_write;__arm64_sys_write;--;write", "write", FileAction::write},
      {"io_schedule;filemap_fault;asm_exc_page_fault;--;get", "page fault", FileAction::read},
      {"io_schedule;filemap_fault;exc_page_fault;__x64_sys_write;--;write", "page fault", FileAction::read},
      {"io_cqring_wait;__do_sys_io_uring_enter;--;wait", "io_uring_enter", FileAction::other},
      {"schedule;__x64_sys_unlink;--;unlink", "unlink", FileAction::other},
      {"--;__libc_pread64;get", "pread", FileAction::read},
      {"io_schedule;--;__GI_fsync;save", "fsync", FileAction::sync},
      {"--;get;__GI_fsync", "fsync", FileAction::sync},
      {"--;get;handle;sync", "", FileAction::other},
      {"io_schedule;kthread", "", FileAction::other},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    program.wait(1, static_cast<long>(i) * 100, static_cast<long>(i) * 100 + 50, "-",
                 fmt::format("class=disk stack={}", cases[i].stack));
  }
  const Trace trace = program.trace();
  REQUIRE(trace.waits.size() == cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO(cases[i].stack);
    const std::string call = file_call(trace, trace.sites[trace.waits[i].site].wait_stack);
    CHECK(call == cases[i].call);
    CHECK(action_of(call) == cases[i].action);
    const bool syncs = std::string_view(cases[i].stack).find("ext4_sync_file") != std::string_view::npos;
    CHECK(file_action(trace, trace.sites[trace.waits[i].site].wait_stack) ==
          (syncs ? FileAction::sync : cases[i].action));
  }
  CHECK(file_call(trace, kNoStack).empty());
  CHECK(file_action(trace, kNoStack) == FileAction::other);
}

TEST_CASE("what most of the time was for decides, not what one stack has most of") {
  ActionTimes times;
  CHECK(times.longest() == FileAction::other);
  times.add(FileAction::write, 3);
  times.add(FileAction::sync, 2);
  CHECK(times.longest() == FileAction::write);
  times.add(FileAction::sync, 2);
  CHECK(times.longest() == FileAction::sync);
  times.add(FileAction::read, 4.5);
  CHECK(times.longest() == FileAction::read);
  times.add(FileAction::other, 5);
  CHECK(times.longest() == FileAction::other);
}

TEST_CASE("an answer about a disk knows what all of its waits were for, and at which files") {
  test::Program program(1'000'000);
  program.thread(1, "writer");
  program.line("object 0 kind=file inode=1 path=/log");
  program.line("object 1 kind=file inode=2 path=/table");
  for (long at = 0; at < 1'000'000; at += 10'000) {
    program.wait(1, at, at + 3000, "disk:vda", fmt::format("class=disk object=0 stack={}", kWrite));
    program.wait(1, at + 3000, at + 5000, "disk:vda",
                 fmt::format("class=disk object=0 stack={};first", kSync));
    program.wait(1, at + 5000, at + 7000, "disk:vda",
                 fmt::format("class=disk object=1 stack={};second", kSync));
  }
  const Findings found = analysed(program);
  REQUIRE_FALSE(found.answers.empty());
  const FoundAnswer& disk = found.answers[0];
  REQUIRE(disk.what == Resource::disk);
  CHECK(disk.evidence.stack_s == Approx(0.3));  // the longest stack is a write's
  CHECK(disk.evidence.actions.write_s == Approx(0.3));
  CHECK(disk.evidence.actions.sync_s == Approx(0.4));
  CHECK(disk.evidence.actions.longest() == FileAction::sync);
  REQUIRE(disk.evidence.files.size() == 2);
  CHECK(disk.evidence.files[0].name.path == "/log");
  CHECK(disk.evidence.files[0].wait_s == Approx(0.5));
  CHECK(disk.evidence.files[1].wait_s == Approx(0.2));
  const auto cpu = std::find_if(found.answers.begin(), found.answers.end(),
                                [](const FoundAnswer& answer) { return answer.what == Resource::cpu; });
  REQUIRE(cpu != found.answers.end());
  CHECK(cpu->evidence.files.empty());
  CHECK(cpu->evidence.actions.longest() == FileAction::other);
}

TEST_CASE("a disk's requests are split by file, and flushes and writeback told apart") {
  test::Program program = writers();
  request(program, "3", 90'000, 95'000, "bytes=4096 file=8 op=write");
  const Findings found = analysed(program);
  REQUIRE(found.disks.size() == 1);
  const std::vector<FoundDiskFile>& split = found.disks[0].files;
  CHECK(found.disks[0].files_known == 4);
  REQUIRE(split.size() == 4);
  REQUIRE(split[0].file);
  CHECK(split[0].file->path == "/table");
  CHECK(split[0].ios == 11);
  CHECK(split[0].written_back == 1);
  CHECK(split[0].bytes == 10 * 16'384 + 4096);
  CHECK(split[0].under_way_s == Approx(0.035));
  std::uint64_t flushes = 0;
  std::uint64_t all = 0;
  for (const FoundDiskFile& file : split) {
    all += file.ios;
    if (file.flushes) flushes += file.ios;
    if (file.file && file.file->kind == Object::Kind::journal) CHECK(file.written_back == 10);
    if (file.file && file.file->path == "/log") CHECK(file.written_back == 0);
  }
  CHECK(flushes == 10);
  CHECK(all == 41);
}
