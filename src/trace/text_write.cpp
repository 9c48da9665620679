// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "model/tid_lives.h"
#include "model/trace.h"
#include "model/validate.h"
#include "trace/percent.h"
#include "trace/text.h"

namespace offwait {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr std::size_t kMaxWrittenStack = std::size_t{256} << 10;
constexpr std::string_view kCut = "[cut]";

using Complaint = std::optional<Error>;

bool has_name(ActorKind kind) { return kind != ActorKind::thread && kind != ActorKind::timer; }

/// The time from the birth of a thread to the birth of the next one with its tid: what text can say of it.
struct TidSpan {
  Nanos begin = 0;
  Nanos end = kNever;
};

class TextWriter {
 public:
  TextWriter(const Trace& trace, std::FILE* file) : trace_(trace), file_(file) {}

  Complaint write();

 private:
  // What cannot be said in text.
  Complaint check_actors();
  Complaint check_tids();
  Complaint check_thread_of_records() const;
  Complaint check_values() const;
  bool named_by_tid(ActorId actor, Nanos at) const {
    return trace_.actors[actor].kind != ActorKind::thread ||
           (spans_[actor].begin <= at && at < spans_[actor].end);
  }

  void write_head();
  void write_actors();
  void write_records();
  void actor_line(ActorId id);
  void wait_line(const Wait& wait);

  void text(std::string_view plain) { buffer_ += plain; }
  void value(std::string_view bytes) { append_percent_encoded(buffer_, bytes); }
  template <class Number>
  void number(Number value, auto... base) {
    std::array<char, 32> digits{};
    const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value, base...);
    buffer_.append(digits.data(), result.ptr);
  }
  /// Times before 0 become 0, kNever `-`.
  void time(Nanos at) {
    if (at == kNever) {
      buffer_ += '-';
    } else {
      number(std::max<Nanos>(at, 0));
    }
  }
  void tid(ActorId actor) { number(trace_.actors[actor].tid); }
  void waker(ActorId actor);
  void stack(std::string_view key, StackId id);
  void end_line();
  void flush();

  const Trace& trace_;
  std::FILE* file_;
  std::string buffer_;
  int write_error_ = 0;
  std::vector<TidSpan> spans_;           ///< by ActorId; threads only
  std::vector<std::string> frame_text_;  ///< parallel to Trace::frames
};

Complaint TextWriter::check_actors() {
  std::set<std::pair<ActorKind, std::string_view>> names;
  for (const Actor& actor : trace_.actors) {
    const std::string kind(to_string(actor.kind));
    if (actor.kind == ActorKind::group) {
      return Error{"an actor of kind group cannot be written as text"};
    }
    if (actor.name.size() > kMaxTextValue) {
      return Error{"a " + kind + " whose name is longer than " + std::to_string(kMaxTextValue) +
                   " bytes cannot be written as text"};
    }
    if (actor.kind == ActorKind::thread) {
      continue;
    }
    if (actor.on.size() > kMaxTextDisksBelow ||
        std::any_of(actor.on.begin(), actor.on.end(),
                    [](const std::string& name) { return name.empty() || name.size() > kMaxTextValue; })) {
      return Error{"what disk " + quoted(actor.name) + " is made of cannot be written as text"};
    }
    if (has_name(actor.kind) == actor.name.empty()) {
      return Error{"a " + kind + (actor.name.empty() ? " without" : " with") +
                   " a name cannot be written as text"};
    }
    if (!names.emplace(actor.kind, actor.name).second) {
      return Error{"two actors " + kind + " " + quoted(actor.name) + " cannot be written as text"};
    }
  }
  return std::nullopt;
}

