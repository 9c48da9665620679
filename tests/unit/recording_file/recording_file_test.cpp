// SPDX-License-Identifier: GPL-2.0-or-later
// Whole files: written in parts, read, cut off and damaged.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include "event/assemble.h"
#include "event/syscalls.h"
#include "model/validate.h"
#include "recording_file/read_recording_file.h"
#include "recording_file/recording_writer.h"
#include "unit/event/recordings.h"
#include "unit/temporary_directory.h"

namespace offwait {
namespace {

using test::RecordingByHand;
using Lines = std::vector<std::string>;

AboutRecording about() {
  AboutRecording about;
  about.target = "pid 10 (\x1b[31mserver)";
  about.start_time = "2026-11-22T20:00:00Z";
  about.kernel = "6.18.5";
  about.cpus = 2;
  about.offwait = "0.1.0";
  about.host = "db1";
  about.architecture = native_architecture();
  about.command_line = {"offwait", "record", "-p", "10"};
  about.labels = {{"threads", "64"}, {"version", ""}};
  about.counted_function = "work";
  return about;
}

AddressSpace mappings() {
  AddressSpace space;
  space.tgid = 10;
  space.mappings.push_back({0x1000, 0x9000, 0x2000, 8, 1, 77, true, "/usr/bin/server", false});
  space.shared.push_back({0xa000, 0xb000, 0, 0, 1, 99, false, "/dev/shm/pool", true});
  return space;
}

void add_stack(KernelRecording& recording, std::uint32_t id, std::uint32_t tgid, std::uint64_t pc) {
  offwait_stack stack{};
  stack.tgid = tgid;
  stack.frames = 1;
  stack.pc[0] = pc;
  recording.stacks.emplace(id, stack);
}

constexpr std::uint64_t kSharedFutex = 0xa010;

/// Two threads that wake each other each 100 ns from `begin` to `end`.
RecordingByHand part_of(Nanos begin, Nanos end, bool first) {
  RecordingByHand hand(1000, end);
  if (first) {
    hand.seen(11, 5, 900, "one");
    hand.seen(12, 6, 900, "two");
  }
  for (auto at = static_cast<std::uint64_t>(begin); at < static_cast<std::uint64_t>(end); at += 100) {
    offwait_wait wait = test::wait_of(11, at, at + 30, at + 40, test::by_thread(12));
    wait.wait_user = 1;
    wait.wait_kernel = 2;
    wait.flags = OFFWAIT_OBJECT_SHARED_FUTEX << OFFWAIT_OBJECT_SHIFT;
    wait.object = kSharedFutex;
    hand.append(wait);
    hand.wait(12, at + 50, at + 70, at + 80, test::by_thread(11));
  }
  REQUIRE(hand.appended);
  return hand;
}

/// All tables, with something in each.
void fill_tables(RecordingByHand& hand) {
  KernelRecording& kernel = hand.recording;
  hand.left(11, 5, OFFWAIT_STATE_RUNNING, static_cast<std::uint64_t>(kernel.window.end) - 60);
  hand.left(12, 6, OFFWAIT_STATE_BLOCKED, static_cast<std::uint64_t>(kernel.window.end) - 10);
  kernel.blocked[{11, 0}] = {5, 1, 12};
  kernel.nics = {{3, "eth0"}};
  offwait_peer peer{};
  peer.port = 3306;
  peer.accepted = 1;
  kernel.peers[5] = peer;
  kernel.served_ports = {3306, 80};
  kernel.files[9] = {OFFWAIT_FILE_OF_PATH, OFFWAIT_FILE_TO_ROOT, 8, 77, 1, "/data/\n"};
  kernel.mounts = {{8, "/", "/data"}};
  kernel.counts_responses = true;
  kernel.responses.push_back({{5, 11, 3306}, {10, 2, 1100, 1200, 3, 7, 900, 5}});
  offwait_unix_address address{};
  address.length = 5;
  std::memcpy(static_cast<char*>(address.path), "/sock", 5);
  kernel.unix_addresses[OFFWAIT_UNIX_ADDRESS | 1] = address;
  kernel.calls.push_back({{5, 11, 0}, {4, 1100, 1200}});
  kernel.interrupts = {{40, "nvme0q1"}};
  kernel.disks = {{8, "vda"}};
  kernel.disks_below = {{8, {"sda", "sdb"}}};
  kernel.nic_counters = {{"eth0", 1000, 5, 6}};
  kernel.disk_counters = {{8, 1000, 5, 6, 1}};
  kernel.cpu_busy_ns = 7;
  kernel.cpu_idle_ns = 8;
  kernel.cpu_steal_ns = 1;
  kernel.cpu_times = {{0, 3, 4}, {1, 4, 4}};
  kernel.cpu_quotas = {{"/a", 10, 20, 5, 3, 9}};
  kernel.memory = {{"", false, 100, 50, 0, 7, 8}, {"/a", true, 60, 40, 5, 6, 3}};
  kernel.other_processes = {{99, "other", 5, 6}};
  kernel.allowed_cpus[{11, 5}] = {{0, 1}};
  kernel.programs = {{"/usr/bin/server", ""}, {"/usr/bin/two", "two: title"}};
  kernel.program_of = {{{11, 5}, 1}, {{12, 6}, 0}};
  kernel.sample_hz = 99;
  kernel.stack_reuse = {1, 2, 3, 4};
  kernel.cost = {500, 600, 0.03, 0, 0};
  kernel.loss = {{"ring_full", 3}};
  kernel.counted_function = "work";
  add_stack(kernel, 1, 10, 0x3004);
  add_stack(kernel, 2, 0, 0xffffffff81000000);
}

NamedStacks names() {
  NamedStacks names;
  Frame user;
  user.function = "fetch";
  user.offset = 4;
  user.module = "server";
  Frame kernel;
  kernel.function = "schedule";
  kernel.module = "[kernel]";
  kernel.kind = Frame::Kind::kernel;
  names.frames = {user, kernel};
  names.recorded[1] = {{0}, StackCut::deep};
  names.recorded[2] = {{1}, std::nullopt};
  names.in_records[{10, {0x1000}}] = {0, 0};
  return names;
}

/// A file at this path, open to write and empty.
UniqueFd new_file(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  REQUIRE(file);
  return file;
}

/// A recording of two parts and the end; the second part has tables.
class Written {
 public:
  explicit Written(const std::string& path) {
    UniqueFd file = new_file(path);
    RecordingWriter writer(std::move(file), path);
    REQUIRE(writer.begin(about()).ok());
    writer.read_with(
        [](std::span<const std::uint32_t> ids) {
          std::vector<std::pair<std::uint32_t, offwait_stack>> stacks;
          for (const std::uint32_t id : ids) {
            offwait_stack stack{};
            stack.tgid = id == 2 ? 0 : 10;
            stack.frames = 1;
            stack.pc[0] = id == 2 ? 0xffffffff81000000 : 0x3004;
            stacks.emplace_back(id, stack);
          }
          return stacks;
        },
        {});
    writer.start();
    writer.add({part_of(1000, 2000, true).recording, false, {mappings()}});
    RecordingByHand second = part_of(2000, 3000, false);
    fill_tables(second);
    second.recording.stacks.clear();
    writer.add({std::move(second.recording), true, {}});
    REQUIRE(writer.stop().ok());
    interrupted_bytes = writer.size();
    RecordingByHand last = part_of(3000, 4000, false);
    fill_tables(last);
    last.recording.nic_counters = {{"eth0", 4000, 50, 60}};
    last.recording.disk_counters = {{8, 4000, 50, 60, 0}};
    REQUIRE(writer.write({std::move(last.recording), true, {}}).ok());
    REQUIRE(writer
                .finish(names(), {{{10, 0x5000}, {"lock", "server", 8, std::nullopt}}},
                        {{{"vda", {DiskType::nvme, MeasuredDisk{1e9, 1e5, "2026-11-22"}}}},
                         {{"eth0", {true, 1.25e9}}}})
                .ok());
    CHECK(writer.size() == std::filesystem::file_size(path));
  }
  std::uint64_t interrupted_bytes = 0;  ///< what is written before the last part
};

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Result<ReadRecording> read(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(file);
  return read_recording_file(file.get(), "", "f");
}

Lines trace_lines(ReadRecording& read) {
  const Trace trace = assemble(read.recording.kernel, read.recording.stacks);
  const Status valid = validate(trace);
  INFO((valid.ok() ? "" : valid.error().message));
  CHECK(valid.ok());
  return test::lines(trace);
}

TEST_CASE("a file holds all of a recording") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  const Written written(path);
  Result<ReadRecording> back = read(path);
  REQUIRE(back.ok());
  CHECK_FALSE(back->interrupted);
  const AboutRecording& told = back->recording.about;
  CHECK(told.target == about().target);
  CHECK(told.labels == about().labels);
  CHECK(told.command_line == about().command_line);

