// SPDX-License-Identifier: GPL-2.0-or-later
// The table of the text form: each record's name, its subject (the word after the name) and its keys. The
// reader, the writer and the error messages use it. So a new key is added here and in the record's struct
// (trace/lines.h). A new record is also added to AllLines below, to the lines that become a trace
// (trace/collect_lines.{h,cpp}), to those written (trace/text_write.cpp) and, if text cannot express every
// value of it, to the checks before writing (trace/text_checks.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "trace/lines.h"

namespace offwait {

// ---- forms of values

/// A time in ns, 0 to 2^63-2.
struct TimeForm {};
/// A time, or `-` for kNever.
struct TimeOrNeverForm {};
/// A decimal whole number; `expected` is its description in error messages.
struct NumberForm {
  std::string_view expected;
  std::uint64_t min = 0;
  std::uint64_t max = UINT64_MAX;
};
/// A decimal fraction above 0.
struct RateForm {};
/// Bytes, percent-encoded (trace/percent.h).
struct TextForm {
  bool may_be_empty = false;
};
/// Texts with `;` between them, none of them empty.
struct TextsForm {};
/// `yes` or `no`.
struct YesNoForm {};
/// The name of one of `values`, as to_string() gives it.
template <class Enum, std::size_t kCount>
struct ChoiceForm {
  std::array<Enum, kCount> values;
};
/// Up to `digits` lower-case hexadecimal digits, not all zero.
struct HexForm {
  std::size_t digits;
};
/// The number of a device, `259:1`.
struct DeviceForm {};
/// A day like 2026-11-21.
struct DayForm {};
/// A list of CPUs like 0-3,7.
struct CpuListForm {};
/// The frames of a stack, leaf first, with `;` between them.
struct StackForm {};
/// `client:NAME` or `service:NAME`.
struct PeerForm {};
/// `thread:TID`, `disk:NAME`, `nic:NAME`, `timer`, `irq:NAME`, `softirq:NAME` or `-`.
struct WakerForm {};
/// The name of an actor of this kind.
struct ActorForm {
  ActorKind kind;
};

inline constexpr NumberForm kTid{"a tid", 1, std::numeric_limits<Tid>::max()};
inline constexpr NumberForm kCount{"a count"};

inline constexpr std::array<WaitClass, kWaitClasses> kEveryWaitClass = [] {
  std::array<WaitClass, kWaitClasses> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all.at(i) = static_cast<WaitClass>(i);
  return all;
}();

// ---- the parts of a record

/// One KEY=VALUE. A key that is not required is left out if the value is the default of the line's struct.
template <class Line, class Value, class Form>
struct Field {
  std::string_view key;
  bool required;
  Value Line::*member;
  Form form;
  /// The key of a time that must not be later than this one; empty if there is none.
  std::string_view not_before;
};

template <class Line, class Value, class Form>
constexpr Field<Line, Value, Form> required_key(std::string_view key, Value Line::*member, Form form,
                                                std::string_view not_before = {}) {
  return {key, true, member, form, not_before};
}

template <class Line, class Value, class Form>
constexpr Field<Line, Value, Form> optional_key(std::string_view key, Value Line::*member, Form form,
                                                std::string_view not_before = {}) {
  return {key, false, member, form, not_before};
}

inline constexpr NumberForm kObjectNumber{"an object's number", 0, kNoObject - 1};
inline constexpr HexForm kHash{8};
inline constexpr HexForm kAddress{16};

/// The record has no subject.
struct NoSubject {};
/// The subject is the thread's tid.
template <class Line>
struct TidSubject {
  Tid Line::*member;
  bool or_dash = false;  ///< kNoTid is allowed and written as `-`
};
/// The subject is the number of an object.
template <class Line>
struct ObjectSubject {
  ObjectId Line::*member;
};
/// The subject is the name of an actor. The timer has no name, and its records no subject.
template <class Line>
struct ActorSubject {
  ActorId Line::*member;
  ActorKind kind;
  bool declared = false;  ///< the line declares the actor; there is at most one for each
};
template <class Line>
TidSubject(Tid Line::*) -> TidSubject<Line>;
template <class Line>
TidSubject(Tid Line::*, bool) -> TidSubject<Line>;
template <class Line>
ObjectSubject(ObjectId Line::*) -> ObjectSubject<Line>;
template <class Line>
ActorSubject(ActorId Line::*, ActorKind) -> ActorSubject<Line>;
template <class Line>
ActorSubject(ActorId Line::*, ActorKind, bool) -> ActorSubject<Line>;

/// The form of one record: kName, kOnce (the file has at most one such line), kSubject and kFields.
template <class Line>
struct RecordForm;

template <bool kIsOnce>
struct RecordBase {
  static constexpr bool kOnce = kIsOnce;
  static constexpr NoSubject kSubject{};
  static constexpr std::tuple<> kFields{};
};

// ---- the records

/// Two times without keys: `window BEGIN END`.
template <>
struct RecordForm<Window> : RecordBase<true> {
  static constexpr std::string_view kName = "window";
};

/// How the recording was made (model/trace.h). sample_hz is the rate of the on_cpu lines.
template <>
struct RecordForm<Recording> : RecordBase<true> {
  static constexpr std::string_view kName = "recording";
  static constexpr std::tuple kFields{
      optional_key("target", &Recording::target, TextForm{true}),
      optional_key("start_time", &Recording::start_time, TextForm{true}),
      optional_key("kernel", &Recording::kernel, TextForm{true}),
      optional_key("offwait", &Recording::offwait, TextForm{true}),
      optional_key("cpus", &Recording::cpus, NumberForm{"a count", 1, UINT32_MAX}),
      optional_key("sample_hz", &Recording::sample_hz, NumberForm{"a rate", 0, UINT32_MAX}),
      optional_key("command", &Recording::command, kTid),
      optional_key("recorder", &Recording::recorder, kTid),
      optional_key("host", &Recording::host, TextForm{true}),
      optional_key("interrupted", &Recording::interrupted, YesNoForm{})};
};

/// What the user calls the recording (Recording::labels).
template <>
struct RecordForm<Label> : RecordBase<false> {
  static constexpr std::string_view kName = "label";
  static constexpr std::tuple kFields{required_key("name", &Label::name, TextForm{}),
                                      required_key("value", &Label::value, TextForm{true})};
};

/// The busy and idle time of all CPUs of the machine in the window, in ns. `steal` is the part of `busy` that
/// the hypervisor took.
template <>
struct RecordForm<CpuLine> : RecordBase<true> {
  static constexpr std::string_view kName = "cpu";
  static constexpr std::tuple kFields{required_key("busy", &CpuLine::busy, TimeForm{}),
                                      required_key("idle", &CpuLine::idle, TimeForm{}),
                                      optional_key("steal", &CpuLine::steal, TimeForm{})};
};

/// The busy and idle time of one CPU in the window, in ns; in order of their numbers.
template <>
struct RecordForm<CpuTime> : RecordBase<false> {
  static constexpr std::string_view kName = "percpu";
  static constexpr std::tuple kFields{
      required_key("cpu", &CpuTime::cpu, NumberForm{"a CPU's number", 0, UINT32_MAX}),
      required_key("busy", &CpuTime::busy_ns, TimeForm{}),
      required_key("idle", &CpuTime::idle_ns, TimeForm{})};
};

/// A CPU quota that holds for processes of the target: `quota` ns in each `period` ns (CpuQuota in
/// model/cpus.h).
template <>
struct RecordForm<CpuQuota> : RecordBase<false> {
  static constexpr std::string_view kName = "quota";
  static constexpr std::tuple kFields{
      required_key("cgroup", &CpuQuota::cgroup, TextForm{}),
      required_key("quota", &CpuQuota::quota_ns, NumberForm{"a time above 0", 1, kNever - 1}),
      required_key("period", &CpuQuota::period_ns, NumberForm{"a time above 0", 1, kNever - 1}),
      required_key("periods", &CpuQuota::periods, kCount),
      required_key("throttled", &CpuQuota::throttled_periods, kCount),
      required_key("throttled_ns", &CpuQuota::throttled_ns, TimeForm{})};
};

/// Memory of the machine (without a cgroup) or of a cgroup: whether processes of the target are in it, its
/// limit, what it used at the window's end, how often it reached its limit, and the bytes of files and of
/// programs that were read again (MemoryUse in model/memory.h).
template <>
struct RecordForm<MemoryUse> : RecordBase<false> {
  static constexpr std::string_view kName = "memory";
  static constexpr std::tuple kFields{optional_key("cgroup", &MemoryUse::cgroup, TextForm{}),
                                      optional_key("target", &MemoryUse::has_target, YesNoForm{}),
                                      optional_key("limit", &MemoryUse::limit_bytes, kCount),
                                      required_key("used", &MemoryUse::used_bytes, kCount),
                                      optional_key("reached", &MemoryUse::reached, kCount),
                                      optional_key("refaulted", &MemoryUse::refault_bytes, kCount),
                                      optional_key("swapped", &MemoryUse::swap_bytes, kCount)};
};

/// The CPU time in the window of a process outside of the target; `children` is that of its children which
/// ended.
template <>
struct RecordForm<ProcessCpuTime> : RecordBase<false> {
  static constexpr std::string_view kName = "process";
  static constexpr std::tuple kFields{
      required_key("tgid", &ProcessCpuTime::tgid, NumberForm{"a tgid", 1, std::numeric_limits<Tid>::max()}),
      required_key("comm", &ProcessCpuTime::name, TextForm{true}),
      required_key("cpu", &ProcessCpuTime::own_ns, TimeForm{}),
      optional_key("children", &ProcessCpuTime::children_ns, TimeForm{})};
};

/// How stacks were taken (StackReuse in model/trace.h).
template <>
struct RecordForm<StackReuse> : RecordBase<true> {
  static constexpr std::string_view kName = "stacks";
  static constexpr std::tuple kFields{required_key("walked", &StackReuse::walked, kCount),
                                      required_key("recalled", &StackReuse::recalled, kCount),
                                      required_key("verified", &StackReuse::verified, kCount),
                                      required_key("wrong", &StackReuse::wrong, kCount)};
};

/// Lost records: any NAME=COUNT, each name once.
template <>
struct RecordForm<LossCounts> : RecordBase<true> {
  static constexpr std::string_view kName = "loss";
};

/// A thread's life [start, exit). The thread was recorded from `seen` on, by default the later of `start` and
/// the window's start. outside=kernel is a kernel thread that is not part of the target, and
/// outside=recorder a thread of the recorder (Actor::recorder). `parent` is the tid
/// of the thread that forked it: the life that began last at or before `start`, which must not have ended
/// before `start`. `ns_tid` is the thread's tid in its own PID namespace, such as a container's. `cpus` are
/// those on which it may run, by default all. `program` is the path of its process's executable, and `title`
/// what a process says of itself, or the script that it runs (Actor::title). `lives` is how many threads it
/// stands for (Actor::lives).
template <>
struct RecordForm<ThreadLine> : RecordBase<false> {
  static constexpr std::string_view kName = "thread";
  static constexpr TidSubject kSubject{&ThreadLine::tid};
  static constexpr std::tuple kFields{
      required_key("tgid", &ThreadLine::tgid, NumberForm{"a tgid", 0, std::numeric_limits<Tid>::max()}),
      required_key("comm", &ThreadLine::comm, TextForm{true}),
      required_key("start", &ThreadLine::start, TimeForm{}),
      required_key("exit", &ThreadLine::exit, TimeOrNeverForm{}, "start"),
      optional_key("ns_tid", &ThreadLine::ns_tid, kTid),
      optional_key("seen", &ThreadLine::seen, TimeOrNeverForm{}, "start"),
      optional_key("outside", &ThreadLine::outside,
                   ChoiceForm<Outside, 4>{{Outside::yes, Outside::no, Outside::kernel, Outside::recorder}}),
      optional_key("parent", &ThreadLine::parent, kTid),
      optional_key("cpus", &ThreadLine::cpus, CpuListForm{}),
      optional_key("program", &ThreadLine::program, TextForm{true}),
      optional_key("title", &ThreadLine::title, TextForm{true}),
      optional_key("lives", &ThreadLine::lives, NumberForm{"a number of threads", 1, UINT32_MAX})};
};

/// A disk. The two rates and `capacity` come all together or not at all; `measured` is the day of a measured
/// capacity. `on` names the disks that it is made of (Actor::on).
template <>
struct RecordForm<DiskLine> : RecordBase<false> {
  static constexpr std::string_view kName = "disk";
  static constexpr ActorSubject kSubject{&DiskLine::disk, ActorKind::disk, true};
  static constexpr std::tuple kFields{
      optional_key("bytes_per_s", &DiskLine::bytes_per_s, RateForm{}),
      optional_key("ios_per_s", &DiskLine::ios_per_s, RateForm{}),
      optional_key("capacity", &DiskLine::capacity,
                   ChoiceForm<CapacitySource, 3>{
                       {CapacitySource::given, CapacitySource::measured, CapacitySource::assumed}}),
      optional_key("measured", &DiskLine::measured_on, DayForm{}),
      optional_key("on", &DiskLine::on, TextsForm{})};
};

/// A network interface. The two rates and `capacity` come all together or not at all.
template <>
struct RecordForm<NicLine> : RecordBase<false> {
  static constexpr std::string_view kName = "nic";
  static constexpr ActorSubject kSubject{&NicLine::nic, ActorKind::nic, true};
  static constexpr std::tuple kFields{
      optional_key("received_per_s", &NicLine::received_per_s, RateForm{}),
      optional_key("sent_per_s", &NicLine::sent_per_s, RateForm{}),
      optional_key("capacity", &NicLine::capacity,
                   ChoiceForm<CapacitySource, 3>{
                       {CapacitySource::given, CapacitySource::assumed, CapacitySource::reported}})};
};

template <>
struct RecordForm<IrqLine> : RecordBase<false> {
  static constexpr std::string_view kName = "irq";
  static constexpr ActorSubject kSubject{&IrqLine::actor, ActorKind::irq, true};
};

template <>
struct RecordForm<SoftirqLine> : RecordBase<false> {
  static constexpr std::string_view kName = "softirq";
  static constexpr ActorSubject kSubject{&SoftirqLine::actor, ActorKind::softirq, true};
};

template <>
struct RecordForm<TimerLine> : RecordBase<false> {
  static constexpr std::string_view kName = "timer";
  static constexpr ActorSubject kSubject{&TimerLine::actor, ActorKind::timer, true};
};

/// What threads wait for and requests are for (Object in model/object.h). The line comes before all lines
/// that name its number.
template <>
struct RecordForm<ObjectLine> : RecordBase<false> {
  static constexpr std::string_view kName = "object";
  static constexpr ObjectSubject kSubject{&ObjectLine::number};
  static constexpr std::tuple kFields{
      required_key("kind", &ObjectLine::kind,
                   ChoiceForm<Object::Kind, kObjectKinds>{{Object::Kind::futex, Object::Kind::kernel_lock,
                                                           Object::Kind::file, Object::Kind::journal,
                                                           Object::Kind::metadata}}),
      optional_key(
          "lock", &ObjectLine::lock,
          ChoiceForm<KernelLock, kKernelLocks>{{KernelLock::unknown, KernelLock::mutex, KernelLock::rwsem,
                                                KernelLock::percpu_rwsem, KernelLock::rtmutex}}),
      optional_key("tgid", &ObjectLine::tgid, NumberForm{"a tgid", 1, std::numeric_limits<Tid>::max()}),
      optional_key("address", &ObjectLine::address, kAddress),
      optional_key("dev", &ObjectLine::device, DeviceForm{}),
      optional_key("inode", &ObjectLine::inode, NumberForm{"an inode's number"}),
      optional_key("generation", &ObjectLine::generation, NumberForm{"a generation", 0, UINT32_MAX}),
      optional_key("file_offset", &ObjectLine::file_offset, NumberForm{"an offset"}),
      optional_key("hash", &ObjectLine::hash, kHash),
      optional_key("path", &ObjectLine::path, TextForm{}),
      optional_key("deleted", &ObjectLine::deleted, YesNoForm{}),
      optional_key("symbol", &ObjectLine::symbol, TextForm{}),
      optional_key("module", &ObjectLine::module, TextForm{}),
      optional_key("offset", &ObjectLine::symbol_offset, NumberForm{"an offset"})};
};

/// A blocked interval [block, wake), then a runnable one [wake, run). A wait that is still open (wake=-) has
/// no `run` and no waker. `object` is the number of the object that is waited for. In its place older files
/// have `futex`, a hash of the futex's address: waits with the same hash are on the same futex. A wait for a
/// packet has two lines: the first one, up to the send, is for the thread that sent the packet; the second
/// one, with in_flight=yes, is for the interface (WaitSite::in_flight). `peer` is the other end of the
/// socket: a client that connected to the thread's side, or a service that the thread has asked; NAME is
/// usually ADDRESS:PORT. any=yes is a wait of class disk that ends when any request is done
/// (WaitSite::any_request). `holder` is the thread that had the lock (Wait::holder): the life that began last
/// at or before the wait's start or the window's, whichever is later.
template <>
struct RecordForm<WaitLine> : RecordBase<false> {
  static constexpr std::string_view kName = "wait";
  static constexpr TidSubject kSubject{&WaitLine::tid};
  static constexpr std::tuple kFields{
      required_key("block", &WaitLine::block, TimeForm{}),
      required_key("wake", &WaitLine::wake, TimeOrNeverForm{}, "block"),
      required_key("run", &WaitLine::run, TimeOrNeverForm{}, "wake"),
      required_key("waker", &WaitLine::woken_by, WakerForm{}),
      required_key("class", &WaitLine::wait_class, ChoiceForm<WaitClass, kWaitClasses>{kEveryWaitClass}),
      optional_key("object", &WaitLine::object, kObjectNumber),
      optional_key("futex", &WaitLine::futex_hash, kHash),
      optional_key("stack", &WaitLine::wait_stack, StackForm{}),
      optional_key("waker_stack", &WaitLine::waker_stack, StackForm{}),
      optional_key("in_flight", &WaitLine::in_flight, YesNoForm{}),
      optional_key("peer", &WaitLine::peer, PeerForm{}),
      optional_key("any", &WaitLine::any_request, YesNoForm{}),
      optional_key("holder", &WaitLine::holder_tid, kTid),
      optional_key("stands_for", &WaitLine::stands_for, RateForm{})};
};

/// The thread was switched out at `out` while runnable and ran again at `run`.
template <>
struct RecordForm<PreemptLine> : RecordBase<false> {
  static constexpr std::string_view kName = "preempt";
  static constexpr TidSubject kSubject{&PreemptLine::tid};
  static constexpr std::tuple kFields{required_key("out", &PreemptLine::out, TimeForm{}),
                                      required_key("run", &PreemptLine::run, TimeOrNeverForm{}, "out")};
};

/// Records of the thread were lost in [from, to).
template <>
struct RecordForm<UnknownLine> : RecordBase<false> {
  static constexpr std::string_view kName = "unknown";
  static constexpr TidSubject kSubject{&UnknownLine::tid};
  static constexpr std::tuple kFields{required_key("from", &UnknownLine::from, TimeForm{}),
                                      required_key("to", &UnknownLine::to, TimeOrNeverForm{}, "from")};
};

/// The program says that the last wakeup of the thread before `at` was false.
template <>
struct RecordForm<FalseLine> : RecordBase<false> {
  static constexpr std::string_view kName = "false";
  static constexpr TidSubject kSubject{&FalseLine::tid};
  static constexpr std::tuple kFields{required_key("at", &FalseLine::at, TimeForm{})};
};

/// A CPU sample: the thread, which needs no thread line, was running at `at`.
template <>
struct RecordForm<OnCpuLine> : RecordBase<false> {
  static constexpr std::string_view kName = "on_cpu";
  static constexpr TidSubject kSubject{&OnCpuLine::tid};
  static constexpr std::tuple kFields{required_key("at", &OnCpuLine::at, TimeForm{}),
                                      optional_key("stack", &OnCpuLine::stack, StackForm{})};
};

/// How often the thread responded to clients on one local address, which is the port of TCP or the path of a
/// unix socket. The times are those of the first and the last response in the window. The thread is the life
/// that began last at or before the last one, and needs no thread line. Each connection is counted once, for
/// the thread that sent its first response (Responses::connections).
template <>
struct RecordForm<ResponsesLine> : RecordBase<false> {
  static constexpr std::string_view kName = "responses";
  static constexpr TidSubject kSubject{&ResponsesLine::tid};
  static constexpr std::tuple kFields{
      optional_key("port", &ResponsesLine::port, NumberForm{"a port", 1, UINT16_MAX}),
      optional_key("path", &ResponsesLine::path, TextForm{}),
      required_key("count", &ResponsesLine::count, NumberForm{"a count", 1}),
      required_key("connections", &ResponsesLine::connections, kCount),
      required_key("first", &ResponsesLine::first, TimeForm{}),
      required_key("last", &ResponsesLine::last, TimeForm{}, "first"),
      optional_key("under_way", &ResponsesLine::under_way, TimeForm{}),
      optional_key("unread", &ResponsesLine::unread, TimeForm{})};
};

/// How often the thread called the function whose calls the user counts as progress. The times are those of
/// the first and the last call in the window. The thread is the life that began last at or before the last
/// one, and needs no thread line.
template <>
struct RecordForm<CallsLine> : RecordBase<false> {
  static constexpr std::string_view kName = "calls";
  static constexpr TidSubject kSubject{&CallsLine::tid};
  static constexpr std::tuple kFields{required_key("function", &CallsLine::function, TextForm{}),
                                      required_key("count", &CallsLine::count, NumberForm{"a count", 1}),
                                      required_key("first", &CallsLine::first, TimeForm{}),
                                      required_key("last", &CallsLine::last, TimeForm{}, "first")};
};

/// A disk's counters at a time (model/trace.h).
template <>
struct RecordForm<DiskCounters> : RecordBase<false> {
  static constexpr std::string_view kName = "sample";
  static constexpr ActorSubject kSubject{&DiskCounters::disk, ActorKind::disk};
  static constexpr std::tuple kFields{required_key("at", &DiskCounters::at, TimeForm{}),
                                      required_key("bytes", &DiskCounters::bytes, kCount),
                                      required_key("ios", &DiskCounters::ios, kCount),
                                      optional_key("in_flight", &DiskCounters::in_flight, kCount)};
};

/// An interface's counters at a time, in bytes.
template <>
struct RecordForm<NicCounters> : RecordBase<false> {
  static constexpr std::string_view kName = "traffic";
  static constexpr ActorSubject kSubject{&NicCounters::nic, ActorKind::nic};
  static constexpr std::tuple kFields{required_key("at", &NicCounters::at, TimeForm{}),
                                      required_key("received", &NicCounters::received, kCount),
                                      required_key("sent", &NicCounters::sent, kCount)};
};

/// A request to a disk. The tid is `-` if the submitter is not known. `file` is the number of the object
/// whose data it carries (DiskIo::file), `op` what it asks for.
template <>
struct RecordForm<IoLine> : RecordBase<false> {
  static constexpr std::string_view kName = "io";
  static constexpr TidSubject kSubject{&IoLine::tid, true};
  static constexpr std::tuple kFields{
      required_key("disk", &IoLine::disk, ActorForm{ActorKind::disk}),
      required_key("bytes", &IoLine::bytes, kCount),
      required_key("issue", &IoLine::issue, TimeForm{}),
      required_key("complete", &IoLine::complete, TimeOrNeverForm{}, "issue"),
      optional_key("file", &IoLine::file, kObjectNumber),
      optional_key("op", &IoLine::operation,
                   ChoiceForm<DiskOperation, kDiskOperations>{{DiskOperation::unknown, DiskOperation::read,
                                                               DiskOperation::write, DiskOperation::other}})};
};

/// What recording cost (RecordingCost in model/trace.h).
template <>
struct RecordForm<RecordingCost> : RecordBase<true> {
  static constexpr std::string_view kName = "cost";
  static constexpr std::tuple kFields{
      required_key("programs", &RecordingCost::programs_ns, TimeForm{}),
      required_key("recorder", &RecordingCost::recorder_ns, TimeForm{}),
      optional_key("most", &RecordingCost::most, RateForm{}),
      optional_key("waits_with_stacks", &RecordingCost::waits_with_stacks, kCount),
      optional_key("waits_without_stacks", &RecordingCost::waits_without_stacks, kCount)};
};

/// All records, in the order in which they are written and listed.
using AllLines = std::tuple<Window, Recording, Label, CpuLine, CpuTime, CpuQuota, MemoryUse, ProcessCpuTime,
                            StackReuse, RecordingCost, LossCounts, ThreadLine, DiskLine, NicLine, IrqLine,
                            SoftirqLine, TimerLine, ObjectLine, WaitLine, PreemptLine, UnknownLine, FalseLine,
                            OnCpuLine, ResponsesLine, CallsLine, DiskCounters, NicCounters, IoLine>;

// ---- the table as values

struct Key {
  std::string_view name;
  bool required;
};

template <class Line>
inline constexpr std::size_t kFieldCount =
    std::tuple_size_v<std::decay_t<decltype(RecordForm<Line>::kFields)>>;

template <class Line>
inline constexpr auto kKeys = std::apply(
    [](const auto&... field) {
      return std::array<Key, kFieldCount<Line>>{Key{field.key, field.required}...};
    },
    RecordForm<Line>::kFields);

/// The index of a key in the record's kFields; the record must have the key.
template <class Line>
constexpr std::size_t index_of(std::string_view key) {
  std::size_t i = 0;
  while (kKeys<Line>.at(i).name != key) ++i;
  return i;
}

}  // namespace offwait
