// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/answers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "base/side_by_side.h"
#include "replay/candidates.h"
#include "replay/disk_channels.h"
#include "replay/gain.h"
#include "replay/gains.h"
#include "replay/lock_bounds.h"
#include "replay/many_at_once.h"
#include "replay/more_cpus.h"
#include "replay/more_threads.h"
#include "replay/path_to_exit.h"
#include "replay/pause_bounds.h"
#include "replay/replays.h"
#include "replay/room.h"
#include "replay/sample_doubt.h"
#include "replay/scenario_gains.h"
#include "replay/simulate.h"
#include "replay/syncs.h"
#include "replay/usable_cpus.h"

namespace offwait {

namespace {

constexpr std::size_t kPieces = 4;
constexpr std::size_t kMostSteps = 250'000;
constexpr std::size_t kMostLocks = 5;
constexpr std::size_t kMostPools = 5;
/// Fewer candidates are replayed when there are hundreds of thousands of threads, to need no more memory than
/// this.
constexpr std::size_t kMostReplayBytes = std::size_t{512} << 20;
constexpr std::size_t kFewestCandidates = 8;
/// The report is split if another progress can gain this much, and the first answer gives it less than half
/// of that.
constexpr double kWorthSplitting = 0.1;

/// An answer about a lock.
struct LockAnswer {
  Answer answer;
  double replayed = 0;    ///< what the replay, and the recording of the disks, show of its gain
  bool holds_up = false;  ///< it is worth an answer
};

/// An answer, and the gain by which it is ranked.
struct Ranked {
  Answer answer;
  double gain = 0;
  double known = 0;  ///< bound_more_cpus()
};

/// Whether the threads that hold the lock mostly wait for others meanwhile.
bool mostly_waits_for_others(const Lock& lock) {
  return 2 * (lock.client_ns + lock.others_ns) > lock.held_ns;
}

/// Locks that are replayed: those that get answers, and those that are asked about.
std::size_t known_locks(const std::vector<Scenario>& asked) {
  std::size_t out = kMostLocks;
  for (const Scenario& scenario : asked) {
    for (const Change& change : scenario) {
      if (change.lock != kNoLock) out = std::max(out, std::size_t{change.lock} + 1);
    }
  }
  return out;
}

class Answering {
 public:
  Answering(const Trace& trace, const Facts& facts, const AnswerOptions& options)
      : trace_(trace),
        progress_(facts.progress),
        groups_(facts.groups),
        kinds_(facts.kinds),
        uses_(facts.uses),
        options_(options) {
    // Most of these look at every wait.
    side_by_side(
        [&] {
          histories_.emplace(trace);
          cpus_ = usable_cpus(trace, *histories_);
          channels_ = disk_channels(trace, groups_, kinds_);
          service_uses_ = uses_of_services(trace, groups_, kinds_);
          sleepers_ = waits_for_sleepers_of(trace, groups_, kinds_, uses_);
          ties_ = ties_of(trace, groups_, kinds_, uses_, sleepers_);
        },
        [&] {
          weights_ = weights_of_speeds(trace, groups_, uses_);
          occupied_ = occupied_of(trace, groups_, kinds_, uses_);
          pools_ = pools_of(trace, groups_, kinds_, uses_, occupied_, kMostPools);
          holds_ = LockHolds(trace, groups_, kinds_, known_locks(options.asked));
        });
    code_ = code_of(trace, groups_, kinds_, uses_, options.code);
    syncs_ = scenarios_of_syncs(options.syncs);
    std::vector<Change> services;
    for (ServiceId id = 0; id < kinds_.services.all.size(); ++id) {
      services.push_back({Resource::remote, kNoGroup, kNoActor, 0.5, id});
    }
    services_ = uses_of_parts(trace, groups_, kinds_, uses_, service_uses_, services);
  }