  RecordingByHand whole = part_of(1000, 4000, true);
  fill_tables(whole);
  const KernelRecording& kernel = back->recording.kernel;
  CHECK(kernel.window.begin == 1000);
  CHECK(kernel.window.end == 4000);
  CHECK(kernel.threads.size() == 2);
  CHECK(kernel.blocked.at({11, 0}).mutex_owner == 12);
  CHECK(kernel.nics == whole.recording.nics);
  CHECK(kernel.peers.at(5).port == 3306);
  CHECK(kernel.served_ports == whole.recording.served_ports);
  CHECK(kernel.files.at(9).path == "/data/\n");
  CHECK(kernel.mounts == whole.recording.mounts);
  CHECK(kernel.counts_responses);
  REQUIRE(kernel.responses.size() == 1);
  CHECK(kernel.responses[0].second.connections == 2);
  CHECK(kernel.unix_addresses.at(OFFWAIT_UNIX_ADDRESS | 1).length == 5);
  REQUIRE(kernel.calls.size() == 1);
  CHECK(kernel.calls[0].second.count == 4);
  CHECK(kernel.interrupts == whole.recording.interrupts);
  CHECK(kernel.disks == whole.recording.disks);
  CHECK(kernel.disks_below == whole.recording.disks_below);
  CHECK(kernel.nic_counters.size() == 2);
  CHECK(kernel.disk_counters.size() == 2);
  CHECK(kernel.cpu_steal_ns == 1);
  CHECK(kernel.cpu_times.size() == 2);
  CHECK(kernel.cpu_quotas.at(0).throttled_periods == 3);
  CHECK(kernel.memory.at(1).cgroup == "/a");
  CHECK(kernel.memory.at(1).has_target);
  CHECK(kernel.memory.at(1).swap_bytes == 3);
  CHECK(kernel.other_processes.at(0).name == "other");
  CHECK(kernel.allowed_cpus == whole.recording.allowed_cpus);
  CHECK(kernel.programs.at(1).title == "two: title");
  CHECK(kernel.program_of == whole.recording.program_of);
  CHECK(kernel.sample_hz == 99);
  CHECK(kernel.stack_reuse.wrong == 4);
  CHECK(kernel.cost == RecordingCost{500, 600, 0.03, 0, 0});
  CHECK(kernel.loss == whole.recording.loss);
  CHECK(back->recording.stacks.frames == names().frames);
  CHECK(back->recording.stacks.recorded.at(1).cut == StackCut::deep);
  CHECK(back->recording.stacks.in_records == names().in_records);
  CHECK(back->recording.data.at({10, 0x5000}).symbol == "lock");
  CHECK(back->recording.devices.disks.at("vda").measured->day == "2026-11-22");
  CHECK(back->recording.devices.nics.at("eth0").reported_bytes_per_s == 1.25e9);

