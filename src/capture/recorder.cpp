// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/recorder.h"

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <future>
#include <map>
#include <span>
#include <unordered_set>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <offwait.skel.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/read_file.h"
#include "base/unique_fd.h"
#include "capture/block_devices.h"
#include "capture/kernel_names.h"
#include "capture/kernel_types.h"
#include "capture/late_stacks.h"
#include "capture/privileges.h"
#include "capture/sampler.h"
#include "capture/served_ports.h"
#include "capture/unwind_tables.h"
#include "offwait/loss_counters.h"

namespace offwait {
namespace {

constexpr Nanos kDiskInterval = kSecond;
constexpr Nanos kMappingsInterval = kSecond;

/// The last thing libbpf complained about: its return values alone do not say what was wrong.
std::string& libbpf_complaint() {
  static std::string complaint;
  return complaint;
}

int keep_complaint(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string line(text.data());
  while (!line.empty() && line.back() == '\n') line.pop_back();
  // The first complaint is the cause, the later ones are its consequences.
  if (libbpf_complaint().empty()) libbpf_complaint() = line;
  return 0;
}

Error libbpf_error(const std::string& what, int error) {
  const int number = error < 0 ? -error : error;
  std::string message = what + ": " + std::strerror(number);
  if (!libbpf_complaint().empty()) message += " (" + libbpf_complaint() + ")";
  rlimit locked{};
  if (number == EPERM && ::getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY) {
    message +=
        "; before Linux 5.11 BPF maps are locked memory, and its limit is too low here: ulimit -l unlimited, "
        "LimitMEMLOCK=infinity";
  }
  return Error{message};
}

/// Inode of this process's network namespace, as ip-netns(8) and `ls -L /proc/self/ns/net` have it.
std::uint32_t network_namespace(const std::string& process = "self") {
  struct stat status {};
  return ::stat(("/proc/" + process + "/ns/net").c_str(), &status) == 0
             ? static_cast<std::uint32_t>(status.st_ino)
             : 0;
}

/// A map as the BPF programs declare it; `inner` is of a map of maps, one like those that it will hold.
UniqueFd create_map(const bpf_map* map, int inner = 0) {
  LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = static_cast<__u32>(inner),
              .map_flags = bpf_map__map_flags(map));
  return UniqueFd(bpf_map_create(bpf_map__type(map), bpf_map__name(map), bpf_map__key_size(map),
                                 bpf_map__value_size(map), bpf_map__max_entries(map), &options));
}

/// The maps of the unwind tables before the programs are loaded, so that they can be filled meanwhile.
Result<UnwindTables::Maps> create_table_maps(offwait_bpf& skeleton) {
  for (bpf_map* map :
       {skeleton.maps.unwind_superblocks, skeleton.maps.mappings, skeleton.maps.address_spaces}) {
    const bpf_map* const inner = bpf_map__inner_map(map);
    const UniqueFd like_inner = inner == nullptr ? UniqueFd() : create_map(inner);
    UniqueFd created;
    if (inner == nullptr || like_inner) created = create_map(map, inner == nullptr ? 0 : like_inner.get());
    if (!created || bpf_map__reuse_fd(map, created.get()) != 0)
      return libbpf_error(std::string("cannot create the map ") + bpf_map__name(map), errno);
  }
  return UnwindTables::Maps{bpf_map__fd(skeleton.maps.unwind_superblocks),
                            bpf_map__fd(skeleton.maps.mappings), bpf_map__fd(skeleton.maps.address_spaces)};
}

struct FreeSkeleton {
  void operator()(offwait_bpf* skeleton) const { offwait_bpf__destroy(skeleton); }
};
struct FreeRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};

/// Calls visit(key, value) for each entry; the map must not change meanwhile.
template <class Key, class Value, class Visit>
Status for_each_entry(const bpf_map* map, Visit visit) {
  const int fd = bpf_map__fd(map);
  Key key{};
  for (const Key* previous = nullptr; bpf_map_get_next_key(fd, previous, &key) == 0; previous = &key) {
    Value value{};
    if (const int error = bpf_map_lookup_elem(fd, &key, &value)) {
      return libbpf_error(std::string("cannot read the map ") + bpf_map__name(map), error);
    }
    visit(key, value);
  }
  return success();
}

