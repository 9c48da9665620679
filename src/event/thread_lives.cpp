// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/thread_lives.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "event/losses.h"
#include "model/called.h"

namespace offwait {

namespace {

std::string bounded_string(const char* text, std::size_t size) { return {text, ::strnlen(text, size)}; }

void set_outside(Actor& actor, std::uint8_t outside) {
  actor.outside = outside != OFFWAIT_TARGET;
  actor.kernel = outside == OFFWAIT_OUTSIDE_KERNEL;
  actor.recorder = outside == OFFWAIT_OUTSIDE_RECORDER;
}

Actor thread_actor(std::uint32_t tid, std::uint32_t ns_tid, std::uint32_t tgid, std::string name,
                   std::uint8_t outside) {
  Actor actor;
  actor.kind = ActorKind::thread;
  actor.name = std::move(name);
  actor.tid = static_cast<std::int32_t>(tid);
  actor.tgid = static_cast<std::int32_t>(tgid);
  actor.ns_tid = ns_tid == tid ? 0 : static_cast<std::int32_t>(ns_tid);
  set_outside(actor, outside);
  return actor;
}

/// For each program the first one that is the same but for the script that an interpreter runs: a loop may
/// run as many scripts as it runs processes.
std::vector<std::uint32_t> without_scripts(const std::vector<RunningProgram>& programs) {
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> first;
  std::vector<std::uint32_t> out;
  for (const RunningProgram& one : programs) {
    const std::string_view title = names_script(one.title) ? "" : std::string_view(one.title);
    out.push_back(first.try_emplace({one.path, title}, static_cast<std::uint32_t>(out.size())).first->second);
  }
  return out;
}

}  // namespace

ThreadLives::ThreadLives(const KernelRecording& recording, TraceBuilder& builder, std::size_t most_single)
    : recording_(recording),
      builder_(builder),
      window_(recording.window),
      courses_(recording, most_single),
      without_script_(without_scripts(recording.programs)) {
  recording.records.for_each_kind([this](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_thread_record>) collect(record);
  });
  // A thread whose record was lost is still in the kernel's table at the end, if it has not exited.
  for (const auto& [tid, left] : recording.threads) {
    if (const Life* last = lives_.last(tid); last != nullptr && last->exit == kNever) continue;
    Life life;
    life.start = birth_after_others(tid, nanos(left.start_ns));
    const Nanos seen = left.since_ns != 0 ? nanos(left.since_ns) : window_.begin;
    const bool recorder = left.tgid != 0 && left.tgid == recording.recorder;
    const std::uint8_t outside = left.target != 0 ? OFFWAIT_TARGET
                                 : recorder       ? OFFWAIT_OUTSIDE_RECORDER
                                                  : OFFWAIT_OUTSIDE;
    life.actor = add_thread(thread_actor(tid, left.ns_tid, left.tgid, "", outside), life, seen);
    lives_.append(tid, life);
  }
  lives_.end();
  give_titles();
  progress_.resize(builder.trace().actors.size());
  courses_ = {};
}

/// Only now it is known which threads have named themselves, and which title their process has at the end.
/// The main thread may not be recorded.
void ThreadLives::give_titles() {
  std::unordered_map<std::int32_t, std::string> titles;  // by tgid
  std::vector<Actor>& actors = builder_.trace().actors;
  for (const Actor& actor : actors) {
    if (actor.kind == ActorKind::thread && actor.tid == actor.tgid)
      titles.insert_or_assign(actor.tgid, actor.title);
  }
  for (Actor& actor : actors) {
    if (actor.title.empty() || actor.tid == actor.tgid) continue;
    const auto title = titles.find(actor.tgid);
    if (title != titles.end()) actor.title = title->second;
    if (!has_title(actor.title, actor.name, false)) actor.title.clear();
  }
}

ActorId ThreadLives::add_thread(Actor actor, const Life& life, Nanos seen) {
  if (life.start >= window_.end) return kNoActor;
  actor.start = life.start;
  actor.seen = std::max({seen, life.start, window_.begin});
  return builder_.add_actor(std::move(actor));
}