  whole.recording.disk_counters = kernel.disk_counters;
  whole.recording.nic_counters = kernel.nic_counters;
  CHECK(trace_lines(*back) == test::lines(assemble(whole.recording, names())));
}

TEST_CASE("a thread that is not in later parts keeps its program and its CPUs in the file") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  UniqueFd file = new_file(path);
  RecordingWriter writer(std::move(file), path);
  REQUIRE(writer.begin(about()).ok());
  std::vector<std::uint64_t> sizes;
  const auto write = [&](Nanos end, RowsOfThreads<std::uint32_t> program_of) {
    RecordingPart part{{}, true, {}};
    part.kernel.window = {1000, end};
    part.kernel.programs = {{"/usr/bin/server", ""}, {"/usr/bin/two", ""}};
    for (const auto& [thread, number] : program_of) part.kernel.allowed_cpus[thread] = {{number, number}};
    part.kernel.program_of = std::move(program_of);
    REQUIRE(writer.write(part).ok());
    sizes.push_back(writer.size());
  };
  write(2000, {{{11, 5}, 0}, {{12, 6}, 0}});
  write(3000, {{{11, 5}, 0}, {{13, 7}, 1}});  // 12 has exited
  write(4000, {{{11, 5}, 1}, {{13, 7}, 1}});  // 11 runs another program
  write(5000, {{{11, 5}, 1}, {{13, 7}, 1}});
  CHECK(sizes[3] - sizes[2] < sizes[2] - sizes[1]);  // nothing but the window is new
  const Result<ReadRecording> back = read(path);
  REQUIRE(back.ok());
  CHECK(back->recording.kernel.program_of ==
        RowsOfThreads<std::uint32_t>{{{11, 5}, 1}, {{12, 6}, 0}, {{13, 7}, 1}});
  CHECK(back->recording.kernel.allowed_cpus ==
        std::map<ThreadKey, CpuList>{{{11, 5}, {{1, 1}}}, {{12, 6}, {{0, 0}}}, {{13, 7}, {{1, 1}}}});
}

