// SPDX-License-Identifier: GPL-2.0-or-later
#include "device/disk.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "device/capacity.h"
#include "device/rate.h"

namespace offwait {
namespace {

constexpr int kDeepQueue = 16;
constexpr std::ptrdiff_t kSeveral = 4;
constexpr double kMismatch = 0.02;

// Bytes and nanoseconds multiplied.
__extension__ using Wide = unsigned __int128;

struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t ios = 0;
  std::uint64_t flushes = 0;  // part of ios: requests without data; not known of counters
};

struct Span {
  Nanos from = 0;
  Nanos to = 0;
  Nanos length() const { return to - from; }
};

Span clip(Span span, const Window& window) {
  return {std::max(span.from, window.begin), std::min(span.to, window.end)};
}

// Disjoint spans, in order.
class Spans {
 public:
  Spans() { length_until_.push_back(0); }

  void add(Span span) {
    spans_.push_back(span);
    length_until_.push_back(length_until_.back() + span.length());
  }

  // Whether one of the spans overlaps `span`.
  bool any(Span span) const { return first(span) < last(span); }

  // The total length of the parts inside `span`.
  Nanos length(Span span) const {
    const std::size_t begin = first(span);
    const std::size_t end = last(span);
    if (begin >= end) {
      return 0;
    }
    return length_until_[end] - length_until_[begin] - std::max<Nanos>(0, span.from - spans_[begin].from) -
           std::max<Nanos>(0, spans_[end - 1].to - span.to);
  }

 private:
  std::size_t first(Span span) const {
    const auto found = std::upper_bound(spans_.begin(), spans_.end(), span.from,
                                        [](Nanos t, const Span& s) { return t < s.to; });
    return static_cast<std::size_t>(found - spans_.begin());
  }
  std::size_t last(Span span) const {
    const auto found = std::lower_bound(spans_.begin(), spans_.end(), span.to,
                                        [](const Span& s, Nanos t) { return s.from < t; });
    return static_cast<std::size_t>(found - spans_.begin());
  }

  std::vector<Span> spans_;
  std::vector<Nanos> length_until_;  // [i]: total length of the first i spans
};

// The requests of one disk.
class Requests {
 public:
  explicit Requests(std::vector<DiskIo> ios) : ios_(std::move(ios)) {
    std::vector<std::pair<Nanos, int>> changes;  // (time, change of the number in flight)
    changes.reserve(2 * ios_.size());
    for (const DiskIo& io : ios_) {
      if (io.complete > io.issue) {
        changes.emplace_back(io.issue, 1);
        changes.emplace_back(io.complete, -1);
      }
    }
    std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;  // no gap where they touch
    });
    int in_flight = 0;
    Span flying;
    Span deep;
    for (const auto& [at, change] : changes) {
      const int before = std::exchange(in_flight, in_flight + change);
      if (before == 0) {
        flying.from = at;
      }
      if (before == kDeepQueue - 1 && change > 0) {
        deep.from = at;
      }
      if (before == kDeepQueue && change < 0) {
        deep_.add({deep.from, at});
      }
      if (in_flight == 0) {
        in_flight_.add({flying.from, at});
      }
    }

    std::sort(ios_.begin(), ios_.end(),
              [](const DiskIo& a, const DiskIo& b) { return a.complete < b.complete; });
    sums_.push_back({});
    for (const DiskIo& io : ios_) {
      sums_.push_back({sums_.back().bytes + io.bytes, sums_.back().ios + 1,
                       sums_.back().flushes + (io.bytes == 0 ? 1 : 0)});
    }
  }

  // Completed in (span.from, span.to], as the kernel counts them.
  Amount completed(Span span) const {
    const Amount& before = sums_[completed_until(span.from)];
    const Amount& after = sums_[completed_until(span.to)];
    return {after.bytes - before.bytes, after.ios - before.ios, after.flushes - before.flushes};
  }

  // Time in the span with at least one request in flight; nothing if no request is known in the span.
  std::optional<Nanos> in_flight(Span span) const {
    if (!in_flight_.any(span) && completed(span).ios == 0) {
      return std::nullopt;
    }
    return in_flight_.length(span);
  }

  // Time in the span with kDeepQueue requests in flight or more.
  Nanos deep(Span span) const { return deep_.length(span); }

  bool empty() const { return ios_.empty(); }

  std::uint64_t most_bytes() const {
    std::uint64_t most = 0;
    for (const DiskIo& io : ios_) {
      most = std::max(most, io.bytes);
    }
    return most;
  }

 private:
  std::size_t completed_until(Nanos at) const {
    const auto end = std::upper_bound(ios_.begin(), ios_.end(), at,
                                      [](Nanos t, const DiskIo& io) { return t < io.complete; });
    return static_cast<std::size_t>(end - ios_.begin());
  }

  std::vector<DiskIo> ios_;   // by completion
  std::vector<Amount> sums_;  // [i]: sum of the first i requests
  Spans in_flight_;
  Spans deep_;
};