  Answers run() {
    Answers out;
    out.progress = progress_;
    out.cpus = cpus_;
    out.cpus_short = out.cpus.are_short();
    out.asked.resize(options_.asked.size());
    if (out.progress.empty()) return out;
    if (const ActorId thread = out.progress.front().ends; thread != kNoActor) {
      path_ = path_to_exit(trace_, kinds_, thread);
      // CPUs that are busy only count as short if the command queued for them for much of its critical path.
      out.cpus_short = out.cpus_short && is_much(path_->runnable_ns, path_->length_ns);
    }
    cpus_short_ = out.cpus_short;
    const ReplayInput input = this->input(out);
    room_.emplace(input);
    const Replays replays = replayed(out);
    out.simulated = replays.simulated;
    std::optional<ScenarioGains> known;
    side_by_side([&] { known.emplace(input, replays, *room_, weights_, path_, cpus_short_); },
                 [&] { bounds_.emplace(input, *room_, weights_); });
    const ScenarioGains& gains = *known;
    for (std::size_t i = 0; i < out.asked.size(); ++i) {
      out.asked[i] = gain_of_asked(out, replays, gains, i);
    }
    for (std::size_t progress = 0; progress < out.progress.size(); ++progress) {
      locks_.emplace_back();
      for (LockId id = 0; id < answered_locks(); ++id) {
        locks_.back().push_back(answer_of_lock(out, replays, gains, progress, id));
      }
    }
    out.answers = answers(out, replays, gains);
    out.cpu_gains = cpu_gains(out, replays);
    add_uses(out.answers);
    for (Answer& answer : out.answers) {
      if (!answer.lock) answer.lock = lock_gain(answer);
      answer.more = more_threads(out, gains, answer);
      const auto same = [&answer](const Answer& before) {
        return &before != &answer && before.more && before.more->group == answer.more->group;
      };
      if (answer.more && std::any_of(out.answers.begin(), out.answers.end(), same)) answer.more.reset();
    }
    out.services = kinds_.services.all;
    out.channels = channels_;
    return out;
  }

 private:
  Replays replayed(const Answers& about) const {
    Replays out;
    out.tried = candidates_of(trace_, groups_, kinds_, uses_, most_candidates());
    std::vector<Scenario> asked;
    for (const Scenario& scenario : options_.asked) asked.push_back(with_parts(scenario));
    std::vector<Scenario> scenarios = asked;
    for (LockId lock = 0; lock < answered_locks(); ++lock) {
      scenarios.push_back({{Resource::held, kNoGroup, kNoActor, 0.5, kNoService, lock}});
      scenarios.push_back(with_parts({{Resource::waited, kNoGroup, kNoActor, 0, kNoService, lock}}));
    }
    for (const Pool& pool : pools_) {
      scenarios.push_back(
          with_parts({{Resource::threads, pool.group, kNoActor, pool.threads / pool.waiting}}));
    }
    scenarios.insert(scenarios.end(), syncs_.begin(), syncs_.end());
    for (const Change& change : out.tried) {
      scenarios.push_back(with_parts(Scenario{change}));
    }
    const Progress& progress = about.progress.front();
    const ReplayInput input = this->input(about);
    if (about.cpus_short) {
      out.tried.push_back(more_cpus(cpus_));
      scenarios.push_back({out.tried.back()});
      if (std::optional<Replayed> changed = simulated(input, scenarios, progress)) {
        out.replayed = *std::move(changed);
        if (others_part(input) > 0) out.lanes = replay(input, scenarios, kPieces);
        out.scenarios = std::move(scenarios);
        out.simulated = true;
        return out;
      }
    } else if (std::any_of(options_.asked.begin(), options_.asked.end(), changes_cpus)) {
      std::vector<bool> wanted;
      for (const Scenario& scenario : options_.asked) wanted.push_back(changes_cpus(scenario));
      out.asked = simulated(input, asked, progress, wanted);
    }
    out.replayed = replay(input, scenarios, kPieces);
    if (!about.cpus_short) {
      const auto gains = [&](std::size_t i) {
        return gain_of(progress, out.replayed, weights_, i, 0, kPieces).most >= kWorthAnAnswer;
      };
      for (std::size_t i = 0; i < scenarios.size(); ++i) {
        out.fills_cpus.push_back(
            room_->fills_cpus(scenarios[i], speeds_of(progress, out.replayed, groups_, i)));
        out.alters_queues.push_back(about.cpus.cpus > 0 && ((about.cpus.queue() && gains(i)) ||
                                                            room_->alters_a_shared_disk(scenarios[i])));
      }
      const std::vector<bool> wanted = out.not_by_lanes_alone();
      out.filled = simulated(input, scenarios, progress, wanted);
      if (!out.filled && wanted != out.fills_cpus) {
        out.alters_queues.assign(scenarios.size(), false);
        out.filled = simulated(input, scenarios, progress, out.fills_cpus);
      }
    }
    out.scenarios = std::move(scenarios);
    return out;
  }

