// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/disk.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace offwait {
namespace {

constexpr Nanos kShortestForRate = 100'000'000;

// Bytes and nanoseconds multiplied.
__extension__ using Wide = unsigned __int128;

struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
};

struct Span {
  Nanos from = 0;
  Nanos to = 0;
  Nanos length() const { return to - from; }
};

Span clip(Span span, const Window& window) {
  return {std::max(span.from, window.begin), std::min(span.to, window.end)};
}

// The requests of one disk.
class Requests {
 public:
  explicit Requests(std::vector<DiskIo> ios) : ios_(std::move(ios)) {
    std::sort(ios_.begin(), ios_.end(), [](const DiskIo& a, const DiskIo& b) { return a.issue < b.issue; });
    for (const DiskIo& io : ios_) {
      if (io.complete <= io.issue) {
        continue;
      }
      if (!in_flight_.empty() && io.issue <= in_flight_.back().to) {
        in_flight_.back().to = std::max(in_flight_.back().to, io.complete);
      } else {
        in_flight_.push_back({io.issue, io.complete});
      }
    }
    flown_.push_back(0);
    for (const Span& span : in_flight_) {
      flown_.push_back(flown_.back() + span.length());
    }

    std::sort(ios_.begin(), ios_.end(),
              [](const DiskIo& a, const DiskIo& b) { return a.complete < b.complete; });
    sums_.push_back({});
    for (const DiskIo& io : ios_) {
      sums_.push_back({sums_.back().bytes + io.bytes, sums_.back().ios + 1});
    }
  }

  // Completed in (span.from, span.to], as the kernel counts them.
  Amount completed(Span span) const {
    const Amount& before = sums_[completed_until(span.from)];
    const Amount& after = sums_[completed_until(span.to)];
    return {after.bytes - before.bytes, after.ios - before.ios};
  }

  // Time in the span with at least one request in flight; nothing when no request is known of in the span.
  std::optional<Nanos> in_flight(Span span) const {
    const auto first = std::upper_bound(in_flight_.begin(), in_flight_.end(), span.from,
                                        [](Nanos t, const Span& s) { return t < s.to; });
    const auto last = std::lower_bound(in_flight_.begin(), in_flight_.end(), span.to,
                                       [](const Span& s, Nanos t) { return s.from < t; });
    if (first >= last) {
      return completed(span).ios == 0 ? std::nullopt : std::optional<Nanos>(0);
    }
    Nanos total = flown_[static_cast<std::size_t>(last - in_flight_.begin())] -
                  flown_[static_cast<std::size_t>(first - in_flight_.begin())];
    total -= std::max<Nanos>(0, span.from - first->from);
    total -= std::max<Nanos>(0, std::prev(last)->to - span.to);
    return total;
  }

 private:
  std::size_t completed_until(Nanos at) const {
    const auto end = std::upper_bound(ios_.begin(), ios_.end(), at,
                                      [](Nanos t, const DiskIo& io) { return t < io.complete; });
    return static_cast<std::size_t>(end - ios_.begin());
  }

  std::vector<DiskIo> ios_;      // by completion
  std::vector<Amount> sums_;     // [i]: of the first i of ios_
  std::vector<Span> in_flight_;  // disjoint, in order
  std::vector<Nanos> flown_;     // [i]: length of the first i of in_flight_
};

struct Interval {
  Span span;
  Amount amount;
};

// The sampling intervals that reach into the window; the window itself when there is none.
std::vector<Interval> intervals(std::vector<DiskSample> samples, const Requests& requests,
                                const Window& window) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const DiskSample& a, const DiskSample& b) { return a.at < b.at; });
  std::vector<Interval> result;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const DiskSample& a = samples[i - 1];
    const DiskSample& b = samples[i];
    const Span span{a.at, b.at};
    if (clip(span, window).length() <= 0) {
      continue;
    }
    const bool backwards = b.bytes < a.bytes || b.ios < a.ios;
    result.push_back({span, backwards ? requests.completed(span) : Amount{b.bytes - a.bytes, b.ios - a.ios}});
  }
  if (result.empty()) {
    const Span whole{window.begin, window.end};
    result.push_back({whole, requests.completed(whole)});
  }
  return result;
}

