// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_doubts.h"

namespace offwait {

std::string_view doubt_clause(Doubt doubt) {
  switch (doubt) {
    case Doubt::none:
      break;
    case Doubt::pieces_differ:
      return "parts of the recording differ much (a longer one may tell)";
    case Doubt::unknown_wakers:
      return "for much of its waiting time it is unknown what ended the wait";
    case Doubt::guessed_locks:
      return "much of its waiting was taken for waits for locks without function names that say so";
    case Doubt::cpus_short:
      return "the CPUs are short, and the simulation of them does not reproduce the recording";
    case Doubt::many_at_once:
      return "it waits for many connections at once, which does not show how long each request took";
    case Doubt::few_samples:
      return "too few samples say what the function takes on a CPU";
    case Doubt::no_order:
      return "threads of several kinds compete for a lock, and a change alters who gets it first";
    case Doubt::not_simulated:
      return "the simulation of the CPUs does not reproduce the recording";
    case Doubt::looked:
      return "threads look after a time whether a lock is free, so a change alters how often it changes "
             "hands";
    case Doubt::simulated_roughly:
      return "the simulation of the CPUs reproduces the recording only roughly";
    case Doubt::parts_differ:
      return "threads that do not work for one another gain differently by it";
    case Doubt::held_back:
      return "TCP held back a part of what the service sent (Nagle's algorithm, delayed ACK)";
    case Doubt::unanswered:
      return "the target did not respond on most of the connections of that client";
    case Doubt::throttled:
      return "threads sleep while another one is behind with its work, and seem to be slowed down on purpose";
    case Doubt::gave_up:
      return "threads gave up waiting after a time, and how much was done for them in vain is not known";
    case Doubt::batches:
      return "a thread serves several requests at once, and more of them at once if they come sooner";
    case Doubt::fixed_rate:
      return "threads work at a fixed rate, and it is not known what happens if they are late";
    case Doubt::sleeps_vary:
      return "how often and how long threads sleep depends on something that is not known";
    case Doubt::queues_change:
      return "how much shorter it makes the queues for CPUs or disks is not known";
    case Doubt::others_have_cpus:
      return "other programs decide how long its threads queue for CPUs";
    case Doubt::left_out:
      return "without these calls others may have more to do, or less, and that is not known";
    case Doubt::pace_unseen:
      return "threads were held back, so how fast all else goes on without that did not show";
    case Doubt::lost_events:
      return "events were lost, and what the threads did meanwhile is not known";
  }
  return "";
}

}  // namespace offwait