Complaint TextWriter::check_tids() {
  std::unordered_map<std::int32_t, TidLives> tids;
  for (ActorId id = 0; id < trace_.actors.size(); ++id) {
    const Actor& actor = trace_.actors[id];
    if (actor.kind != ActorKind::thread) {
      continue;
    }
    if (actor.tid <= 0 || actor.tgid < 0 || actor.start == kNever) {
      return Error{"thread " + std::to_string(actor.tid) + " of process " + std::to_string(actor.tgid) +
                   ", born at " + std::to_string(actor.start) + ", cannot be written as text"};
    }
    // As they will be read.
    const Life life{std::max<Nanos>(actor.start, 0), std::max<Nanos>(actor.exit, 0), id};
    if (tids[actor.tid].add(life) != nullptr) {
      return Error{"two threads that have tid " + std::to_string(actor.tid) +
                   " at the same time cannot be written as text"};
    }
  }
  spans_.resize(trace_.actors.size());
  for (const auto& [tid, lives] : tids) {
    lives.for_each([&](const Life& life, const Life* next) {
      spans_[life.actor] = {life.start, next == nullptr ? kNever : next->start};
    });
  }
  return std::nullopt;
}

Complaint TextWriter::check_thread_of_records() const {
  const auto complain = [&](std::string_view what, ActorId actor, Nanos at) -> Complaint {
    return Error{std::string(what) + " at " + std::to_string(at) + " outside the life of thread " +
                 std::to_string(trace_.actors[actor].tid) + " cannot be written as text"};
  };
  for (const Wait& wait : trace_.waits) {
    const WaitSite& site = trace_.sites[wait.site];
    const Nanos block = std::max<Nanos>(wait.block, 0);
    const Nanos wake = std::max<Nanos>(wait.wake, 0);
    if (!named_by_tid(site.thread, block)) {
      return complain("a wait", site.thread, block);
    }
    if (site.waker != kNoActor && !named_by_tid(site.waker, wake)) {
      return complain("a wake", site.waker, wake);
    }
    const Nanos held = std::max({block, trace_.window.begin, Nanos{0}});
    if (site.holder != kNoActor && !named_by_tid(site.holder, held)) {
      return complain("a held mutex", site.holder, held);
    }
  }
  for (const Preemption& preemption : trace_.preemptions) {
    const Nanos out = std::max<Nanos>(preemption.out, 0);
    if (!named_by_tid(preemption.thread, out)) {
      return complain("a preemption", preemption.thread, out);
    }
  }
  for (const Gap& gap : trace_.gaps) {
    const Nanos from = std::max<Nanos>(gap.from, 0);
    if (!named_by_tid(gap.thread, from)) {
      return complain("a gap", gap.thread, from);
    }
  }
  for (const FalseMark& mark : trace_.false_marks) {
    if (!named_by_tid(mark.thread, std::max<Nanos>(mark.at, 0))) {
      return complain("a false wakeup", mark.thread, mark.at);
    }
  }
  for (const CpuSample& sample : trace_.cpu_samples) {
    if (!named_by_tid(sample.thread, std::max<Nanos>(sample.at, 0))) {
      return complain("a CPU sample", sample.thread, sample.at);
    }
  }
  for (const DiskIo& io : trace_.disk_ios) {
    const Nanos issue = std::max<Nanos>(io.issue, 0);
    if (io.thread != kNoActor && !named_by_tid(io.thread, issue)) {
      return complain("a request", io.thread, issue);
    }
  }
  return std::nullopt;
}

