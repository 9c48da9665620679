// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/nanos.h"
#include "base/result.h"
#include "model/histories.h"
#include "model/tid_lives.h"
#include "model/trace.h"
#include "model/trace_builder.h"
#include "trace/percent.h"
#include "trace/text.h"

namespace offwait {
namespace {

using Tid = std::int32_t;

constexpr std::string_view kMagic = "offwait-waits ";
constexpr std::string_view kHeader = "offwait-waits 1";
constexpr std::string_view kNotText = "not an offwait-waits file (expected 'offwait-waits 1')";
constexpr std::string_view kRecordNames =
    "window, recording, cpu, loss, thread, disk, nic, irq, softirq, timer, wait, preempt, unknown, false, "
    "on_cpu, sample, traffic or io";
constexpr Tid kNoTid = 0;
constexpr Nanos kMaxTime = kNever - 1;
constexpr std::size_t kReadBytes = std::size_t{1} << 20;
/// Stacks are looked up by how they are written before they are taken apart; this many bytes of them are
/// kept.
constexpr std::size_t kWrittenStackBytes = std::size_t{64} << 20;

struct Key {
  std::string_view name;
  bool required = false;
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Takes the first word off `rest`; empty if there is none.
std::string_view next_word(std::string_view& rest) {
  const char* at = rest.data();
  const char* const end = at + rest.size();
  while (at != end && is_blank(*at)) {
    ++at;
  }
  const char* const begin = at;
  while (at != end && !is_blank(*at)) {
    ++at;
  }
  rest = std::string_view(at, static_cast<std::size_t>(end - at));
  return {begin, static_cast<std::size_t>(at - begin)};
}

bool present(std::string_view value) { return value.data() != nullptr; }

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using ByName = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

using FrameIds = std::vector<FrameId>;

/// Who woke: an actor, or a tid whose life is not known yet, or neither.
struct Waker {
  ActorId actor = kNoActor;
  Tid tid = kNoTid;
};

/// A wait whose thread, waker or holder was not known when it was read.
struct PendingWait {
  std::size_t wait = 0;  ///< index into Trace::waits
  WaitSite site;
  Tid tid = kNoTid;        ///< kNoTid if site.thread is known
  Tid waker_tid = kNoTid;  ///< kNoTid if site.waker is known, or nobody
  Tid holder_tid = kNoTid;
};

/// The line and the tid of a record whose thread is found when all is read.
struct TidLine {
  std::uint32_t line = 0;
  Tid tid = kNoTid;
};
struct PendingIo {
  std::size_t io = 0;  ///< index into Trace::disk_ios
  TidLine from;
};
struct PendingParent {
  ActorId child = kNoActor;
  TidLine parent;
};

std::string time_text(Nanos at) { return at == kNever ? "-" : std::to_string(at); }
std::string span_text(Nanos begin, Nanos end) {
  return "[" + std::to_string(begin) + ", " + time_text(end) + ")";
}

class TextReader {
 public:
  explicit TextReader(std::string name) : name_(std::move(name)) {}

  /// The next bytes of the file. False: error().
  bool feed(std::string_view bytes);
  /// After the last feed(). False: error().
  bool finish();

  Trace take_trace() { return builder_.take(); }
  Error take_error() { return std::move(error_); }

 private:
  // All of these return false after they have set the error.
  bool fail_at(std::uint32_t line, std::string_view message);
  bool fail(std::string_view message) { return fail_at(line_, message); }
  bool too_long();
  bool add_line(std::string_view line);
  bool add_header(std::string_view line);
  bool add_record(std::string_view record, std::string_view rest);
  bool add_window(std::string_view rest);
  bool add_recording(std::string_view rest);
  bool add_cpu(std::string_view rest);
  bool add_stacks(std::string_view rest);
  bool add_loss(std::string_view rest);
  bool add_thread(std::string_view rest);
  bool add_disk(std::string_view rest);
  bool disks_below(std::string_view text, std::vector<std::string>& out);
  bool add_nic(std::string_view rest);
  bool add_traffic(std::string_view rest);
  bool add_irq(std::string_view rest) { return add_named(ActorKind::irq, rest); }
  bool add_softirq(std::string_view rest) { return add_named(ActorKind::softirq, rest); }
  bool add_timer(std::string_view rest);
  bool add_wait(std::string_view rest);
  bool add_preempt(std::string_view rest);
  bool add_unknown(std::string_view rest);
  bool add_false(std::string_view rest);
  bool add_on_cpu(std::string_view rest);
  bool add_sample(std::string_view rest);
  bool add_io(std::string_view rest);

  /// Splits `rest` into KEY=VALUE; a key that is not there leaves its value without data.
  bool keys(std::string_view record, std::string_view rest, std::span<const Key> known,
            std::span<std::string_view> values);
  bool number(std::string_view what, std::string_view text, std::string_view expected, std::uint64_t min,
              std::uint64_t max, std::uint64_t& out, bool or_dash = false);
  bool time(std::string_view what, std::string_view text, Nanos& out);
  bool time_or_never(std::string_view what, std::string_view text, Nanos& out);
  bool tid(std::string_view what, std::string_view text, Tid& out);
  bool rate(std::string_view what, std::string_view text, double& out);
  /// No if the key is not there.
  bool yes_or_no(std::string_view what, std::string_view text, bool& out);
  bool bytes(std::string_view what, std::string_view text, std::string& out, bool may_be_empty = false);
  bool in_order(std::string_view first, Nanos a, std::string_view second, Nanos b);
  bool wait_class(std::string_view text, WaitClass& out);
  bool futex(std::string_view text, std::uint32_t& out);
  bool peer(std::string_view text, PeerId& out);
  bool waker(std::string_view text, Nanos wake, Waker& out);
  bool stack(std::string_view what, std::string_view text, StackId& out);
  bool device(std::string_view what, ActorKind kind, std::string_view text, ActorId& out);
  /// The line of its own that a device may have once.
  bool declare(ActorKind kind, std::string_view name, ActorId& out);
  bool add_named(ActorKind kind, std::string_view rest);

