// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "calibrate/calibration.h"
#include "capture/block_devices.h"
#include "capture/privileges.h"
#include "capture/recorder.h"
#include "cli/command_end.h"
#include "cli/interruption.h"
#include "cli/name_sources.h"
#include "cli/target.h"
#include "cli/version.h"
#include "device/disk.h"
#include "device/nic.h"
#include "event/assemble.h"
#include "event/first_run.h"
#include "offwait/unwind.h"
#include "process/held_command.h"
#include "report/escape.h"
#include "symbol/probe_places.h"
#include "symbol/symbolizer.h"

namespace offwait {
namespace {

constexpr int kDrainMs = 100;
constexpr Nanos kSnapshotInterval = kSecond;
constexpr Nanos kProgressInterval = kSecond / 5;

std::string with_thousands(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

class Progress {
 public:
  Progress(bool shown, std::string target, std::optional<Nanos> duration)
      : shown_(shown), target_(std::move(target)), duration_(duration) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
  }

  void show(const Recorder& recorder) {
    const Nanos elapsed = recorder.elapsed();
    if (!shown_ || elapsed < next_) return;
    next_ = elapsed + kProgressInterval;
    const CaptureProgress now = recorder.progress();
    drawn_ = true;
    const std::string end = duration_ ? " of " + seconds(*duration_) : "";
    std::fprintf(stderr, "\r\x1b[K%s: %s%s, %s waits, %s lost (Ctrl-C reports now)", target_.c_str(),
                 seconds(elapsed).c_str(), end.c_str(), with_thousands(now.waits).c_str(),
                 with_thousands(now.lost).c_str());
  }

 private:
  static std::string seconds(Nanos ns) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f s", to_seconds(ns));
    return text.data();
  }

  bool shown_;
  std::string target_;
  std::optional<Nanos> duration_;
  Nanos next_ = 0;
  bool drawn_ = false;
};

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

DiskType disk_type(const std::string& name) {
  if (name.rfind("nvme", 0) == 0) return DiskType::nvme;
  // A virtual disk says nothing of what is behind it; hypervisors leave its rotational flag at the default
  // of 1.
  if (name.rfind("vd", 0) == 0 || name.rfind("xvd", 0) == 0) return DiskType::ssd;
  std::string directory = name;
  std::replace(directory.begin(), directory.end(), '/', '!');  // as sysfs has it: cciss!c0d0
  std::ifstream file("/sys/block/" + directory + "/queue/rotational");
  char rotational = '0';
  file >> rotational;
  return rotational == '1' ? DiskType::rotational : DiskType::ssd;
}

/// Names of all that was recorded, asked for at once.
class StackNames {
 public:
  StackNames(const KernelRecording& recording, Symbolizer& symbols) : symbols_(symbols) {
    std::set<FrameAddress> wanted;
    for_each_stack(recording, [this, &wanted](const offwait_stack& stack) {
      for (const FrameAddress& address : addresses_of(stack)) wanted.insert(address);
    });
    const std::vector<FrameAddress> addresses(wanted.begin(), wanted.end());
    std::vector<std::vector<std::string>> frames = symbols.frames(addresses);
    for (std::size_t i = 0; i < addresses.size(); ++i) frames_.emplace(addresses[i], std::move(frames[i]));
  }

  std::vector<std::string> name(const offwait_stack& stack) const {
    std::vector<std::string> names;
    for (const FrameAddress& address : addresses_of(stack)) {
      const std::vector<std::string>& here = frames_.at(address);
      if (stack.tgid == 0 && is_recorder(here.front())) {
        names.clear();
      } else {
        names.insert(names.end(), here.begin(), here.end());
      }
    }
    return names;
  }

 private:
  /// A spin's stack is the kernel's walk by frame pointers, which in code without them takes whatever lies on
  /// the stack for return addresses. The first that cannot be one ends it: what follows is garbage too, and
  /// would make as many stacks of one as there is data.
  std::vector<FrameAddress> addresses_of(const offwait_stack& stack) const {
    const auto tgid = static_cast<std::int32_t>(stack.tgid);
    std::vector<FrameAddress> addresses;
    for (const std::uint64_t pc : pcs_of(stack)) {
      const bool return_address = !addresses.empty();
      if (stack.end == OFFWAIT_STACK_BY_KERNEL && return_address && !symbols_.is_code(tgid, pc)) break;
      addresses.push_back({tgid, pc, return_address});
    }
    return addresses;
  }

