// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit/diff/server.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analyse.h"
#include "model/validate.h"
#include "trace/text.h"

namespace offwait::test {

namespace {

/// Runs the server, event by event, and writes its waits down.
class Run {
 public:
  Run(const Server& server, std::uint64_t seed) : server_(server), random_(seed) {
    std::normal_distribution<double> normal(0, std::max(server.run_to_run, 1e-9));
    factor_ = std::exp(normal(random_));
    end_ = static_cast<long>(server.seconds * 1e9);
  }

  std::string text() {
    text_ = fmt::format("offwait-waits 1\nwindow 0 {}\nrecording target=pid%201 cpus=16 kernel=6.1\n", end_);
    add_thread(server_.first_tid, server_.name, "");
    for (int i = 1; i <= server_.workers; ++i)
      add_thread(server_.first_tid + i, fmt::format("{}-{}", server_.name, i), "");
    add_thread(server_.first_tid + 90, "house", "");
    add_thread(server_.first_tid + 91, "idle", "");
    text_ += fmt::format(
        "wait {} block=0 wake=- run=- waker=- class=futex stack=futex_wait;--;pthread_cond_wait;pool\n",
        server_.first_tid + 91);
    keep_house();
    for (int i = 1; i <= server_.workers; ++i) events_.push({drawn(server_.compute_ms), i, Step::computed});
    while (!events_.empty() && events_.top().at < end_) {
      const Event event = events_.top();
      events_.pop();
      take(event);
    }
    close_waits();
    if (server_.responses) {
      for (const auto& [worker, count] : answers_)
        text_ += fmt::format("responses {} port=80 count={} connections=1 first=0 last={}\n",
                             server_.first_tid + worker, count, end_ - 1);
    }
    return text_ + server_.more;
  }

 private:
  enum class Step { computed, released, written };
  struct Event {
    long at;
    int worker;
    Step step;
    bool operator<(const Event& other) const { return at > other.at; }  // the earliest is on top
  };

  void add_thread(int tid, const std::string& name, const std::string& more) {
    text_ += fmt::format("thread {} tgid={} comm={} start=0 exit=-{}{}\n", tid, server_.first_tid, name,
                         server_.program.empty() ? "" : " program=" + server_.program, more);
  }

  long drawn(double mean_ms) {
    std::exponential_distribution<double> exponential(1 / (mean_ms * factor_ * 1e6));
    return std::max(1000L, static_cast<long>(exponential(random_)));
  }

  void wait(int worker, long from, long to, const std::string& waker, const std::string& what) {
    text_ += fmt::format("wait {} block={} wake={} run={} waker={} {}{}\n", server_.first_tid + worker, from,
                         to, to, waker, what, server_.start.empty() ? "" : ";" + server_.start);
  }

  void keep_house() {
    std::exponential_distribution<double> exponential(1 / 5e6);
    long at = 0;
    while (true) {
      const long to = at + 1'000'000 + static_cast<long>(exponential(random_));
      if (to >= end_) return;
      text_ +=
          fmt::format("wait {} block={} wake={} run={} waker=timer class=sleep stack=hrtimer;--;nanosleep\n",
                      server_.first_tid + 90, at, to, to);
      at = to + 50'000;
    }
  }

  void take(const Event& event) {
    if (event.step == Step::computed) {
      if (server_.locked_ms <= 0) return write(event.worker, event.at);
      if (holder_ != 0) {
        line_.push_back({event.worker, event.at});
        return;
      }
      hold(event.worker, event.at);
    } else if (event.step == Step::released) {
      holder_ = 0;
      if (!line_.empty()) {
        const auto [next, since] = line_.front();
        line_.pop_front();
        wait(next, since, event.at, fmt::format("thread:{}", server_.first_tid + event.worker),
             "class=futex futex=64 stack=futex_wait;--;pthread_mutex_lock;store");
        hold(next, event.at);
      }
      write(event.worker, event.at);
    } else {
      ++answers_[event.worker];
      events_.push({event.at + drawn(server_.compute_ms), event.worker, Step::computed});
    }
  }