/// Of an array that each CPU has one of; empty if it cannot be read.
template <class Value>
std::vector<Value> values_by_cpu(const bpf_map* map, std::uint32_t index) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return {};
  std::vector<Value> values(static_cast<std::size_t>(cpus));
  if (bpf_map_lookup_elem(bpf_map__fd(map), &index, values.data()) != 0) return {};
  return values;
}

}  // namespace

struct Recorder::State {
  std::unique_ptr<offwait_bpf, FreeSkeleton> skeleton;
  std::unique_ptr<ring_buffer, FreeRing> ring;
  std::unique_ptr<ring_buffer, FreeRing> wanted_ring;  ///< offwait_mappings_wanted
  std::vector<bpf_link*> links;
  std::optional<UnwindTables> tables;  ///< none: no stacks
  std::optional<LateStacks> late_stacks;
  KernelRecording recording;
  std::set<std::int32_t> changed_processes;
  std::set<std::int32_t> mapped_processes;  ///< whose mappings are to be looked at again now and then
  std::set<std::int32_t> processes_to_map;  ///< and at once
  std::unordered_set<std::int32_t> known_processes;
  std::unordered_set<std::int32_t> target_processes;
  std::vector<std::string> notes;
  UniqueFd symbols;  ///< an iterator
  std::uint64_t bad_records = 0;
  Nanos next_disk_sample = 0;
  Nanos next_mappings = 0;
  std::optional<CpuTicks> cpu_before;
  std::set<std::uint32_t> looked_below;
  std::map<std::uint32_t, UniqueFd> net_devs;  ///< /proc/PID/net/dev of each network namespace, by its inode

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { detach(); }

  void detach() {
    for (bpf_link* link : links) bpf_link__destroy(link);
    links.clear();
  }

  static int on_record(void* self, void* data, size_t size) {
    static_cast<State*>(self)->take({static_cast<const std::byte*>(data), size});
    return 0;
  }

  static int on_wanted(void* self, void* data, size_t size) {
    offwait_mappings_wanted wanted{};
    if (size != sizeof(wanted)) return 0;
    std::memcpy(&wanted, data, sizeof(wanted));
    static_cast<State*>(self)->processes_to_map.insert(static_cast<std::int32_t>(wanted.tgid));
    static_cast<State*>(self)->changed_processes.insert(static_cast<std::int32_t>(wanted.tgid));
    return 0;
  }

  void take(std::span<const std::byte> record) {
    if (!recording.records.append(record)) {
      ++bad_records;
      return;
    }
    if (static_cast<std::uint8_t>(record[0]) != OFFWAIT_RECORD_THREAD) return;
    offwait_thread_record thread{};
    std::memcpy(&thread, record.data(), sizeof(thread));
    const auto tgid = static_cast<std::int32_t>(thread.tgid);
    const bool exec = thread.event == OFFWAIT_THREAD_NAMED && thread.exec != 0;
    // Its main thread is born: the number may have been another process's.
    const bool born = thread.event == OFFWAIT_THREAD_BORN && thread.tid == thread.tgid;
    if (known_processes.insert(tgid).second || exec || born) {
      changed_processes.insert(tgid);
      processes_to_map.insert(tgid);
    }
    if (thread.outside == OFFWAIT_TARGET && target_processes.insert(tgid).second) look_at_network(tgid);
  }