  ReplayInput input(const Answers& about) const {
    const Progress& progress = about.progress.front();
    return {trace_,      groups_,   kinds_, uses_,      channels_,     holds_,
            *histories_, sleepers_, ties_,  about.cpus, progress.ends, &code_};
  }

  /// The scenario together with the changes that follow from its own.
  Scenario with_parts(const Scenario& scenario) const {
    Scenario out = with_parts_of_services(scenario, kinds_.services, uses_);
    for (const Change& change : scenario) {
      if (change.resource == Resource::threads) {
        const Scenario shared =
            shared_by_more_threads(change, trace_, groups_, kinds_, uses_, occupied_, cpus_short_);
        out.insert(out.end(), shared.begin(), shared.end());
      }
      if (change.resource != Resource::waited) continue;
      // Without waits for the lock, the calls that wait for it and end such waits are not made either.
      const Lock& lock = holds_.locks()[change.lock];
      if (lock.holders != kNoGroup) out.push_back({Resource::cpu, lock.holders, kNoActor, 1 - lock.calls});
    }
    return out;
  }

  /// Locks that get answers of their own: the first ones of `holds_`.
  std::size_t answered_locks() const { return std::min(holds_.locks().size(), kMostLocks); }

  std::size_t scenario_of_lock(LockId lock) const { return options_.asked.size() + 2 * std::size_t{lock}; }
  std::size_t scenario_of_pool(std::size_t index) const {
    return options_.asked.size() + 2 * answered_locks() + index;
  }
  std::size_t scenario_of_syncs() const { return scenario_of_pool(pools_.size()); }
  std::size_t scenario_of_tried(std::size_t index) const {
    return scenario_of_syncs() + syncs_.size() + index;
  }

  /// The gain of a lock that no thread waits for is a bound: threads still wait for a split lock, though
  /// less. It is no less than what the replay shows. How far that may be off is no part of it: the bound
  /// takes the waits from the recording.
  static void as_bound(Gain& gain, LockBound& bound, double replayed) {
    bound.gain = std::max(bound.gain, replayed);
    gain.gain = bound.gain;
    make_bound(gain);
    if (!bound.without_section || *bound.without_section <= bound.gain) return;
    gain.high = bound.without_section;
  }

