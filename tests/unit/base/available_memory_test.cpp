// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/available_memory.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/temporary_directory.h"

namespace offwait {
namespace {

class Host {
 public:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = directory_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::uint64_t available() const { return available_memory(directory_ / "proc", directory_ / "cgroups"); }

 private:
  test::TemporaryDirectory directory_;
};

TEST_CASE("what is available is the machine's, or what the nearest limit leaves") {
  Host host;
  CHECK(host.available() == UINT64_MAX);
  host.write("proc/meminfo", "MemTotal:       8000 kB\nMemFree:  10 kB\nMemAvailable:   4000 kB\n");
  CHECK(host.available() == 4000 * 1024);
  host.write("proc/self/cgroup", "1:cpu:/a\n0::/slice/unit\n");
  CHECK(host.available() == 4000 * 1024);
  host.write("cgroups/slice/unit/memory.max", "max\n");
  host.write("cgroups/slice/unit/memory.current", "100\n");
  CHECK(host.available() == 4000 * 1024);
  host.write("cgroups/slice/memory.max", "3000\n");
  host.write("cgroups/slice/memory.current", "1200\n");
  CHECK(host.available() == 1800);
  // What is in memory of files can go.
  host.write("cgroups/slice/memory.stat", "anon 200\ninactive_file 600\nactive_file 400\n");
  CHECK(host.available() == 2800);
  // In a container its own cgroup is the mount.
  host.write("proc/self/cgroup", "0::/\n");
  host.write("cgroups/memory.max", "500\n");
  host.write("cgroups/memory.current", "700\n");
  CHECK(host.available() == 0);
}

TEST_CASE("limits of version 1 of cgroups count, too") {
  Host host;
  host.write("proc/meminfo", "MemAvailable:   4000 kB\n");
  host.write("proc/self/cgroup", "9:cpu:/\n4:memory:/slice/unit\n0::/\n");
  CHECK(host.available() == 4000 * 1024);
  host.write("cgroups/memory/slice/memory.limit_in_bytes", "9223372036854771712\n");
  host.write("cgroups/memory/slice/memory.usage_in_bytes", "700\n");
  host.write("cgroups/memory/slice/unit/memory.limit_in_bytes", "3000\n");
  host.write("cgroups/memory/slice/unit/memory.usage_in_bytes", "1200\n");
  CHECK(host.available() == 1800);
  host.write("cgroups/memory/slice/unit/memory.stat",
             "active_file 1\ntotal_inactive_file 600\ntotal_active_file 400\n");
  CHECK(host.available() == 2800);
  // A container has the host's path, and its own cgroup as the mount.
  host.write("proc/self/cgroup", "4:memory:/docker/12ab\n0::/\n");
  host.write("cgroups/memory/memory.limit_in_bytes", "500\n");
  host.write("cgroups/memory/memory.usage_in_bytes", "100\n");
  CHECK(host.available() == 400);
}

}  // namespace
}  // namespace offwait