  /// The life of a tid, alive at `at`, that no line further down can change; nullptr if not known yet.
  const Life* life_at(Tid tid, Nanos at) const;

  bool resolve_waits();
  bool resolve_preempts();
  bool resolve_unknowns();
  bool resolve_false();
  bool resolve_cpu_samples();
  bool resolve_ios();
  bool resolve_parents();
  bool check_order();
  /// The line that an interval was read from, and the record that it has there.
  std::uint32_t line_of(const Interval& interval) const;
  bool thread_during(std::string_view record, TidLine from, Nanos begin, Nanos end, ActorId& out);
  bool thread_born_by(std::string_view record, TidLine from, Nanos at, ActorId& out);
  /// The thread of a tid without thread line, which a record names at `at`.
  ActorId implicit_thread(Tid tid, Nanos at);

  std::string name_;
  std::uint32_t line_ = 0;
  std::string unfinished_line_;
  Error error_;

  TraceBuilder builder_;
  Trace& trace_ = builder_.trace();
  bool has_window_ = false;
  bool has_recording_ = false;
  bool has_cpu_ = false;
  bool has_stacks_ = false;
  bool has_loss_ = false;
  std::unordered_map<Tid, ActorId> implicit_threads_;  ///< of tids without any thread line
  std::array<ByName<ActorId>, 7> devices_;             ///< by ActorKind
  std::unordered_set<ActorId> declared_;               ///< devices with a line of their own
  std::vector<PendingWait> pending_waits_;
  std::vector<std::uint32_t> wait_lines_;  ///< parallel to Trace::waits
  std::vector<TidLine> preempt_lines_;     ///< parallel to Trace::preemptions
  std::vector<TidLine> unknown_lines_;     ///< parallel to Trace::gaps
  std::vector<TidLine> false_lines_;       ///< parallel to Trace::false_marks
  std::vector<TidLine> on_cpu_lines_;      ///< parallel to Trace::cpu_samples
  std::vector<PendingIo> pending_ios_;
  std::vector<PendingParent> pending_parents_;
  ByName<StackId> written_stacks_;
  std::size_t written_stack_bytes_ = 0;
  // Kept for their memory:
  std::string decoded_;
  FrameIds frame_ids_;
};
bool TextReader::fail_at(std::uint32_t line, std::string_view message) {
  error_.message = name_ + ":" + std::to_string(line) + ": ";
  error_.message += message;
  return false;
}

// ---- lines

bool TextReader::too_long() {
  return line_ == 1 ? fail(kNotText) : fail("line longer than " + std::to_string(kMaxTextLine) + " bytes");
}

bool TextReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    if (unfinished_line_.empty() && ++line_ == UINT32_MAX) {
      return fail("more than 4294967294 lines");
    }
    if (unfinished_line_.size() + part.size() > kMaxTextLine) {
      return too_long();
    }
    if (newline == std::string_view::npos) {
      unfinished_line_ += part;
      return true;
    }
    bytes.remove_prefix(newline + 1);
    if (unfinished_line_.empty()) {
      if (!add_line(part)) {
        return false;
      }
    } else {
      unfinished_line_ += part;
      if (!add_line(unfinished_line_)) {
        return false;
      }
      unfinished_line_.clear();
    }
  }
  return true;
}

bool TextReader::add_line(std::string_view line) {
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  if (line_ == 1) {
    return add_header(line);
  }
  std::string_view rest = line;
  const std::string_view record = next_word(rest);
  if (record.empty() || record.front() == '#') {
    return true;
  }
  return add_record(record, rest);
}

bool TextReader::add_header(std::string_view line) {
  if (line == kHeader) {
    return true;
  }
  if (line.substr(0, kMagic.size()) != kMagic) {
    return fail(kNotText);
  }
  return fail("version " + quoted(line.substr(kMagic.size())) +
              " of offwait-waits (expected 'offwait-waits 1')");
}

bool TextReader::add_record(std::string_view record, std::string_view rest) {
  if (!has_window_ && record != "window") {
    return fail("expected 'window BEGIN END' before any other record");
  }
  struct Record {
    std::string_view name;
    bool (TextReader::*add)(std::string_view rest);
  };
  // The frequent ones first.
  static constexpr std::array<Record, 19> kRecords{{{"wait", &TextReader::add_wait},
                                                    {"preempt", &TextReader::add_preempt},
                                                    {"io", &TextReader::add_io},
                                                    {"on_cpu", &TextReader::add_on_cpu},
                                                    {"thread", &TextReader::add_thread},
                                                    {"sample", &TextReader::add_sample},
                                                    {"unknown", &TextReader::add_unknown},
                                                    {"false", &TextReader::add_false},
                                                    {"disk", &TextReader::add_disk},
                                                    {"nic", &TextReader::add_nic},
                                                    {"traffic", &TextReader::add_traffic},
                                                    {"irq", &TextReader::add_irq},
                                                    {"softirq", &TextReader::add_softirq},
                                                    {"timer", &TextReader::add_timer},
                                                    {"window", &TextReader::add_window},
                                                    {"recording", &TextReader::add_recording},
                                                    {"cpu", &TextReader::add_cpu},
                                                    {"stacks", &TextReader::add_stacks},
                                                    {"loss", &TextReader::add_loss}}};
  for (const Record& known : kRecords) {
    if (record == known.name) {
      return (this->*known.add)(rest);
    }
  }
  return fail("unknown record " + quoted(record) + " (expected " + std::string(kRecordNames) + ")");
}

// ---- fields

bool TextReader::keys(std::string_view record, std::string_view rest, std::span<const Key> known,
                      std::span<std::string_view> values) {
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      return fail("expected KEY=VALUE, found " + quoted(word));
    }
    const std::string_view name = word.substr(0, equals);
    std::size_t i = 0;
    while (i < known.size() && known[i].name != name) {
      ++i;
    }
    if (i == known.size()) {
      std::string expected;
      for (const Key& key : known) {
        expected += (expected.empty() ? "" : ", ") + std::string(key.name);
      }
      return fail("unknown key " + quoted(name) + " (" + std::string(record) + " has " + expected + ")");
    }
    if (present(values[i])) {
      return fail("key " + quoted(name) + " twice");
    }
    values[i] = word.substr(equals + 1);
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].required && !present(values[i])) {
      return fail(std::string(record) + " without " + std::string(known[i].name) + "=");
    }
  }
  return true;
}