Complaint TextWriter::check_values() const {
  const Recording& recording = trace_.recording;
  for (const std::string* text :
       {&recording.target, &recording.start_time, &recording.kernel, &recording.offwait}) {
    if (text->size() > kMaxTextValue) {
      return Error{"a target, start time, kernel or version longer than " + std::to_string(kMaxTextValue) +
                   " bytes cannot be written as text"};
    }
  }
  std::size_t loss_bytes = 0;
  for (const auto& [name, count] : trace_.loss) {
    constexpr std::size_t kCountBytes = 32;  // " NAME=COUNT", rounded up
    loss_bytes += 3 * name.size() + kCountBytes;
    if (name.empty() || name.size() > kMaxTextValue || loss_bytes > kMaxTextLine - kCountBytes) {
      return Error{"loss counters whose names are empty or too long cannot be written as text"};
    }
  }
  if (std::any_of(trace_.frames.begin(), trace_.frames.end(),
                  [](const std::string& frame) { return frame.empty(); })) {
    return Error{"an empty frame cannot be written as text"};
  }
  if (std::any_of(trace_.peers.begin(), trace_.peers.end(),
                  [](const Peer& peer) { return peer.name.empty() || peer.name.size() > kMaxTextValue; })) {
    return Error{"a peer whose name is empty or longer than " + std::to_string(kMaxTextValue) +
                 " bytes cannot be written as text"};
  }
  std::set<ActorId> disks;
  for (const DiskCapacity& capacity : trace_.capacities) {
    if (!disks.insert(capacity.disk).second) {
      return Error{"two capacities of disk " + quoted(trace_.actors[capacity.disk].name) +
                   " cannot be written as text"};
    }
  }
  std::set<ActorId> nics;
  for (const NicCapacity& capacity : trace_.nic_capacities) {
    if (!nics.insert(capacity.nic).second || capacity.source == CapacitySource::measured) {
      return Error{"the capacities of nic " + quoted(trace_.actors[capacity.nic].name) +
                   " cannot be written as text"};
    }
  }
  if (std::any_of(trace_.nic_samples.begin(), trace_.nic_samples.end(),
                  [](const NicSample& sample) { return sample.at == kNever; })) {
    return Error{"an interface's sample without a time cannot be written as text"};
  }
  for (const DiskSample& sample : trace_.disk_samples) {
    if (sample.at == kNever) {
      return Error{"a disk sample without a time cannot be written as text"};
    }
  }
  for (const DiskIo& io : trace_.disk_ios) {
    if (io.issue == kNever) {
      return Error{"a request without a time of issue cannot be written as text"};
    }
  }
  return std::nullopt;
}

void TextWriter::flush() {
  if (write_error_ == 0 && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) {
    write_error_ = errno;
  }
  buffer_.clear();
}

void TextWriter::end_line() {
  buffer_ += '\n';
  if (buffer_.size() >= kBufferBytes) {
    flush();
  }
}

void TextWriter::waker(ActorId actor) {
  if (actor == kNoActor) {
    text("-");
    return;
  }
  text(to_string(trace_.actors[actor].kind));
  if (trace_.actors[actor].kind == ActorKind::timer) {
    return;
  }
  text(":");
  if (trace_.actors[actor].kind == ActorKind::thread) {
    tid(actor);
  } else {
    value(trace_.actors[actor].name);
  }
}

void TextWriter::stack(std::string_view key, StackId id) {
  if (id == kNoStack || trace_.stacks[id].frames.empty()) {
    return;
  }
  const std::vector<FrameId>& frames = trace_.stacks[id].frames;
  text(key);
  const std::size_t begin = buffer_.size();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i > 0) {
      buffer_ += ';';
    }
    const std::string& frame = frame_text_[frames[i]];
    const bool last = i + 1 == frames.size();
    if ((i + 1 == kMaxTextFrames && !last) || buffer_.size() - begin + frame.size() > kMaxWrittenStack) {
      buffer_ += kCut;
      return;
    }
    buffer_ += frame;
  }
}

void TextWriter::write_head() {
  text("offwait-waits 1\nwindow ");
  time(trace_.window.begin);
  text(" ");
  time(trace_.window.end);
  end_line();

  const Recording& recording = trace_.recording;
  const std::array<std::pair<std::string_view, const std::string*>, 4> texts{
      {{" target=", &recording.target},
       {" start_time=", &recording.start_time},
       {" kernel=", &recording.kernel},
       {" offwait=", &recording.offwait}}};
  const bool any_text =
      std::any_of(texts.begin(), texts.end(), [](const auto& item) { return !item.second->empty(); });
  if (any_text || recording.cpus != 0 || recording.sample_hz != 0) {
    text("recording");
    for (const auto& [key, bytes] : texts) {
      if (bytes->empty()) {
        continue;
      }
      text(key);
      value(*bytes);
    }
    if (recording.cpus != 0) {
      text(" cpus=");
      number(recording.cpus);
    }
    if (recording.sample_hz != 0) {
      text(" sample_hz=");
      number(recording.sample_hz);
    }
    end_line();
  }
  if (recording.cpu_busy_ns != 0 || recording.cpu_idle_ns != 0) {
    text("cpu busy=");
    time(recording.cpu_busy_ns);
    text(" idle=");
    time(recording.cpu_idle_ns);
    end_line();
  }
  if (const StackReuse& reuse = recording.stack_reuse; reuse != StackReuse{}) {
    text("stacks walked=");
    number(reuse.walked);
    text(" recalled=");
    number(reuse.recalled);
    text(" verified=");
    number(reuse.verified);
    text(" wrong=");
    number(reuse.wrong);
    end_line();
  }
  if (!trace_.loss.empty()) {
    text("loss");
    for (const auto& [name, count] : trace_.loss) {
      text(" ");
      value(name);
      text("=");
      number(count);
    }
    end_line();
  }
}