  /// Of a process of the target: what listens there, and the counters of its interfaces from now on.
  void look_at_network(std::int32_t tgid) {
    const std::string process = std::to_string(tgid);
    const std::uint32_t inode = network_namespace(process);
    if (inode == 0 || net_devs.contains(inode)) return;
    UniqueFd file(::open(("/proc/" + process + "/net/dev").c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return;
    recording.served_ports.merge(served_ports(tgid));
    net_devs.emplace(inode, std::move(file));
  }

  /// Of processes that have been heard of, that a walk has found something unknown in and, once a second, of
  /// all.
  Status refresh_tables() {
    if (!tables) return success();
    if (const int taken = wanted_ring ? ring_buffer__consume(wanted_ring.get()) : 0; taken < 0)
      return libbpf_error("cannot read the ring buffer", taken);
    mapped_processes.insert(processes_to_map.begin(), processes_to_map.end());
    if (const Nanos now = monotonic_now(); now >= next_mappings) {
      processes_to_map = mapped_processes;
      next_mappings = now + kMappingsInterval;
    }
    for (const std::int32_t tgid : std::exchange(processes_to_map, {})) {
      const Result<bool> alive = tables->refresh(tgid);
      if (!alive) return alive.error();
      if (!*alive) mapped_processes.erase(tgid);
    }
    // It may have mapped more while its mappings were looked at.
    if (late_stacks) processes_to_map = late_stacks->look(*tables);
    return success();
  }

  /// Of the target's network namespaces, and of offwait's own.
  void sample_nics() {
    const std::uint32_t own = network_namespace();
    if (!net_devs.contains(own)) add_nics(read_file("/proc/self/net/dev"), "");
    for (const auto& [inode, file] : net_devs) {
      ::lseek(file.get(), 0, SEEK_SET);
      add_nics(read_all(file.get()), inode == own ? "" : "@" + std::to_string(inode));
    }
  }

  void add_nics(const std::string& net_dev, const std::string& suffix) {
    const Nanos at = monotonic_now();
    for (const NicStats& nic : parse_net_dev(net_dev))
      recording.nic_counters.push_back({nic.name + suffix, at, nic.received, nic.sent});
  }

  void sample_devices() {
    sample_nics();
    sample_disks();
  }

  void sample_disks() {
    const std::string text = read_file("/proc/diskstats");
    const Nanos at = monotonic_now();
    for (DiskStats& disk : parse_diskstats(text)) {
      recording.disk_counters.push_back({disk.dev, at, disk.bytes, disk.ios, disk.in_flight});
      recording.disks.emplace(disk.dev, std::move(disk.name));
      // Once for each that has been used: what is not attached to anything yet has done no I/O.
      if (disk.ios == 0 || !looked_below.insert(disk.dev).second) continue;
      if (std::vector<std::string> below = disks_below(disk.dev); !below.empty())
        recording.disks_below.emplace(disk.dev, std::move(below));
    }
    next_disk_sample = at + kDiskInterval;
  }

  void read_cpu_use() {
    const std::optional<CpuTicks> after = parse_cpu_ticks(read_file("/proc/stat"));
    if (!cpu_before || !after) return;
    const auto between = [](std::uint64_t from, std::uint64_t to) {
      return to < from ? 0 : static_cast<Nanos>(to - from) * (kSecond / ::sysconf(_SC_CLK_TCK));
    };
    recording.cpu_busy_ns = between(cpu_before->busy, after->busy);
    recording.cpu_idle_ns = between(cpu_before->idle, after->idle);
  }

  /// A BPF iterator over all tasks or symbols; runs when it is read.
  static Result<UniqueFd> open_iterator(bpf_program* program) {
    const std::string name = bpf_program__name(program);
    bpf_link* const link = bpf_program__attach_iter(program, nullptr);
    if (link == nullptr) return libbpf_error("cannot attach the iterator " + name, errno);
    UniqueFd iterator(bpf_iter_create(bpf_link__fd(link)));
    const int error = errno;
    bpf_link__destroy(link);
    if (!iterator) return libbpf_error("cannot run the iterator " + name, error);
    return iterator;
  }

  /// Runs a BPF iterator over all tasks.
  static Status iterate(bpf_program* program) {
    const Result<UniqueFd> opened = open_iterator(program);
    if (!opened) return opened.error();
    const UniqueFd& iterator = *opened;
    std::array<char, 64> ignored{};
    ssize_t got = 0;
    while ((got = ::read(iterator.get(), ignored.data(), ignored.size())) > 0 ||
           (got < 0 && errno == EINTR)) {
    }
    if (got < 0) return libbpf_error("cannot run the task iterator", errno);
    return success();
  }

  Status attach(const Probe& probe) {
    bpf_program* program = nullptr;
    switch (probe.kind) {
      case Probe::Kind::spin_begin:
        program = skeleton->progs.spin_begin;
        break;
      case Probe::Kind::spin_end:
      case Probe::Kind::spin_return:
        program = skeleton->progs.spin_end;
        break;
      case Probe::Kind::spin_release:
        program = skeleton->progs.spin_release;
        break;
      case Probe::Kind::false_wakeup:
        program = skeleton->progs.false_wakeup;
        break;
    }
    // In every process: the target's children have the same file mapped. The programs look at who it is.
    constexpr pid_t kAll = -1;
    bpf_link* const link = bpf_program__attach_uprobe(program, probe.kind == Probe::Kind::spin_return, kAll,
                                                      probe.path.c_str(), probe.offset);
    constexpr int kNotSupported = 524;  // ENOTSUPP, the kernel's own
    if (link == nullptr && errno == kNotSupported)
      return Error{"the kernel cannot probe " + probe.path + " at offset " + std::to_string(probe.offset) +
                   ": no probe goes on an instruction with a lock prefix; name another function for --spin"};
    if (link == nullptr && (errno == EACCES || errno == EPERM) && !has_capability(CAP_SYS_ADMIN))
      return Error{"this kernel lets only CAP_SYS_ADMIN probe " + probe.path +
                   ": run offwait as root for that"};
    if (link == nullptr) return libbpf_error("cannot probe " + probe.path, errno);
    links.push_back(link);
    return success();
  }

  std::uint64_t kernel_loss(std::uint32_t loss) const {
    std::uint64_t sum = 0;
    for (const auto count : values_by_cpu<std::uint64_t>(skeleton->maps.losses, loss)) sum += count;
    return sum;
  }

  offwait_stack_reuse stack_reuse() const {
    offwait_stack_reuse sum{};
    for (const auto& count : values_by_cpu<offwait_stack_reuse>(skeleton->maps.stack_reuse, 0)) {
      sum.walked += count.walked;
      sum.recalled += count.recalled;
      sum.verified += count.verified;
      sum.wrong += count.wrong;
    }
    return sum;
  }

  /// Times the kernel skipped a program because it was already running on that CPU.
  std::uint64_t skipped() const {
    std::uint64_t sum = 0;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj) {
      bpf_prog_info info{};
      __u32 size = sizeof(info);
      const int fd = bpf_program__fd(program);
      if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0) sum += info.recursion_misses;
    }
    return sum;
  }