bool TextReader::number(std::string_view what, std::string_view text, std::string_view expected,
                        std::uint64_t min, std::uint64_t max, std::uint64_t& out, bool or_dash) {
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, out);
  if (error == std::errc() && parsed == end && out >= min && out <= max) {
    return true;
  }
  return fail(std::string(what) + " " + quoted(text) + ": expected " + std::string(expected) + ", " +
              std::to_string(min) + " to " + std::to_string(max) + (or_dash ? ", or '-'" : ""));
}

bool TextReader::time(std::string_view what, std::string_view text, Nanos& out) {
  std::uint64_t value = 0;
  if (!number(what, text, "ns", 0, kMaxTime, value)) {
    return false;
  }
  out = static_cast<Nanos>(value);
  return true;
}

bool TextReader::time_or_never(std::string_view what, std::string_view text, Nanos& out) {
  out = kNever;
  if (text == "-") {
    return true;
  }
  std::uint64_t value = 0;
  if (!number(what, text, "ns", 0, kMaxTime, value, true)) {
    return false;
  }
  out = static_cast<Nanos>(value);
  return true;
}

bool TextReader::tid(std::string_view what, std::string_view text, Tid& out) {
  std::uint64_t value = 0;
  if (!number(what, text, "a tid", 1, std::numeric_limits<Tid>::max(), value)) {
    return false;
  }
  out = static_cast<Tid>(value);
  return true;
}

bool TextReader::rate(std::string_view what, std::string_view text, double& out) {
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, out);
  if (error == std::errc() && parsed == end && std::isfinite(out) && out > 0) {
    return true;
  }
  return fail(std::string(what) + " " + quoted(text) + ": expected a number > 0");
}

bool TextReader::yes_or_no(std::string_view what, std::string_view text, bool& out) {
  out = text == "yes";
  if (out || !present(text) || text == "no") {
    return true;
  }
  return fail(std::string(what) + " " + quoted(text) + ": expected yes or no");
}

bool TextReader::bytes(std::string_view what, std::string_view text, std::string& out, bool may_be_empty) {
  if (const auto problem = percent_decode(text, out)) {
    return fail(std::string(what) + ": " + *problem);
  }
  if (out.empty() && !may_be_empty) {
    return fail("empty " + std::string(what));
  }
  if (out.size() > kMaxTextValue) {
    return fail(std::string(what) + " longer than " + std::to_string(kMaxTextValue) + " bytes");
  }
  return true;
}

bool TextReader::in_order(std::string_view first, Nanos a, std::string_view second, Nanos b) {
  if (a <= b) {
    return true;
  }
  return fail(std::string(second) + " " + time_text(b) + " is before " + std::string(first) + " " +
              time_text(a));
}

bool TextReader::wait_class(std::string_view text, WaitClass& out) {
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    out = static_cast<WaitClass>(i);
    if (text == to_string(out)) {
      return true;
    }
  }
  std::string expected;
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    expected += (i == 0 ? "" : i + 1 == kWaitClasses ? " or " : ", ");
    expected += to_string(static_cast<WaitClass>(i));
  }
  return fail("class " + quoted(text) + ": expected " + expected);
}

/// Stays 0 when it is not there.
bool TextReader::futex(std::string_view text, std::uint32_t& out) {
  if (!present(text)) {
    return true;
  }
  const bool lower_case = std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'F'; });
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  if (!lower_case || text.size() > 8 || error != std::errc{} || end != text.data() + text.size() ||
      out == 0) {
    return fail("futex " + quoted(text) + ": expected 1 to 8 lower-case hexadecimal digits, not zero");
  }
  return true;
}

/// Stays kNoPeer when it is not there.
bool TextReader::peer(std::string_view text, PeerId& out) {
  if (!present(text)) {
    return true;
  }
  for (const Peer::Role role : {Peer::Role::client, Peer::Role::service}) {
    const std::string prefix = std::string(to_string(role)) + ":";
    if (text.starts_with(prefix)) {
      Peer peer{role, ""};
      if (!bytes("peer", text.substr(prefix.size()), peer.name)) {
        return false;
      }
      out = builder_.peer(peer);
      return true;
    }
  }
  return fail("peer " + quoted(text) + ": expected client:NAME or service:NAME");
}