void ThreadLives::collect(const offwait_thread_record& record) {
  Life* const last = lives_.last(record.tid);
  const bool alive = last != nullptr && last->exit == kNever;
  const Nanos at = nanos(record.at_ns);
  switch (record.event) {
    case OFFWAIT_THREAD_SEEN:
    case OFFWAIT_THREAD_BORN:
    case OFFWAIT_THREAD_ENTERED:
      begin_life(record);
      break;
    case OFFWAIT_THREAD_NAMED:
      if (alive && last->actor != kNoActor && at < window_.end) {
        Actor& actor = builder_.trace().actors[last->actor];
        actor.name = bounded_string(record.comm, sizeof(record.comm));
        set_outside(actor, record.outside);
      }
      break;
    case OFFWAIT_THREAD_EXITED:
      if (alive) end_life(*last, std::max(at, last->start));
      break;
    default:
      count_loss_at(at, recording_, builder_.trace().loss, OFFWAIT_LOSS_record_invalid);
  }
}

Nanos ThreadLives::birth_after_others(std::uint32_t tid, Nanos start) const {
  const Life* const last = lives_.last(tid);
  return std::max(start, last == nullptr ? 0 : last->exit);
}

void ThreadLives::begin_life(const offwait_thread_record& record) {
  const Nanos at = nanos(record.at_ns);
  const Nanos start = record.event == OFFWAIT_THREAD_ENTERED ? at : nanos(record.start_ns);
  // The exit record of the tid's owner before was lost, but that thread is gone.
  if (Life* const last = lives_.last(record.tid); last != nullptr && last->exit == kNever) {
    if (last->actor != kNoActor) exits_lost_.insert(last->actor);
    end_life(*last, std::max(start, last->start));
  }
  Life life;
  life.start = birth_after_others(record.tid, start);
  life.parent = parent_of(record, life);
  const ThreadCourses::Course course = courses_.are_told() ? courses_.next() : ThreadCourses::Course();
  if (course.is_brief) life.actor = relay_of(record, course, life);
  if (life.actor != kNoActor) return lives_.append(record.tid, life);
  const Nanos seen = record.event == OFFWAIT_THREAD_BORN ? life.start : at;
  life.actor = add_thread(thread_actor(record.tid, record.ns_tid, record.tgid,
                                       bounded_string(record.comm, sizeof(record.comm)), record.outside),
                          life, seen);
  lives_.append(record.tid, life);
  if (life.actor == kNoActor) return;
  Actor& actor = builder_.trace().actors[life.actor];
  actor.parent = life.parent;
  describe(record, actor);
  if (!courses_.are_told()) return;
  actor.tgid = process_of(record);
  if (!course.is_brief) return;
  const Relays::Kind kind = kind_of(record, course);
  actor.tid = relays_.begin(life.actor, kind, static_cast<std::uint32_t>(lives_.all().size() - 1));
  actor.ns_tid = 0;
  if (kind.process == 0) actor.tgid = actor.tid;
}

void ThreadLives::describe(const offwait_thread_record& record, Actor& actor) const {
  const auto allowed = recording_.allowed_cpus.find({record.tid, record.start_ns});
  if (allowed != recording_.allowed_cpus.end()) actor.allowed_cpus = allowed->second;
  const std::uint32_t* const program = program_of(record);
  if (program == nullptr) return;
  const RunningProgram& runs = recording_.programs.at(*program);
  actor.program = runs.path;
  if (actor.tid == actor.tgid || names_script(runs.title)) actor.title = runs.title;
}

std::int32_t ThreadLives::process_of(const offwait_thread_record& record) const {
  const Life* const leader = record.tgid == record.tid ? nullptr : lives_.last(record.tgid);
  const bool known = leader != nullptr && leader->actor != kNoActor;
  return known ? builder_.trace().actors[leader->actor].tgid : static_cast<std::int32_t>(record.tgid);
}

const std::uint32_t* ThreadLives::program_of(const offwait_thread_record& record) const {
  return value_of(recording_.program_of, {record.tid, record.start_ns});
}

Relays::Kind ThreadLives::kind_of(const offwait_thread_record& record,
                                  const ThreadCourses::Course& course) const {
  const std::uint32_t* const program = program_of(record);
  return {course.name, program == nullptr ? UINT32_MAX : without_script_.at(*program),
          record.tgid == record.tid ? 0 : process_of(record), record.outside};
}

