// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the counters that the kernel keeps of disks and interfaces, while a recording runs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/nanos.h"
#include "base/unique_fd.h"
#include "capture/kernel_names.h"
#include "event/recording.h"

namespace offwait {

/// The inode of a process's network namespace, as ip-netns(8) and `ls -L /proc/self/ns/net` print it; 0 if it
/// is unknown.
std::uint32_t network_namespace(const std::string& process = "self");

/// The name of an interface in recordings: with `@INODE` behind it if its network namespace has another inode
/// than `own`.
std::string interface_name(std::string name, std::uint32_t inode, std::uint32_t own);

class DeviceCounters {
 public:
  /// Takes a process of the target. From now on the interfaces of its network namespace are read; the ports
  /// on which sockets listen there are noted.
  void add_network_of(std::int32_t tgid, KernelRecording& recording);

  /// Reads all counters at the window's start.
  void begin(KernelRecording& recording);
  /// Reads the counters of disks and interfaces if the last reading is a second old.
  void read_if_due(KernelRecording& recording);
  /// Reads the counters if the last reading is as old as this.
  void read_if_older(Nanos age, KernelRecording& recording);
  /// Reads all counters at the window's end.
  void end(KernelRecording& recording);

 private:
  void read(KernelRecording& recording);
  void read_nics(KernelRecording& recording);
  void read_disks(KernelRecording& recording);

  Nanos next_ = 0;
  std::set<std::uint32_t> looked_below_;        ///< disks whose lower disks are known
  std::map<std::uint32_t, UniqueFd> net_devs_;  ///< /proc/PID/net/dev of each network namespace, by its inode
};

}  // namespace offwait