  // The steps of start(), in their order:

  /// What is fixed before loading, and the maps that are filled meanwhile.
  Status configure(const CaptureOptions& options, const KernelTypes& types) {
    const int cpus = libbpf_num_possible_cpus();
    if (cpus <= 0) return libbpf_error("cannot count the CPUs", cpus);
    skeleton->rodata->record_stacks = options.stacks;
    skeleton->rodata->follow_children = options.follow_children;
    skeleton->rodata->target_is_cgroup = options.cgroup.has_value();
    skeleton->rodata->target_cgroup = options.cgroup.value_or(0);
    skeleton->rodata->sched_switch_has_prev_state = types.sched_switch_has_prev_state;
    skeleton->rodata->block_rq_has_queue = types.block_rq_has_queue;
    skeleton->rodata->kernel_has_rdonly_cast = types.has_rdonly_cast;
#if defined(__x86_64__)
    skeleton->rodata->preempt_count_from_run_queue = types.preempt_count_from_run_queue;
#endif
    // Without it mappings are looked at once a second all the same.
    if (!options.stacks || !types.has_vm_unmapped_area)
      bpf_program__set_autoload(skeleton->progs.on_vm_unmapped_area, false);
    if (!types.has_block_rq_merge) bpf_program__set_autoload(skeleton->progs.on_block_rq_merge, false);
    bpf_program__set_autoload(skeleton->progs.list_symbols,
                              options.stacks && types.has_symbol_iterator && kernel_symbols_hidden_from_us());
    bpf_map__set_max_entries(skeleton->maps.events, static_cast<__u32>(options.ring_bytes));
    bpf_map__set_max_entries(skeleton->maps.mappings_wanted, static_cast<__u32>(::sysconf(_SC_PAGESIZE)));
    bpf_program__set_autoload(skeleton->progs.on_cpu_clock, options.stacks && options.sample_hz != 0);
    if (!types.has_bpf_mem_alloc) {
      // Before 6.1 what runs in a perf event, or with the run queue locked, may only use maps whose memory is
      // there from the begin: 32 KiB a process.
      constexpr __u32 kProcesses = 256;
      bpf_map__set_map_flags(skeleton->maps.unwalked, 0);
      bpf_map__set_map_flags(skeleton->maps.mappings, 0);
      bpf_map__set_max_entries(skeleton->maps.mappings, kProcesses);
    }
    if (options.stacks) {
      bpf_map__set_max_entries(skeleton->maps.known_stacks,
                               bpf_map__max_entries(skeleton->maps.known_stacks) * static_cast<__u32>(cpus));
      const Result<UnwindTables::Maps> maps = create_table_maps(*skeleton);
      if (!maps) return maps.error();
      tables.emplace(*maps);
    } else {
      bpf_map__set_max_entries(skeleton->maps.stacks, 1);
      bpf_map__set_max_entries(skeleton->maps.known_stacks, 1);
    }
    if (options.probes.empty()) {
      // Needs a kernel with uprobes.
      for (bpf_program* program : {skeleton->progs.spin_begin, skeleton->progs.spin_end,
                                   skeleton->progs.spin_release, skeleton->progs.false_wakeup})
        bpf_program__set_autoload(program, false);
    }
    return success();
  }