struct DiskInterval {
  Span span;
  Amount amount;
};

bool backwards(const DiskCounters& a, const DiskCounters& b) { return b.bytes < a.bytes || b.ios < a.ios; }

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

// `readings` are in order of time.
std::optional<DiskCheck> cross_check(const std::vector<DiskCounters>& readings, const Requests& requests) {
  if (readings.size() < 2 || requests.empty()) {
    return std::nullopt;
  }
  DiskCheck check;
  Amount blurred;
  std::uint64_t flushes = 0;
  const std::uint64_t most_bytes = requests.most_bytes();
  const auto blur = [&](const DiskCounters& end) {
    const Amount near = requests.completed({end.at - kReadingBlur, end.at + kReadingBlur});
    blurred.ios += near.ios + end.in_flight;
    blurred.bytes += near.bytes + end.in_flight * most_bytes;
  };
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const DiskCounters& a = readings[i - 1];
    const DiskCounters& b = readings[i];
    const bool ignored = backwards(a, b);
    if (!ignored) {
      const Amount seen = requests.completed({a.at, b.at});
      check.counted_ios += b.ios - a.ios;
      check.counted_bytes += b.bytes - a.bytes;
      check.seen_ios += seen.ios;
      check.seen_bytes += seen.bytes;
      flushes += seen.flushes;
    }
    if (i == 1 || ignored) {
      blur(a);
    }
    if (i + 1 == readings.size() || ignored) {
      blur(b);
    }
  }
  const auto differ = [](std::uint64_t counted, std::uint64_t seen, std::uint64_t allowed) {
    const std::uint64_t difference = distance(counted, seen);
    return difference > allowed &&
           static_cast<double>(difference) > kMismatch * static_cast<double>(std::max(counted, seen));
  };
  // The kernel counts an fsync without data twice: as an empty write and as the flush that is sent to the
  // disk.
  const std::uint64_t twice =
      check.counted_ios > check.seen_ios ? std::min(check.counted_ios - check.seen_ios, flushes) : 0;
  // One request more or less may be any.
  blurred.ios = std::max<std::uint64_t>(blurred.ios, 1);
  blurred.bytes = std::max(blurred.bytes, most_bytes);
  check.mismatch = differ(check.counted_ios - twice, check.seen_ios, blurred.ios) ||
                   differ(check.counted_bytes, check.seen_bytes, blurred.bytes);
  return check;
}

