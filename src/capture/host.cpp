// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/host.h"

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/read_file.h"
#include "capture/kernel_types.h"
#include "capture/privileges.h"
#include "capture/recorder.h"
#include "process/mapped_files.h"
#include "process/priority.h"
#include "sandbox/confined.h"

namespace offwait {
namespace {

using enum FeatureState;

/// The first line of a file; empty if it cannot be read.
std::string line_of(const std::string& path) {
  const std::string text = read_file(path);
  return text.substr(0, text.find('\n'));
}

HostFeature yes_or(bool has, std::string name, std::string value, FeatureState without, std::string meaning) {
  if (has) return {std::move(name), ok, std::move(value), ""};
  return {std::move(name), without, "none", std::move(meaning)};
}

std::vector<HostFeature> kernel_features() {
  utsname host{};
  ::uname(&host);
  std::vector<HostFeature> found{{"kernel", ok, std::string(host.release) + " " + host.machine, ""}};
  const Result<KernelTypes> types = read_kernel_types();
  if (!types) {
    found.push_back({"kernel types (BTF)", missing, "unusable", types.error().message});
    return found;
  }
  found.push_back({"kernel types (BTF)", ok, "/sys/kernel/btf/vmlinux", ""});
  found.push_back(
      yes_or(types->has_ring_buffer, "BPF ring buffer", "yes", missing, "offwait needs Linux 5.8 or newer"));
  found.push_back(yes_or(types->has_task_iterator, "BPF task iterator", "yes", missing,
                         "offwait needs Linux 5.8 or newer"));
  found.push_back(yes_or(types->sched_switch_has_prev_state, "sched_switch prev_state", "yes", degraded,
                         "a thread's state is read from the thread, which may have changed it meanwhile"));
  found.push_back(yes_or(types->has_block_rq_merge, "block_rq_merge", "yes", degraded,
                         "a disk request merged into another counts as in flight until it is used again"));
  found.push_back(yes_or(types->has_rdonly_cast, "bpf_rdonly_cast", "yes", degraded,
                         "stacks in the kernel cost a call for each frame"));
  found.push_back(
      yes_or(types->has_vm_unmapped_area, "vm_unmapped_area", "yes", degraded,
             "offwait looks for newly mapped code once a second: until then stacks may be cut in it"));
  found.push_back(yes_or(types->has_bpf_mem_alloc, "BPF memory allocator", "yes", degraded,
                         "user stacks of 256 processes at most are walked by unwind tables"));
  return found;
}

/// A place in offwait's own executable, to try a probe on.
std::optional<Probe> own_place() {
  const auto address = reinterpret_cast<std::uint64_t>(&examine_host);
  for (const Mapping& mapping : executable_mappings(::getpid()).value_or(std::vector<Mapping>())) {
    if (mapping.begin <= address && address < mapping.end)
      return Probe{Probe::Kind::false_wakeup, "/proc/self/exe", address - mapping.begin + mapping.offset};
  }
  return std::nullopt;
}

HostFeature kernel_names(bool in_bpf) {
  if (in_bpf) return {"kernel symbols", ok, "BPF symbol iterator", ""};
  std::istringstream symbols(read_file("/proc/kallsyms"));
  for (std::string line; std::getline(symbols, line);) {
    if (std::strtoull(line.c_str(), nullptr, 16) != 0) return {"kernel symbols", ok, "/proc/kallsyms", ""};
  }
  return {"kernel symbols", degraded, "hidden",
          "frames in the kernel have no names: give CAP_SYSLOG, too, and set kernel.kptr_restrict to 0 or 1 "
          "if it is 2"};
}

/// How this host lets responses to clients be counted. `refused`: why the programs could not be attached.
HostFeature response_counter(const std::optional<std::string>& refused) {
  const std::string name = "response counter";
  const Result<KernelTypes> types = read_kernel_types();
  if (refused || !types) {
    return {name, degraded, "none",
            "a server's progress is inferred from waits" + (refused ? ": " + *refused : "")};
  }
  if (types->has_socket_lengths) return {name, ok, "sock_send_length", ""};
  if (types->has_unix_functions) return {name, ok, "tcp_sendmsg, unix_stream_sendmsg", ""};
  return {name, degraded, "tcp_sendmsg", "responses on unix sockets are not counted"};
}

/// Loads and attaches everything that a recording uses.
void try_to_record(Host& host) {
  HostFeature programs{"BPF programs", ok, "", ""};
  HostFeature samples{"CPU samples", unknown, "not tried", ""};
  HostFeature probes{"uprobes", unknown, "not tried", ""};
  HostFeature responses{"response counter", unknown, "not tried", ""};
  HostFeature draws{"end of a switch", unknown, "not tried", ""};
  CaptureOptions options;
  options.most_overhead = 0.03;  // any, so that stacks may be left out
  options.tgids = {::getpid()};
  if (const std::optional<Probe> place = own_place()) options.probes = {*place};
  Priority priority;
  Result<Recorder> recorder = Recorder::attach(options, priority);
  if (recorder) {
    if (!options.probes.empty()) probes = {"uprobes", ok, "attached", ""};
  } else if (check_privileges()) {
    Error with_probe = recorder.error();
    options.probes.clear();
    recorder = Recorder::attach(options, priority);
    if (recorder) {
      probes = {"uprobes", degraded, "none",
                "no --spin and no annotations: " + std::move(with_probe.message)};
    }
  }
  if (recorder) {
    programs.value = "loaded and attached";
    recorder->begin();
    const Result<KernelRecording> recording = recorder->stop();
    const bool sampled = recording && recording->sample_hz != 0;
    samples = {"CPU samples", sampled ? ok : degraded, sampled ? "started" : "none", ""};
    const std::string notes = fmt::format("{}", fmt::join(recorder->notes(), "; "));
    if (!sampled) samples.meaning = notes;
    responses =
        response_counter(recording && recording->counts_responses ? std::nullopt : std::optional(notes));
    draws = yes_or(recording && recording->cost.most > 0, draws.name, "yes", degraded,
                   "the stacks of all waits are taken, whatever they cost (--max-overhead)");
  } else {
    host.recording = recorder.error();
    const bool tried = check_privileges() && read_kernel_types();
    programs = {"BPF programs", tried ? missing : unknown, tried ? "refused" : "not tried",
                tried ? recorder.error().message : ""};
  }
  HostFeature symbols = kernel_names(recorder && !recorder->kernel_symbols().empty());
  for (HostFeature* feature : {&programs, &samples, &draws, &responses, &probes, &symbols})
    host.features.push_back(std::move(*feature));
}

/// Whether files can be opened through their mapping, not by name; tried with offwait's own executable.
HostFeature deleted_files() {
  for (const Mapping& mapping : executable_mappings(::getpid()).value_or(std::vector<Mapping>())) {
    if (!is_file(mapping)) continue;
    const std::optional<OpenedFile> file = open_mapped_file(::getpid(), mapping);
    if (file && file->path.find("/map_files/") != std::string::npos)
      return {"deleted files", ok, "/proc/PID/map_files", ""};
  }
  return {"deleted files", degraded, "no",
          "no names in files that were deleted or replaced while they are mapped: give "
          "CAP_CHECKPOINT_RESTORE, too"};
}

HostFeature priority() {
  Priority priority;
  priority.urgent();
  switch (priority.highest()) {
    case PriorityLevel::real_time:
      return {"recorder's priority", ok, "real-time", ""};
    case PriorityLevel::nice:
      return {"recorder's priority", ok, "nice -20", ""};
    case PriorityLevel::own:
      break;
  }
  return {"recorder's priority", degraded, "as other threads",
          "records are lost where thousands of threads are ready to run: give CAP_SYS_NICE, too"};
}

HostFeature confinement() {
  const Result<Confined> done = run_confined([](const ConfinedOutput& output) { output.write("read"); }, {});
  if (done && done->end == ConfinedEnd::done && done->output == "read")
    return {"confined processes", ok, "seccomp", ""};
  return {"confined processes", degraded, "none",
          "the target's files are not read: no names, no stacks in user space; no seccomp filter can be "
          "installed"};
}

void own_privileges(std::vector<HostFeature>& found) {
  for (const NeededCapability& one : needed_capabilities()) {
    const bool has = has_capability(one.number);
    found.push_back({one.name, has ? ok : missing, has ? "yes" : "no", std::string("for ") + one.use});
  }
  found.push_back(yes_or(in_host_user_namespace(), "user namespace", "the host's", missing,
                         "capabilities of another one do not reach the kernel"));
  found.push_back(yes_or(in_host_pid_namespace(), "PID namespace", "the host's", missing,
                         "processes have other numbers here than in the kernel"));
  for (HostFeature* feature : {&found[found.size() - 2], &found.back()}) {
    if (feature->state == missing) feature->value = "another one";
  }
  const bool bound = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
  found.push_back({"no_new_privs", bound ? degraded : ok, bound ? "set" : "not set",
                   bound ? "sudo and file capabilities have no effect here" : ""});
}

/// The mode in brackets: `integrity` in `none [integrity] confidentiality`.
HostFeature lockdown() {
  const std::string modes = line_of("/sys/kernel/security/lockdown");
  const std::size_t begin = modes.find('[');
  if (begin == std::string::npos) {
    const bool mounted = ::access("/sys/kernel/security/lsm", F_OK) == 0;
    if (mounted) return {"kernel lockdown", ok, "none", ""};
    return {"kernel lockdown", unknown, "securityfs is not mounted", ""};
  }
  const std::string mode = modes.substr(begin + 1, modes.find(']') - begin - 1);
  if (mode != "confidentiality") return {"kernel lockdown", ok, mode, ""};
  return {"kernel lockdown", missing, mode,
          "BPF may not read the kernel's memory: boot with lockdown=integrity or without"};
}

HostFeature setting(const char* name, const char* path, const char* worst, const char* meaning) {
  const std::string value = line_of(path);
  if (value.empty()) return {name, unknown, "cannot be read", ""};
  return value == worst ? HostFeature{name, degraded, value, meaning} : HostFeature{name, ok, value, ""};
}

HostFeature memory_lock() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string value =
      limit.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_max >> 10U) + " KiB";
  return {"locked memory", ok, value, ""};
}

HostFeature container() {
  for (const auto& [file, kind] :
       {std::pair("/.dockerenv", "docker"), std::pair("/run/.containerenv", "podman")}) {
    if (::access(file, F_OK) == 0) return {"container", ok, kind, ""};
  }
  const char* const kind = std::getenv("container");
  return {"container", ok, kind != nullptr && *kind != '\0' ? kind : "none seen", ""};
}

}  // namespace

Host examine_host() {
  Host host;
  host.features = kernel_features();
  try_to_record(host);
  host.features.push_back(deleted_files());
  host.features.push_back(confinement());
  host.features.push_back(priority());
  own_privileges(host.features);
  host.features.push_back(lockdown());
  host.features.push_back(setting("kernel.kptr_restrict", "/proc/sys/kernel/kptr_restrict", "2",
                                  "the kernel hides its symbols even from root: set this to 0 or 1"));
  host.features.push_back(setting("perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid", "", ""));
  host.features.push_back(memory_lock());
  host.features.push_back(container());
  return host;
}

}  // namespace offwait