std::uint64_t part_of(std::uint64_t amount, Nanos part, Nanos whole) {
  if (part >= whole) {
    return amount;
  }
  const auto divisor = static_cast<Wide>(whole);
  return static_cast<std::uint64_t>((static_cast<Wide>(amount) * static_cast<Wide>(part) + divisor / 2) /
                                    divisor);
}

double per_second(std::uint64_t amount, Nanos length) {
  return static_cast<double>(amount) / to_seconds(length);
}

DiskUse use_of(const DiskCapacity& capacity, const std::vector<Interval>& sampled, const Requests& requests,
               const Window& window) {
  DiskUse use;
  use.disk = capacity.disk;
  use.capacity = capacity;
  for (const auto& [span, amount] : sampled) {
    if (span.length() < kShortestForRate) {
      continue;
    }
    const double bytes_per_s = per_second(amount.bytes, span.length());
    const double ios_per_s = per_second(amount.ios, span.length());
    use.capacity_raised =
        use.capacity_raised || bytes_per_s > use.capacity.bytes_per_s || ios_per_s > use.capacity.ios_per_s;
    use.capacity.bytes_per_s = std::max(use.capacity.bytes_per_s, bytes_per_s);
    use.capacity.ios_per_s = std::max(use.capacity.ios_per_s, ios_per_s);
  }

  double busy = 0;  // ns
  Nanos covered = 0;
  for (const auto& [span, amount] : sampled) {
    const Span inside = clip(span, window);
    const auto length = static_cast<double>(inside.length());
    const double used = std::max(per_second(amount.bytes, span.length()) / use.capacity.bytes_per_s,
                                 per_second(amount.ios, span.length()) / use.capacity.ios_per_s);
    double busy_here = length * std::min(used, 1.0);
    if (const std::optional<Nanos> flying = requests.in_flight(inside)) {
      busy_here = std::min(busy_here, static_cast<double>(*flying));
    }
    busy += busy_here;
    covered += inside.length();
    use.bytes += part_of(amount.bytes, inside.length(), span.length());
    use.ios += part_of(amount.ios, inside.length(), span.length());
  }
  if (covered > 0) {
    const double mean = busy / static_cast<double>(covered);
    const double busy_ns = std::round(mean * static_cast<double>(window.length()));
    // Compared as doubles first: a window of nearly 2^63 ns rounds up to what no Nanos can hold.
    use.busy_ns =
        busy_ns >= static_cast<double>(window.length()) ? window.length() : static_cast<Nanos>(busy_ns);
  }
  use.idle_ns = window.length() - use.busy_ns;
  return use;
}

DiskCapacity capacity_of(const Trace& trace, ActorId disk) {
  for (const DiskCapacity& capacity : trace.capacities) {
    if (capacity.disk == disk && capacity.bytes_per_s > 0 && capacity.ios_per_s > 0) {
      return capacity;
    }
  }
  return assumed_capacity(disk, DiskType::ssd);
}

// `text` as an error may show it: what is not printable ASCII becomes `?`, and it ends early.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    result += c >= 0x20 && c < 0x7f ? c : '?';
  }
  result += text.size() > kLongest ? "…'" : "'";
  return result;
}