TEST_CASE("a process that is gone needs no names if nothing in the file is in its memory") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  UniqueFd file = new_file(path);
  RecordingWriter writer(std::move(file), path);
  REQUIRE(writer.begin(about()).ok());
  writer.read_with(
      [](std::span<const std::uint32_t> ids) {
        std::vector<std::pair<std::uint32_t, offwait_stack>> stacks;
        for (const std::uint32_t id : ids) {
          offwait_stack stack{};
          stack.tgid = 100 + id;  // a process for each stack
          stacks.emplace_back(id, stack);
        }
        return stacks;
      },
      {});
  writer.start();
  RecordingByHand hand(1000, 2000);
  hand.seen(5, 900, 900);  // of the process 10
  offwait_wait wait = test::wait_of(5, 1100, 1200, 1300, test::by_thread(7));
  wait.flags = OFFWAIT_OBJECT_FUTEX << OFFWAIT_OBJECT_SHIFT;
  wait.object = 0x1000;
  wait.wait_user = 1;
  hand.append(wait);
  hand.left(6, 900, OFFWAIT_STATE_BLOCKED, 1500).waker_user = 2;  // it was woken and has not run yet
  offwait_spin spin{};
  spin.type = OFFWAIT_RECORD_SPIN;
  spin.tid = 5;
  spin.tgid = 103;
  hand.append(spin);
  // 104 has nothing, and 10 a futex.
  writer.add({std::move(hand.recording), true, {}, {101, 102, 103, 104, 10}});
  REQUIRE(writer.stop().ok());
  CHECK(writer.take_nameless() == std::vector<std::int32_t>{104});
  CHECK(writer.take_nameless().empty());
}

