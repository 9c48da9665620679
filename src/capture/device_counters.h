// SPDX-License-Identifier: GPL-2.0-or-later
// The counters of disks, interfaces and CPUs that the kernel keeps, read while a recording runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/nanos.h"
#include "base/unique_fd.h"
#include "capture/kernel_names.h"
#include "event/recording.h"

namespace offwait {

/// Inode of the network namespace of a process, as ip-netns(8) and `ls -L /proc/self/ns/net` have it; 0 if
/// that is not known.
std::uint32_t network_namespace(const std::string& process = "self");

/// What an interface is called in recordings: its name, with `@INODE` in a network namespace of another
/// inode than `own`.
std::string interface_name(std::string name, std::uint32_t inode, std::uint32_t own);

class DeviceCounters {
 public:
  /// For a process of the target: has the interfaces of its network namespace sampled from now on, and notes
  /// the ports on which somebody listens there.
  void add_network_of(std::int32_t tgid, KernelRecording& recording);

  /// At the window's begin.
  void begin(KernelRecording& recording);
  /// Samples the devices if the last sample is a second old.
  void sample_if_due(KernelRecording& recording);
  /// At the window's end.
  void end(KernelRecording& recording);

 private:
  void sample(KernelRecording& recording);
  void sample_nics(KernelRecording& recording);
  void sample_disks(KernelRecording& recording);

  Nanos next_ = 0;
  std::optional<CpuTicks> cpu_at_begin_;
  std::set<std::uint32_t> looked_below_;        ///< disks whose lower disks are known
  std::map<std::uint32_t, UniqueFd> net_devs_;  ///< /proc/PID/net/dev of each network namespace, by its inode
};

}  // namespace offwait
