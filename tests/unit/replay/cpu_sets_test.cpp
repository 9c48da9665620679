// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/cpu_sets.h"

#include <catch2/catch.hpp>

using namespace offwait;

TEST_CASE("what may run on some CPUs runs in that set, and in those around it") {
  const std::vector<CpuTime> online = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {7, 0, 0}};
  const CpuList zero = {{0, 0}};
  const CpuList first_two = {{0, 1}};
  const CpuList others = {{2, 7}};
  // A set that holds all CPUs that there are is all of them; so is one that names none of these.
  const CpuSets sets = cpu_sets({{}, zero, first_two, others, {{0, 9}}, {{3, 6}}, zero}, online, 4);
  CHECK(sets.of == std::vector<CpuSetId>{kAllCpus, 1, 2, 3, kAllCpus, kAllCpus, 1});
  CHECK(sets.cpus == std::vector<double>{4, 1, 2, 2});
  CHECK(sets.within[kAllCpus] == std::vector<CpuSetId>{kAllCpus});
  CHECK(sets.within[1] == std::vector<CpuSetId>{kAllCpus, 1, 2});
  CHECK(sets.within[2] == std::vector<CpuSetId>{kAllCpus, 2});
  CHECK(sets.within[3] == std::vector<CpuSetId>{kAllCpus, 3});
}

TEST_CASE("nothing is pinned where no CPU is known, or where the sets are too many") {
  const CpuSets unknown = cpu_sets({{{0, 0}}, {{1, 1}}}, {}, 2);
  CHECK(unknown.of == std::vector<CpuSetId>{kAllCpus, kAllCpus});
  CHECK(unknown.cpus == std::vector<double>{2});
  std::vector<CpuList> each;
  std::vector<CpuTime> online;
  for (std::uint32_t cpu = 0; cpu < 80; ++cpu) {
    each.push_back({{cpu, cpu}});
    online.push_back({cpu, 0, 0});
  }
  CHECK(cpu_sets(each, online, 80).cpus == std::vector<double>{80});
  each.resize(60);
  CHECK(cpu_sets(each, online, 80).cpus.size() == 61);
}

TEST_CASE("more CPUs for pinned threads are those of the machine, as far as it has them") {
  UsableCpus usable;
  usable.shared = 8;
  usable.pinned_to = 1;
  // One in each of these sets is pinned to CPU 0 or 1, or to half of the machine.
  const CpuSets sets{{8, 1, 1, 4}, {{kAllCpus}, {1, kAllCpus}, {2, kAllCpus}, {3, kAllCpus}}, {}};
  CHECK(cpus_of_sets(sets, usable, 0.5) == std::vector<double>{8, 2, 2, 8});
  CHECK(cpus_of_sets(sets, usable, 1.0 / 8) == std::vector<double>{8, 8, 8, 8});
  CHECK(cpus_of_sets(sets, usable, 0.1) == std::vector<double>{10, 10, 10, 10});
  // Fewer for them leaves the machine as it is.
  CHECK(cpus_of_sets(sets, usable, 2) == std::vector<double>{8, 0.5, 0.5, 2});
  // Where they are not known, the machine is the same.
  CHECK(cpus_of_sets({{8}, {{kAllCpus}}, {}}, usable, 1.0 / 8) == std::vector<double>{8});
  usable.pinned_to = 0;
  CHECK(cpus_of_sets(sets, usable, 0.5) == std::vector<double>{16, 2, 2, 8});
}