bool TextReader::waker(std::string_view text, Nanos wake, Waker& out) {
  if (text == "-") {
    return true;
  }
  if (wake == kNever) {
    return fail("waker " + quoted(text) + " of a wait that has not ended (expected '-')");
  }
  if (text == "timer") {
    return device("waker", ActorKind::timer, "", out.actor);
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view kind = text.substr(0, colon);
  const std::string_view name = text.substr(std::min(colon + 1, text.size()));
  if (colon < text.size() && kind == "thread") {
    if (!tid("waker thread", name, out.tid)) {
      return false;
    }
    if (const Life* life = life_at(out.tid, wake)) {
      out = {life->actor, kNoTid};
    }
    return true;
  }
  static constexpr std::array<std::pair<std::string_view, ActorKind>, 4> kDevices{
      {{"disk", ActorKind::disk},
       {"nic", ActorKind::nic},
       {"irq", ActorKind::irq},
       {"softirq", ActorKind::softirq}}};
  for (const auto& [known, device_kind] : kDevices) {
    if (colon < text.size() && kind == known) {
      return device("waker", device_kind, name, out.actor);
    }
  }
  return fail("waker " + quoted(text) +
              ": expected thread:TID, disk:NAME, nic:NAME, timer, irq:NAME, softirq:NAME or '-'");
}

const Life* TextReader::life_at(Tid tid, Nanos at) const {
  const TidLives* lives = builder_.find_lives(tid);
  const Life* life = lives == nullptr ? nullptr : lives->born_by(at);
  return life != nullptr && life->alive_at(at) ? life : nullptr;
}

bool TextReader::device(std::string_view what, ActorKind kind, std::string_view text, ActorId& out) {
  ByName<ActorId>& known = devices_[static_cast<std::size_t>(kind)];
  // Without a `%` a known name is written as it is.
  if (const auto found = known.find(text); found != known.end() && text.find('%') == std::string_view::npos) {
    out = found->second;
    return true;
  }
  if (!bytes(what, text, decoded_, kind == ActorKind::timer)) {
    return false;
  }
  const auto [at, added] = known.try_emplace(decoded_, kNoActor);
  if (added) {
    Actor actor;
    actor.kind = kind;
    actor.name = decoded_;
    at->second = builder_.add_actor(std::move(actor));
  }
  out = at->second;
  return true;
}

bool TextReader::stack(std::string_view what, std::string_view text, StackId& out) {
  out = kNoStack;
  if (!present(text)) {
    return true;
  }
  if (const auto found = written_stacks_.find(text); found != written_stacks_.end()) {
    out = found->second;
    return true;
  }
  frame_ids_.clear();
  const std::string frame_of = "frame of " + std::string(what);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    if (frame_ids_.size() == kMaxTextFrames) {
      return fail(std::string(what) + " of more than " + std::to_string(kMaxTextFrames) + " frames");
    }
    if (!bytes(frame_of, text.substr(begin, end - begin), decoded_)) {
      return false;
    }
    frame_ids_.push_back(builder_.frame(decoded_));
    begin = end + 1;
  }
  out = builder_.stack(frame_ids_);
  if (written_stack_bytes_ + text.size() > kWrittenStackBytes) {
    written_stacks_.clear();
    written_stack_bytes_ = 0;
  }
  written_stack_bytes_ += text.size();
  written_stacks_.emplace(text, out);
  return true;
}

// ---- records

bool TextReader::add_window(std::string_view rest) {
  if (has_window_) {
    return fail("window twice");
  }
  const std::string_view begin = next_word(rest);
  const std::string_view end = next_word(rest);
  if (begin.empty() || end.empty() || !next_word(rest).empty()) {
    return fail("expected 'window BEGIN END'");
  }
  Window& window = trace_.window;
  has_window_ = true;
  return time("window begin", begin, window.begin) && time("window end", end, window.end) &&
         in_order("window begin", window.begin, "window end", window.end);
}

bool TextReader::add_recording(std::string_view rest) {
  if (has_recording_) {
    return fail("recording twice");
  }
  has_recording_ = true;
  static constexpr std::array<Key, 6> kKeys{
      {{"target"}, {"start_time"}, {"kernel"}, {"offwait"}, {"cpus"}, {"sample_hz"}}};
  std::array<std::string_view, 6> values;
  if (!keys("recording", rest, kKeys, values)) {
    return false;
  }
  Recording& recording = trace_.recording;
  const std::array<std::string*, 4> texts{&recording.target, &recording.start_time, &recording.kernel,
                                          &recording.offwait};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!present(values[i])) {
      continue;
    }
    if (!bytes(kKeys[i].name, values[i], *texts[i], true)) {
      return false;
    }
  }
  if (present(values[4])) {
    std::uint64_t cpus = 0;
    if (!number("cpus", values[4], "a count", 1, UINT32_MAX, cpus)) {
      return false;
    }
    recording.cpus = static_cast<std::uint32_t>(cpus);
  }
  if (present(values[5])) {
    std::uint64_t hz = 0;
    if (!number("sample_hz", values[5], "a rate", 0, UINT32_MAX, hz)) {
      return false;
    }
    recording.sample_hz = static_cast<std::uint32_t>(hz);
  }
  return true;
}

bool TextReader::add_cpu(std::string_view rest) {
  if (has_cpu_) {
    return fail("cpu twice");
  }
  has_cpu_ = true;
  static constexpr std::array<Key, 2> kKeys{{{"busy", true}, {"idle", true}}};
  std::array<std::string_view, 2> values;
  return keys("cpu", rest, kKeys, values) && time("busy", values[0], trace_.recording.cpu_busy_ns) &&
         time("idle", values[1], trace_.recording.cpu_idle_ns);
}

bool TextReader::add_stacks(std::string_view rest) {
  if (has_stacks_) {
    return fail("stacks twice");
  }
  has_stacks_ = true;
  static constexpr std::array<Key, 4> kKeys{
      {{"walked", true}, {"recalled", true}, {"verified", true}, {"wrong", true}}};
  std::array<std::string_view, 4> values;
  if (!keys("stacks", rest, kKeys, values)) {
    return false;
  }
  StackReuse& reuse = trace_.recording.stack_reuse;
  const std::array<std::uint64_t*, 4> counts{&reuse.walked, &reuse.recalled, &reuse.verified, &reuse.wrong};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!number(kKeys[i].name, values[i], "a count", 0, UINT64_MAX, *counts[i])) {
      return false;
    }
  }
  return true;
}

