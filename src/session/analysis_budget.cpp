// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/analysis_budget.h"

#include <algorithm>
#include <cmath>

namespace offwait {
namespace {

constexpr Nanos kFirstGraph = 2 * kSecond;
constexpr Nanos kFirstAnswers = 10 * kSecond;
constexpr Nanos kLongestAnalysed = 10 * kSecond;
/// Numbers that change more often than this cannot be read.
constexpr Nanos kGraphEvery = 2 * kSecond;
constexpr Nanos kAnswersEvery = 10 * kSecond;
/// An analysis takes 2 to 5 µs for each wait.
constexpr double kMostGraphWaits = 50'000;
constexpr double kMostAnswersWaits = 200'000;
/// Recording that takes the whole budget still leaves this part of it to analyses, or nothing would ever be
/// seen of what was recorded.
constexpr double kLeastPart = 0.2;
/// More is not saved, unless one analysis takes more: what was idle for hours is not analysed all the time
/// afterwards.
constexpr Nanos kMostSaved = 2 * kSecond;

}  // namespace

void AnalysisBudget::add(Nanos length, Nanos cpus, Nanos recording, std::uint64_t waits) {
  recorded_ += length;
  const double rate = length > 0 ? static_cast<double>(waits) / to_seconds(length) : 0;
  waits_per_s_ = waits_per_s_ == 0 ? rate : 0.7 * waits_per_s_ + 0.3 * rate;
  const double all = most_ * static_cast<double>(cpus);
  const auto left = static_cast<Nanos>(std::max(all - static_cast<double>(recording), kLeastPart * all));
  for (Account* account : {&graph_, &answers_}) {
    account->since += length;
    account->saved = std::min(account->saved + left / 2, std::max(kMostSaved, account->last_cost));
  }
}

void AnalysisBudget::spent(Kind kind, Nanos cpu_time) {
  account(kind).last_cost = cpu_time;
  account(kind).saved -= cpu_time;
}

bool AnalysisBudget::is_due(Kind kind) const {
  const Account& of_kind = account(kind);
  const bool graph = kind == Kind::graph;
  if (!of_kind.begun) return recorded_ >= (graph ? kFirstGraph : kFirstAnswers);
  if (of_kind.since < (graph ? kGraphEvery : kAnswersEvery)) return false;
  return most_ <= 0 || of_kind.saved >= of_kind.last_cost;
}

std::optional<AnalysisBudget::Kind> AnalysisBudget::due() const {
  for (const Kind kind : {Kind::answers, Kind::graph}) {
    if (is_due(kind)) return kind;
  }
  return std::nullopt;
}

void AnalysisBudget::begins(Kind kind) {
  account(kind).begun = true;
  account(kind).since = 0;
  // It has the graph, too.
  if (kind == Kind::answers) {
    graph_.begun = true;
    graph_.since = 0;
  }
}

Nanos AnalysisBudget::length(Kind kind) const {
  const double most = kind == Kind::graph ? kMostGraphWaits : kMostAnswersWaits;
  const double longest = to_seconds(kLongestAnalysed);
  const double s = waits_per_s_ > 0 ? std::floor(std::min(most / waits_per_s_, longest)) : longest;
  return std::max(static_cast<Nanos>(s), kind == Kind::graph ? Nanos{1} : Nanos{2}) * kSecond;
}

}  // namespace offwait