  Status load(const CaptureOptions& options) {
    // To verify the programs takes the kernel as long as it takes us to read the unwind tables of the target.
    std::future<int> load =
        std::async(std::launch::async, [this] { return offwait_bpf__load(skeleton.get()); });
    Status filled = success();
    if (options.stacks) {
      processes_to_map.insert(options.tgids.begin(), options.tgids.end());
      filled = refresh_tables();
    }
    if (const int error = load.get()) return libbpf_error("cannot load the BPF programs", error);
    if (!filled) return filled.error();  // after the load's, which may be its cause
    return success();
  }

  Status set_target(const CaptureOptions& options) {
    const __u8 one = 1;
    for (const auto& [map, ids] : {std::pair(skeleton->maps.target_tgids, &options.tgids),
                                   std::pair(skeleton->maps.target_tids, &options.tids)}) {
      for (const std::int32_t id : *ids) {
        if (const int error = bpf_map_update_elem(bpf_map__fd(map), &id, &one, BPF_ANY))
          return libbpf_error("cannot set the target", error);
      }
    }
    return success();
  }

  Status open_rings() {
    ring.reset(ring_buffer__new(bpf_map__fd(skeleton->maps.events), on_record, this, nullptr));
    wanted_ring.reset(
        ring_buffer__new(bpf_map__fd(skeleton->maps.mappings_wanted), on_wanted, this, nullptr));
    if (!ring || !wanted_ring) return libbpf_error("cannot map the ring buffer", errno);
    return success();
  }

  /// Where the kernel has to be asked for its symbols in this way.
  Status open_symbols() {
    if (!bpf_program__autoload(skeleton->progs.list_symbols)) return success();
    Result<UniqueFd> opened = open_iterator(skeleton->progs.list_symbols);
    if (!opened) return opened.error();
    symbols = std::move(opened).value();
    return success();
  }