  LockAnswer answer_of_lock(const Answers& about, const Replays& replays, const ScenarioGains& gains,
                            std::size_t progress, LockId id) const {
    const std::size_t scenario = scenario_of_lock(id) + 1;
    const Progress& counts = about.progress[progress];
    const std::vector<double> speeds = speeds_of(counts, replays.of(scenario), groups_, scenario);
    LockAnswer out;
    Answer& answer = out.answer;
    const Gain held = gains.of(counts, scenario - 1);
    static_cast<Gain&>(answer) = gains.of(counts, scenario);
    answer.change = {Resource::waited, kNoGroup, kNoActor, 0, kNoService, id};
    answer.progress = progress;
    answer.lock = {holds_.locks()[id], id, bounds_->of(counts, replays.scenarios[scenario], id, speeds), {}};
    const double without = gains.expected(counts, scenario);
    as_bound(answer, answer.lock->waited, without);
    // The threads that no longer wait may ask a disk for more requests at a time than it ever had to serve.
    out.replayed = std::min(std::max(without, gains.expected(counts, scenario - 1)), answer.gain) *
                   room_->part_that_showed_for_one(replays.scenarios[scenario], speeds);
    // An object that no name calls a lock, and whose holders hold up no progress by what they do, is a queue
    // in which threads wait for something to do.
    out.holds_up = answer.lock->lock.evidence != LockEvidence::behaviour || held.gain >= kWorthAnAnswer;
    if (!mostly_waits_for_others(answer.lock->lock)) {
      answer.lock->held = held;
    }
    return out;
  }

  /// The lock of the answer's group that gains most.
  std::optional<LockGain> lock_gain(const Answer& answer) const {
    std::optional<LockGain> out;
    double most = 0;
    for (const LockAnswer& one : locks_[answer.progress]) {
      const LockGain& lock = *one.answer.lock;
      if (answer.change.resource != Resource::cpu || answer.change.group != lock.lock.holders) continue;
      if (one.answer.gain > most) out = lock;
      most = std::max(most, one.answer.gain);
    }
    return out;
  }

  /// What more threads would gain for a part that work queues for, unless it is far less than the part gains.
  std::optional<MoreThreads> more_threads(const Answers& about, const ScenarioGains& gains,
                                          const Answer& answer) const {
    const bool is_known = answer.certainty != Certainty::rough || answer.doubt == Doubt::many_at_once;
    if (!is_known || answer.change.resource == Resource::waited || answer.change.resource == Resource::cpus) {
      return std::nullopt;
    }
    const auto pool_of = [this](GroupId group) {
      return std::find_if(pools_.begin(), pools_.end(),
                          [group](const Pool& one) { return one.group == group; });
    };
    // Where threads queue for a service, more threads of the service help. Else the threads that ask it may
    // be too few.
    auto pool = pools_.end();
    if (answer.change.service != kNoService) {
      for (const GroupId group : kinds_.services.all[answer.change.service].answering) {
        if (pool == pools_.end()) pool = pool_of(group);
      }
    }
    const bool of_service = pool != pools_.end();
    if (!of_service) pool = pool_of(answer.use.group);
    if (pool == pools_.end()) return std::nullopt;
    const std::size_t scenario = scenario_of_pool(static_cast<std::size_t>(pool - pools_.begin()));
    MoreThreads out{*pool, gains.of(about.progress[answer.progress], scenario).gain, of_service};
    if (pool->requests) {
      // Each additional thread serves as many requests as the others, whatever else it waits for.
      const double times = pool->waiting / pool->threads;
      const std::vector<double> speeds(groups_.groups.size(), times);
      out.gain = std::max(out.gain, (times - 1) * gains.part_that_fits(speeds, scenario));
    }
    return out.gain > std::max(answer.gain / 2, kWorthAnAnswer) ? std::optional(out) : std::nullopt;
  }

  void add_uses(std::vector<Answer>& answers) const {
    std::vector<Change> parts;
    std::transform(answers.begin(), answers.end(), std::back_inserter(parts),
                   [](const Answer& answer) { return answer.change; });
    const std::vector<PartUse> uses = uses_of_parts(trace_, groups_, kinds_, uses_, service_uses_, parts);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      answers[i].use = uses[i];
    }
  }

