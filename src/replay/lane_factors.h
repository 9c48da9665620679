// SPDX-License-Identifier: GPL-2.0-or-later
// What the scenarios of lanes (lanes.h) scale, a row of one number for each lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "replay/code.h"
#include "replay/scenario.h"

namespace offwait {

/// Lanes come in blocks, so that the compiler uses vectors.
inline constexpr std::size_t kBlock = 4;

using Row = double*;
using ConstRow = const double*;

/// Sets a row of `lanes` numbers, a multiple of kBlock. `value` of a lane may read all rows at that lane,
/// this one, too. A block is computed before it is stored, so that the compiler needs no proof that rows
/// differ.
template <typename Value>
void set_row(Row row, std::size_t lanes, const Value& value) {
  for (std::size_t from = 0; from < lanes; from += kBlock) {
    std::array<double, kBlock> block;
    for (std::size_t i = 0; i < kBlock; ++i) block[i] = value(from + i);
    for (std::size_t i = 0; i < kBlock; ++i) row[from + i] = block[i];
  }
}

/// Rows of one number for each lane.
class Rows {
 public:
  Rows(std::size_t rows, std::size_t lanes, double value) : lanes_(lanes), values_(rows * lanes, value) {}
  Row operator[](std::size_t row) { return values_.data() + row * lanes_; }

 private:
  std::size_t lanes_;
  std::vector<double> values_;
};

/// How much longer each kind of time takes, by lane. Rows that no scenario changes are one row of ones.
class Factors {
 public:
  explicit Factors(std::size_t lanes) : ones_(lanes, 1.0) {}

  /// `part`: a disk or a service.
  void multiply(Resource resource, std::uint32_t group, std::uint32_t part, std::size_t lane, double factor) {
    const auto [found, added] = rows_.try_emplace({resource, group, part}, ones_);
    found->second[lane] *= factor;
  }
  ConstRow of(Resource resource, std::uint32_t group, std::uint32_t part = kNoActor) const {
    const auto found = rows_.find({resource, group, part});
    return found == rows_.end() ? ones_.data() : found->second.data();
  }

 private:
  std::vector<double> ones_;
  std::map<std::tuple<Resource, std::uint32_t, std::uint32_t>, std::vector<double>> rows_;
};

/// The factors of all changes but those of functions.
Factors factors_of(const std::vector<Scenario>& scenarios, std::size_t lanes);

/// By lane: how much longer threads are ready to run, where the CPUs are short: it shrinks by the part of all
/// CPU time that was used, `used_ns`, which changes save.
std::vector<double> shorter_queues(const std::vector<Scenario>& scenarios, std::size_t lanes,
                                   const Uses& uses, const Code* code, double used_ns);

/// How much longer time in functions takes, by lane.
class CodeFactors {
 public:
  /// `code` may be null if no scenario changes a function. What it refers to outlives it.
  CodeFactors(const Trace& trace, const Code* code, const std::vector<Scenario>& scenarios,
              const Factors& all, std::size_t lanes);

  /// Some scenario changes a function.
  bool any() const { return !work_.empty(); }
  /// The factors of a group's work before its first wait, and of its work after a wait. Other changes of the
  /// group's work are part of them.
  ConstRow work_of(GroupId group) const { return work_[group].data(); }
  ConstRow work_after(SiteId site) const { return work_[code_->place_after[site]].data(); }

  /// The factors of the time that the wait itself takes, at a disk, until a time or for a remote service, or
  /// of the time until the thread runs after it.
  ConstRow wait(Resource resource, SiteId site);

 private:
  const Trace& trace_;
  const Code* code_;
  const std::vector<Scenario>& scenarios_;
  std::vector<double> ones_;
  std::vector<std::vector<double>> work_;  ///< by PlaceId
  /// By Resource and StackId: a row of `changed_`, or `ones_`; null where nobody asked yet.
  std::array<std::vector<ConstRow>, kResources> waits_;
  std::deque<std::vector<double>> changed_;
};

}  // namespace offwait