  /// A frame of our own on top of a kernel stack: the walk begins inside the BPF program.
  static bool is_recorder(std::string_view frame) {
    constexpr std::array<std::string_view, 5> kOurs = {"__traceiter_", "__bpf_trace_", "bpf_trace_run",
                                                       "bpf_prog_", "bpf_get_stack"};
    return std::any_of(kOurs.begin(), kOurs.end(),
                       [frame](std::string_view name) { return frame.starts_with(name); });
  }

  Symbolizer& symbols_;
  std::map<FrameAddress, std::vector<std::string>> frames_;
};

void describe(Trace& trace, const Target& target, std::string start_time) {
  utsname host{};
  ::uname(&host);
  trace.recording.target = target.label;
  trace.recording.start_time = std::move(start_time);
  trace.recording.kernel = host.release;
  trace.recording.cpus = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  trace.recording.offwait = kVersion;
}

/// What was measured of the disk of this number.
const Calibration* calibration_of(std::uint32_t dev, const std::vector<Calibration>& calibrations) {
  if (calibrations.empty()) return nullptr;
  const std::string identity = disk_identity(dev);
  const auto found = std::find_if(calibrations.begin(), calibrations.end(),
                                  [&identity](const Calibration& one) { return one.identity == identity; });
  return found == calibrations.end() ? nullptr : &*found;
}

/// What the driver says; hardware that does not say is assumed, and what is none (lo, veth, which makes its
/// speed up) has no capacity. Only this network namespace's are seen here.
void add_nic_capacities(Trace& trace) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const std::string& name = trace.actors[id].name;
    if (trace.actors[id].kind != ActorKind::nic || name.find_first_of("/@") != std::string::npos) continue;
    const std::string directory = "/sys/class/net/" + name;
    const bool hardware = ::access((directory + "/device").c_str(), F_OK) == 0;
    const bool bond = ::access((directory + "/bonding").c_str(), F_OK) == 0;
    std::ifstream file(directory + "/speed");
    double megabits = 0;
    constexpr double kBytesPerMegabit = 1e6 / 8;
    if ((hardware || bond) && file >> megabits && megabits > 0) {
      trace.nic_capacities.push_back(
          {id, megabits * kBytesPerMegabit, megabits * kBytesPerMegabit, CapacitySource::reported});
    } else if (hardware) {
      trace.nic_capacities.push_back(assumed_nic_capacity(id));
    }
  }
}

/// Measured, or assumed.
void add_capacities(Recorded& recorded, const std::map<std::uint32_t, std::string>& disks) {
  std::vector<Calibration> calibrations;
  if (Result<std::vector<Calibration>> stored = stored_calibrations()) {
    calibrations = std::move(stored).value();
  } else {
    recorded.notes.push_back(stored.error().message);
  }
  Trace& trace = recorded.trace;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::disk) continue;
    const auto disk = std::find_if(disks.begin(), disks.end(),
                                   [&actor](const auto& other) { return other.second == actor.name; });
    const Calibration* measured = disk == disks.end() ? nullptr : calibration_of(disk->first, calibrations);
    if (measured != nullptr) {
      const Throughput most = measured->most();
      trace.capacities.push_back(
          {id, most.bytes_per_s, most.ios_per_s, CapacitySource::measured, measured->measured_on});
      continue;
    }
    // What is made of other disks is as fast as the last of them.
    trace.capacities.push_back(
        assumed_capacity(id, disk_type(actor.on.empty() ? actor.name : actor.on.back())));
  }
}

Error no_such_function(const Target& target, const std::optional<HeldCommand>& command,
                       const std::string& name) {
  std::string message = "--spin: ";
  if (command) {
    message +=
        command->path() + " has no function '" + name +
        "' (it may be inlined, in a library, which -p would find when it runs, or its symbols stripped)";
  } else {
    message += target.tgids.size() == 1
                   ? "neither process " + std::to_string(target.tgids.front()) + " nor a library it has"
                   : "neither the processes nor a library they have";
    message += " mapped has a function '" + name + "' (it may be inlined, or its symbols stripped)";
  }
  return Error{std::move(message)};
}

