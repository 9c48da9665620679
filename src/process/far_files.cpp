// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/far_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/read_file.h"
#include "process/mount_points.h"

namespace offwait {

namespace {

constexpr int kLimitMs = 1000;
constexpr off_t kLargest = off_t{64} << 20;
/// All copies together take no more than this.
constexpr off_t kMostCopied = off_t{512} << 20;
constexpr std::size_t kMostNotes = 8;

/// What is known of file systems, for all threads. A device has one file system as long as it is mounted.
struct Known {
  std::mutex mutex;
  std::map<std::uint32_t, MountPoint> mounts;
  std::set<std::uint32_t> silent;
  off_t copied = 0;  ///< bytes
};

Known& known() {
  static Known all;
  return all;
}

std::vector<MountPoint> mounts_of(std::int32_t tgid) {
  return parse_mounts(read_file("/proc/" + std::to_string(tgid) + "/mountinfo"));
}

/// What the child does: it may call nothing but the kernel, because the parent may have had other threads.
[[noreturn]] void copy_in_child(const char* path, int to) {
  struct stat status {};
  const int handle = open(path, O_PATH | O_CLOEXEC);
  if (handle < 0 || fstat(handle, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > kLargest) {
    _exit(1);
  }
  const int file = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
  const int copy = memfd_create("far file", MFD_CLOEXEC);
  if (file < 0 || copy < 0) _exit(1);
  std::array<char, 65536> piece{};
  for (off_t done = 0; done < kLargest;) {
    const ssize_t got = read(file, piece.data(), piece.size());
    if (got < 0) _exit(1);
    if (got == 0) break;
    if (write(copy, piece.data(), static_cast<std::size_t>(got)) != got) _exit(1);
    done += got;
  }
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec data{&status, sizeof(status)};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::copy_n(reinterpret_cast<const unsigned char*>(&copy), sizeof(copy), CMSG_DATA(header));
  _exit(sendmsg(to, &message, 0) < 0 ? 1 : 0);
}

std::optional<FarFile> received_from(int from) {
  FarFile out;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec data{&out.status, sizeof(out.status)};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof(out.status))) {
    return std::nullopt;
  }
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return std::nullopt;
  int copy = -1;
  std::copy_n(CMSG_DATA(header), sizeof(copy), reinterpret_cast<unsigned char*>(&copy));
  out.copy = UniqueFd(copy);
  return out;
}

/// Whether the child said something, or ended, in time.
bool answers_in_time(int from) {
  pollfd wanted{from, POLLIN, 0};
  int got = 0;
  do {
    got = poll(&wanted, 1, kLimitMs);
  } while (got < 0 && errno == EINTR);
  return got > 0;
}

}  // namespace

bool is_near(std::string_view type) {
  static constexpr std::array<std::string_view, 29> kNear = {
      "ext2",    "ext3",      "ext4",   "xfs",   "btrfs", "bcachefs", "zfs",     "f2fs",
      "jfs",     "reiserfs",  "nilfs2", "vfat",  "exfat", "ntfs3",    "iso9660", "udf",
      "erofs",   "squashfs",  "cramfs", "romfs", "tmpfs", "ramfs",    "rootfs",  "devtmpfs",
      "overlay", "hugetlbfs", "proc",   "sysfs", "bpf"};
  return std::find(kNear.begin(), kNear.end(), type) != kNear.end();
}

bool is_far(std::int32_t tgid, std::uint32_t device) {
  Known& all = known();
  const std::lock_guard<std::mutex> guard(all.mutex);
  if (!all.mounts.contains(device)) {
    for (MountPoint& mount : mounts_of(tgid)) all.mounts.try_emplace(mount.dev, std::move(mount));
  }
  // What is mounted nowhere (any more) has no type, and is not looked for again.
  return !is_near(all.mounts[device].type);
}

bool is_root_far(std::int32_t tgid) {
  const std::vector<MountPoint> mounts = mounts_of(tgid);
  // What is mounted last lies on top.
  const auto root =
      std::find_if(mounts.rbegin(), mounts.rend(), [](const MountPoint& mount) { return mount.path == "/"; });
  return root != mounts.rend() && !is_near(root->type);
}

std::optional<FarFile> copy_far_file(const std::string& path, std::uint32_t device) {
  Known& all = known();
  {
    const std::lock_guard<std::mutex> guard(all.mutex);
    if (all.silent.contains(device) || all.copied > kMostCopied) return std::nullopt;
  }
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  const UniqueFd ours(ends[0]);
  UniqueFd its(ends[1]);
  const pid_t child = fork();
  if (child == 0) copy_in_child(path.c_str(), its.get());
  its = UniqueFd();
  if (child < 0) return std::nullopt;
  const bool answered = answers_in_time(ours.get());
  std::optional<FarFile> out = answered ? received_from(ours.get()) : std::nullopt;
  // The child may wait in a call that cannot be broken off. It then ends later, and is reaped by the process
  // that adopts it.
  if (!answered) kill(child, SIGKILL);
  waitpid(child, nullptr, answered ? 0 : WNOHANG);
  const std::lock_guard<std::mutex> guard(all.mutex);
  if (!answered) all.silent.insert(device);
  if (out) all.copied += out->status.st_size;
  return out;
}

std::vector<std::string> silent_file_systems() {
  Known& all = known();
  const std::lock_guard<std::mutex> guard(all.mutex);
  std::vector<std::string> out;
  for (const std::uint32_t device : all.silent) {
    if (out.size() == kMostNotes) break;
    const auto mounted = all.mounts.find(device);
    out.push_back(fmt::format(
        "the file system {}did not answer within {} s: functions in its files have no names",
        mounted == all.mounts.end() ? std::string()
                                    : fmt::format("at {} ({}) ", mounted->second.path, mounted->second.type),
        kLimitMs / 1000));
  }
  return out;
}

}  // namespace offwait
