// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/device_counters.h"

#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/read_file.h"
#include "capture/block_devices.h"
#include "capture/served_ports.h"

namespace offwait {
namespace {

constexpr Nanos kInterval = kSecond;

}  // namespace

std::uint32_t network_namespace(const std::string& process) {
  struct stat status {};
  return ::stat(("/proc/" + process + "/ns/net").c_str(), &status) == 0
             ? static_cast<std::uint32_t>(status.st_ino)
             : 0;
}

std::string interface_name(std::string name, std::uint32_t inode, std::uint32_t own) {
  if (inode != own) name += "@" + std::to_string(inode);
  return name;
}

void DeviceCounters::add_network_of(std::int32_t tgid, KernelRecording& recording) {
  const std::string process = std::to_string(tgid);
  const std::uint32_t inode = network_namespace(process);
  if (inode == 0 || net_devs_.contains(inode)) return;
  UniqueFd file(::open(("/proc/" + process + "/net/dev").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return;
  recording.served_ports.merge(served_ports(tgid));
  net_devs_.emplace(inode, std::move(file));
}

void DeviceCounters::begin(KernelRecording& recording) { read(recording); }

void DeviceCounters::read_if_due(KernelRecording& recording) {
  if (monotonic_now() >= next_) read(recording);
}

void DeviceCounters::read_if_older(Nanos age, KernelRecording& recording) {
  if (monotonic_now() >= next_ - kInterval + age) read(recording);
}

void DeviceCounters::end(KernelRecording& recording) { read(recording); }

void DeviceCounters::read(KernelRecording& recording) {
  read_nics(recording);
  read_disks(recording);
  next_ = monotonic_now() + kInterval;
}

/// Reads the interfaces of the target's network namespaces and of this process's own.
void DeviceCounters::read_nics(KernelRecording& recording) {
  const std::uint32_t own = network_namespace();
  const auto add = [&recording, own](const std::string& net_dev, std::uint32_t inode) {
    const Nanos at = monotonic_now();
    for (NicStats& nic : parse_net_dev(net_dev))
      recording.nic_counters.push_back(
          {interface_name(std::move(nic.name), inode, own), at, nic.received, nic.sent});
  };
  if (!net_devs_.contains(own)) add(read_file("/proc/self/net/dev"), own);
  for (const auto& [inode, file] : net_devs_) {
    ::lseek(file.get(), 0, SEEK_SET);
    add(read_all(file.get()), inode);
  }
}

void DeviceCounters::read_disks(KernelRecording& recording) {
  const std::string text = read_file("/proc/diskstats");
  const Nanos at = monotonic_now();
  for (DiskStats& disk : parse_diskstats(text)) {
    recording.disk_counters.push_back({disk.dev, at, disk.bytes, disk.ios, disk.in_flight});
    recording.disks.emplace(disk.dev, std::move(disk.name));
    // Each disk is looked at once, when it has been used: a disk that is not attached to anything yet has
    // done no I/O.
    if (disk.ios == 0 || !looked_below_.insert(disk.dev).second) continue;
    if (std::vector<std::string> below = disks_below(disk.dev); !below.empty())
      recording.disks_below.emplace(disk.dev, std::move(below));
  }
}

}  // namespace offwait
