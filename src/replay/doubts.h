// SPDX-License-Identifier: GPL-2.0-or-later
// What keeps a recording from saying surely what changes would gain, whatever the change.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "model/lost_time.h"
#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/progress.h"
#include "progress/runtimes.h"
#include "progress/thread_groups.h"
#include "progress/wait_kinds.h"
#include "replay/gain.h"
#include "replay/path_to_exit.h"
#include "replay/scenario.h"

namespace offwait {

/// The values that it is made of outlive it.
class Doubts {
 public:
  Doubts(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses);

  /// Why gains of the progress are rough: records were lost for so long that it matters, or much of the time
  /// is waits whose ends are not known, or for what only seems to be a lock. Unknown ends count as much as
  /// their thread stands for its group (Uses::thread_weights). `path` is of Progress::How::end.
  Doubt rough(const Progress& progress, const std::optional<PathToExit>& path) const;

  /// Doubt::looked: whether threads of the progress waited for much of their time for locks that waits ended
  /// for by looking after a time. Such a lock changes hands as time passes, too, and not only as work is
  /// done.
  bool looked(const Progress& progress) const;

  /// Doubt::throttled, fixed_rate and sleeps_vary: whether threads of the progress, or those that they wait
  /// for for much of their time, sleep in a place of this pace, which is `thread`, `late` or `unknown`.
  bool sleeps(const Progress& progress, SleepPace pace) const;
  /// The most of their lives that these sleep so, 0 to 1.
  double part_asleep(const Progress& progress, SleepPace pace) const;

  /// Doubt::held_back: whether the scenario makes a service faster, packets of which TCP held back for much
  /// of the time that threads waited for it. They come when the waiting side acknowledges those before them.
  bool held_back(const Scenario& scenario) const;

  /// Doubt::unanswered: whether the scenario makes a client faster on most of whose connections the target
  /// did not respond: threads of the target were woken by more than twice as many as had a response of the
  /// target, each a few times. Then the client mostly connects again and again, which gains nothing.
  bool unanswered(const Scenario& scenario) const;

  /// Doubt::gave_up: whether threads of the progress, or those that wait for it for much of their time, gave
  /// up a tenth of their waits, in places where threads or services end the others. Then they ask again, and
  /// what was done for them in vain is saved too as soon as the answers come in time.
  bool gave_up(const Progress& progress) const;

  /// Whether a thread of the progress is one of a runtime.
  bool runs_tasks(const Progress& progress) const;

 private:
  Nanos lifetime_of(const Progress& progress) const;

  const ThreadGroups& groups_;
  const Uses& uses_;
  std::vector<Nanos> unknown_ns_;  ///< by GroupId: the part of its lifetime whose ends are not known
  std::vector<Nanos> looked_ns_;   ///< by GroupId: in waits for locks that threads look for
  std::map<SleepPace, std::map<GroupId, double>> asleep_;  ///< part_asleep()
  std::vector<bool> held_back_;                            ///< by ServiceId
  std::vector<bool> unanswered_;                           ///< by GroupId
  std::vector<bool> gave_up_;                              ///< by GroupId
  std::vector<Runtime> runtimes_;                          ///< by ActorId
  LostTime lost_;
};

}  // namespace offwait
