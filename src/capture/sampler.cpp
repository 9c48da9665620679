// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sampler.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <bpf/libbpf.h>

#include "base/nanos.h"
#include "base/unique_fd.h"
#include "capture/perf_event.h"

namespace offwait {

Status start_sampling(const bpf_program* program, std::uint32_t hz, std::vector<bpf_link*>& links) {
  perf_event_attr clock{};
  clock.type = PERF_TYPE_SOFTWARE;
  clock.config = PERF_COUNT_SW_CPU_CLOCK;
  // A period is always allowed; kernel.perf_event_max_sample_rate may forbid a frequency.
  clock.sample_period = static_cast<__u64>(kSecond) / hz;
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 0) return Error{std::string("cannot count the CPUs: ") + std::strerror(-cpus)};
  std::vector<bpf_link*> started;
  const auto fail = [&started](const char* what, int error) {
    for (bpf_link* link : started) bpf_link__destroy(link);
    return Error{std::string(what) + ": " + std::strerror(error)};
  };
  for (int cpu = 0; cpu < cpus; ++cpu) {
    constexpr pid_t kAllThreads = -1;
    UniqueFd event = open_perf_event(clock, kAllThreads, cpu);
    if (!event && errno == ENODEV) continue;  // the CPU is offline
    if (!event) return fail("perf_event_open", errno);
    bpf_link* const link = bpf_program__attach_perf_event(program, event.get());
    if (link == nullptr) return fail("attaching to a CPU's clock", errno);
    event.release();  // the link closes it from now on
    started.push_back(link);
  }
  links.insert(links.end(), started.begin(), started.end());
  return success();
}

}  // namespace offwait