  std::vector<double> cpu_gains(const Answers& about, const Replays& replays) const {
    std::vector<double> out(groups_.groups.size());
    for (std::size_t i = 0; i < replays.tried.size(); ++i) {
      const std::vector<GroupId> groups = computing_groups(replays.tried[i]);
      if (groups.empty()) continue;
      for (const Progress& progress : about.progress) {
        const double most =
            gain_of(progress, replays.of(scenario_of_tried(i)), weights_, scenario_of_tried(i), 0, kPieces)
                .most;
        for (const GroupId group : groups) out[group] = std::max(out[group], most);
      }
    }
    return out;
  }

  /// The groups that the change gives less CPU work.
  std::vector<GroupId> computing_groups(const Change& change) const {
    if (change.service != kNoService) return kinds_.services.all[change.service].behind;
    return change.resource == Resource::cpu ? std::vector{change.group} : std::vector<GroupId>{};
  }

  std::size_t most_candidates() const {
    // Lanes keep three numbers for each thread, one more for each piece, and two for each group and piece.
    const std::size_t bytes =
        sizeof(double) * ((3 + kPieces) * trace_.actors.size() + 2 * kPieces * groups_.groups.size());
    return std::min(options_.most_candidates,
                    std::max(kFewestCandidates, kMostReplayBytes / std::max<std::size_t>(bytes, 1)));
  }

  /// The scenarios as the simulation of the CPUs has them, if that is not so far off the recording that no
  /// range could say anything. `wanted`, by scenario: the times of the others are 0; empty: all are. Nothing
  /// if none is.
  std::optional<Replayed> simulated(const ReplayInput& input, std::vector<Scenario> scenarios,
                                    const Progress& progress, std::vector<bool> wanted = {}) const {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return std::nullopt;
    scenarios.emplace_back();
    wanted.resize(scenarios.size(), true);
    const Scripts scripts = scripts_of(input, kMostSteps);
    // A command is one whole; its first part says little of the rest.
    if (progress.how == Progress::How::end &&
        scripts.length_ns < static_cast<double>(trace_.window.length())) {
      return std::nullopt;
    }
    double off = 0;
    std::optional<Replayed> changed =
        simulate(input, scripts, scenarios, wanted, kPieces, [&](const Replayed& replayed) {
          off = std::abs(gain_of(progress, replayed, weights_, scenarios.size() - 1, 0, kPieces).least);
          return off < kWidestRange;
        });
    if (changed) {
      relate_to_last(*changed);
      changed->off = off;
    }
    return changed;
  }

  /// What AnswerOptions::asked[index] gains of the first progress.
  Gain gain_of_asked(const Answers& about, const Replays& replays, const ScenarioGains& gains,
                     std::size_t index) const {
    const Scenario& asked = options_.asked[index];
    const bool on_other_cpus = !about.cpus_short && changes_cpus(asked);
    Gain out = gains.of(about.progress.front(), index,
                        on_other_cpus && replays.asked ? *replays.asked : replays.of(index));
    if (asked.size() == 1) {
      allow_for_many_at_once(about.progress.front(), asked.front(), out);
    }
    if (on_other_cpus && !replays.asked) {
      out = {out.gain, std::nullopt, std::nullopt, Certainty::rough, Doubt::not_simulated};
    } else {
      bound_more_cpus(input(about), asked, out);
    }
    if (asked.size() == 1 && asked.front().resource == Resource::waited) {
      const Progress& counts = about.progress.front();
      LockBound bound = bounds_->of(counts, replays.scenarios[index], asked.front().lock,
                                    speeds_of(counts, replays.of(index), groups_, index));
      as_bound(out, bound, gains.expected(counts, index));
    } else if (std::any_of(asked.begin(), asked.end(), [](const Change& change) {
                 return change.resource == Resource::waited || change.resource == Resource::threads;
               })) {
      make_bound(out);
    }
    allow_for_samples(asked, out);
    return out;
  }

  /// What functions take of CPUs is known from samples.
  void allow_for_samples(const Scenario& scenario, Gain& gain) const {
    for (const Change& change : scenario) {
      if (change.code != kNoCode && change.resource == Resource::cpu) {
        offwait::allow_for_samples(code_.parts[change.code], scenario, gain);
      }
    }
  }