// The intervals that reach into the window; the window itself if there is none. `readings` are in order of
// time.
std::vector<DiskInterval> intervals(const std::vector<DiskCounters>& readings, const Requests& requests,
                                    const Window& window) {
  std::vector<DiskInterval> result;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const DiskCounters& a = readings[i - 1];
    const DiskCounters& b = readings[i];
    const Span span{a.at, b.at};
    if (clip(span, window).length() <= 0) {
      continue;
    }
    result.push_back(
        {span, backwards(a, b) ? requests.completed(span) : Amount{b.bytes - a.bytes, b.ios - a.ios}});
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

DiskUse use_of(const DiskCapacity& capacity, const std::vector<DiskInterval>& counted,
               const Requests& requests, const Window& window) {
  DiskUse use;
  use.disk = capacity.disk;
  use.capacity = capacity;
  for (const auto& [span, amount] : counted) {
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
  for (const auto& [span, amount] : counted) {
    const Span inside = clip(span, window);
    const auto length = static_cast<double>(inside.length());
    const double used = std::max(per_second(amount.bytes, span.length()) / use.capacity.bytes_per_s,
                                 per_second(amount.ios, span.length()) / use.capacity.ios_per_s);
    double busy_here = length * std::min(used, 1.0);
    if (const std::optional<Nanos> flying = requests.in_flight(inside)) {
      busy_here = std::min(busy_here, static_cast<double>(*flying));
    }
    busy_here = std::max(busy_here, static_cast<double>(requests.deep(inside)));
    busy += busy_here;
    covered += inside.length();
    use.bytes += part_of(amount.bytes, inside.length(), span.length());
    use.ios += part_of(amount.ios, inside.length(), span.length());
  }
  if (covered > 0) {
    const double mean = busy / static_cast<double>(covered);
    const double busy_ns = std::round(mean * static_cast<double>(window.length()));
    // The values are compared as doubles, since a window of nearly 2^63 ns rounds up to more than a Nanos can
    // hold.
    use.busy_ns =
        busy_ns >= static_cast<double>(window.length()) ? window.length() : static_cast<Nanos>(busy_ns);
  }
  use.idle_ns = window.length() - use.busy_ns;
  return use;
}

// The users of the disk, in order of bytes, most first.
std::vector<DiskUser> users_of(const std::vector<DiskIo>& ios, const Window& window) {
  std::map<ActorId, DiskUser> users;
  for (const DiskIo& io : ios) {
    if (io.issue >= window.end || std::max(io.complete, io.issue) <= window.begin) {
      continue;
    }
    const Nanos length = std::max<Nanos>(clip({io.issue, io.complete}, window).length(), 0);
    DiskUser& user = users[io.thread];
    user.thread = io.thread;
    user.bytes += io.bytes;
    ++user.ios;
    user.service_ns += std::min(length, kNever - user.service_ns);
  }
  std::vector<DiskUser> result;
  for (const auto& [thread, user] : users) {
    result.push_back(user);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const DiskUser& a, const DiskUser& b) { return a.bytes > b.bytes; });
  return result;
}

// The files of the requests, in order of their time under way, most first.
std::vector<DiskFile> files_of(const Trace& trace, const std::vector<DiskIo>& ios) {
  std::map<std::pair<ObjectId, bool>, DiskFile> files;
  for (const DiskIo& io : ios) {
    if (io.issue >= trace.window.end || std::max(io.complete, io.issue) <= trace.window.begin) {
      continue;
    }
    const bool flushes = io.file == kNoObject && io.operation == DiskOperation::other;
    DiskFile& file = files[{io.file, flushes}];
    file.file = io.file;
    file.flushes = flushes;
    file.bytes += io.bytes;
    ++file.ios;
    const bool by_kernel = io.thread != kNoActor && trace.actors[io.thread].kernel;
    file.written_back += by_kernel && io.operation == DiskOperation::write ? 1 : 0;
    const Nanos length = std::max<Nanos>(clip({io.issue, io.complete}, trace.window).length(), 0);
    file.service_ns += std::min(length, kNever - file.service_ns);
  }
  std::vector<DiskFile> result;
  for (const auto& [key, file] : files) {
    result.push_back(file);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const DiskFile& a, const DiskFile& b) { return a.service_ns > b.service_ns; });
  return result;
}

// The requests of one thread to one disk.
class Sent {
 public:
  void add(const DiskIo& io) {
    issues_.push_back(io.issue);
    completions_.push_back(io.complete);
  }

  void sort() {
    std::sort(issues_.begin(), issues_.end());
    std::sort(completions_.begin(), completions_.end());
  }

  std::ptrdiff_t under_way(Nanos at) const {
    const auto sent = std::upper_bound(issues_.begin(), issues_.end(), at) - issues_.begin();
    return sent - (std::upper_bound(completions_.begin(), completions_.end(), at) - completions_.begin());
  }

 private:
  std::vector<Nanos> issues_;
  std::vector<Nanos> completions_;
};