bool TextReader::add_loss(std::string_view rest) {
  if (has_loss_) {
    return fail("loss twice");
  }
  has_loss_ = true;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      return fail("expected NAME=COUNT, found " + quoted(word));
    }
    if (!bytes("loss counter", word.substr(0, equals), decoded_)) {
      return false;
    }
    const auto [counter, added] = trace_.loss.try_emplace(decoded_, 0);
    if (!added) {
      return fail("loss counter " + quoted(decoded_) + " twice");
    }
    if (!number("loss counter " + quoted(decoded_), word.substr(equals + 1), "a count", 0, UINT64_MAX,
                counter->second)) {
      return false;
    }
  }
  return true;
}

bool TextReader::add_thread(std::string_view rest) {
  static constexpr std::array<Key, 8> kKeys{{{"tgid", true},
                                             {"comm", true},
                                             {"start", true},
                                             {"exit", true},
                                             {"seen"},
                                             {"outside"},
                                             {"parent"},
                                             {"ns_tid"}}};
  const std::string_view tid_text = next_word(rest);
  std::array<std::string_view, 8> values;
  Actor actor;
  std::uint64_t tgid = 0;
  if (!tid("thread", tid_text, actor.tid) || !keys("thread", rest, kKeys, values) ||
      !number("tgid", values[0], "a tgid", 0, std::numeric_limits<Tid>::max(), tgid) ||
      !bytes("comm", values[1], actor.name, true) || !time("start", values[2], actor.start) ||
      !time_or_never("exit", values[3], actor.exit) || !in_order("start", actor.start, "exit", actor.exit)) {
    return false;
  }
  actor.tgid = static_cast<Tid>(tgid);
  actor.seen = std::max(actor.start, trace_.window.begin);
  if (present(values[4]) && (!time_or_never("seen", values[4], actor.seen) ||
                             !in_order("start", actor.start, "seen", actor.seen))) {
    return false;
  }
  if (present(values[5])) {
    actor.kernel = values[5] == "kernel";
    actor.outside = actor.kernel || values[5] == "yes";
    if (!actor.outside && values[5] != "no") {
      return fail("outside " + quoted(values[5]) + ": expected yes, no or kernel");
    }
  }
  if (present(values[6])) {
    TidLine parent{line_, kNoTid};
    if (!tid("parent", values[6], parent.tid)) {
      return false;
    }
    if (parent.tid == actor.tid) {
      return fail("thread " + std::to_string(actor.tid) + " is its own parent");
    }
    pending_parents_.push_back({static_cast<ActorId>(trace_.actors.size()), parent});
  }
  if (present(values[7]) && !tid("ns_tid", values[7], actor.ns_tid)) {
    return false;
  }
  const Life life{actor.start, actor.exit, static_cast<ActorId>(trace_.actors.size())};
  if (const Life* other = builder_.lives_of(actor.tid).add(life)) {
    return fail("thread " + std::to_string(actor.tid) + " lives in " + span_text(life.start, life.exit) +
                ", but another thread line has it live in " + span_text(other->start, other->exit));
  }
  trace_.actors.push_back(std::move(actor));
  return true;
}

bool TextReader::declare(ActorKind kind, std::string_view name, ActorId& out) {
  const std::string kind_name(to_string(kind));
  if (!device("name of " + kind_name, kind, name, out)) {
    return false;
  }
  if (declared_.insert(out).second) {
    return true;
  }
  return fail(kind_name + (name.empty() ? "" : " " + quoted(name)) + " twice");
}

bool TextReader::add_named(ActorKind kind, std::string_view rest) {
  const std::string_view name = next_word(rest);
  ActorId actor = kNoActor;
  if (!next_word(rest).empty()) {
    return fail("expected '" + std::string(to_string(kind)) + " NAME' and nothing else");
  }
  return declare(kind, name, actor);
}

bool TextReader::add_timer(std::string_view rest) {
  ActorId actor = kNoActor;
  if (!next_word(rest).empty()) {
    return fail("expected 'timer' and nothing else");
  }
  return declare(ActorKind::timer, "", actor);
}

bool TextReader::add_disk(std::string_view rest) {
  static constexpr std::array<Key, 5> kKeys{
      {{"bytes_per_s"}, {"ios_per_s"}, {"capacity"}, {"on"}, {"measured"}}};
  const std::string_view name = next_word(rest);
  ActorId actor = kNoActor;
  if (!declare(ActorKind::disk, name, actor)) {
    return false;
  }
  std::array<std::string_view, 5> values;
  if (!keys("disk", rest, kKeys, values) ||
      (present(values[3]) && !disks_below(values[3], trace_.actors[actor].on))) {
    return false;
  }
  if (present(values[4]) && (values[2] != to_string(CapacitySource::measured) || !is_day(values[4]))) {
    return fail("measured " + quoted(values[4]) + ": expected a day like 2026-11-21, with capacity=measured");
  }
  const auto given = std::count_if(values.begin(), values.begin() + 3, present);
  if (given == 0) {
    return true;
  }
  if (given != 3) {
    return fail("expected all of bytes_per_s, ios_per_s and capacity, or none");
  }
  DiskCapacity capacity;
  capacity.disk = actor;
  if (!rate("bytes_per_s", values[0], capacity.bytes_per_s) ||
      !rate("ios_per_s", values[1], capacity.ios_per_s)) {
    return false;
  }
  for (const CapacitySource source :
       {CapacitySource::given, CapacitySource::measured, CapacitySource::assumed}) {
    if (values[2] == to_string(source)) {
      capacity.source = source;
      capacity.measured_on = std::string(present(values[4]) ? values[4] : std::string_view());
      trace_.capacities.push_back(capacity);
      return true;
    }
  }
  return fail("capacity " + quoted(values[2]) + ": expected given, measured or assumed");
}