  void allow_for_many_at_once(const Progress& progress, const Change& change, Gain& gain) const {
    if (change.service == kNoService) return;
    const bool is_here = !kinds_.services.all[change.service].answering.empty();
    offwait::allow_for_many_at_once(trace_, progress, services_[change.service], is_here, change.factor,
                                    gain);
  }

  /// Makes one answer of those that are about the same calls (AnswerOptions::syncs).
  void join_syncs(const Answers& about, const ScenarioGains& gains, std::size_t progress,
                  std::vector<Ranked>& ranked) const {
    if (syncs_.empty()) return;
    const CodePart& calls = code_.parts[options_.syncs];
    std::vector<Ranked> others;
    std::optional<Change> disk;
    bool computes = false;
    double most = 0;  // of answers about a disk
    for (const Ranked& one : ranked) {
      const Change& change = one.answer.change;
      if (one.gain < kWorthAnAnswer || one.answer.certainty == Certainty::rough ||
          !is_mostly_in(change, calls, trace_, groups_, kinds_, uses_)) {
        others.push_back(one);
      } else if (change.resource == Resource::cpu) {
        computes = true;
      } else {
        if (!disk) disk = change;
        most = std::max(most, one.gain);
      }
    }
    if (!disk) return;
    const Progress& counts = about.progress[progress];
    std::vector<Gain> found;
    for (std::size_t i = 0; i < syncs_.size(); ++i) {
      found.push_back(gains.of(counts, scenario_of_syncs() + i));
      allow_for_samples(syncs_[i], found.back());
    }
    computes = computes || (found[1].certainty != Certainty::rough && is_much(found[1].gain, found[0].gain));
    if (!computes || found[0].certainty == Certainty::rough || found[0].gain + kAlike < most) return;
    Answer out;
    static_cast<Gain&>(out) = found[0];
    out.syncs = {options_.syncs, static_cast<Nanos>(calls.cpu_ns), found[1], found[2]};
    out.change = {Resource::sync, kNoGroup, disk->device, 0.5, kNoService, kNoLock, options_.syncs};
    out.progress = progress;
    others.push_back({out, std::min(out.gain, gains.expected(counts, scenario_of_syncs()))});
    ranked = std::move(others);
  }

