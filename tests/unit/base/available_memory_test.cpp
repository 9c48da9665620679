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

}  // namespace
}  // namespace offwait