bool TextReader::disks_below(std::string_view text, std::vector<std::string>& out) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    if (out.size() == kMaxTextDisksBelow) {
      return fail("on: more than " + std::to_string(kMaxTextDisksBelow) + " disks");
    }
    if (!bytes("on", text.substr(begin, end - begin), decoded_)) {
      return false;
    }
    out.push_back(decoded_);
    begin = end + 1;
  }
  return true;
}

bool TextReader::add_wait(std::string_view rest) {
  static constexpr std::array<Key, 12> kKeys{{{"block", true},
                                              {"wake", true},
                                              {"run", true},
                                              {"waker", true},
                                              {"class", true},
                                              {"stack"},
                                              {"waker_stack"},
                                              {"in_flight"},
                                              {"futex"},
                                              {"peer"},
                                              {"any"},
                                              {"holder"}}};
  const std::string_view tid_text = next_word(rest);
  std::array<std::string_view, 12> values;
  PendingWait pending{trace_.waits.size(), {}, kNoTid, kNoTid, kNoTid};
  Wait wait;
  Waker woken_by;
  if (!tid("wait", tid_text, pending.tid) || !keys("wait", rest, kKeys, values) ||
      !time("block", values[0], wait.block) || !time_or_never("wake", values[1], wait.wake) ||
      !time_or_never("run", values[2], wait.run) || !in_order("block", wait.block, "wake", wait.wake)) {
    return false;
  }
  if (wait.wake == kNever && wait.run != kNever) {
    return fail("run " + quoted(values[2]) + " of a wait that has not ended (expected '-')");
  }
  if (!in_order("wake", wait.wake, "run", wait.run) || !waker(values[3], wait.wake, woken_by) ||
      !wait_class(values[4], pending.site.wait_class) ||
      !stack("stack", values[5], pending.site.wait_stack) ||
      !stack("waker_stack", values[6], pending.site.waker_stack) ||
      !yes_or_no("in_flight", values[7], pending.site.in_flight) || !futex(values[8], wait.futex) ||
      !peer(values[9], pending.site.peer) || !yes_or_no("any", values[10], pending.site.any_request) ||
      (present(values[11]) && !tid("holder", values[11], pending.holder_tid))) {
    return false;
  }
  if (pending.site.any_request && pending.site.wait_class != WaitClass::disk) {
    return fail("any of a wait of class " + quoted(values[4]) + ": expected class=disk");
  }
  if (pending.site.in_flight &&
      (woken_by.actor == kNoActor || trace_.actors[woken_by.actor].kind != ActorKind::nic)) {
    return fail("waker " + quoted(values[3]) + " of a packet in flight: expected nic:NAME");
  }
  if (const Life* life = life_at(pending.tid, wait.block)) {
    if (life->covers_to(wait.run)) {
      pending.site.thread = life->actor;
      pending.tid = kNoTid;
    }
  }
  pending.site.waker = woken_by.actor;
  pending.waker_tid = woken_by.tid;
  if (pending.tid == kNoTid && pending.waker_tid == kNoTid && pending.holder_tid == kNoTid) {
    wait.site = builder_.site(pending.site);
  } else {
    pending_waits_.push_back(pending);
  }
  trace_.waits.push_back(wait);
  wait_lines_.push_back(line_);
  return true;
}

bool TextReader::add_preempt(std::string_view rest) {
  static constexpr std::array<Key, 2> kKeys{{{"out", true}, {"run", true}}};
  const std::string_view tid_text = next_word(rest);
  std::array<std::string_view, 2> values;
  TidLine from{line_, kNoTid};
  Preemption preemption;
  if (!tid("preempt", tid_text, from.tid) || !keys("preempt", rest, kKeys, values) ||
      !time("out", values[0], preemption.out) || !time_or_never("run", values[1], preemption.run) ||
      !in_order("out", preemption.out, "run", preemption.run)) {
    return false;
  }
  trace_.preemptions.push_back(preemption);
  preempt_lines_.push_back(from);
  return true;
}

bool TextReader::add_unknown(std::string_view rest) {
  static constexpr std::array<Key, 2> kKeys{{{"from", true}, {"to", true}}};
  const std::string_view tid_text = next_word(rest);
  std::array<std::string_view, 2> values;
  TidLine from{line_, kNoTid};
  Gap gap;
  if (!tid("unknown", tid_text, from.tid) || !keys("unknown", rest, kKeys, values) ||
      !time("from", values[0], gap.from) || !time_or_never("to", values[1], gap.to) ||
      !in_order("from", gap.from, "to", gap.to)) {
    return false;
  }
  trace_.gaps.push_back(gap);
  unknown_lines_.push_back(from);
  return true;
}

bool TextReader::add_false(std::string_view rest) {
  static constexpr std::array<Key, 1> kKeys{{{"at", true}}};
  const std::string_view tid_text = next_word(rest);
  std::array<std::string_view, 1> values;
  TidLine from{line_, kNoTid};
  FalseMark mark;
  if (!tid("false", tid_text, from.tid) || !keys("false", rest, kKeys, values) ||
      !time("at", values[0], mark.at)) {
    return false;
  }
  trace_.false_marks.push_back(mark);
  false_lines_.push_back(from);
  return true;
}

bool TextReader::add_on_cpu(std::string_view rest) {
  static constexpr std::array<Key, 2> kKeys{{{"at", true}, {"stack"}}};
  const std::string_view tid_text = next_word(rest);
  std::array<std::string_view, 2> values;
  TidLine from{line_, kNoTid};
  CpuSample sample;
  if (!tid("on_cpu", tid_text, from.tid) || !keys("on_cpu", rest, kKeys, values) ||
      !time("at", values[0], sample.at) || !stack("stack", values[1], sample.stack)) {
    return false;
  }
  trace_.cpu_samples.push_back(sample);
  on_cpu_lines_.push_back(from);
  return true;
}