  Status attach_tracepoints() {
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj) {
      if (bpf_program__expected_attach_type(program) != BPF_TRACE_RAW_TP || !bpf_program__autoload(program))
        continue;
      bpf_link* const link = bpf_program__attach(program);
      if (link == nullptr)
        return libbpf_error(std::string("cannot attach ") + bpf_program__name(program), errno);
      links.push_back(link);
    }
    return success();
  }

  Status attach_probes(const std::vector<Probe>& asked) {
    for (const Probe& probe : asked) {
      const Status attached = attach(probe);
      if (attached) continue;
      if (probe.asked_for) return attached.error();
      notes.push_back("what the target says of its waits (annotate.h) was not recorded: " +
                      attached.error().message);
      break;
    }
    return success();
  }

  /// Those of the target that live.
  Status find_threads(const CaptureOptions& options) {
    // A process forked by one that the iterator has not come to yet is found in the next pass, as are
    // children that were listed before their parents.
    for (__u64 before = ~__u64{0}; skeleton->bss->seeded_threads != before;) {
      before = skeleton->bss->seeded_threads;
      if (Status seeded = iterate(skeleton->progs.seed_threads); !seeded) return seeded.error();
    }
    if (skeleton->bss->seeded_threads == 0 && !options.cgroup)
      return Error{"the target has no threads: it exited before the recording began"};
    if (const int taken = ring_buffer__consume(ring.get()); taken < 0)
      return libbpf_error("cannot read the ring buffer", taken);
    if (options.stacks)
      late_stacks.emplace(
          LateStacks::Maps{bpf_map__fd(skeleton->maps.unwalked), bpf_map__fd(skeleton->maps.threads)});
    if (Status refreshed = refresh_tables(); !refreshed) return refreshed.error();
    return success();
  }

  /// After the task iterators: these use the CPU's stack with interrupts on.
  void sample(std::uint32_t hz) {
    if (!bpf_program__autoload(skeleton->progs.on_cpu_clock)) return;
    if (Status started = start_sampling(skeleton->progs.on_cpu_clock, hz, links)) {
      recording.sample_hz = hz;
    } else {
      notes.push_back("threads are not sampled while they run (" + started.error().message +
                      "): the report cannot say what code they run");
    }
  }

  void begin_window() {
    recording.interrupts = parse_interrupts(read_file("/proc/interrupts"));
    sample_devices();
    cpu_before = parse_cpu_ticks(read_file("/proc/stat"));
    recording.window.begin = monotonic_now();
  }

  LossCounts losses() const {
    LossCounts loss;
#define X(name, text) loss[#name] = kernel_loss(OFFWAIT_LOSS_##name);
    OFFWAIT_LOSS_COUNTERS(X)
#undef X
    loss["program_skipped"] += skipped();
    loss["record_invalid"] += bad_records;
    return loss;
  }
};

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

Result<Recorder> Recorder::start(const CaptureOptions& options) {
  if (Status privileged = check_privileges(); !privileged) return privileged.error();
  const Result<KernelTypes> types = read_kernel_types();
  if (!types) return types.error();
  if (!types->has_ring_buffer || !types->has_task_iterator)
    return Error{
        "this kernel has no BPF ring buffers, or no task iterators: offwait needs Linux 5.8 or newer"};

  libbpf_complaint().clear();
  libbpf_set_print(keep_complaint);
  libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
  auto state = std::make_unique<State>();
  state->skeleton.reset(offwait_bpf__open());
  if (!state->skeleton) return libbpf_error("cannot open the BPF programs", errno);
  if (Status configured = state->configure(options, *types); !configured) return configured.error();
  if (Status loaded = state->load(options); !loaded) return loaded.error();
  if (Status set = state->set_target(options); !set) return set.error();
  if (Status opened = state->open_rings(); !opened) return opened.error();
  if (Status noted = State::iterate(state->skeleton->progs.note_cpus); !noted) return noted.error();
  if (Status opened = state->open_symbols(); !opened) return opened.error();
  if (Status attached = state->attach_tracepoints(); !attached) return attached.error();
  if (Status found = state->find_threads(options); !found) return found.error();
  if (Status attached = state->attach_probes(options.probes); !attached) return attached.error();
  state->sample(options.sample_hz);
  state->begin_window();
  return Recorder(std::move(state));
}

