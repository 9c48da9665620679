// SPDX-License-Identifier: GPL-2.0-or-later
// What decides how long threads sleep. Most ask for a time. Some sleep until a moment, at a fixed rate, and
// some because another thread is behind: a store slows its writers down while its compaction is. If work gets
// faster, the first kind of sleep stays as it is, and the others take up what was saved.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/trace.h"
#include "progress/thread_groups.h"

namespace offwait {

enum class SleepPace : std::uint8_t {
  length,   ///< a time that the thread asks for, as far as the recording shows
  clock,    ///< the thread goes on at a fixed rate, and sleeps for what is left of the period
  late,     ///< the same, but its work takes all of some periods, or more than half of most
  thread,   ///< a thread of another group, which is at work while these sleep
  unknown,  ///< something else, or perhaps a thread that is at work all the time
};

struct SleepPaces {
  std::vector<SleepPace> of_site;  ///< by SiteId; `length` where no thread sleeps
  std::vector<GroupId> behind;     ///< by SiteId: the group of SleepPace::thread; else kNoGroup
  std::vector<double> period_ns;   ///< by SiteId, of SleepPace::clock and late; else 0
  /// By the wait's index, of SleepPace::thread: the thread that was at work when the sleep ended.
  std::unordered_map<std::uint32_t, ActorId> at_work;
};

inline bool is_at_fixed_rate(SleepPace pace) { return pace == SleepPace::clock || pace == SleepPace::late; }

/// How many periods a time takes, rounded; 1 or more. The period is above 0.
double periods_in(double time_ns, double period_ns);

/// How many periods work at a fixed rate takes, if `since_ns` have passed since the last sleep was to end: as
/// few as it needs, but 1 or more, and never more than `recorded`.
double periods_needed(double since_ns, double period_ns, double recorded);

/// A round of a thread at a fixed rate, as it was recorded: it worked for so many periods, and slept through
/// so many more.
struct FixedRate {
  double worked = 1;     ///< 1 or more
  double slept = 0;      ///< 0 or more
  double period_ns = 0;  ///< that the round has worked + slept of
};
/// `since_ns`: from the end of the last sleep to the end of this one. The thread was awake for the first
/// `work_ns` of it.
FixedRate at_fixed_rate(double since_ns, double work_ns, double period_ns);

/// What is known of a trace's waits and groups.
struct Surroundings {
  std::vector<bool> sleeps;    ///< by SiteId: waits in which threads ask for a time
  std::vector<bool> idle;      ///< by SiteId: waits in which a thread has nothing to do, or waits for a lock
  std::vector<bool> device;    ///< by SiteId: waits for disks and remote services
  std::vector<bool> handed;    ///< by SiteId: waits that the work of another thread ends
  std::vector<bool> may_pace;  ///< by GroupId: groups whose work may be what others sleep for
};

/// Groups are judged by 16 sleeps or more in one place, which take 1 % of their threads' lives or more.
///
/// The period decides where it is steadier than the sleep: three quarters of the periods are nearer to the
/// median period, or to a multiple of it, than half of the median distance of the sleeps' lengths from
/// theirs.
///
/// Something else decides where a thread that runs, or waits for devices, for a tenth of the time that it
/// sleeps or more, does not sleep as chance would have it: where each sleep tells the length of the next, or
/// the CPU time before it tells that the next is unlike it (a correlation of more than three standard errors,
/// and of more than 0.1), or where the CPU times between two sleeps differ more than times between events
/// that come by chance. It is a thread of another group if there is one group alone whose threads are all
/// idle for no more than a tenth of the time that these sleep, and if that group sleeps for no more than a
/// tenth of its own life. Something unknown decides where a thread does not sleep in each round of its work:
/// another number of waits for devices than most often comes before a tenth of the sleeps. Where nothing
/// shows that sleeps depend on something, a group may still be what they are for, if its threads are all idle
/// for no more than a tenth of the window, and those that sleep are not seen to wait for it, directly or
/// behind others. Groups outside of the target are judged for fixed rates only.
///
/// Which groups are at work is looked up in the time of the first 1,000,000 waits, more or less, and a place
/// is known by 20,000 of its sleeps.
SleepPaces sleep_paces(const Trace& trace, const ThreadGroups& groups, const Surroundings& known);

}  // namespace offwait