bool TextReader::add_sample(std::string_view rest) {
  static constexpr std::array<Key, 4> kKeys{{{"at", true}, {"bytes", true}, {"ios", true}, {"in_flight"}}};
  const std::string_view name = next_word(rest);
  std::array<std::string_view, 4> values;
  DiskSample sample;
  if (!keys("sample", rest, kKeys, values) || !device("name of disk", ActorKind::disk, name, sample.disk) ||
      !time("at", values[0], sample.at) ||
      !number("bytes", values[1], "a count", 0, UINT64_MAX, sample.bytes) ||
      !number("ios", values[2], "a count", 0, UINT64_MAX, sample.ios) ||
      (present(values[3]) && !number("in_flight", values[3], "a count", 0, UINT64_MAX, sample.in_flight))) {
    return false;
  }
  trace_.disk_samples.push_back(sample);
  return true;
}

bool TextReader::add_nic(std::string_view rest) {
  static constexpr std::array<Key, 3> kKeys{{{"received_per_s"}, {"sent_per_s"}, {"capacity"}}};
  const std::string_view name = next_word(rest);
  std::array<std::string_view, 3> values;
  NicCapacity capacity;
  if (!declare(ActorKind::nic, name, capacity.nic) || !keys("nic", rest, kKeys, values)) {
    return false;
  }
  const auto given = std::count_if(values.begin(), values.end(), present);
  if (given == 0) {
    return true;
  }
  if (given != 3) {
    return fail("received_per_s, sent_per_s and capacity stand together");
  }
  for (const CapacitySource source :
       {CapacitySource::given, CapacitySource::assumed, CapacitySource::reported}) {
    if (values[2] == to_string(source)) {
      capacity.source = source;
      if (!rate("received_per_s", values[0], capacity.received_per_s) ||
          !rate("sent_per_s", values[1], capacity.sent_per_s)) {
        return false;
      }
      trace_.nic_capacities.push_back(capacity);
      return true;
    }
  }
  return fail("capacity " + quoted(values[2]) + ": expected given, assumed or reported");
}

bool TextReader::add_traffic(std::string_view rest) {
  static constexpr std::array<Key, 3> kKeys{{{"at", true}, {"received", true}, {"sent", true}}};
  const std::string_view name = next_word(rest);
  std::array<std::string_view, 3> values;
  NicSample sample;
  if (!keys("traffic", rest, kKeys, values) || !device("name of nic", ActorKind::nic, name, sample.nic) ||
      !time("at", values[0], sample.at) ||
      !number("received", values[1], "a count", 0, UINT64_MAX, sample.received) ||
      !number("sent", values[2], "a count", 0, UINT64_MAX, sample.sent)) {
    return false;
  }
  trace_.nic_samples.push_back(sample);
  return true;
}

bool TextReader::add_io(std::string_view rest) {
  static constexpr std::array<Key, 4> kKeys{
      {{"disk", true}, {"bytes", true}, {"issue", true}, {"complete", true}}};
  const std::string_view tid_text = next_word(rest);
  std::array<std::string_view, 4> values;
  DiskIo io;
  if (!keys("io", rest, kKeys, values) || !device("name of disk", ActorKind::disk, values[0], io.disk) ||
      !number("bytes", values[1], "a count", 0, UINT64_MAX, io.bytes) ||
      !time("issue", values[2], io.issue) || !time_or_never("complete", values[3], io.complete) ||
      !in_order("issue", io.issue, "complete", io.complete)) {
    return false;
  }
  if (tid_text != "-") {
    TidLine from{line_, kNoTid};
    if (!tid("io", tid_text, from.tid)) {
      return false;
    }
    if (const Life* life = life_at(from.tid, io.issue)) {
      io.thread = life->actor;
    } else {
      pending_ios_.push_back({trace_.disk_ios.size(), from});
    }
  }
  trace_.disk_ios.push_back(io);
  return true;
}

// ---- when all lines are known

bool TextReader::finish() {
  if (line_ == 0 || (line_ == 1 && !unfinished_line_.empty() && unfinished_line_ != kHeader)) {
    return fail_at(1, kNotText);
  }
  if (!unfinished_line_.empty()) {
    return fail("the file is cut off inside this line (it has no newline at its end)");
  }
  if (!has_window_) {
    return fail("expected 'window BEGIN END', found the end of the file");
  }
  return resolve_waits() && resolve_preempts() && resolve_unknowns() && resolve_false() &&
         resolve_cpu_samples() && resolve_ios() && resolve_parents() && check_order();
}

ActorId TextReader::implicit_thread(Tid tid, Nanos at) {
  const auto [known, added] = implicit_threads_.try_emplace(tid, kNoActor);
  if (added) {
    Actor actor;
    actor.tid = tid;
    actor.start = trace_.window.begin;
    actor.seen = trace_.window.end;
    known->second = builder_.add_actor(std::move(actor));
  }
  const ActorId id = known->second;
  Actor& actor = trace_.actors[id];
  actor.start = std::min(actor.start, at);
  return id;
}

bool TextReader::thread_during(std::string_view record, TidLine from, Nanos begin, Nanos end, ActorId& out) {
  const TidLives& lives = builder_.lives_of(from.tid);
  const std::string thread = "thread " + std::to_string(from.tid);
  if (lives.empty()) {
    return fail_at(from.line, std::string(record) + " of tid " + std::to_string(from.tid) +
                                  ", which has no thread line");
  }
  const Life* life = lives.born_by(begin);
  if (life == nullptr) {
    return fail_at(from.line, std::string(record) + " " + span_text(begin, end) + " of " + thread +
                                  ", which was not born yet");
  }
  if (begin > life->exit || !life->covers_to(end)) {
    return fail_at(from.line, std::string(record) + " " + span_text(begin, end) + " of " + thread +
                                  " does not lie inside its lifetime " + span_text(life->start, life->exit));
  }
  out = life->actor;
  return true;
}