// A positive number with an optional decimal suffix.
std::optional<double> parse_rate(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  double scale = 1;
  switch (text.back()) {
    case 'k':
      scale = 1e3;
      break;
    case 'M':
      scale = 1e6;
      break;
    case 'G':
      scale = 1e9;
      break;
    default:
      break;
  }
  if (scale > 1) {
    text.remove_suffix(1);
  }
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  number *= scale;
  if (!std::isfinite(number) || number <= 0) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

DiskCapacity assumed_capacity(ActorId disk, DiskType type) {
  switch (type) {
    case DiskType::rotational:
      return {disk, 150e6, 150, CapacitySource::assumed};
    case DiskType::nvme:
      return {disk, 3e9, 400e3, CapacitySource::assumed};
    case DiskType::ssd:
      break;
  }
  return {disk, 500e6, 50e3, CapacitySource::assumed};
}

Result<NamedCapacity> parse_capacity(std::string_view text) {
  const auto wrong = [text](const std::string& why) {
    return Error{"disk capacity " + shown(text) + ": " + why +
                 "; it must be NAME=BYTES/s,IO/s, for example vda=500M,50k"};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return wrong("has no '='");
  }
  const std::string_view name = text.substr(0, equals);
  if (name.empty()) {
    return wrong("has no disk name before '='");
  }
  const std::string_view rates = text.substr(equals + 1);
  const std::size_t comma = rates.find(',');
  if (comma == std::string_view::npos) {
    return wrong("has no ',' between the two numbers");
  }
  const std::string_view bytes_text = rates.substr(0, comma);
  const std::string_view ios_text = rates.substr(comma + 1);
  const std::string number = " is no number above 0 (suffixes: k, M, G)";
  const std::optional<double> bytes = parse_rate(bytes_text);
  if (!bytes) {
    return wrong("BYTES/s " + shown(bytes_text) + number);
  }
  const std::optional<double> ios = parse_rate(ios_text);
  if (!ios) {
    return wrong("IO/s " + shown(ios_text) + number);
  }
  return NamedCapacity{std::string(name), *bytes, *ios};
}

std::vector<DiskUse> disk_use(const Trace& trace) {
  std::map<ActorId, std::pair<std::vector<DiskSample>, std::vector<DiskIo>>> disks;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (trace.actors[id].kind == ActorKind::disk) {
      disks[id];
    }
  }
  for (const DiskSample& sample : trace.disk_samples) {
    if (const auto disk = disks.find(sample.disk); disk != disks.end()) {
      disk->second.first.push_back(sample);
    }
  }
  for (const DiskIo& io : trace.disk_ios) {
    if (const auto disk = disks.find(io.disk); disk != disks.end()) {
      disk->second.second.push_back(io);
    }
  }
  std::vector<DiskUse> result;
  for (auto& [id, known] : disks) {
    const Requests requests(std::move(known.second));
    result.push_back(use_of(capacity_of(trace, id), intervals(std::move(known.first), requests, trace.window),
                            requests, trace.window));
  }
  return result;
}

std::vector<Edge> idle_edges(const Trace& trace, const std::vector<DiskUse>& use) {
  // Times idle_ns, which is below 2^63, it fits. Real traffic stays far below it.
  constexpr Wide kMostBytes = Wide{1} << 63;
  struct Sent {
    Wide bytes = 0;
    std::uint64_t requests = 0;
  };
  std::map<ActorId, std::map<ActorId, Sent>> sent;  // disk, thread
  for (const DiskIo& io : trace.disk_ios) {
    const bool in_window =
        io.issue < trace.window.end && std::max(io.complete, io.issue) > trace.window.begin;
    if (io.thread == kNoActor || !in_window) {
      continue;
    }
    constexpr std::uint64_t kSector = 512;
    Sent& mine = sent[io.disk][io.thread];
    mine.bytes = std::min<Wide>(mine.bytes + (io.bytes == 0 ? kSector : io.bytes), kMostBytes);
    ++mine.requests;
  }

  std::vector<Edge> edges;
  for (const DiskUse& disk : use) {
    const std::map<ActorId, Sent>& users = sent[disk.disk];
    Wide total = 0;
    for (const auto& [thread, mine] : users) {
      total += mine.bytes;
    }
    if (total == 0) {
      continue;
    }
    const auto idle = static_cast<Wide>(disk.idle_ns);
    std::vector<Edge> shares;
    std::vector<std::pair<Wide, std::size_t>> remainders;
    Nanos left = disk.idle_ns;
    for (const auto& [thread, mine] : users) {
      Edge edge;
      edge.from = disk.disk;
      edge.to = thread;
      edge.waits = mine.requests;
      edge.wait_ns = static_cast<Nanos>(idle * mine.bytes / total);
      left -= edge.wait_ns;
      remainders.emplace_back(idle * mine.bytes % total, shares.size());
      shares.push_back(std::move(edge));
    }
    std::sort(remainders.begin(), remainders.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (std::size_t i = 0; left > 0; ++i, --left) {
      ++shares[remainders[i].second].wait_ns;
    }
    for (Edge& edge : shares) {
      edge.weight_ns = edge.wait_ns;
      if (edge.wait_ns > 0) {
        edges.push_back(std::move(edge));
      }
    }
  }
  return edges;
}

}  // namespace offwait
