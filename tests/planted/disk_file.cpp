// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_file.h"

#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "clock.h"
#include "die.h"

namespace {

constexpr std::size_t kBlocks = 256;

}  // namespace

DiskFile::DiskFile(const std::string& directory) {
  const std::string name = directory + "/planted.XXXXXX";
  std::vector<char> path(name.begin(), name.end());
  path.push_back('\0');
  file_ = mkostemp(path.data(), O_CLOEXEC);
  if (file_ < 0) die_of_errno(name);
  struct statfs status {};
  if (fstatfs(file_, &status) != 0) die_of_errno(name);
  direct_ = open(path.data(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  const int open_errno = errno;
  unlink(path.data());
  if (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC) die(directory + " is in memory");
  errno = open_errno;
  if (direct_ < 0) die_of_errno(name);
  for (std::size_t i = 0; i < kBlocks; ++i) write_block();
  if (fsync(file_) != 0) die_of_errno("fsync");
}

DiskFile::~DiskFile() {
  close(file_);
  close(direct_);
}

void DiskFile::sync_for(std::int64_t ns, DiskSpeeds speeds) {
  repeat_for(ns, speeds, [this] {
    write_block();
    if (fdatasync(file_) != 0) die_of_errno("fdatasync");
  });
}

void DiskFile::read_for(std::int64_t ns, DiskSpeeds speeds) {
  repeat_for(ns, speeds, [this] {
    if (pread(direct_, block_->data(), kBlock, next_offset()) != kBlock) die_of_errno("reading");
  });
}

template <class Work>
void DiskFile::repeat_for(std::int64_t ns, DiskSpeeds speeds, Work work) {
  const bool one_part = speeds.cpu != speeds.disk;
  const Use before = one_part ? use_until_now() : Use{};
  const auto shortened = static_cast<std::int64_t>(static_cast<double>(ns) * left(speeds));
  const std::int64_t end = now(CLOCK_MONOTONIC) + shortened;
  do {
    work();
  } while (now(CLOCK_MONOTONIC) < end);
  if (one_part) {
    const Use after = use_until_now();
    used_.elapsed_ns += after.elapsed_ns - before.elapsed_ns;
    used_.ran_ns += after.ran_ns - before.ran_ns;
    used_.runnable_ns += after.runnable_ns - before.runnable_ns;
  }
}

double DiskFile::left(DiskSpeeds speeds) const {
  if (speeds.cpu == speeds.disk) return 1 / speeds.cpu;
  if (used_.elapsed_ns == 0) return 1;
  const auto elapsed = static_cast<double>(used_.elapsed_ns);
  const auto ran = static_cast<double>(used_.ran_ns);
  const auto runnable = static_cast<double>(used_.runnable_ns);
  return (ran / speeds.cpu + runnable + (elapsed - ran - runnable) / speeds.disk) / elapsed;
}

DiskFile::Use DiskFile::use_until_now() {
  // The file of the thread that reads it: "ran, was runnable, number of times", in nanoseconds.
  Use use;
  std::FILE* file = std::fopen("/proc/thread-self/schedstat", "re");
  long long runnable = 0;
  if (file == nullptr || std::fscanf(file, "%*d %lld", &runnable) != 1) die("no /proc/thread-self/schedstat");
  std::fclose(file);
  use.elapsed_ns = now(CLOCK_MONOTONIC);
  use.ran_ns = now(CLOCK_THREAD_CPUTIME_ID);
  use.runnable_ns = runnable;
  return use;
}

off_t DiskFile::next_offset() { return static_cast<off_t>(next_++ % kBlocks * kBlock); }

void DiskFile::write_block() {
  if (pwrite(file_, block_->data(), kBlock, next_offset()) != kBlock) die_of_errno("writing");
}
