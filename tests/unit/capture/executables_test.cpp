// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/executables.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>

#include <unistd.h>

namespace offwait {
namespace {

constexpr std::uint32_t kGone = 2147483647;  // no process has this number

offwait_thread_record record_of(std::uint8_t event, std::uint32_t tid, std::uint32_t tgid,
                                std::uint32_t parent = 0) {
  offwait_thread_record record{};
  record.type = OFFWAIT_RECORD_THREAD;
  record.event = event;
  record.outside = OFFWAIT_TARGET;
  record.tid = tid;
  record.tgid = tgid;
  record.parent = parent;
  record.start_ns = 5;
  return record;
}

std::string program_of(const KernelRecording& recording, std::uint32_t tid) {
  return recording.programs.at(*value_of(recording.program_of, {tid, 5})).path;
}

TEST_CASE("threads run the program of their process, or of its parent, if it is known") {
  const auto own = static_cast<std::uint32_t>(::getpid());
  Executables executables;
  executables.note(record_of(OFFWAIT_THREAD_SEEN, own, own));
  executables.note(record_of(OFFWAIT_THREAD_BORN, own + 1, own, own));
  executables.note(record_of(OFFWAIT_THREAD_BORN, kGone, kGone, own));          // gone: what its parent runs
  executables.note(record_of(OFFWAIT_THREAD_BORN, kGone - 1, kGone - 1, own));  // gone, after an exec
  offwait_thread_record exec = record_of(OFFWAIT_THREAD_NAMED, kGone - 1, kGone - 1);
  exec.exec = 1;
  executables.note(exec);
  executables.note(record_of(OFFWAIT_THREAD_SEEN, kGone - 2, kGone - 2));  // gone, and nobody's child
  offwait_thread_record kernel = record_of(OFFWAIT_THREAD_SEEN, 2, 2);
  kernel.outside = OFFWAIT_OUTSIDE_KERNEL;
  executables.note(kernel);
  executables.note(record_of(OFFWAIT_THREAD_EXITED, kGone, kGone));  // what it was stays known
  executables.read_if_due();
  KernelRecording recording;
  executables.end(recording);
  const std::string path = std::filesystem::read_symlink("/proc/self/exe").string();
  CHECK(recording.program_of.size() == 5);
  CHECK(program_of(recording, own) == path);
  CHECK(program_of(recording, own + 1) == path);
  CHECK(program_of(recording, kGone) == path);
  CHECK(program_of(recording, kGone - 1).empty());
  CHECK(program_of(recording, kGone - 2).empty());
}

TEST_CASE("threads that have exited are forgotten when a recording has them, and the others are not") {
  const auto own = static_cast<std::uint32_t>(::getpid());
  Executables executables;
  executables.note(record_of(OFFWAIT_THREAD_SEEN, own, own));
  executables.note(record_of(OFFWAIT_THREAD_BORN, kGone, kGone, own));
  executables.note(record_of(OFFWAIT_THREAD_EXITED, kGone, kGone));
  executables.note(record_of(OFFWAIT_THREAD_BORN, kGone - 1, kGone - 1, own));
  executables.note(record_of(OFFWAIT_THREAD_EXITED, kGone - 1, kGone - 1));
  offwait_thread_record again = record_of(OFFWAIT_THREAD_BORN, kGone - 1, kGone - 1, own);
  again.start_ns = 6;  // the same number for another thread
  executables.note(again);
  KernelRecording first;
  executables.add_to(first);
  CHECK(first.program_of.size() == 4);
  executables.forget_exited();

  executables.note(record_of(OFFWAIT_THREAD_BORN, kGone - 2, kGone - 2, own));
  executables.note(record_of(OFFWAIT_THREAD_EXITED, kGone - 2, kGone - 2));
  KernelRecording second;
  executables.end(second);
  const std::uint32_t number = *value_of(first.program_of, {own, 5});
  CHECK(second.program_of ==
        RowsOfThreads<std::uint32_t>{{{own, 5}, number}, {{kGone - 2, 5}, number}, {{kGone - 1, 6}, number}});
  CHECK(second.programs.at(number).path == first.programs.at(number).path);
}

}  // namespace
}  // namespace offwait
