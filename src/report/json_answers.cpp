// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_answers.h"

#include <string>

namespace offwait {

namespace {

std::string joined_names(const FoundProgress& progress) {
  std::vector<std::string_view> names;
  for (const FoundProgress::Threads& threads : progress.threads) {
    names.push_back(threads.name);
  }
  if (!progress.functions.empty()) return fmt::format("calls of {}", fmt::join(progress.functions, ", "));
  return fmt::format("{}", fmt::join(names, ", "));
}

Json address_json(const ServedAddress& address) {
  if (address.port != 0) return {{"port", address.port}, {"path", nullptr}};
  return {{"port", nullptr}, {"path", text(address.path)}};
}

Json service_json(const FoundService& service) {
  return {
      {"addresses", array_of(service.peers, [](const Peer& peer) -> Json { return text(to_string(peer)); })},
      {"programs", array_of(service.threads,
                            [](const FoundProgress::Threads& threads) -> Json {
                              return {{"name", text(threads.name)}, {"threads", threads.count}};
                            })},
      {"actors", service.actors},
      {"ran", rounded(service.ran)},
      {"runnable", rounded(service.runnable)},
      {"slept", rounded(service.slept)},
      {"at_disks", rounded(service.at_disks)},
      {"for_remote", rounded(service.for_remote)},
      {"for_others", rounded(service.for_others)},
      {"for_requests", rounded(service.for_requests)},
      {"unknown", rounded(service.unknown)}};
}

Json lock_threads_json(const FoundProgress::Threads& threads) {
  return {{"name", text(threads.name)}, {"threads", threads.count}};
}

Json lock_json(const FoundLock& lock) {
  return {{"name", text(lock.name)},
          {"wait_s", rounded(lock.wait_s)},
          {"waits", lock.waits},
          {"stack", frames(lock.stack)},
          {"held_gain", lock.held ? Json(rounded(lock.held->gain)) : Json()},
          {"held_low", lock.held ? rounded_or_null(lock.held->low) : Json()},
          {"held_high", lock.held ? rounded_or_null(lock.held->high) : Json()},
          {"held_certainty", lock.held ? Json(to_string(lock.held->certainty)) : Json()},
          {"free_gain", rounded(lock.free_gain)},
          {"full", to_string(lock.full)},
          {"full_disk", lock.full_disk ? Json(*lock.full_disk) : Json()},
          {"full_lock", text(lock.full_lock)},
          {"evidence", to_string(lock.evidence)},
          {"runtime", to_string(lock.runtime)},
          {"waiters", array_of(lock.waiters, lock_threads_json)},
          {"outside", lock.outside},
          {"holders", array_of(lock.holders, lock_threads_json)},
          {"meanwhile",
           {{"ran", rounded(lock.ran)},
            {"runnable", rounded(lock.no_cpu)},
            {"slept", rounded(lock.slept)},
            {"at_disks", rounded(lock.at_disks)},
            {"for_remote", rounded(lock.for_remote)},
            {"for_clients", rounded(lock.for_clients)},
            {"for_others", rounded(lock.for_others)}}}};
}

Json syncs_json(const FoundSyncs& syncs) {
  return {{"calls", array_of(syncs.calls, text)},
          {"ran_s", seconds(syncs.ran_s)},
          {"cpu", gain_json(syncs.cpu)},
          {"disk", gain_json(syncs.disk)}};
}

Json pause_json(const FoundPause& pause) {
  return {{"why", to_string(pause.why)}, {"served_s", seconds(pause.served_s)}};
}

Json actions_json(const ActionTimes& actions) {
  return {{"sync_s", seconds(actions.sync_s)},
          {"write_s", seconds(actions.write_s)},
          {"read_s", seconds(actions.read_s)},
          {"other_s", seconds(actions.other_s)}};
}

/// Groups of short-lived threads may be one actor: these tell them apart.
Json threads_json(const AnswerEvidence& evidence) {
  if (evidence.tid == 0) return nullptr;
  return {{"name", text(evidence.name)},
          {"count", evidence.threads},
          {"tid", evidence.tid},
          {"time_s", seconds(evidence.own_s())}};
}

Json more_threads_json(const MoreThreads& more, LimitedBy limit) {
  return {{"threads", rounded(more.threads)}, {"waiting", rounded(more.waiting)},
          {"requests", more.requests},        {"of_service", more.of_service},
          {"limit_of", to_string(limit)},     {"gain", rounded(more.gain)}};
}

Json doubt_json(Doubt doubt) { return doubt == Doubt::none ? Json(nullptr) : Json(to_string(doubt)); }

}  // namespace

Json progress_json(const FoundProgress& progress, std::size_t id) {
  return {{"id", id},
          {"name", text(joined_names(progress))},
          {"how", to_string(progress.how)},
          {"actors", progress.actors},
          {"per_s", rounded_or_null(progress.per_s)},
          {"active_s", progress.active_s ? seconds(*progress.active_s) : Json(nullptr)},
          {"share", rounded(progress.share)},
          {"connections", or_null(progress.connections)},
          {"under_way", progress.requests ? rounded(progress.requests->under_way) : Json(nullptr)},
          {"unread", progress.requests ? rounded(progress.requests->unread) : Json(nullptr)},
          {"addresses", array_of(progress.addresses, address_json)},
          {"end_s", progress.end_s ? seconds(*progress.end_s) : Json(nullptr)}};
}

Json answer_json(const FoundAnswer& answer) {
  return {{"what", to_string(answer.what)},
          {"actor", or_null(answer.actor)},
          {"device", or_null(answer.device)},
          {"time_s", seconds(answer.evidence.time_s)},
          {"threads", threads_json(answer.evidence)},
          {"pinned_to", answer.evidence.pinned_to > 0 ? Json(answer.evidence.pinned_to) : Json(nullptr)},
          {"quota", answer.evidence.quota > 0 ? rounded(answer.evidence.quota) : Json(nullptr)},
          {"lock", answer.lock ? lock_json(*answer.lock) : Json(nullptr)},
          {"syncs", answer.syncs ? syncs_json(*answer.syncs) : Json(nullptr)},
          {"pause", answer.pause ? pause_json(*answer.pause) : Json(nullptr)},
          {"more_threads", answer.more ? more_threads_json(*answer.more, answer.limit) : Json(nullptr)},
          {"progress", answer.progress},
          {"gain", rounded(answer.gain)},
          {"low", rounded_or_null(answer.low)},
          {"high", rounded_or_null(answer.high)},
          {"certainty", to_string(answer.certainty)},
          {"doubt", doubt_json(answer.doubt)},
          {"knot", or_null(answer.knot)},
          {"actions", actions_json(answer.evidence.actions)},
          {"files", array_of(answer.evidence.files,
                             [](const AnswerEvidence::File& file) -> Json {
                               return {{"file", file_name_json(file.name)}, {"wait_s", seconds(file.wait_s)}};
                             })},
          {"service", answer.service ? service_json(*answer.service) : Json(nullptr)},
          {"other_user", answer.other_user ? Json{{"actor", answer.other_user->actor},
                                                  {"part", rounded(answer.other_user->part)}}
                                           : Json(nullptr)},
          {"shares_syncs", answer.shares_syncs}};
}

Json what_if_json(const FoundWhatIf& what_if) {
  return {{"asked", text(what_if.asked)},
          {"gain", rounded(what_if.gain)},
          {"low", rounded_or_null(what_if.low)},
          {"high", rounded_or_null(what_if.high)},
          {"certainty", to_string(what_if.certainty)},
          {"doubt", doubt_json(what_if.doubt)}};
}

}  // namespace offwait
