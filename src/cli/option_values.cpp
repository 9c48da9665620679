// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "cli/duration.h"
#include "report/top_screen.h"

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

/// A decimal number that is all of the text.
std::optional<double> decimal_number(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || rest != end) return std::nullopt;
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

/// A number of this many digits, and the character that ends it, at the front of `text`, which is cut off.
std::optional<int> take_digits(std::string_view& text, std::size_t digits, std::string_view ends) {
  const std::optional<int> number = whole_number<int>(text.substr(0, digits));
  if (text.size() < digits || !number || *number < 0) return std::nullopt;
  text.remove_prefix(digits);
  if (ends.empty()) return number;
  if (text.empty() || ends.find(text.front()) == std::string_view::npos) return std::nullopt;
  text.remove_prefix(1);
  return number;
}

/// `2026-11-23T` or `2026-11-23 `, cut off from the front of `text`.
std::optional<std::chrono::year_month_day> take_date(std::string_view& text) {
  std::string_view rest = text;
  const std::optional<int> year = take_digits(rest, 4, "-");
  const std::optional<int> month = year ? take_digits(rest, 2, "-") : std::nullopt;
  const std::optional<int> day = month ? take_digits(rest, 2, "T ") : std::nullopt;
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  text = rest;
  return date;
}

bool is_wall_time(std::string_view text) { return text.find(':') != std::string_view::npos; }

/// `13:09`, `13:09:12`, `13:09:12.5Z`, each with a date before it or without.
Result<WallTime> parse_wall_time(std::string_view text) {
  const Error wrong{fmt::format(
      "bad time '{}': expected something like 13:09, 13:09:12.5, 13:09:12Z or 2026-11-23T13:09:12", text)};
  WallTime time;
  std::string_view rest = text;
  time.date = take_date(rest);
  if (rest.ends_with('Z')) {
    time.utc = true;
    rest.remove_suffix(1);
  }
  const std::optional<int> hour = take_digits(rest, 2, ":");
  const bool has_seconds = rest.size() > 2;
  const std::optional<int> minute = hour ? take_digits(rest, 2, has_seconds ? ":" : "") : std::nullopt;
  if (!minute || *hour > 23 || *minute > 59) return wrong;
  Nanos second = 0;
  if (has_seconds) {
    const bool is_number = rest.find_first_not_of("0123456789.") == std::string_view::npos;
    const std::size_t whole = rest.find_first_not_of("0123456789");
    if (!is_number || std::min(whole, rest.size()) != 2) return wrong;
    const std::optional<double> given = decimal_number(rest);
    if (!given || *given >= 60) return wrong;
    second = static_cast<Nanos>(std::llround(*given * static_cast<double>(kSecond)));
  }
  time.of_day = (Nanos{*hour} * 60 + *minute) * 60 * kSecond + second;
  return time;
}

}  // namespace

Result<std::int32_t> parse_id(std::string_view text) {
  const std::optional<std::int32_t> id = whole_number<std::int32_t>(text);
  if (id && *id > 0) return *id;
  return Error{fmt::format(
      "bad number of a process or thread '{}': expected a whole number from 1 to 2147483647", text)};
}

Result<GivenProcesses> parse_processes(const std::vector<std::string>& texts) {
  constexpr std::size_t kMost = 1024;
  GivenProcesses given;
  for (const std::string& text : texts) {
    if (text.empty()) return Error{"-p has an empty list of processes: is the program running?"};
    const bool has_blanks = text.find_first_of(" \n") != std::string::npos;
    const bool has_names = text.find_first_not_of("0123456789, \n") != std::string::npos;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find_first_of(has_names ? "," : ", \n", begin), text.size());
      const std::string word = text.substr(begin, end - begin);
      begin = end + 1;
      if (word.empty() && has_blanks) continue;
      const bool is_name = word.find_first_of("0123456789+-") != 0 && !word.empty();
      if (is_name) {
        given.names.push_back(word);
        continue;
      }
      OFFWAIT_TRY(const std::int32_t pid, parse_id(word));
      if (std::find(given.pids.begin(), given.pids.end(), pid) != given.pids.end())
        return Error{fmt::format("process {} is given twice", pid)};
      given.pids.push_back(pid);
    }
  }
  if (given.pids.size() + given.names.size() > kMost) return Error{"-p takes 1024 processes at most"};
  return given;
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
  const std::optional<double> percent = decimal_number(digits);
  if (percent && *percent >= kLeast && *percent <= kMost) return *percent / kMost;
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

Result<std::uint64_t> parse_page_size(std::string_view text) {
  constexpr std::uint64_t kLargest = 500'000'000;
  const Error bad{fmt::format("bad size '{}': expected something like 900k or 5M, from 500k to 500M", text)};
  std::uint64_t scale = 0;
  if (text.ends_with('k')) scale = 1'000;
  if (text.ends_with('M')) scale = 1'000'000;
  if (scale == 0) return bad;
  text.remove_suffix(1);
  const std::optional<std::uint64_t> number = whole_number<std::uint64_t>(text);
  if (!number || *number > kLargest / scale || *number * scale < html::kFewestBytes) return bad;
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

Result<ColorChoice> parse_color(std::string_view text) {
  if (text == "always") return ColorChoice::always;
  if (text == "never") return ColorChoice::never;
  if (text == "auto") return ColorChoice::automatic;
  return Error{fmt::format("bad color '{}': expected always, never or auto", text)};
}

Result<int> parse_width(std::string_view text) {
  constexpr int kMost = 1000;
  const std::optional<int> width = whole_number<int>(text);
  if (width && *width >= kLeastWidth && *width <= kMost) return *width;
  return Error{fmt::format("bad width '{}': expected columns from {} to {}", text, kLeastWidth, kMost)};
}

Result<int> parse_height(std::string_view text) {
  constexpr int kMost = 1000;
  const std::optional<int> height = whole_number<int>(text);
  if (height && *height >= kTopLeastHeight && *height <= kMost) return *height;
  return Error{fmt::format("bad height '{}': expected lines from {} to {}", text, kTopLeastHeight, kMost)};
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
  const Error wrong{fmt::format(
      "window '{}': it must be FROM..TO, for example 30s..40s, 30s.. or 13:09:10..13:09:20", text)};
  const std::size_t dots = text.find(kDots);
  if (dots == std::string_view::npos || text.size() == kDots.size()) return wrong;
  TracePart part;
  const std::string_view from = text.substr(0, dots);
  const std::string_view to = text.substr(dots + kDots.size());
  // A window may begin at 0, which is no duration.
  if (is_wall_time(from)) {
    OFFWAIT_TRY(part.wall_from, parse_wall_time(from));
  } else if (!from.empty() && from != "0" && from != "0s") {
    OFFWAIT_TRY(part.from, parse_duration(from));
  }
  if (is_wall_time(to)) {
    OFFWAIT_TRY(part.wall_to, parse_wall_time(to));
  } else if (!to.empty()) {
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
