// SPDX-License-Identifier: GPL-2.0-or-later
// What `offwait top` shows of an analysis: a small part of the findings, in words where these are sentences.
// It is small because another process makes it (cli/top_bytes.h). Texts may hold hostile bytes: who shows
// them escapes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/findings.h"

namespace offwait {

/// Frames as short names, innermost first.
struct TopStack {
  std::uint64_t kernel = 0;  ///< how many of them, the first ones, are the kernel's
  std::vector<std::string> frames{};
};

struct TopAnswer {
  std::string change;       ///< `disk vda twice as fast`
  std::string gain;         ///< `+82% (77 to 88)`; empty without a number
  std::string mark;         ///< `[sure]`; empty for a bound
  std::string evidence;     ///< what it rests on
  std::string advice;       ///< what people usually do
  bool has_number = false;  ///< the next three are known
  double most = 0;          ///< throughput gained at most, 1 = +100 %
  double low = 0;           ///< the range, or 0 to `most` of a bound
  double high = 0;
  bool sure = false;
  TopStack code{};
};

/// Threads outside of the target that are called alike are one actor.
struct TopActor {
  std::string name;  ///< unique here: `worker×8`, `disk vda`
  std::vector<std::int32_t> tids{};
  bool thread = false;  ///< or a group of threads
  bool outside = false;
  bool in_knot = false;
};

struct TopWaitStacks {
  double share = 0;  ///< of the edge's weight, 0 to 1
  TopStack waits_in{};
  TopStack woken_in{};
};

/// An edge of the graph. Times are per second of the window, and divided by the threads of `from`.
struct TopEdge {
  std::uint64_t from = 0;  ///< index into TopFindings::actors
  std::uint64_t to = 0;
  bool idle = false;
  bool in_knot = false;
  bool aside = false;  ///< it holds nothing up: a wait for requests
  double weight = 0;
  double waited = 0;
  double waits = 0;
  double each_s = 0;
  std::string classes;    ///< `futex 75%, pipe 25%`
  std::string meanwhile;  ///< what the other side did; empty if that is not known
  std::vector<TopWaitStacks> stacks{};
};

struct TopKnot {
  std::string title;  ///< `worker×8 ⇄ disk vda`
  std::string kind;   ///< `blocking I/O`
};

/// A lock, or a file. Times are per second of the window.
struct TopObject {
  std::string name;
  double waited = 0;
  double waits = 0;
  double longest_s = 0;
  std::string who;  ///< who holds the lock, or waits for the file; empty if that is not known
  TopStack code{};
};

struct TopDisk {
  std::string name;
  std::string use;    ///< `busy 93% · 200 IO/s, 100 MB/s · one request at a time, 2.50 ms each: …`
  std::string files;  ///< what its requests are for; empty if that is not known
};

struct TopFindings {
  double window_s = 0;
  bool with_answers = false;
  std::string progress;  ///< whose progress counts, in words: `to 20 clients on :6379`; empty without answers
  std::vector<std::int32_t> progress_tids{};  ///< of the threads that make it
  std::string said;                           ///< what stands above the answers; may be empty
  std::vector<TopAnswer> answers{};           ///< best first
  std::string others;                         ///< what all else gains; may be empty
  std::string verdict;                        ///< what the wait graph says
  std::string cpus;                           ///< why CPUs are lacking; empty if they are not
  std::vector<TopActor> actors{};
  std::vector<TopEdge> edges{};  ///< those of knots first, then the target's; each heaviest first
  std::vector<TopKnot> knots{};
  std::vector<TopObject> locks{};  ///< longest waited for first
  std::vector<TopObject> files{};
  std::vector<TopDisk> disks{};
};

TopFindings top_findings(const Findings& findings);

}  // namespace offwait
