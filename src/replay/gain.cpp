// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/gain.h"

#include <algorithm>

namespace offwait {

std::string_view to_string(Certainty certainty) {
  switch (certainty) {
    case Certainty::sure:
      return "sure";
    case Certainty::split:
      return "split";
    case Certainty::rough:
      return "rough";
    case Certainty::up_to:
      return "up-to";
    case Certainty::approximate:
      return "approximate";
  }
  return "rough";
}

std::string_view to_string(Doubt doubt) {
  switch (doubt) {
    case Doubt::none:
      break;
    case Doubt::pieces_differ:
      return "pieces-differ";
    case Doubt::unknown_wakers:
      return "unknown-wakers";
    case Doubt::guessed_locks:
      return "guessed-locks";
    case Doubt::cpus_short:
      return "cpus-short";
    case Doubt::many_at_once:
      return "many-at-once";
    case Doubt::few_samples:
      return "few-samples";
    case Doubt::no_order:
      return "no-order";
    case Doubt::not_simulated:
      return "not-simulated";
    case Doubt::looked:
      return "looked";
    case Doubt::simulated_roughly:
      return "simulated-roughly";
    case Doubt::parts_differ:
      return "parts-differ";
    case Doubt::held_back:
      return "held-back";
    case Doubt::unanswered:
      return "unanswered";
    case Doubt::throttled:
      return "throttled";
    case Doubt::batches:
      return "batches";
    case Doubt::gave_up:
      return "gave-up";
    case Doubt::fixed_rate:
      return "fixed-rate";
    case Doubt::sleeps_vary:
      return "sleeps-vary";
    case Doubt::queues_change:
      return "queues-change";
    case Doubt::others_have_cpus:
      return "others-have-cpus";
    case Doubt::left_out:
      return "left-out";
    case Doubt::pace_unseen:
      return "pace-unseen";
    case Doubt::lost_events:
      return "lost-events";
  }
  return "";
}

double most_of(const Gain& gain) { return std::max(gain.gain, gain.high.value_or(gain.gain)); }

void make_bound(Gain& gain) {
  if (gain.certainty == Certainty::sure || gain.certainty == Certainty::approximate ||
      gain.doubt == Doubt::pieces_differ) {
    gain.certainty = Certainty::up_to;
    gain.doubt = Doubt::none;
  }
  gain.low = std::nullopt;
  gain.high = std::nullopt;
}

void make_rough(Gain& gain, double about, Doubt doubt) {
  make_bound(gain);
  gain.gain = about;
  if (about < kWorthAnAnswer) return;
  gain.certainty = Certainty::rough;
  gain.doubt = doubt;
}

void cap_bound(Gain& gain, double most) {
  if (gain.certainty == Certainty::up_to && gain.high) gain.high = std::min(*gain.high, most);
}

}  // namespace offwait