void TextWriter::actor_line(ActorId id) {
  const Actor& actor = trace_.actors[id];
  text(to_string(actor.kind));
  if (actor.kind == ActorKind::thread) {
    text(" ");
    number(actor.tid);
    text(" tgid=");
    number(actor.tgid);
    text(" comm=");
    value(actor.name);
    text(" start=");
    time(actor.start);
    text(" exit=");
    time(actor.exit);
    if (actor.ns_tid > 0) {
      text(" ns_tid=");
      number(actor.ns_tid);
    }
    if (actor.seen >= actor.start && actor.seen != std::max(actor.start, trace_.window.begin)) {
      text(" seen=");
      time(actor.seen);
    }
    if (actor.outside) {
      text(actor.kernel ? " outside=kernel" : " outside=yes");
    }
    if (actor.parent != kNoActor && named_by_tid(actor.parent, std::max<Nanos>(actor.start, 0)) &&
        std::max<Nanos>(trace_.actors[actor.parent].exit, 0) >= std::max<Nanos>(actor.start, 0) &&
        trace_.actors[actor.parent].tid != actor.tid) {
      text(" parent=");
      tid(actor.parent);
    }
  } else if (actor.kind != ActorKind::timer) {
    text(" ");
    value(actor.name);
  }
}

void TextWriter::write_actors() {
  std::unordered_map<ActorId, const DiskCapacity*> capacities;
  for (const DiskCapacity& capacity : trace_.capacities) {
    capacities[capacity.disk] = &capacity;
  }
  std::unordered_map<ActorId, const NicCapacity*> nic_capacities;
  for (const NicCapacity& capacity : trace_.nic_capacities) {
    nic_capacities[capacity.nic] = &capacity;
  }
  for (ActorId id = 0; id < trace_.actors.size(); ++id) {
    actor_line(id);
    if (const auto found = capacities.find(id); found != capacities.end()) {
      text(" bytes_per_s=");
      number(found->second->bytes_per_s);
      text(" ios_per_s=");
      number(found->second->ios_per_s);
      text(" capacity=");
      text(to_string(found->second->source));
      if (!found->second->measured_on.empty()) {
        text(" measured=");
        text(found->second->measured_on);
      }
    }
    if (const auto found = nic_capacities.find(id); found != nic_capacities.end()) {
      text(" received_per_s=");
      number(found->second->received_per_s);
      text(" sent_per_s=");
      number(found->second->sent_per_s);
      text(" capacity=");
      text(to_string(found->second->source));
    }
    for (std::size_t i = 0; i < trace_.actors[id].on.size(); ++i) {
      text(i == 0 ? " on=" : ";");
      value(trace_.actors[id].on[i]);
    }
    end_line();
  }
}