ActorId ThreadLives::relay_of(const offwait_thread_record& record, const ThreadCourses::Course& course,
                              const Life& life) {
  const auto number = static_cast<std::uint32_t>(lives_.all().size());
  const ActorId relay = relays_.go_on(kind_of(record, course), life.start, life.parent, number);
  if (relay == kNoActor) return kNoActor;
  Actor& actor = builder_.trace().actors[relay];
  actor.exit = kNever;
  ++actor.lives;
  if (actor.title.empty()) return relay;
  const std::uint32_t* const program = program_of(record);
  if (program == nullptr || recording_.programs.at(*program).title != actor.title) actor.title.clear();
  return relay;
}

void ThreadLives::add_births(ActorId actor, Nanos at) {
  relays_.take_births(actor, at, lives_, [&](const Life& before, const Life& life) {
    if (not_alive_ == kNoStack) not_alive_ = builder_.stack({{builder_.frame(not_alive_frame())}});
    WaitSite site;
    site.thread = actor;
    site.waker = life.parent;
    site.wait_stack = not_alive_;
    builder_.trace().waits.push_back({builder_.site(site), kNoObject, before.exit, life.start, life.start});
    progress_[actor].last = life.start;
  });
}

void ThreadLives::finish_relays() {
  for (const ActorId actor : relays_.all()) add_births(actor, kNever);
}

ActorId ThreadLives::parent_of(const offwait_thread_record& record, const Life& child) const {
  if (record.event != OFFWAIT_THREAD_BORN || record.parent == 0 || record.parent == record.tid)
    return kNoActor;
  const Life* const parent = lives_.last(record.parent);
  return parent == nullptr || parent->start > child.start ? kNoActor : parent->actor;
}

void ThreadLives::end_life(Life& life, Nanos at) {
  life.exit = at;
  if (life.actor == kNoActor || at >= window_.end) return;
  builder_.trace().actors[life.actor].exit = at;
  relays_.exited(life.actor, at);
}

const Life* ThreadLives::life_at(std::uint32_t tid, Nanos at) const {
  const Life* life = lives_.alive_through(tid, at);
  return life == nullptr || life->actor == kNoActor ? nullptr : life;
}

std::uint32_t ThreadLives::number_of(std::uint32_t tid, Nanos at) const {
  const Life* const life = relays_.empty() ? nullptr : life_at(tid, at);
  const std::optional<std::int32_t> relay = life == nullptr ? std::nullopt : relays_.number_of(life->actor);
  return relay ? static_cast<std::uint32_t>(*relay) : tid;
}

const Life* ThreadLives::place(std::uint32_t tid, std::uint64_t from_ns, std::uint64_t known_ns,
                               Nanos& from) {
  const Nanos known = nanos(known_ns);
  if (from_ns != 0 && nanos(from_ns) >= window_.end) return nullptr;
  if (known <= window_.begin) return nullptr;
  const Life* life = life_at(tid, known);
  if (life == nullptr) {
    // Threads born after the window's end are no actors, and their records do not matter.
    if (known < window_.end)
      count_loss_at(known, recording_, builder_.trace().loss, OFFWAIT_LOSS_record_invalid);
    return nullptr;
  }
  add_births(life->actor, life->start);
  from = from_ns != 0 ? nanos(from_ns) : std::max(window_.begin, life->start);
  const Progress& progress = progress_[life->actor];
  if (progress.open || from < std::max(life->start, progress.last) || known < from) {
    count_loss_at(known, recording_, builder_.trace().loss, OFFWAIT_LOSS_record_invalid);
    return nullptr;
  }
  return life;
}

std::vector<Gap> ThreadLives::lost_exits() const {
  std::unordered_set<std::uint32_t> left;
  for (const auto& [tid, thread] : recording_.threads) left.insert(tid);
  std::vector<Gap> gaps;
  for (const Life& life : lives_.all()) {
    if (life.actor == kNoActor || progress_[life.actor].open) continue;
    // A relay stands for threads that have exited, so an actor without an exit has the thread's own tid.
    const auto tid = static_cast<std::uint32_t>(builder_.trace().actors[life.actor].tid);
    const bool gone = life.exit == kNever && !left.contains(tid);
    if (!gone && !exits_lost_.contains(life.actor)) continue;
    const Nanos from = std::max({last_end(life), life.start, window_.begin});
    const Nanos to = std::min(life.exit, window_.end);
    if (from < to) gaps.push_back({life.actor, from, to});
  }
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.thread < b.thread; });
  return gaps;
}

}  // namespace offwait