// The pairs (disk, thread) in which the thread keeps the disk in work (idle_edges()).
std::set<std::pair<ActorId, ActorId>> kept_in_work(const Trace& trace) {
  std::map<std::pair<ActorId, ActorId>, Sent> sent;
  for (const DiskIo& io : trace.disk_ios) {
    if (io.thread != kNoActor) {
      sent[{io.disk, io.thread}].add(io);
    }
  }
  for (auto& [ends, requests] : sent) {
    requests.sort();
  }
  std::map<std::pair<ActorId, ActorId>, double> balance;  // ns waited while kept in work, less the other ns
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    const auto requests = sent.find({site.waker, site.thread});
    if (requests == sent.end()) {
      continue;
    }
    const bool in_work = site.any_request && requests->second.under_way(wait.block) >= kSeveral;
    const auto length = static_cast<double>(clip({wait.block, wait.wake}, trace.window).length());
    balance[requests->first] += in_work ? length : -length;
  }
  std::set<std::pair<ActorId, ActorId>> result;
  for (const auto& [ends, ns] : balance) {
    if (ns > 0) {
      result.insert(ends);
    }
  }
  return result;
}

DiskCapacity recorded_capacity(const Trace& trace, ActorId disk) {
  for (const DiskCapacity& capacity : trace.capacities) {
    if (capacity.disk == disk && capacity.bytes_per_s > 0 && capacity.ios_per_s > 0) {
      return capacity;
    }
  }
  return assumed_capacity(disk, DiskType::ssd);
}

}  // namespace

std::vector<DiskUse> disk_use(const Trace& trace) {
  std::map<ActorId, std::pair<std::vector<DiskCounters>, std::vector<DiskIo>>> disks;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (trace.actors[id].kind == ActorKind::disk) {
      disks[id];
    }
  }
  for (const DiskCounters& counters : trace.disk_counters) {
    if (const auto disk = disks.find(counters.disk); disk != disks.end()) {
      disk->second.first.push_back(counters);
    }
  }
  for (const DiskIo& io : trace.disk_ios) {
    if (const auto disk = disks.find(io.disk); disk != disks.end()) {
      disk->second.second.push_back(io);
    }
  }
  std::vector<DiskUse> result;
  for (auto& [id, known] : disks) {
    std::vector<DiskCounters>& readings = known.first;
    std::stable_sort(readings.begin(), readings.end(),
                     [](const DiskCounters& a, const DiskCounters& b) { return a.at < b.at; });
    const std::vector<DiskIo> seen = without_unseen(known.second, readings);
    const std::uint64_t unseen = known.second.size() - seen.size();
    const Requests requests(std::move(known.second));
    DiskUse& use = result.emplace_back(use_of(
        recorded_capacity(trace, id), intervals(readings, requests, trace.window), requests, trace.window));
    use.users = users_of(seen, trace.window);
    use.files = files_of(trace, seen);
    use.unseen = unseen;
    if (use.ios == 0 || !requests.empty()) {
      use.activity = disk_activity(seen, trace.window);
    }
    use.check = cross_check(readings, requests);
  }
  return result;
}

std::vector<Edge> idle_edges(const Trace& trace, const std::vector<DiskUse>& use) {
  // The product with idle_ns, which is below 2^63, fits. Real traffic stays far below this.
  constexpr Wide kMostBytes = Wide{1} << 63;
  struct Share {
    Wide bytes = 0;
    std::uint64_t requests = 0;
  };
  std::map<ActorId, std::map<ActorId, Share>> sent;  // by disk, then thread
  for (const DiskIo& io : trace.disk_ios) {
    const bool in_window =
        io.issue < trace.window.end && std::max(io.complete, io.issue) > trace.window.begin;
    if (io.thread == kNoActor || !in_window) {
      continue;
    }
    constexpr std::uint64_t kSector = 512;
    Share& mine = sent[io.disk][io.thread];
    mine.bytes = std::min<Wide>(mine.bytes + (io.bytes == 0 ? kSector : io.bytes), kMostBytes);
    ++mine.requests;
  }

  const std::set<std::pair<ActorId, ActorId>> in_work = kept_in_work(trace);
  std::vector<Edge> edges;
  for (const DiskUse& disk : use) {
    const std::map<ActorId, Share>& users = sent[disk.disk];
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
      if (edge.wait_ns > 0 && !in_work.contains({edge.from, edge.to})) {
        edges.push_back(std::move(edge));
      }
    }
  }
  return edges;
}

}  // namespace offwait