Status Recorder::drain() {
  const int taken = ring_buffer__consume(state_->ring.get());
  if (taken < 0) return libbpf_error("cannot read the ring buffer", taken);
  if (monotonic_now() >= state_->next_disk_sample) state_->sample_devices();
  return state_->refresh_tables();
}

int Recorder::urgent_fd() const { return ring_buffer__epoll_fd(state_->wanted_ring.get()); }

std::set<std::int32_t> Recorder::take_changed_processes() {
  return std::exchange(state_->changed_processes, {});
}

const std::vector<std::string>& Recorder::notes() const { return state_->notes; }

std::string Recorder::kernel_symbols() { return read_all(state_->symbols.get()); }

Nanos Recorder::elapsed() const { return monotonic_now() - state_->recording.window.begin; }

CaptureProgress Recorder::progress() const {
  CaptureProgress progress;
  progress.waits = state_->recording.records.count(OFFWAIT_RECORD_WAIT);
  for (const auto& [name, count] : state_->losses()) progress.lost += count;
  return progress;
}

Result<KernelRecording> Recorder::stop() {
  State& state = *state_;
  state.recording.window.end = monotonic_now();
  state.read_cpu_use();
  state.sample_devices();
  state.detach();
  if (const int taken = ring_buffer__consume(state.ring.get()); taken < 0) {
    return libbpf_error("cannot read the ring buffer", taken);
  }
  offwait_bpf& skeleton = *state.skeleton;
  Status read = for_each_entry<std::uint32_t, offwait_thread>(
      skeleton.maps.threads, [&state](std::uint32_t tid, const offwait_thread& thread) {
        state.recording.threads.emplace_back(tid, thread);
      });
  if (!read) return read.error();
  read = for_each_entry<std::uint32_t, offwait_stack>(
      skeleton.maps.stacks,
      [&state](std::uint32_t id, const offwait_stack& stack) { state.recording.stacks.emplace(id, stack); });
  if (!read) return read.error();
  if (state.late_stacks) state.late_stacks->add_to(state.recording);
  const std::uint32_t own_namespace = network_namespace();
  read = for_each_entry<std::uint32_t, offwait_nic>(
      skeleton.maps.nics, [&state, own_namespace](std::uint32_t id, const offwait_nic& nic) {
        std::string name(nic.name, ::strnlen(nic.name, sizeof(nic.name)));
        if (nic.namespace_inode != own_namespace) name += "@" + std::to_string(nic.namespace_inode);
        state.recording.nics.emplace(id, std::move(name));
      });
  if (!read) return read.error();
  for (const bpf_map* map : {skeleton.maps.peers, skeleton.maps.peer_hosts}) {
    read = for_each_entry<offwait_peer, std::uint32_t>(
        map,
        [&state](const offwait_peer& peer, std::uint32_t id) { state.recording.peers.emplace(id, peer); });
    if (!read) return read.error();
  }
  read = for_each_entry<std::uint32_t, std::uint8_t>(
      skeleton.maps.listening_ports, [&state](std::uint32_t port, std::uint8_t) {
        state.recording.served_ports.insert(static_cast<std::uint16_t>(port));
      });
  if (!read) return read.error();
  read = for_each_entry<std::uint64_t, offwait_request>(
      skeleton.maps.requests, [&state](std::uint64_t, const offwait_request& request) {
        if (request.issue_ns == 0) return;
        const offwait_io io = {OFFWAIT_RECORD_IO,
                               {},
                               request.tid,
                               request.dev,
                               request.bytes,
                               request.issue_ns,
                               static_cast<std::uint64_t>(kNever)};
        state.recording.records.append(std::as_bytes(std::span(&io, 1)));
      });
  if (!read) return read.error();
  state.recording.loss = state.losses();
  state.recording.stack_reuse = state.stack_reuse();
  if (state.tables && state.tables->left_out() > 0) {
    state.notes.push_back("the unwind tables of " + std::to_string(state.tables->left_out()) +
                          " files found no room in the kernel: stacks are cut there");
  }
  return std::move(state.recording);
}

}  // namespace offwait