  /// For one progress, best first.
  std::vector<Ranked> ranked(const Answers& about, const Replays& replays, const ScenarioGains& gains,
                             std::size_t progress) const {
    std::vector<Ranked> out;
    for (std::size_t i = 0; i < replays.tried.size(); ++i) {
      Answer answer;
      static_cast<Gain&>(answer) = gains.of(about.progress[progress], scenario_of_tried(i));
      answer.change = replays.tried[i];
      allow_for_many_at_once(about.progress[progress], answer.change, answer);
      answer.progress = progress;
      const double known = bound_more_cpus(input(about), {answer.change}, answer);
      const bool is_unknown = !replays.simulated && changes_cpus({answer.change});
      if (is_unknown && answer.certainty == Certainty::rough) continue;
      if (answer.change.resource == Resource::pause) {
        const double most =
            most_without(answer.change, input(about), *room_, about.progress[progress], weights_);
        make_rough(answer, std::max(answer.gain, most), Doubt::pace_unseen);
      }
      const double likely = gains.likely(about.progress[progress], scenario_of_tried(i), answer);
      out.push_back({answer, std::min(answer.gain, likely), known});
    }
    join_syncs(about, gains, progress, out);
    for (const LockAnswer& lock : locks_[progress]) {
      if (lock.holds_up) out.push_back({lock.answer, lock.replayed});
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
    // A gain that may be less stands behind one that is as good and sure; and to split a lock is easier than
    // to make all work half as long, if neither is sure.
    for (std::size_t i = 0; i + 1 < out.size(); ++i) {
      const Answer& one = out[i].answer;
      const Answer& next = out[i + 1].answer;
      const bool is_sure = one.certainty == Certainty::up_to && next.certainty == Certainty::sure;
      const bool is_easier = one.certainty == Certainty::approximate &&
                             one.change.resource == Resource::cpu && next.change.resource == Resource::waited;
      if ((is_sure || is_easier) && out[i].gain <= out[i + 1].gain + kAlike) std::swap(out[i], out[i + 1]);
    }
    // The replay keeps the order of all else, so a split lock gains more than it shows: it comes before a
    // part that gains up to twice as much, if its bound is twice that part's gain. So do CPUs of others.
    const auto may_be_twice_as_good = [&out](const Ranked& one) {
      if (one.known > 0) return one.known >= 2 * out.front().gain;
      return one.answer.change.resource == Resource::waited && 2 * one.gain >= out.front().gain &&
             one.answer.gain >= 2 * out.front().answer.gain;
    };
    const auto lock = std::find_if(out.begin(), out.end(), may_be_twice_as_good);
    if (lock != out.end()) std::rotate(out.begin(), lock, std::next(lock));
    return out;
  }

  std::vector<Answer> answers(const Answers& about, const Replays& replays,
                              const ScenarioGains& gains) const {
    const std::vector<Ranked> best = ranked(about, replays, gains, 0);
    std::vector<Answer> out;
    std::transform(best.begin(), best.end(), std::back_inserter(out),
                   [](const Ranked& one) { return one.answer; });
    if (out.empty()) return out;
    const Change first = out.front().change;
    std::vector<Answer> others;
    for (std::size_t progress = 1; progress < about.progress.size(); ++progress) {
      const std::vector<Ranked> other = ranked(about, replays, gains, progress);
      if (other.empty()) continue;
      const auto given = std::find_if(other.begin(), other.end(),
                                      [&first](const Ranked& one) { return one.answer.change == first; });
      // What holds up the first progress may be no answer for the other one.
      const double gain = given == other.end() ? 0 : given->gain;
      if (other.front().gain >= kWorthSplitting && gain < other.front().gain / 2) {
        others.push_back(other.front().answer);
      }
    }
    out.insert(out.begin() + 1, others.begin(), others.end());
    std::erase_if(out, [](const Answer& answer) {
      return answer.gain < kWorthAnAnswer &&
             (answer.certainty != Certainty::rough || answer.change.resource == Resource::waited);
    });
    out.resize(std::min(out.size(), options_.most_answers));
    if (!others.empty()) {
      for (Answer& answer : out) {
        answer.certainty = Certainty::split;
      }
    }
    return out;
  }

  const Trace& trace_;
  const std::vector<Progress>& progress_;
  const ThreadGroups& groups_;
  const WaitKinds& kinds_;
  const Uses& uses_;
  const AnswerOptions& options_;
  std::optional<Histories> histories_;
  WaitsForSleepers sleepers_;
  Ties ties_;
  UsableCpus cpus_;
  std::vector<double> weights_;
  std::vector<DiskChannels> channels_;
  LockHolds holds_;
  bool cpus_short_ = false;
  std::optional<Room> room_;
  std::optional<LockBounds> bounds_;
  std::vector<std::vector<LockAnswer>> locks_;  ///< by progress and LockId
  std::optional<PathToExit> path_;              ///< Progress::How::end
  std::vector<ServiceUse> service_uses_;
  Code code_;
  std::vector<Scenario> syncs_;    ///< scenarios_of_syncs()
  std::vector<PartUse> services_;  ///< by ServiceId
  Occupied occupied_;
  std::vector<Pool> pools_;
};

}  // namespace

Answers answers_of(const Trace& trace, const Facts& facts, const AnswerOptions& options) {
  return Answering(trace, facts, options).run();
}

}  // namespace offwait
