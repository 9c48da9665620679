// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/read_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "model/backtrace.h"
#include "model/stack_cut.h"
#include "trace/frame_text.h"
#include "trace/text.h"

namespace offwait {

namespace {

constexpr Nanos kMaxTime = kNever - 1;
constexpr NumberForm kTime{"ns", 0, kMaxTime};
/// The most bytes of the texts of stacks that are kept.
constexpr std::size_t kWrittenStackBytes = std::size_t{64} << 20;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

std::string_view to_string(Outside outside) {
  switch (outside) {
    case Outside::no:
      return "no";
    case Outside::yes:
      return "yes";
    case Outside::kernel:
      return "kernel";
    case Outside::recorder:
      return "recorder";
  }
  return "?";
}

bool ReadPosition::fail_at(std::uint32_t at, std::string_view message) {
  error.message = fmt::format("{}:{}: {}", name, at, message);
  return false;
}

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

std::string time_text(Nanos at) { return at == kNever ? "-" : std::to_string(at); }
std::string span_text(Nanos begin, Nanos end) { return fmt::format("[{}, {})", begin, time_text(end)); }

// ---- lines

bool FieldReader::read(std::string_view rest, Window& window) {
  const std::string_view begin = next_word(rest);
  const std::string_view end = next_word(rest);
  if (begin.empty() || end.empty() || !next_word(rest).empty()) {
    return position_.fail("expected 'window BEGIN END'");
  }
  return value(TimeForm{}, "window begin", begin, window.begin) &&
         value(TimeForm{}, "window end", end, window.end) &&
         in_order("window", "window begin", window.begin, "window end", window.end);
}

bool FieldReader::read(std::string_view rest, LossCounts& loss) {
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      return position_.fail("expected NAME=COUNT, found {}", quoted(word));
    }
    if (!value(TextForm{}, "loss counter", word.substr(0, equals), decoded_)) {
      return false;
    }
    const auto [counter, added] = loss.try_emplace(decoded_, 0);
    const std::string what = "loss counter " + quoted(decoded_);
    if (!added) {
      return position_.fail("{} twice", what);
    }
    if (!value(kCount, what, word.substr(equals + 1), counter->second)) {
      return false;
    }
  }
  return true;
}

bool FieldReader::keys(std::string_view record, std::string_view rest, std::span<const Key> known,
                       std::span<std::string_view> values) {
  // Keys mostly come in the table's order, so the search begins behind the last one found.
  std::size_t next = 0;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      return position_.fail("expected KEY=VALUE, found {}", quoted(word));
    }
    const std::string_view name = word.substr(0, equals);
    std::size_t tried = 0;
    while (tried < known.size() && known[next].name != name) {
      next = next + 1 == known.size() ? 0 : next + 1;
      ++tried;
    }
    if (tried == known.size()) {
      std::vector<std::string_view> names;
      for (const Key& key : known) names.push_back(key.name);
      return position_.fail("unknown key {} ({} has {})", quoted(name), record, fmt::join(names, ", "));
    }
    if (values[next].data() != nullptr) {
      return position_.fail("key {} twice", quoted(name));
    }
    values[next] = word.substr(equals + 1);
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].required && values[i].data() == nullptr) {
      return position_.fail("{} without {}=", record, known[i].name);
    }
  }
  return true;
}

bool FieldReader::in_order(std::string_view record, std::string_view first, Nanos a, std::string_view second,
                           Nanos b) {
  if (a <= b) {
    return true;
  }
  if (a == kNever) {
    return position_.fail("{} '{}' of a {} that has not ended (expected '-')", second, b, record);
  }
  return position_.fail("{} {} is before {} {}", second, time_text(b), first, time_text(a));
}

// ---- values

bool FieldReader::number_between(const NumberForm& form, std::string_view what, std::string_view text,
                                 bool or_dash, std::uint64_t& out) {
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, out);
  if (error == std::errc() && parsed == end && out >= form.min && out <= form.max) {
    return true;
  }
  return position_.fail("{} {}: expected {}, {} to {}{}", what, quoted(text), form.expected, form.min,
                        form.max, or_dash ? ", or '-'" : "");
}

