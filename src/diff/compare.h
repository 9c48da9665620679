// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings before and after a change, compared: what a report of the difference shows, as plain values.
// Edges are ranked by the change of their weight, which includes what waits behind them, so that the edge
// that a fix has removed comes before all that it held up. The number of waits is an amount of its own: where
// CPUs are short, a holder of a lock that lost its CPU makes one wait as long as a thousand others. Knots are
// compared by the weights of their edges, because thresholds decide whether a knot is found, and a comparison
// of one program with itself must show nothing. keys.h says what is the same in two recordings, align() in
// profile.h what keys leave out because not all recordings know it, unit.h what amounts are divided by.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/findings.h"
#include "diff/keys.h"
#include "diff/profile.h"
#include "diff/spread.h"
#include "diff/unit.h"
#include "model/backtrace.h"

namespace offwait {

/// One recording of a side, as it was analysed.
struct RecordingToCompare {
  std::string file;  ///< where it came from; hostile bytes
  Findings findings;
  Profile profile;
};

/// An amount on both sides, in seconds per unit; of waits their number per unit, and of the throughput units
/// per second.
struct ComparedAmount {
  enum class Change : std::uint8_t {
    none,  ///< it is within the spread, or too small to matter
    came,  ///< there is at most kNearlyNone of it before
    went,
    grew,
    shrank,
  };
  double before = 0;  ///< mean of the recordings
  double after = 0;
  double spread = 0;  ///< spread_of() the change, such that none of all is off by more with 95 %
  Change change = Change::none;
  std::vector<double> each_before{};  ///< by recording
  std::vector<double> each_after{};
  double difference() const { return after - before; }
  bool changed() const { return change != Change::none; }
};
inline constexpr double kNearlyNone = 0.02;
std::string_view to_string(ComparedAmount::Change change);

/// A name for people, of whatever is at one end of an edge.
struct ComparedEnd {
  EndKey::Kind kind = EndKey::Kind::thread;
  std::string name{};  ///< unlike all other names here; hostile bytes
};

struct ComparedEdge {
  ComparedEnd from;
  ComparedEnd to;
  ComparedAmount weight;
  ComparedAmount wait;                    ///< time waited; without spread and change
  ComparedAmount waits;                   ///< how many ended
  std::map<WaitClass, double> classes{};  ///< parts of the wait, before and after together, 0 to 1
  Backtrace stack{};  ///< where most of the weight is waited, on the side that has more of it
  bool changed() const { return weight.changed() || waits.changed(); }
};

struct ComparedLock {
  LockKey key;
  std::vector<std::string> waiters{};  ///< names of threads, the longest waiting first; hostile bytes
  ComparedAmount wait;                 ///< time waited
  ComparedAmount waits;                ///< how many ended
  Backtrace stack{};
  bool changed() const { return wait.changed() || waits.changed(); }
};

struct ComparedFunction {
  Frame function;       ///< as recorded in one of the recordings; without a name it stands for all of these
  ComparedAmount time;  ///< on CPUs and in waits, while it was the innermost function
  std::array<double, kTimeKinds> before{};  ///< by TimeKind, per unit
  std::array<double, kTimeKinds> after{};
  std::vector<Frame> callers{};  ///< FunctionSums::callers, of the side with more time
  bool changed() const { return time.changed(); }
};

struct ComparedTime {
  TimeKind kind = TimeKind::cpu;
  ComparedAmount time;
  bool changed() const { return time.changed(); }
};

struct ComparedKnot {
  std::vector<ComparedEnd> members;
  /// The weights of all edges between its members, whether they are a knot in a recording or not.
  ComparedAmount weight;
  std::size_t before = 0;  ///< the number of recordings in which it limits
  std::size_t after = 0;
  bool changed() const { return weight.changed(); }
};

struct ComparedSide {
  struct Recording {
    std::string file;
    Findings findings;
    std::optional<double> units_per_s{};  ///< of the unit, if it is no second
  };
  std::vector<Recording> recordings;
  std::vector<std::string> programs{};  ///< that threads run whose progress counts, in order; hostile bytes
};

/// Rows are those that fill a part of the window (`noise` of compare()) on one side or more; functions, that
/// part of all that threads did. Those whose time changed come first: those that explain the throughput
/// (explains()) before others, and then by how much. Then those of which only the number of waits did.
struct Comparison {
  ComparedSide before;
  ComparedSide after;
  ComparedUnit unit;
  /// Units per second. With one recording on each side its spread is not known, and 0.
  std::optional<ComparedAmount> throughput{};
  bool spread_within = false;  ///< the spread is that of pieces of one recording on each side
  /// Modules whose functions have names in some of the recordings only; hostile bytes. If there are any, no
  /// function has a change, and no lock that is known by one.
  std::vector<std::string> named_in_some{};
  std::size_t amounts = 0;  ///< that were compared: the time of each row, and the number of its waits
  std::vector<ComparedTime> times;
  std::vector<ComparedEdge> edges;
  std::vector<ComparedLock> locks;
  std::vector<ComparedFunction> functions;
  std::vector<ComparedKnot> knots;
};

/// Whether an amount shrank where the throughput grew, or grew where it shrank. A faster program waits more
/// often for other things, and these waits are no reason for it.
bool explains(const ComparedAmount& amount, const std::optional<ComparedAmount>& throughput);

/// Each side has a recording or more. `noise`: the part of the window that a row fills.
Comparison compare(std::vector<RecordingToCompare> before, std::vector<RecordingToCompare> after,
                   double noise);

}  // namespace offwait