void TextWriter::wait_line(const Wait& wait) {
  const WaitSite& site = trace_.sites[wait.site];
  text("wait ");
  tid(site.thread);
  text(" block=");
  time(wait.block);
  text(" wake=");
  time(wait.wake);
  text(" run=");
  time(wait.run);
  text(" waker=");
  waker(site.waker);
  text(" class=");
  text(to_string(site.wait_class));
  if (wait.futex != 0) {
    text(" futex=");
    number(wait.futex, 16);
  }
  stack(" stack=", site.wait_stack);
  stack(" waker_stack=", site.waker_stack);
  if (site.in_flight) {
    text(" in_flight=yes");
  }
  if (site.peer != kNoPeer) {
    const Peer& peer = trace_.peers[site.peer];
    text(" peer=");
    text(to_string(peer.role));
    text(":");
    value(peer.name);
  }
  if (site.any_request) {
    text(" any=yes");
  }
  if (site.holder != kNoActor) {
    text(" holder=");
    tid(site.holder);
  }
  end_line();
}

void TextWriter::write_records() {
  for (const Wait& wait : trace_.waits) {
    wait_line(wait);
  }
  for (const Preemption& preemption : trace_.preemptions) {
    text("preempt ");
    tid(preemption.thread);
    text(" out=");
    time(preemption.out);
    text(" run=");
    time(preemption.run);
    end_line();
  }
  for (const Gap& gap : trace_.gaps) {
    text("unknown ");
    tid(gap.thread);
    text(" from=");
    time(gap.from);
    text(" to=");
    time(gap.to);
    end_line();
  }
  for (const FalseMark& mark : trace_.false_marks) {
    text("false ");
    tid(mark.thread);
    text(" at=");
    time(mark.at);
    end_line();
  }
  for (const CpuSample& sample : trace_.cpu_samples) {
    text("on_cpu ");
    tid(sample.thread);
    text(" at=");
    time(sample.at);
    stack(" stack=", sample.stack);
    end_line();
  }
  for (const DiskSample& sample : trace_.disk_samples) {
    text("sample ");
    value(trace_.actors[sample.disk].name);
    text(" at=");
    time(sample.at);
    text(" bytes=");
    number(sample.bytes);
    text(" ios=");
    number(sample.ios);
    if (sample.in_flight != 0) {
      text(" in_flight=");
      number(sample.in_flight);
    }
    end_line();
  }
  for (const NicSample& sample : trace_.nic_samples) {
    text("traffic ");
    value(trace_.actors[sample.nic].name);
    text(" at=");
    time(sample.at);
    text(" received=");
    number(sample.received);
    text(" sent=");
    number(sample.sent);
    end_line();
  }
  for (const DiskIo& io : trace_.disk_ios) {
    text("io ");
    if (io.thread == kNoActor) {
      text("-");
    } else {
      tid(io.thread);
    }
    text(" disk=");
    value(trace_.actors[io.disk].name);
    text(" bytes=");
    number(io.bytes);
    text(" issue=");
    time(io.issue);
    text(" complete=");
    time(io.complete);
    end_line();
  }
}

Complaint TextWriter::write() {
  if (Complaint complaint = check_actors()) {
    return complaint;
  }
  if (Complaint complaint = check_values()) {
    return complaint;
  }
  if (Complaint complaint = check_tids()) {
    return complaint;
  }
  if (Complaint complaint = check_thread_of_records()) {
    return complaint;
  }

  frame_text_.reserve(trace_.frames.size());
  for (const std::string& frame : trace_.frames) {
    std::string& encoded = frame_text_.emplace_back();
    if (frame.size() <= kMaxTextValue) {
      append_percent_encoded(encoded, frame);
    } else {
      append_percent_encoded(encoded, std::string_view(frame).substr(0, kMaxTextValue - kCut.size()));
      encoded += kCut;
    }
  }
  write_head();
  write_actors();
  write_records();
  flush();
  if (write_error_ == 0 && std::fflush(file_) != 0) {
    write_error_ = errno;
  }
  if (write_error_ != 0) {
    return Error{"cannot write: " + std::generic_category().message(write_error_)};
  }
  return std::nullopt;
}

}  // namespace

Status write_text(const Trace& trace, std::FILE* file) {
  if (Status valid = validate(trace); !valid.ok()) {
    return valid.error();
  }
  if (Complaint complaint = TextWriter(trace, file).write()) {
    return *std::move(complaint);
  }
  return success();
}

}  // namespace offwait