bool TextReader::thread_born_by(std::string_view record, TidLine from, Nanos at, ActorId& out) {
  const TidLives& lives = builder_.lives_of(from.tid);
  if (lives.empty()) {
    out = implicit_thread(from.tid, at);
    return true;
  }
  const Life* life = lives.born_by(at);
  if (life == nullptr) {
    return fail_at(from.line, std::string(record) + " thread " + std::to_string(from.tid) +
                                  " was not born yet at " + std::to_string(at));
  }
  out = life->actor;
  return true;
}

bool TextReader::resolve_waits() {
  for (PendingWait& pending : pending_waits_) {
    Wait& wait = trace_.waits[pending.wait];
    const std::uint32_t line = wait_lines_[pending.wait];
    if (pending.tid != kNoTid &&
        !thread_during("wait", {line, pending.tid}, wait.block, wait.run, pending.site.thread)) {
      return false;
    }
    if (pending.waker_tid != kNoTid &&
        !thread_born_by("waker", {line, pending.waker_tid}, wait.wake, pending.site.waker)) {
      return false;
    }
    if (pending.holder_tid != kNoTid &&
        !thread_born_by("holder", {line, pending.holder_tid}, std::max(wait.block, trace_.window.begin),
                        pending.site.holder)) {
      return false;
    }
    wait.site = builder_.site(pending.site);
  }
  return true;
}

bool TextReader::resolve_preempts() {
  for (std::size_t i = 0; i < preempt_lines_.size(); ++i) {
    const TidLine from = preempt_lines_[i];
    Preemption& preemption = trace_.preemptions[i];
    if (!builder_.lives_of(from.tid).empty()) {
      if (!thread_during("preempt", from, preemption.out, preemption.run, preemption.thread)) {
        return false;
      }
      continue;
    }
    preemption.thread = implicit_thread(from.tid, preemption.out);
    Actor& actor = trace_.actors[preemption.thread];
    actor.seen = std::max(std::min(actor.seen, preemption.out), trace_.window.begin);
  }
  return true;
}

bool TextReader::resolve_unknowns() {
  for (std::size_t i = 0; i < unknown_lines_.size(); ++i) {
    Gap& gap = trace_.gaps[i];
    if (!thread_during("unknown", unknown_lines_[i], gap.from, gap.to, gap.thread)) {
      return false;
    }
  }
  return true;
}

bool TextReader::resolve_false() {
  std::vector<Nanos> last(trace_.actors.size(), 0);
  for (std::size_t i = 0; i < false_lines_.size(); ++i) {
    FalseMark& mark = trace_.false_marks[i];
    if (!thread_during("false", false_lines_[i], mark.at, mark.at, mark.thread)) {
      return false;
    }
    if (mark.at < last[mark.thread]) {
      return fail_at(false_lines_[i].line, "false lines of thread " + std::to_string(false_lines_[i].tid) +
                                               " must be in order of time");
    }
    last[mark.thread] = mark.at;
  }
  return true;
}

bool TextReader::resolve_cpu_samples() {
  for (std::size_t i = 0; i < on_cpu_lines_.size(); ++i) {
    CpuSample& sample = trace_.cpu_samples[i];
    if (!thread_born_by("on_cpu", on_cpu_lines_[i], sample.at, sample.thread)) {
      return false;
    }
  }
  return true;
}

bool TextReader::resolve_ios() {
  return std::all_of(pending_ios_.begin(), pending_ios_.end(), [&](const PendingIo& pending) {
    DiskIo& io = trace_.disk_ios[pending.io];
    return thread_born_by("io", pending.from, io.issue, io.thread);
  });
}

bool TextReader::resolve_parents() {
  for (const PendingParent& pending : pending_parents_) {
    Actor& child = trace_.actors[pending.child];
    if (!thread_during("child", pending.parent, child.start, child.start, child.parent)) {
      return false;
    }
  }
  return true;
}

std::uint32_t TextReader::line_of(const Interval& interval) const {
  switch (interval.kind) {
    case Interval::Kind::wait:
      return wait_lines_[interval.index];
    case Interval::Kind::preemption:
      return preempt_lines_[interval.index].line;
    case Interval::Kind::gap:
      break;
  }
  return unknown_lines_[interval.index].line;
}

/// Lifetimes hold by now: resolving the threads has checked them.
bool TextReader::check_order() {
  const std::optional<OrderFault> fault = find_order_fault(trace_);
  if (!fault) {
    return true;
  }
  const auto text = [](const Interval& interval) {
    static constexpr std::array<std::string_view, 3> kRecords{"wait", "preempt", "unknown"};
    return std::string(kRecords[static_cast<std::size_t>(interval.kind)]) + " " +
           span_text(interval.from, interval.to);
  };
  return fail_at(line_of(fault->interval), text(fault->interval) + " of thread " +
                                               std::to_string(trace_.actors[fault->thread].tid) +
                                               " begins before its " + text(fault->previous) + " of line " +
                                               std::to_string(line_of(fault->previous)) +
                                               " ends (they must be in order of time and must not overlap)");
}

}  // namespace

bool looks_like_text(std::string_view head) { return head.substr(0, kMagic.size()) == kMagic; }

Result<Trace> parse_text(std::string_view text, const std::string& name) {
  TextReader reader(name);
  if (!reader.feed(text) || !reader.finish()) {
    return reader.take_error();
  }
  return reader.take_trace();
}

Result<Trace> read_text(int fd, const std::string& name) {
  TextReader reader(name);
  std::vector<char> chunk(kReadBytes);
  for (;;) {
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      return Error{name + ": cannot read: " + std::generic_category().message(errno)};
    }
    if (got == 0) {
      break;
    }
    if (!reader.feed({chunk.data(), static_cast<std::size_t>(got)})) {
      return reader.take_error();
    }
  }
  if (!reader.finish()) {
    return reader.take_error();
  }
  return reader.take_trace();
}

}  // namespace offwait