bool FieldReader::not_one_of(std::string_view what, std::string_view text,
                             std::span<const std::string_view> names) {
  return position_.fail("{} {}: expected {} or {}", what, quoted(text),
                        fmt::join(names.first(names.size() - 1), ", "), names.back());
}

bool FieldReader::value(const TimeForm&, std::string_view what, std::string_view text, Nanos& out) {
  return value(kTime, what, text, out);
}

bool FieldReader::value(const TimeOrNeverForm&, std::string_view what, std::string_view text, Nanos& out) {
  out = kNever;
  if (text == "-") {
    return true;
  }
  std::uint64_t number = 0;
  if (!number_between(kTime, what, text, true, number)) {
    return false;
  }
  out = static_cast<Nanos>(number);
  return true;
}

bool FieldReader::value(const TextForm& form, std::string_view what, std::string_view text,
                        std::string& out) {
  if (const auto problem = percent_decode(text, out)) {
    return position_.fail("{}: {}", what, *problem);
  }
  if (out.empty() && !form.may_be_empty) {
    return position_.fail("empty {}", what);
  }
  if (out.size() > kMaxTextValue) {
    return position_.fail("{} longer than {} bytes", what, kMaxTextValue);
  }
  return true;
}

bool FieldReader::value(const TextsForm&, std::string_view what, std::string_view text,
                        std::vector<std::string>& out) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    if (out.size() == kMaxTextDisksBelow) {
      return position_.fail("{}: more than {} disks", what, kMaxTextDisksBelow);
    }
    if (!value(TextForm{}, what, text.substr(begin, end - begin), decoded_)) {
      return false;
    }
    out.push_back(decoded_);
    begin = end + 1;
  }
  return true;
}

bool FieldReader::value(const YesNoForm&, std::string_view what, std::string_view text, bool& out) {
  out = text == "yes";
  return out || text == "no" || position_.fail("{} {}: expected yes or no", what, quoted(text));
}

bool FieldReader::hex_number(const HexForm& form, std::string_view what, std::string_view text,
                             std::uint64_t& out) {
  const bool lower_case = std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'F'; });
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  if (!lower_case || text.size() > form.digits || error != std::errc{} || end != text.data() + text.size() ||
      out == 0) {
    return position_.fail("{} {}: expected 1 to {} lower-case hexadecimal digits, not zero", what,
                          quoted(text), form.digits);
  }
  return true;
}

bool FieldReader::value(const DeviceForm&, std::string_view what, std::string_view text, DeviceNumber& out) {
  const char* const end = text.data() + text.size();
  const auto [colon, bad_major] = std::from_chars(text.data(), end, out.major);
  if (bad_major == std::errc{} && colon != end && *colon == ':') {
    const auto [parsed, bad_minor] = std::from_chars(colon + 1, end, out.minor);
    if (bad_minor == std::errc{} && parsed == end) return true;
  }
  return position_.fail("{} {}: expected MAJOR:MINOR", what, quoted(text));
}

bool FieldReader::value(const DayForm&, std::string_view what, std::string_view text, std::string& out) {
  if (!is_day(text)) {
    return not_measured(what, text);
  }
  out = text;
  return true;
}

bool FieldReader::value(const CpuListForm&, std::string_view what, std::string_view text, CpuList& out) {
  std::optional<CpuList> cpus = parse_cpu_list(text);
  if (!cpus) {
    return position_.fail("{} {}: expected a list of CPUs like 0-3,7", what, quoted(text));
  }
  out = *std::move(cpus);
  return true;
}

bool FieldReader::not_measured(std::string_view what, std::string_view text) {
  return position_.fail("{} {}: expected a day like 2026-11-21, with capacity=measured", what, quoted(text));
}

bool FieldReader::value(const PeerForm&, std::string_view what, std::string_view text, PeerId& out) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  for (const Peer::Role role : {Peer::Role::client, Peer::Role::service}) {
    if (colon < text.size() && text.substr(0, colon) == to_string(role)) {
      if (!value(TextForm{}, what, text.substr(colon + 1), decoded_)) {
        return false;
      }
      out = builder_.peer(peer_of_text(role, decoded_));
      return true;
    }
  }
  return position_.fail("{} {}: expected client:NAME or service:NAME", what, quoted(text));
}

