// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_progress.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/wording.h"
#include "report/wording_locks.h"

namespace offwait {

namespace {

std::string address_text(const ServedAddress& address) {
  if (address.port != 0) return fmt::format(":{}", address.port);
  // The customary way to write a name that is no file's.
  return address.path.front() == '\0' ? "@" + address.path.substr(1) : address.path;
}

/// `16.2 requests at a time, 14.0 of them not read yet`.
std::string requests_text(const FoundProgress& progress) {
  constexpr double kWorthSaying = 0.05;
  if (!progress.requests) return "";
  const double all = progress.requests->under_way + progress.requests->unread;
  if (all < kWorthSaying) return "";
  const std::string unread = progress.requests->unread >= kWorthSaying
                                 ? fmt::format(", {:.1f} of them not read yet", progress.requests->unread)
                                 : "";
  return fmt::format(", {:.1f} requests at a time{}", all, unread);
}

/// `20 clients on :6379`. The number is left out in a part of a recording in which no client connected, and
/// if each client asks once.
std::string clients_text(const FoundProgress& progress) {
  constexpr std::size_t kMostAddresses = 2;
  const std::size_t shown = std::min(kMostAddresses, progress.addresses.size());
  std::string addresses;
  for (std::size_t i = 0; i < shown; ++i)
    addresses += (i == 0 ? "" : ", ") + address_text(progress.addresses[i]);
  const std::size_t more = progress.addresses.size() - shown;
  if (more > 0) addresses += fmt::format(" and {} more", more);
  const std::uint64_t count = progress.clients_stay ? progress.connections.value_or(0) : 0;
  return fmt::format("{} on {}", count > 0 ? format_plural(count, "client") : "clients", addresses);
}

std::string active_text(const FoundProgress& progress, double window_s) {
  return progress.active_s
             ? fmt::format(". Hardly any client got a response for {} of the time: gains are of the rest",
                           format_percent(window_s - *progress.active_s, window_s))
             : "";
}

}  // namespace

std::string progress_name(const FoundProgress& progress, const ActorNames& names) {
  return thread_list(progress.threads, names);
}

std::string progress_told_apart(const Findings& findings, std::size_t index, const ActorNames& names) {
  const FoundProgress& progress = findings.progress[index];
  std::string name = progress_name(progress, names);
  const auto number =
      std::count_if(findings.progress.begin(), findings.progress.end(),
                    [&](const FoundProgress& other) { return progress_name(other, names) == name; });
  if (number < 2 || progress.actors.empty()) return name;
  std::vector<std::string> threads;
  for (const FoundActorId actor : progress.actors) threads.push_back(names.brief(actor));
  return fmt::format("{}", fmt::join(threads, ", "));
}

std::string progress_of_text(const FoundProgress& progress, const ActorNames& names) {
  if (!progress.addresses.empty()) return "to " + clients_text(progress) + requests_text(progress);
  return (progress.how == Progress::How::clients ? "to " : "of ") + progress_name(progress, names);
}

std::string progress_text(const FoundProgress& progress, double window_s, const ActorNames& names) {
  const std::string who =
      progress.addresses.empty() ? progress_name(progress, names) : clients_text(progress);
  const std::string per_s =
      format_count(static_cast<std::uint64_t>(std::llround(progress.per_s.value_or(0))));
  switch (progress.how) {
    case Progress::How::told:
      return progress.functions.empty()
                 ? fmt::format("{}: named by --progress", who)
                 : fmt::format("{} calls/s of {} by {}", per_s, fmt::join(progress.functions, ", "), who);
    case Progress::How::end:
      return fmt::format("the end of {}, after {}; +100% means in half of that time", who,
                         format_seconds(progress.end_s.value_or(0)));
    case Progress::How::clients:
      if (!progress.per_s) return fmt::format("responses to {}", who);
      // A wait may end with several responses.
      return progress.addresses.empty()
                 ? fmt::format("responses to {}, {} waits/s for them", who, per_s)
                 : fmt::format("{} responses/s to {}{}{}", per_s, who, requests_text(progress),
                               active_text(progress, window_s));
    case Progress::How::inferred:
      break;
  }
  // A share that is shown as 0 % says nothing.
  const bool rests = progress.share >= kWorthALine;
  return rests
             ? fmt::format(
                   "the work of {}, with {} of hand-overs and waits, as few responses were seen (--progress "
                   "GLOB names others)",
                   who, format_percent(std::min(progress.share, 1.0), 1))
             : fmt::format("{}: a guess: it shows few hand-overs and waits (--progress GLOB names others)",
                           who);
}

}  // namespace offwait
