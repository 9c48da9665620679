// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/unit.h"

#include <algorithm>

namespace offwait {

namespace {

/// What a recording counts, as far as two can be told apart by it.
struct Counted {
  ComparedUnit::Kind kind = ComparedUnit::Kind::second;
  bool responses = false;
  std::vector<std::string> functions{};
  friend bool operator==(const Counted&, const Counted&) = default;
};

Counted counted_by(const Profile& profile) {
  if (profile.units == 0) return {};
  switch (profile.how) {
    case Progress::How::end:
      return {ComparedUnit::Kind::run, false, {}};
    case Progress::How::clients:
      return {ComparedUnit::Kind::answer, profile.counted_responses, {}};
    case Progress::How::told:
      if (!profile.functions.empty()) return {ComparedUnit::Kind::call, false, profile.functions};
      break;
    case Progress::How::inferred:
      break;
  }
  return {};
}

std::size_t counting(const std::vector<const Profile*>& side) {
  return static_cast<std::size_t>(std::count_if(side.begin(), side.end(), [](const Profile* profile) {
    return counted_by(*profile).kind != ComparedUnit::Kind::second;
  }));
}

}  // namespace

std::string_view to_string(ComparedUnit::Kind kind) {
  switch (kind) {
    case ComparedUnit::Kind::second:
      return "second";
    case ComparedUnit::Kind::answer:
      return "answer";
    case ComparedUnit::Kind::call:
      return "call";
    case ComparedUnit::Kind::run:
      return "run";
  }
  return "second";
}

ComparedUnit unit_of(const std::vector<const Profile*>& before, const std::vector<const Profile*>& after) {
  using Reason = ComparedUnit::Reason;
  const std::size_t of_before = counting(before);
  const std::size_t of_after = counting(after);
  const bool all_before = of_before == before.size();
  const bool all_after = of_after == after.size();
  ComparedUnit out;
  if (of_before + of_after == 0) return out;
  if (!all_before || !all_after) {
    out.reason = all_after ? Reason::not_before : all_before ? Reason::not_after : Reason::in_some;
    return out;
  }
  const Counted first = counted_by(*before.front());
  const auto same = [&first](const Profile* profile) { return counted_by(*profile) == first; };
  if (!std::all_of(before.begin(), before.end(), same) || !std::all_of(after.begin(), after.end(), same)) {
    out.reason = Reason::different;
    return out;
  }
  return {first.kind, Reason::none, first.functions};
}

double units_of(const Profile& profile, const ComparedUnit& unit) {
  return unit.kind == ComparedUnit::Kind::second ? profile.window_s : static_cast<double>(profile.units);
}

}  // namespace offwait
