// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_values.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "cli/duration.h"

namespace offwait::cli {
namespace {

/// A whole number that is all of the text.
template <class T>
std::optional<T> whole_number(std::string_view text) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// A word that a shell takes as it stands, and that begins like the name of a program.
bool is_plain_name(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view kMore = "0123456789.-+";
  if (text.empty() || kLetters.find(text.front()) == std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return kLetters.find(c) != std::string_view::npos || kMore.find(c) != std::string_view::npos;
  });
}

std::optional<WaitClass> wait_class(std::string_view name) {
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    if (to_string(static_cast<WaitClass>(i)) == name) return static_cast<WaitClass>(i);
  }
  return std::nullopt;
}

/// The kernel keeps this many characters of a name, and pgrep compares with those.
constexpr std::size_t kCommLength = 15;

}  // namespace

Result<std::int32_t> parse_id(std::string_view text) {
  const std::optional<std::int32_t> id = whole_number<std::int32_t>(text);
  if (id && *id > 0) return *id;
  return Error{fmt::format(
      "bad number of a process or thread '{}': expected a whole number from 1 to 2147483647", text)};
}

Result<std::vector<std::int32_t>> parse_pids(const std::vector<std::string>& texts) {
  constexpr std::size_t kMost = 1024;
  std::vector<std::int32_t> pids;
  for (const std::string_view text : texts) {
    if (text.empty()) return Error{"-p has an empty list of processes: is the program running?"};
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::string_view word = text.substr(begin, end - begin);
      if (is_plain_name(word)) {
        return Error{
            fmt::format("-p takes numbers of processes, and '{}' is a name: 'pgrep -d, -x {}' prints the "
                        "numbers that belong to it",
                        word, word.substr(0, kCommLength))};
      }
      OFFWAIT_TRY(const std::int32_t pid, parse_id(word));
      if (std::find(pids.begin(), pids.end(), pid) != pids.end())
        return Error{fmt::format("process {} is given twice", pid)};
      pids.push_back(pid);
      begin = end + 1;
    }
  }
  if (pids.size() > kMost) return Error{"-p takes 1024 processes at most"};
  return pids;
}

Result<std::int32_t> parse_tid(std::string_view text) {
  if (is_plain_name(text)) {
    return Error{
        fmt::format("-t takes the number of a thread, and '{}' is a name: 'ps -L -p PID -o lwp,comm' lists "
                    "the threads of "
                    "a process, and -p PID --threads {} records it and reports on those of this name",
                    text, text)};
  }
  return parse_id(text);
}

Result<std::uint32_t> parse_sample_hz(std::string_view text) {
  constexpr std::uint32_t kMost = 9999;
  const std::optional<std::uint32_t> hz = whole_number<std::uint32_t>(text);
  if (hz && *hz <= kMost) return *hz;
  return Error{fmt::format("bad rate '{}': expected samples a second from 1 to 9999, or 0 for none", text)};
}

Result<double> parse_overhead(std::string_view text) {
  constexpr double kLeast = 0.001;
  constexpr double kMost = 100;
  if (text == "off") return 0.0;
  const std::string_view digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  double percent = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, percent, std::chars_format::fixed);
  if (error == std::errc() && rest == end && percent >= kLeast && percent <= kMost) return percent / kMost;
  return Error{fmt::format(
      "bad overhead '{}': expected a percentage from 0.001% to 100%, as 3%, or off to take all stacks",
      text)};
}

Result<Nanos> parse_start_at(std::string_view text) {
  if (text.starts_with('/')) {
    const Result<Nanos> interval = parse_duration(text.substr(1));
    if (interval && *interval % kSecond == 0) return *interval;
  }
  return Error{
      fmt::format("bad time '{}': expected a slash and whole seconds, minutes or hours, as /10s", text)};
}

Result<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::uint64_t kSmallest = 8'000'000;
  constexpr std::uint64_t kLargest = 1'000'000'000'000;
  const Error bad{fmt::format("bad size '{}': expected something like 256M or 1G, from 8M to 1000G", text)};
  std::uint64_t scale = 0;
  if (text.ends_with('M')) scale = 1'000'000;
  if (text.ends_with('G')) scale = 1'000'000'000;
  if (scale == 0) return bad;
  text.remove_suffix(1);
  const std::optional<std::uint64_t> number = whole_number<std::uint64_t>(text);
  if (!number || *number > kLargest / scale || *number * scale < kSmallest) return bad;
  return *number * scale;
}

Result<StackKind> parse_folded_kind(std::string_view text) {
  if (text == "off-cpu") return StackKind::off_cpu;
  if (text == "off-wake") return StackKind::off_wake;
  if (text == "on-cpu") return StackKind::on_cpu;
  return Error{fmt::format("bad kind '{}': expected off-cpu, off-wake or on-cpu", text)};
}

Result<StackMeasure> parse_folded_weight(std::string_view text) {
  if (text == "wait") return StackMeasure::wait;
  if (text == "weight") return StackMeasure::weight;
  return Error{fmt::format("bad weight '{}': expected wait or weight", text)};
}

Result<ExportFormat> parse_export_format(std::string_view text) {
  if (const std::optional<ExportFormat> format = export_format(text)) return *format;
  return Error{fmt::format("bad format '{}': expected {}", text, kExportFormatNames)};
}

