// SPDX-License-Identifier: GPL-2.0-or-later
// A disk of known service time, to be put under a loop device. It is a FUSE file system with two files:
// `disk` serves reads, writes and flushes, AT_ONCE (one) at a time, and takes SERVICE_US for each; `served`
// says in decimal how many requests these were and how many ns they took. Runs until unmounted.
//
//   slow_file DIRECTORY SIZE_BYTES SERVICE_US [AT_ONCE]
#define FUSE_USE_VERSION 31

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <fuse.h>

namespace {

constexpr std::string_view kDisk = "/disk";
constexpr std::string_view kServed = "/served";
constexpr std::int64_t kSecond = 1'000'000'000;

struct Disk {
  std::vector<std::mutex> places = std::vector<std::mutex>(1);  // each serves one request at a time
  std::atomic<std::size_t> next_place = 0;
  std::vector<char> content;
  std::int64_t service_ns = 0;
  std::atomic<std::uint64_t> requests = 0;
  std::atomic<std::int64_t> busy_ns = 0;
};

Disk& disk() {
  static Disk the_disk;
  return the_disk;
}

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

template <class Work>
int serve(Work work) {
  std::vector<std::mutex>& places = disk().places;
  const std::lock_guard<std::mutex> lock(places[disk().next_place++ % places.size()]);
  const std::int64_t begin = now();
  const int result = work();
  const std::int64_t end = begin + disk().service_ns;
  const timespec until{end / kSecond, end % kSecond};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
  ++disk().requests;
  disk().busy_ns += now() - begin;
  return result;
}

std::string served() { return std::to_string(disk().requests) + " " + std::to_string(disk().busy_ns) + "\n"; }

int attributes(const char* path, struct stat* status, fuse_file_info*) {
  *status = {};
  const std::string_view name(path);
  status->st_nlink = 1;
  if (name == "/") {
    status->st_mode = S_IFDIR | 0700;
  } else if (name == kDisk) {
    status->st_mode = S_IFREG | 0700;  // a program may be written to it
    status->st_size = static_cast<off_t>(disk().content.size());
  } else if (name == kServed) {
    status->st_mode = S_IFREG | 0400;
  } else {
    return -ENOENT;
  }
  return 0;
}

int open_file(const char* path, fuse_file_info* file) {
  file->direct_io = kServed == path ? 1 : 0;
  return 0;
}

std::size_t inside(std::size_t size, off_t offset, std::size_t length) {
  const auto from = static_cast<std::size_t>(offset);
  return from >= length ? 0 : std::min(size, length - from);
}

int read_file(const char* path, char* buffer, std::size_t size, off_t offset, fuse_file_info*) {
  if (kServed == path) {
    const std::string text = served();
    const std::size_t count = inside(size, offset, text.size());
    std::copy_n(text.begin() + offset, count, buffer);
    return static_cast<int>(count);
  }
  return serve([&] {
    const std::size_t count = inside(size, offset, disk().content.size());
    std::copy_n(disk().content.begin() + offset, count, buffer);
    return static_cast<int>(count);
  });
}

int write_file(const char*, const char* buffer, std::size_t size, off_t offset, fuse_file_info*) {
  return serve([&] {
    const std::size_t count = inside(size, offset, disk().content.size());
    std::copy_n(buffer, count, disk().content.begin() + offset);
    return static_cast<int>(count);
  });
}

int flush_file(const char*, int, fuse_file_info*) {
  return serve([] { return 0; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fputs("slow_file DIRECTORY SIZE_BYTES SERVICE_US [AT_ONCE]\n", stderr);
    return 2;
  }
  disk().content.resize(std::strtoull(argv[2], nullptr, 10));
  disk().service_ns = std::strtoll(argv[3], nullptr, 10) * 1000;
  if (argc == 5) disk().places = std::vector<std::mutex>(std::strtoull(argv[4], nullptr, 10));
  fuse_operations operations{};
  operations.getattr = attributes;
  operations.open = open_file;
  operations.read = read_file;
  operations.write = write_file;
  operations.fsync = flush_file;
  std::string foreground = "-f";
  std::array<char*, 3> arguments = {argv[0], foreground.data(), argv[1]};
  return fuse_main(static_cast<int>(arguments.size()), arguments.data(), &operations, nullptr);
}
