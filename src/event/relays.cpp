// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/relays.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "model/called.h"

namespace offwait {
namespace {

bool begins_life(std::uint8_t event) {
  return event == OFFWAIT_THREAD_SEEN || event == OFFWAIT_THREAD_BORN || event == OFFWAIT_THREAD_ENTERED;
}

template <class Visit>
void for_each_thread_record(const KernelRecording& recording, Visit visit) {
  recording.records.for_each_kind([&visit](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_thread_record>) visit(record);
  });
}

/// Numbers names.
class Names {
 public:
  std::uint32_t number(const offwait_thread_record& record) {
    const std::string name(record.comm, ::strnlen(record.comm, sizeof(record.comm)));
    return numbers_.try_emplace(name_pattern(name), static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace

ThreadCourses::ThreadCourses(const KernelRecording& recording, std::size_t most_single) {
  if (recording.records.count(OFFWAIT_RECORD_THREAD) <= most_single) return;
  std::size_t begun = 0;
  for_each_thread_record(recording, [&begun](const offwait_thread_record& record) {
    begun += begins_life(record.event) ? 1U : 0U;
  });
  if (begun <= most_single) return;
  names_.reserve(begun);
  is_brief_.resize(begun);
  const Window& window = recording.window;
  Names names;
  struct Alive {
    std::size_t place = 0;  ///< in names_
    Nanos start = kNever;   ///< kNever if it was not born in the window
  };
  std::unordered_map<std::uint32_t, Alive> alive;  // by tid
  for_each_thread_record(recording, [&](const offwait_thread_record& record) {
    if (begins_life(record.event)) {
      const Nanos start = nanos(record.start_ns);
      const bool born = record.event == OFFWAIT_THREAD_BORN && start > window.begin;
      alive[record.tid] = {names_.size(), born ? start : kNever};
      names_.push_back(names.number(record));
      return;
    }
    const auto thread = alive.find(record.tid);
    if (thread == alive.end()) return;
    const auto [place, start] = thread->second;
    if (record.event == OFFWAIT_THREAD_NAMED) names_[place] = names.number(record);
    if (record.event != OFFWAIT_THREAD_EXITED) return;
    alive.erase(thread);
    const Nanos exit = nanos(record.at_ns);
    is_brief_[place] = start != kNever && exit < window.end && exit - start <= window.length() / 2;
  });
}

std::int32_t Relays::begin(ActorId actor, const Kind& kind, std::uint32_t life) {
  Relay& relay = relays_[actor];
  relay.kind = kind;
  relay.number = kLargestTid + static_cast<std::int32_t>(relays_.size());
  relay.lives.push_back(life);
  return relay.number;
}

std::optional<std::int32_t> Relays::number_of(ActorId actor) const {
  const auto found = relays_.find(actor);
  return found == relays_.end() ? std::nullopt : std::optional(found->second.number);
}

ActorId Relays::go_on(const Kind& kind, Nanos born, ActorId parent, std::uint32_t life) {
  const auto found = free_.find(kind);
  if (found == free_.end()) return kNoActor;
  std::vector<ActorId>& free = found->second;
  // Threads of the relays that were freed last may have exited only while this thread was made.
  for (std::size_t left = free.size(); left-- > 0;) {
    const ActorId actor = free[left];
    Relay& relay = relays_.at(actor);
    if (relay.exit > born || actor == parent) continue;
    relay.lives.push_back(life);
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(left));
    return actor;
  }
  return kNoActor;
}

std::size_t Relays::births() const {
  std::size_t out = 0;
  for (const auto& [actor, relay] : relays_) out += relay.lives.size() - 1;
  return out;
}

void Relays::exited(ActorId actor, Nanos at) {
  const auto found = relays_.find(actor);
  if (found == relays_.end()) return;
  found->second.exit = at;
  free_[found->second.kind].push_back(actor);
}

std::vector<ActorId> Relays::all() const {
  std::vector<ActorId> out;
  out.reserve(relays_.size());
  for (const auto& [actor, relay] : relays_) out.push_back(actor);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace offwait