bool FieldReader::value(const WakerForm&, std::string_view what, std::string_view text, NamedWaker& out) {
  if (text == "-") {
    return true;
  }
  if (text == to_string(ActorKind::timer)) {
    return named_actor(what, ActorKind::timer, "", out.device);
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (colon < text.size()) {
    const std::string_view kind = text.substr(0, colon);
    const std::string_view name = text.substr(colon + 1);
    if (kind == to_string(ActorKind::thread)) {
      return value(kTid, "waker thread", name, out.tid);
    }
    for (const ActorKind known : {ActorKind::disk, ActorKind::nic, ActorKind::irq, ActorKind::softirq}) {
      if (kind == to_string(known)) {
        return named_actor(what, known, name, out.device);
      }
    }
  }
  return position_.fail(
      "{} {}: expected thread:TID, disk:NAME, nic:NAME, timer, irq:NAME, softirq:NAME or '-'", what,
      quoted(text));
}

bool FieldReader::value(const ActorForm& form, std::string_view, std::string_view text, ActorId& out) {
  return actor(form.kind, text, out);
}

FrameId FieldReader::frame(const std::string& text, Frame::Kind kind) {
  const auto [at, added] = frames_.at(static_cast<std::size_t>(kind)).try_emplace(text, 0);
  if (added) {
    Frame frame = frame_of_text(text);
    frame.kind = kind;
    at->second = builder_.frame(frame);
  }
  return at->second;
}

/// Makes a stack of its texts. A boundary between frames and a cut at the end are no frames. In other places
/// they are frames like any other, so that every list is written as it was read.
Stack FieldReader::stack_of(std::span<const std::string> texts) {
  Stack stack;
  stack.cut = cut_of(texts.back());
  const auto boundary = std::find(texts.begin(), texts.end(), kKernelUserBoundary);
  const auto kernel = static_cast<std::size_t>(boundary - texts.begin());
  const bool in_two = kernel + 1 < texts.size();
  for (const std::string& text : texts.first(in_two ? kernel : 0)) {
    stack.frames.push_back(frame(text, Frame::Kind::kernel));
  }
  if (in_two && kernel == 0) {
    stack.frames.push_back(frame(texts[0], Frame::Kind::boundary));
  }
  auto frames = in_two ? texts.subspan(kernel + 1) : texts;
  frames = frames.first(frames.size() - (stack.cut ? 1 : 0));
  // Without a boundary all frames get the same kind; otherwise the writer would put a boundary between them.
  const bool all_kernel = !in_two && !stack.cut && frame_of_text(frames.back()).kind == Frame::Kind::kernel;
  for (const std::string& text : frames) {
    stack.frames.push_back(frame(text, all_kernel ? Frame::Kind::kernel : Frame::Kind::user));
  }
  return stack;
}

bool FieldReader::value(const StackForm&, std::string_view what, std::string_view text, StackId& out) {
  if (const auto found = written_stacks_.find(text); found != written_stacks_.end()) {
    out = found->second;
    return true;
  }
  std::size_t frames = 0;
  const std::string frame_of = fmt::format("frame of {}", what);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    if (frames == kMaxTextFrames) {
      return position_.fail("{} of more than {} frames", what, kMaxTextFrames);
    }
    if (frames == frame_texts_.size()) {
      frame_texts_.emplace_back();
    }
    if (!value(TextForm{}, frame_of, text.substr(begin, end - begin), frame_texts_[frames])) {
      return false;
    }
    ++frames;
    begin = end + 1;
  }
  out = builder_.stack(stack_of({frame_texts_.data(), frames}));
  if (written_stack_bytes_ + text.size() > kWrittenStackBytes) {
    written_stacks_.clear();
    written_stack_bytes_ = 0;
  }
  written_stack_bytes_ += text.size();
  written_stacks_.emplace(text, out);
  return true;
}