/// What --spin names, and what the program has declared itself (annotate.h). A command has its executable
/// alone so far.
Result<std::vector<Probe>> find_probes(const Target& target, const std::optional<HeldCommand>& command,
                                       const std::vector<SpinFunction>& spins) {
  using Kind = Probe::Kind;
  const std::vector<ProbedFile> files =
      command ? file_to_probe(command->path()) : files_to_probe(target.tgids);
  std::vector<Probe> probes;
  for (const SpinFunction& spin : spins) {
    for (const auto& [name, kinds] :
         {std::pair<const std::string&, std::vector<Kind>>{spin.lock, {Kind::spin_begin, Kind::spin_return}},
          std::pair<const std::string&, std::vector<Kind>>{spin.unlock, {Kind::spin_release}}}) {
      if (name.empty()) continue;
      const std::vector<ProbePlace> places = places_of_function(files, name);
      if (places.empty()) return no_such_function(target, command, name);
      for (const ProbePlace& place : places) {
        for (const Kind kind : kinds) probes.push_back({kind, place.path, place.offset});
      }
    }
  }
  static const std::map<std::string_view, Kind> kinds = {{"spin_begin", Kind::spin_begin},
                                                         {"spin_end", Kind::spin_end},
                                                         {"spin_release", Kind::spin_release},
                                                         {"false_wakeup", Kind::false_wakeup}};
  for (const DeclaredPlace& declared : declared_places(files)) {
    const auto kind = kinds.find(declared.name);
    if (kind == kinds.end()) continue;
    constexpr bool kAskedFor = false;
    probes.push_back({kind->second, declared.place.path, declared.place.offset, kAskedFor});
  }
  return probes;
}

Result<Target> find_target(const Options& options) {
  if (options.all) return whole_system();
  if (!options.cgroup.empty()) return find_processes_of_cgroup(options.cgroup);
  if (!options.unit.empty()) return find_processes_of_unit(options.unit);
  if (!options.container.empty()) return find_processes_of_container(options.container);
  return options.tid != 0 ? find_thread(options.tid) : find_processes(options.pids);
}

/// Did any thread of the target live in the window?
bool has_target(const Trace& trace) {
  return std::any_of(trace.actors.begin(), trace.actors.end(),
                     [](const Actor& actor) { return actor.kind == ActorKind::thread && !actor.outside; });
}

CaptureOptions capture_options(const Target& target, const Options& options) {
  CaptureOptions capture;
  capture.stacks = options.stacks;
  capture.sample_hz = options.sample_hz;
  if (target.all) {
    capture.cgroup = 0;
  } else if (target.cgroup) {
    capture.cgroup = target.cgroup->id;
  } else if (target.tid != 0) {
    capture.tids.push_back(target.tid);
    capture.follow_children = false;
  } else {
    capture.tgids = target.tgids;
  }
  return capture;
}

/// Of what the recorded processes have mapped, for names: while they live, and now and then again.
class Snapshots {
 public:
  /// Not `wanted`: nothing will need a name.
  Snapshots(Symbolizer& symbols, bool wanted) : symbols_(symbols), wanted_(wanted) {}

  void take_of_changed(Recorder& recorder) {
    if (!wanted_) return;
    for (const std::int32_t tgid : recorder.take_changed_processes()) {
      processes_.insert(tgid);
      symbols_.snapshot(tgid);
    }
  }

  void take_again() {
    for (auto process = processes_.begin(); process != processes_.end();)
      process = symbols_.snapshot(*process) ? std::next(process) : processes_.erase(process);
  }

 private:
  Symbolizer& symbols_;
  bool wanted_;
  std::set<std::int32_t> processes_;  ///< that live
};

/// Until the duration is over, the target is gone, or a signal arrives.
Status drain_until_end(Recorder& recorder, Target& target, std::optional<Nanos> duration,
                       const Interruption& interruption, Snapshots& snapshots, Progress& progress) {
  snapshots.take_of_changed(recorder);
  for (Nanos next_snapshot = kSnapshotInterval; goes_on(target);) {
    const Nanos elapsed = recorder.elapsed();
    int timeout_ms = kDrainMs;
    if (duration) {
      if (elapsed >= *duration) break;
      timeout_ms = static_cast<int>(std::min<Nanos>(timeout_ms, (*duration - elapsed) / 1'000'000 + 1));
    }
    std::vector<pollfd> waits = {{interruption.fd(), POLLIN, 0}, {recorder.urgent_fd(), POLLIN, 0}};
    for (const UniqueFd& process : target.living) waits.push_back({process.get(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), timeout_ms) < 0 && errno != EINTR)
      return Error{std::string("cannot wait for the recording to end: ") + std::strerror(errno)};
    if (Status drained = recorder.drain(); !drained) return drained.error();
    snapshots.take_of_changed(recorder);
    if (elapsed >= next_snapshot) {
      next_snapshot = elapsed + kSnapshotInterval;
      snapshots.take_again();
    }
    progress.show(recorder);
    if (waits[0].revents != 0) break;
  }
  return success();
}

}  // namespace