Result<View> parse_view(std::string_view text) {
  if (text == "functions") return View::functions;
  if (text == "threads") return View::threads;
  if (text == "locks") return View::locks;
  if (text == "files") return View::files;
  return Error{fmt::format("bad view '{}': expected functions, threads, locks or files", text)};
}

Result<ProgressOptions> parse_progress(const std::vector<std::string>& texts) {
  constexpr std::string_view kComm = "comm:";
  ProgressOptions progress;
  for (std::string_view text : texts) {
    if (text == "end") {
      progress.end = true;
      continue;
    }
    if (text.starts_with(kComm)) text.remove_prefix(kComm.size());
    if (text.empty())
      return Error{"--progress needs the name of threads, or a pattern, as in --progress 'worker*'"};
    progress.threads.emplace_back(text);
  }
  if (progress.end && !progress.threads.empty())
    return Error{
        fmt::format("--progress end and --progress {} each say what counts: choose one (threads called "
                    "end are comm:end)",
                    progress.threads.front())};
  return progress;
}

Result<CountedFunction> parse_counted(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool has_module = colon != std::string_view::npos && !text.substr(colon).starts_with("::");
  CountedFunction counted{std::string(has_module ? text.substr(0, colon) : ""),
                          std::string(has_module ? text.substr(colon + 1) : text)};
  if (counted.name.empty() || (has_module && counted.module.empty()))
    return Error{fmt::format("bad --progress-at '{}': expected FUNCTION or MODULE:FUNCTION", text)};
  return counted;
}

Result<SpinFunction> parse_spin(std::string_view text) {
  const std::size_t comma = text.find(',');
  SpinFunction spin{std::string(text.substr(0, comma)),
                    std::string(comma == std::string_view::npos ? "" : text.substr(comma + 1))};
  if (spin.lock.empty() || text.ends_with(',') || spin.unlock.find(',') != std::string::npos) {
    return Error{
        fmt::format("bad --spin '{}': expected FUNCTION, or LOCK,UNLOCK for the two of a lock", text)};
  }
  return spin;
}

Result<Label> parse_label(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return Error{fmt::format("label '{}': it must be KEY=VALUE, for example version=10.11", text)};
  return Label{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Result<Nanos> parse_flight(std::string_view text) {
  constexpr Nanos kLongest = 3600 * kSecond;
  OFFWAIT_TRY(const Nanos length, parse_duration(text));
  if (length >= kSecond && length <= kLongest) return length;
  return Error{fmt::format("bad --flight '{}': expected a time from 1s to 1h", text)};
}

Result<std::size_t> parse_keep(std::string_view text) {
  constexpr std::size_t kMost = 10000;
  const std::optional<std::size_t> number = whole_number<std::size_t>(text);
  if (number && *number > 0 && *number <= kMost) return *number;
  return Error{fmt::format("bad number of files '{}': expected a whole number from 1 to {}", text, kMost)};
}

Result<FlightTrigger> parse_trigger(std::string_view text) {
  constexpr std::string_view kWait = "wait";
  const std::size_t greater = std::min(text.find('>'), text.size());
  const std::string_view what = text.substr(0, greater);
  const std::string_view limit = text.substr(std::min(greater + 1, text.size()));
  FlightTrigger trigger;
  trigger.text = text;
  const Error wrong{
      fmt::format("bad --when '{}': expected a share of a state, as runnable>50% (also running and blocked), "
                  "or a wait, as "
                  "wait>500ms or wait:futex>500ms",
                  text)};
  if (what == kWait || what.starts_with("wait:")) {
    if (what != kWait) {
      const std::string_view name = what.substr(kWait.size() + 1);
      trigger.wait_class = wait_class(name);
      if (!trigger.wait_class)
        return Error{fmt::format("bad --when '{}': there are no waits of class '{}'", text, name)};
    }
    const Result<Nanos> length = parse_duration(limit);
    if (!length) return wrong;
    trigger.longer_than = *length;
    return trigger;
  }
  if (what == "running") trigger.state = TriggerState::running;
  if (what == "runnable") trigger.state = TriggerState::runnable;
  if (what == "blocked") trigger.state = TriggerState::blocked;
  const Result<Threshold> share = parse_threshold(limit);
  if (!trigger.state || !share || !share->is_part || share->part <= 0 || share->part >= 1) return wrong;
  trigger.share = share->part;
  return trigger;
}

Result<TracePart> parse_window(std::string_view text) {
  constexpr std::string_view kDots = "..";
  const Error wrong{fmt::format("window '{}': it must be FROM..TO, for example 30s..40s or 30s..", text)};
  const std::size_t dots = text.find(kDots);
  if (dots == std::string_view::npos || text.size() == kDots.size()) return wrong;
  TracePart part;
  const std::string_view from = text.substr(0, dots);
  const std::string_view to = text.substr(dots + kDots.size());
  // A window may begin at 0, which is no duration.
  if (!from.empty() && from != "0" && from != "0s") {
    OFFWAIT_TRY(part.from, parse_duration(from));
  }
  if (!to.empty()) {
    OFFWAIT_TRY(part.to, parse_duration(to));
  }
  if (part.to && *part.to <= part.from) return wrong;
  return part;
}

Result<TracePart> parse_last(std::string_view text) {
  TracePart part;
  OFFWAIT_TRY(part.last, parse_duration(text));
  return part;
}

}  // namespace offwait::cli