  void hold(int worker, long at) {
    holder_ = worker;
    events_.push({at + drawn(server_.locked_ms), worker, Step::released});
  }

  void write(int worker, long at) {
    const long to = at + (server_.disk_ms > 0 ? drawn(server_.disk_ms) : 1000);
    if (server_.disk_ms > 0 && to < end_)
      wait(worker, at, to, "disk:vda", "class=disk stack=io_schedule;--;fdatasync;store");
    events_.push({to, worker, Step::written});
  }

  void close_waits() {
    for (const auto& [worker, since] : line_)
      text_ += fmt::format("wait {} block={} wake=- run=- waker=- class=futex\n", server_.first_tid + worker,
                           since);
  }

  const Server& server_;
  std::mt19937_64 random_;
  double factor_ = 1;
  long end_ = 0;
  std::string text_;
  std::priority_queue<Event> events_;
  std::deque<std::pair<int, long>> line_;  ///< who waits for the lock, and since when
  int holder_ = 0;
  std::map<int, int> answers_;
};

}  // namespace

std::string text_of(const Server& server, std::uint64_t seed) { return Run(server, seed).text(); }

Trace recorded(const Server& server, std::uint64_t seed) {
  Result<Trace> trace = parse_text(text_of(server, seed), "test");
  if (!trace.ok()) FAIL(trace.error().message);
  REQUIRE(validate(*trace).ok());
  return std::move(trace).value();
}

RecordingToCompare to_compare(const Trace& trace, const std::string& file) {
  AnalysisOptions options;
  options.answers = false;
  Result<Profile> profile = profile_of(trace, {});
  Result<Findings> findings = analyse(trace, options);
  if (!profile.ok()) FAIL(profile.error().message);
  if (!findings.ok()) FAIL(findings.error().message);
  return {file, std::move(findings).value(), std::move(profile).value()};
}

RecordingToCompare to_compare(const Server& server, std::uint64_t seed) {
  return to_compare(recorded(server, seed));
}

Comparison compared(const Server& before, const Server& after, std::uint64_t seed, std::size_t recordings) {
  std::vector<RecordingToCompare> of_before;
  std::vector<RecordingToCompare> of_after;
  for (std::size_t i = 0; i < recordings; ++i) {
    of_before.push_back(to_compare(before, seed + 2 * i));
    of_after.push_back(to_compare(after, seed + 2 * i + 1));
  }
  return compare(std::move(of_before), std::move(of_after), 0.01);
}

std::string waits_at_lock(int count, double each_ms) {
  std::string out;
  for (const int tid : {188, 189})
    out += fmt::format("thread {} tgid=100 comm=srv-{} start=0 exit=- program=/usr/sbin/srv\n", tid, tid);
  for (int i = 0; i < count; ++i) {
    const long from = 2'000'000'000L / count * i;
    const long to = from + static_cast<long>(each_ms * 1e6);
    out += fmt::format(
        "wait 188 block={} wake={} run={} waker=thread:189 class=futex futex=64 "
        "stack=futex_wait;--;pthread_mutex_lock;store;serve\n",
        from, to, to);
  }
  return out;
}

std::size_t changes(const Comparison& comparison) {
  std::size_t out = 0;
  const auto count = [&out](const ComparedAmount& amount) { out += amount.changed() ? 1U : 0U; };
  for (const ComparedTime& row : comparison.times) count(row.time);
  for (const ComparedEdge& row : comparison.edges) {
    count(row.weight);
    count(row.waits);
  }
  for (const ComparedLock& row : comparison.locks) {
    count(row.wait);
    count(row.waits);
  }
  for (const ComparedFunction& row : comparison.functions) count(row.time);
  for (const ComparedKnot& row : comparison.knots) count(row.weight);
  return out;
}

}  // namespace offwait::test
