// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/device_counters.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include <unistd.h>

namespace offwait {
namespace {

TEST_CASE("an interface of another network namespace has its inode in its name") {
  CHECK(interface_name("eth0", 5, 5) == "eth0");
  CHECK(interface_name("eth0", 4026532195, 5) == "eth0@4026532195");
}

TEST_CASE("device counters are read at both ends of the window, and once a second between them") {
  KernelRecording recording;
  DeviceCounters devices;
  devices.begin(recording);
  const auto loopbacks = [&recording] {
    return std::count_if(recording.nic_counters.begin(), recording.nic_counters.end(),
                         [](const KernelNicCounters& nic) { return nic.name == "lo"; });
  };
  const std::size_t disks = recording.disk_counters.size();
  CHECK(loopbacks() == 1);
  CHECK(recording.disks.size() == disks);
  devices.read_if_due(recording);
  CHECK(loopbacks() == 1);
  CHECK(recording.disk_counters.size() == disks);
  devices.end(recording);
  CHECK(loopbacks() == 2);
  CHECK(recording.disk_counters.size() == 2 * disks);
  CHECK(std::is_sorted(recording.nic_counters.begin(), recording.nic_counters.end(),
                       [](const KernelNicCounters& a, const KernelNicCounters& b) { return a.at < b.at; }));
}

TEST_CASE("the counters of a target process's network namespace are read once") {
  KernelRecording recording;
  DeviceCounters devices;
  devices.add_network_of(::getpid(), recording);
  devices.add_network_of(::getpid(), recording);
  devices.begin(recording);
  CHECK(std::count_if(recording.nic_counters.begin(), recording.nic_counters.end(),
                      [](const KernelNicCounters& nic) { return nic.name == "lo"; }) == 1);
  devices.add_network_of(2147483647, recording);
  devices.end(recording);
  CHECK(std::count_if(recording.nic_counters.begin(), recording.nic_counters.end(),
                      [](const KernelNicCounters& nic) { return nic.name == "lo"; }) == 2);
}

}  // namespace
}  // namespace offwait
