// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/runtimes.h"

#include <algorithm>
#include <array>
#include <map>

namespace offwait {

namespace {

struct About {
  std::string_view name;
  std::string_view tasks;
  bool hides_waits = true;
};

/// By Runtime.
constexpr std::array kAbout = {
    About{"", "", false},
    About{"Go", "goroutines"},
    About{"Java", "jobs of thread pools", false},
    About{"Java", "virtual threads"},
    About{"Erlang", "Erlang processes"},
    About{"Rust", "tokio tasks"},
    About{"Python", "greenlets"},
};
static_assert(kAbout.size() == static_cast<std::size_t>(Runtime::greenlets) + 1);

const About& about(Runtime runtime) { return kAbout[static_cast<std::size_t>(runtime)]; }

}  // namespace

std::string_view name_of(Runtime runtime) { return about(runtime).name; }
std::string_view tasks_of(Runtime runtime) { return about(runtime).tasks; }
bool hides_waits(Runtime runtime) { return about(runtime).hides_waits; }

std::vector<Runtime> runtimes_of(const Trace& trace) {
  std::vector<Runtime> of_frames;
  for (const Frame& frame : trace.frames) of_frames.push_back(roles_of(frame).runtime);
  std::vector<Runtime> of_stacks(trace.stacks.size(), Runtime::none);
  for (StackId id = 0; id < trace.stacks.size(); ++id) {
    for (const FrameId frame : trace.stacks[id].frames) {
      of_stacks[id] = std::max(of_stacks[id], of_frames[frame]);
    }
  }
  std::map<std::int32_t, Runtime> of_processes;
  const auto seen = [&](ActorId thread, StackId stack) {
    if (stack == kNoStack || of_stacks[stack] == Runtime::none) return;
    Runtime& of_process = of_processes[trace.actors[thread].tgid];
    of_process = std::max(of_process, of_stacks[stack]);
  };
  for (const WaitSite& site : trace.sites) seen(site.thread, site.wait_stack);
  for (const CpuSample& sample : trace.cpu_samples) seen(sample.thread, sample.stack);
  std::vector<Runtime> out;
  for (const Actor& actor : trace.actors) {
    const auto found = of_processes.find(actor.tgid);
    out.push_back(actor.kind == ActorKind::thread && found != of_processes.end() ? found->second
                                                                                 : Runtime::none);
  }
  return out;
}

}  // namespace offwait