Result<Recorded> record(const Options& options) {
  std::optional<HeldCommand> command;
  if (!options.command_line.empty()) {
    Result<HeldCommand> held = HeldCommand::start(options.command_line);
    if (!held) return held.error();
    command.emplace(std::move(held).value());
  }
  Result<Target> target =
      command ? find_command(*command, options.command_line.front()) : find_target(options);
  if (!target) return target.error();

  CaptureOptions capture = capture_options(*target, options);
  Result<std::vector<Probe>> probes = find_probes(*target, command, options.spins);
  if (!probes) return probes.error();
  capture.probes = std::move(probes).value();

  const Interruption interruption;
  Recorded recorded;
  Symbolizer symbols(options.debuginfod ? debuginfod(recorded.notes) : DebugServer());
  if (options.stacks && !command) {
    for (const std::int32_t tgid : target->tgids) symbols.snapshot(tgid);
  }
  Result<Recorder> recorder = Recorder::start(capture);
  if (!recorder) return recorder.error();
  std::string start_time = utc_now();
  const Commands commands = options.java         ? Commands::as_any_user
                            : options.debuginfod ? Commands::as_own_user
                                                 : Commands::none;
  if (Status gave_up = give_up_privileges(Remaining::recording, commands, command.has_value()); !gave_up)
    return gave_up.error();

  const std::string shown_target = escape(target->label, Charset::utf8);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  // A script has no progress to look at, but may want to know from when on nothing is missed.
  if (!options.quiet && !terminal && !command)
    std::fprintf(stderr, "offwait: recording %s\n", shown_target.c_str());
  if (command) {
    if (Status released = command->release(); !released) return released.error();
  }
  Snapshots snapshots(symbols, options.stacks);
  Progress progress(!options.quiet && terminal && !command, shown_target, options.duration);
  if (Status ended = drain_until_end(*recorder, *target, options.duration, interruption, snapshots, progress);
      !ended) {
    return ended.error();
  }
  Result<KernelRecording> recording = recorder->stop();
  if (!recording) return recording.error();
  if (std::string text = recorder->kernel_symbols(); !text.empty())
    symbols.set_kernel_symbols(std::move(text));
  if (Status gave_up = give_up_privileges(Remaining::naming, commands, command.has_value()); !gave_up)
    return gave_up.error();
  // Before it was released it waited for us.
  if (command) recording->window.begin = first_run(*recording, command->tgid());
  snapshots.take_of_changed(*recorder);
  snapshots.take_again();

  if (options.java) {
    for (const std::int32_t tgid : symbols.java_processes()) {
      if (Status written = write_java_perf_map(tgid); !written)
        recorded.notes.push_back(written.error().message);
    }
  }
  const bool told_to_end = interruption.take() || !target->living.empty();
  if (command && !target->living.empty()) command->send(SIGTERM);
  const StackNames names(*recording, symbols);
  recorded.trace = assemble(*recording, [&names](const offwait_stack& stack) { return names.name(stack); });
  if (target->cgroup && !has_target(recorded.trace))
    return Error{"no process was in the cgroup " + target->cgroup->name +
                 " while it was recorded: there is nothing to analyse"};
  describe(recorded.trace, *target, std::move(start_time));
  recorded.notes.insert(recorded.notes.end(), symbols.warnings().begin(), symbols.warnings().end());
  recorded.notes.insert(recorded.notes.end(), recorder->notes().begin(), recorder->notes().end());
  add_capacities(recorded, recording->disks);
  add_nic_capacities(recorded.trace);
  if (command) {
    const int status = await_end(*command, interruption, options.quiet);
    recorded.command_status = exit_status_of(status, told_to_end);
    if (std::optional<std::string> death = death_of(status, told_to_end))
      recorded.notes.push_back(std::move(*death));
  }
  if (Status gave_up = give_up_privileges(Remaining::analysis, commands, command.has_value()); !gave_up)
    return gave_up.error();
  return recorded;
}

}  // namespace offwait