// ---- actors other than threads

bool FieldReader::named_actor(std::string_view what, ActorKind kind, std::string_view text, ActorId& out) {
  ByName<ActorId>& known = actors_.at(static_cast<std::size_t>(kind));
  // A text without `%` is the name itself.
  if (const auto found = known.find(text); found != known.end() && text.find('%') == std::string_view::npos) {
    out = found->second;
    return true;
  }
  if (!value(TextForm{kind == ActorKind::timer}, what, text, decoded_)) {
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

bool FieldReader::declare(ActorKind kind, std::string_view text, ActorId& out) {
  if (!actor(kind, text, out)) {
    return false;
  }
  if (declared_.insert(out).second) {
    return true;
  }
  return position_.fail("{}{}{} twice", to_string(kind), text.empty() ? "" : " ",
                        text.empty() ? std::string() : quoted(text));
}

// ---- what the values of one line must satisfy together

bool FieldReader::consistent(const ThreadLine& line, Texts) {
  return line.parent != line.tid || position_.fail("thread {} is its own parent", line.tid);
}

bool FieldReader::consistent(const DiskLine& line, Texts texts) {
  if (!line.measured_on.empty() && line.capacity != CapacitySource::measured) {
    return not_measured("measured", texts[index_of<DiskLine>("measured")]);
  }
  const int given = (line.bytes_per_s > 0 ? 1 : 0) + (line.ios_per_s > 0 ? 1 : 0) + (line.capacity ? 1 : 0);
  return given == 0 || given == 3 ||
         position_.fail("expected all of bytes_per_s, ios_per_s and capacity, or none");
}

bool FieldReader::consistent(const NicLine& line, Texts) {
  const int given =
      (line.received_per_s > 0 ? 1 : 0) + (line.sent_per_s > 0 ? 1 : 0) + (line.capacity ? 1 : 0);
  return given == 0 || given == 3 || position_.fail("received_per_s, sent_per_s and capacity stand together");
}

bool FieldReader::consistent(const ObjectLine& line, Texts) {
  const std::optional<std::string_view> fault = fault_of(line);
  return !fault || position_.fail("an object {}", *fault);
}

bool FieldReader::consistent(const WaitLine& line, Texts texts) {
  if (line.object != kNoObject && line.futex_hash != 0) {
    return position_.fail("both object and futex (expected one of them)");
  }
  const ActorId device = line.woken_by.device;
  if (line.wake == kNever && (device != kNoActor || line.woken_by.tid != kNoTid)) {
    return position_.fail("waker {} of a wait that has not ended (expected '-')",
                          quoted(texts[index_of<WaitLine>("waker")]));
  }
  if (line.any_request && line.wait_class != WaitClass::disk) {
    return position_.fail("any of a wait of class '{}': expected class=disk", to_string(line.wait_class));
  }
  if (line.in_flight && (device == kNoActor || builder_.trace().actors[device].kind != ActorKind::nic)) {
    return position_.fail("waker {} of a packet in flight: expected nic:NAME",
                          quoted(texts[index_of<WaitLine>("waker")]));
  }
  return true;
}

bool FieldReader::consistent(const ResponsesLine& line, Texts) {
  if ((line.port == 0) == line.path.empty()) {
    return position_.fail("responses with {} (expected one of port and path)",
                          line.port == 0 ? "neither port nor path" : "both port and path");
  }
  const Window& window = builder_.trace().window;
  if (line.first < window.begin || line.last > window.end) {
    return position_.fail("responses from {} to {} outside the window {}", line.first, line.last,
                          span_text(window.begin, window.end));
  }
  return line.connections <= line.count ||
         position_.fail("{} responses to {} connections (expected no more connections than responses)",
                        line.count, line.connections);
}

bool FieldReader::consistent(const CallsLine& line, Texts) {
  const Window& window = builder_.trace().window;
  return (line.first >= window.begin && line.last <= window.end) ||
         position_.fail("calls from {} to {} outside the window {}", line.first, line.last,
                        span_text(window.begin, window.end));
}

}  // namespace offwait