TEST_CASE("an interrupted recording ends at its last whole tables") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  const Written written(path);
  std::filesystem::resize_file(path, written.interrupted_bytes);
  Result<ReadRecording> back = read(path);
  REQUIRE(back.ok());
  CHECK(back->interrupted == "it has no end");
  CHECK(back->recording.kernel.window.end == 3000);
  CHECK(back->recording.kernel.records.count(OFFWAIT_RECORD_WAIT) == 40);
  // Names are what follows from the mappings: 0x3004 is 0x2004 behind 0x1000, where the file is at 0x2000.
  const Lines lines = trace_lines(*back);
  const auto has = [&lines](const std::string& text) {
    return std::any_of(lines.begin(), lines.end(),
                       [&text](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(has("[server+0x4004]"));
  CHECK(has("[kernel+0xffffffff81000000]"));
  // It lies in memory that other processes may share.
  const std::map<DataAddress, DataName>& data = back->recording.data;
  REQUIRE(data.size() == 1);
  CHECK(data.begin()->first == DataAddress{10, kSharedFutex});
  CHECK(data.begin()->second.shared.value() == mappings().shared.front());
}

TEST_CASE("a file that is cut anywhere is an error or an interrupted recording") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  const Written written(path);
  const std::string bytes = bytes_of_file(path);
  REQUIRE(bytes.size() < 20'000);
  Nanos last_end = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write_file(path, bytes.substr(0, size));
    Result<ReadRecording> back = read(path);
    INFO(size);
    if (!back.ok()) {
      CHECK(last_end == 0);
      continue;
    }
    CHECK(back->interrupted);
    CHECK(back->recording.kernel.window.end >= last_end);
    last_end = back->recording.kernel.window.end;
  }
  CHECK(last_end == 4000);
}

TEST_CASE("a flipped byte is an error or an interrupted recording") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  const Written written(path);
  const std::string bytes = bytes_of_file(path);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int bits : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      write_file(path, damaged);
      Result<ReadRecording> back = read(path);
      INFO(at);
      if (back.ok()) CHECK(back->interrupted);
    }
  }
}

/// Puts the checksums right after a test has changed the header, or that of the section at `begin`.
void correct_checksum(std::string& bytes, std::size_t begin, std::size_t size) {
  const auto sum = static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + begin),  // NOLINT(*-reinterpret-cast)
              static_cast<unsigned>(size)));
  std::memcpy(bytes.data() + begin + size, &sum, sizeof(sum));
}

std::string error_of(const std::string& path, const std::string& bytes) {
  write_file(path, bytes);
  const Result<ReadRecording> back = read(path);
  return back.ok() ? "" : back.error().message;
}

TEST_CASE("files of other kinds and of newer versions are refused") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  const Written written(path);
  const std::string bytes = bytes_of_file(path);
  CHECK(error_of(path, "") == "f: not a recording of offwait");
  CHECK(error_of(path, "offwait-waits 1\n") == "f: not a recording of offwait");
  CHECK(error_of(path, bytes.substr(0, 12)) == "f: nothing was recorded yet (it ends inside its header)");
  CHECK(error_of(path, bytes.substr(0, kHeaderBytes)) == "f: nothing was recorded yet (it has no end)");

  std::string newer = bytes;
  newer[8] = 2;
  CHECK(error_of(path, newer) == "f: the header of the recording is damaged");
  correct_checksum(newer, 0, 12);
  CHECK(
      error_of(path, newer) ==
      "f: this recording has version 2 of the format, and this offwait reads version 1: a newer offwait has "
      "written it");

  std::string unknown = bytes;
  unknown[kHeaderBytes] = 77;
  correct_checksum(unknown, kHeaderBytes, kSectionHeaderBytes - 4);
  CHECK(
      error_of(path, unknown) ==
      "f: the recording has a section of kind 77, which this offwait does not know: a newer one has written "
      "it");
  // The first section has what the others need; an optional one that is inserted before it changes nothing.
  std::string optional =
      bytes.substr(0, kHeaderBytes) + std::string(kSectionHeaderBytes, '\0') + bytes.substr(kHeaderBytes);
  optional[kHeaderBytes] = 77;
  optional[kHeaderBytes + 4] = kOptionalSection;
  correct_checksum(optional, kHeaderBytes, kSectionHeaderBytes - 4);
  CHECK(error_of(path, optional).empty());
}

TEST_CASE("a section that claims a terabyte costs no memory") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  const Written written(path);
  std::string bytes = bytes_of_file(path).substr(0, written.interrupted_bytes);
  std::string section(kSectionHeaderBytes, '\0');
  section[0] = 1;
  const std::uint64_t terabyte = std::uint64_t{1} << 40;
  for (const std::size_t at : {std::size_t{8}, std::size_t{16}})
    std::memcpy(section.data() + at, &terabyte, sizeof(terabyte));
  correct_checksum(section, 0, kSectionHeaderBytes - 4);
  write_file(path, bytes + section);
  const Result<ReadRecording> back = read(path);
  REQUIRE(back.ok());
  CHECK(back->interrupted == "the size of a section is impossible");
}

/// A file of sections of rows without errors, each with these contents.
std::string file_of(const std::string& path, const Lines& contents) {
  UniqueFd file = new_file(path);
  SectionWriter writer(file.get(), path);
  REQUIRE(writer.write_header().ok());
  for (const std::string& content : contents) REQUIRE(writer.write(SectionKind::rows, content).ok());
  return path;
}

TEST_CASE("contents that are far longer than any recording's are not read") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  // Rows of a table that does not exist: sixty megabytes that take some kilobytes in the file.
  constexpr std::size_t kRow = 1 << 20;
  std::string rows;
  for (int i = 0; i < 60; ++i) {
    const auto size = static_cast<std::uint32_t>(kRow);
    rows += '\xff';
    rows.append(reinterpret_cast<const char*>(&size), sizeof(size));  // NOLINT(*-reinterpret-cast)
    rows.append(kRow, '\0');
  }
  const Result<ReadRecording> one = read(file_of(path, {rows}));
  REQUIRE_FALSE(one.ok());
  CHECK(one.error().message == "f: nothing was recorded yet (it has no end)");
  const Result<ReadRecording> two = read(file_of(path, {rows, rows}));
  REQUIRE_FALSE(two.ok());
  CHECK(two.error().message ==
        "f: nothing was recorded yet (its sections are longer than those of any "
        "recording)");
}

TEST_CASE("an impossible row does not count, and neither does what follows") {
  RowReader rows;
  RowWriter writer;
  writer.add(about());
  KernelRecording kernel;
  kernel.window = {1000, 2000};
  writer.add_tables(kernel);
  for (const std::string& content : writer.take_sections()) REQUIRE(rows.add(content));
  kernel.window = {3000, 2999};
  writer.add_tables(kernel);
  for (const std::string& content : writer.take_sections()) CHECK_FALSE(rows.add(content));
  AboutRecording wrong = about();
  wrong.command = -1;
  wrong.host = "other";
  writer.add(wrong);
  for (const std::string& content : writer.take_sections()) CHECK_FALSE(rows.add(content));
  NamedRecording recording;
  REQUIRE(rows.finish(recording));
  CHECK(recording.kernel.window.begin == 1000);
  CHECK(recording.kernel.window.end == 2000);
  CHECK(recording.about.host == "db1");
}

TEST_CASE("more stacks than a kernel keeps, and more frames than an address has, are impossible") {
  const auto reads = [](const auto& fill) {
    RowWriter writer;
    fill(writer);
    RowReader rows;
    const Lines sections = writer.take_sections();
    return std::all_of(sections.begin(), sections.end(),
                       [&rows](const std::string& content) { return rows.add(content); });
  };
  const auto stacks = [](std::size_t count) {
    return [count](RowWriter& writer) {
      std::vector<std::pair<std::uint32_t, offwait_stack>> one(1);
      for (std::size_t i = 0; i < count; ++i) {
        one.front().first = static_cast<std::uint32_t>(i);
        writer.add(one);
      }
    };
  };
  CHECK(reads(stacks(1000)));
  CHECK_FALSE(reads(stacks(kMostStacks + 1)));
  const auto frames = [](std::size_t count) {
    return [count](RowWriter& writer) {
      const std::vector<FrameAddress> addresses = {{0, 1, false}};
      writer.add(addresses, {std::vector<Frame>(count)});
    };
  };
  CHECK(reads(frames(kMostKernelFrames)));
  CHECK_FALSE(reads(frames(kMostKernelFrames + 1)));
}

TEST_CASE("a full disk ends the recording, and what was written stays") {
  UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  REQUIRE(full);
  RecordingWriter writer(std::move(full), "f");
  const Status begun = writer.begin(about());
  REQUIRE_FALSE(begun.ok());
  CHECK(begun.error().message == "cannot write f: No space left on device");
}

}  // namespace
}  // namespace offwait
