// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json.h"

#include <fmt/format.h>

#include "base/escape.h"
#include "report/json_answers.h"
#include "report/json_screen.h"
#include "report/json_values.h"
#include "report/json_views.h"
#include "report/names.h"
#include "report/wording.h"
#include "report/wording_cpus.h"
#include "report/wording_memory.h"

namespace offwait {

namespace {

Json time_fields(const StateSeconds& time) {
  return {{"running_s", seconds(time.running_s)},
          {"runnable_s", seconds(time.runnable_s)},
          {"blocked_s", seconds(time.blocked_s)},
          {"unknown_s", seconds(time.unknown_s)},
          {"lifetime_s", seconds(time.lifetime_s)}};
}

Json recording_json(const Findings& findings) {
  const Recording& recording = findings.recording;
  const std::optional<double> busy = machine_busy(findings);
  Json out = {{"target", text(recording.target)},
              {"start_time", text(recording.start_time)},
              {"window_s", seconds(findings.window_s)},
              {"kernel", text(recording.kernel)},
              {"cpus", recording.cpus},
              {"cpu_busy", busy ? rounded(*busy) : Json(nullptr)},
              {"sample_hz", recording.sample_hz},
              {"stack_reuse",
               {{"walked", recording.stack_reuse.walked},
                {"recalled", recording.stack_reuse.recalled},
                {"verified", recording.stack_reuse.verified},
                {"wrong", recording.stack_reuse.wrong}}},
              {"cost",
               {{"kernel_s", seconds(to_seconds(recording.cost.programs_ns))},
                {"recorder_s", seconds(to_seconds(recording.cost.recorder_ns))},
                {"most", recording.cost.most},
                {"waits_with_stacks", recording.cost.waits_with_stacks},
                {"waits_without_stacks", recording.cost.waits_without_stacks}}},
              {"offwait", text(recording.offwait)}};
  if (!recording.host.empty()) out["host"] = text(recording.host);
  for (const Label& label : recording.labels)
    out["labels"].push_back({{"name", text(label.name)}, {"value", text(label.value)}});
  if (recording.interrupted) out["interrupted"] = true;
  return out;
}

Json loss_json(const Findings& findings) {
  Json out = {{"total", total_lost(findings)}};
  for (const auto& [name, count] : findings.loss) {
    out[escape(name)] = count;
  }
  return out;
}

Json totals_json(const Totals& totals) {
  Json out = {{"threads", totals.threads},
              {"outside_threads", totals.outside_threads},
              {"waits", totals.waits},
              {"preemptions", totals.preemptions}};
  out.update(time_fields(totals.target));
  if (totals.stopped_s > 0) out["stopped_s"] = totals.stopped_s;
  if (totals.frozen_s > 0) out["frozen_s"] = totals.frozen_s;
  Json waits_for = Json::object();
  for (const auto& [by, wait_s] : totals.waits_for) {
    waits_for[std::string(to_string(by))] = seconds(wait_s);
  }
  out["waits_for"] = std::move(waits_for);
  return out;
}

Json stack_ends_json(const StackEnds& ends) {
  Json cut = Json::object();
  for (const auto& [reason, wait_s] : ends.cut_s) {
    cut[std::string(to_string(reason))] = seconds(wait_s);
  }
  return {{"complete_s", seconds(ends.complete_s)},
          {"missing_s", seconds(ends.missing_s)},
          {"cut_s", std::move(cut)}};
}

Json quota_json(const FoundQuota& quota) {
  return {{"cgroup", text(quota.cgroup)},
          {"cpus", rounded(quota.cpus)},
          {"periods", quota.periods},
          {"throttled_periods", quota.throttled_periods},
          {"throttled_s", seconds(quota.throttled_s)}};
}

Json pinning_json(const FoundPinning& pinning) {
  return {{"allowed", to_string(pinning.allowed)},      {"allowed_cpus", pinning.allowed_cpus},
          {"online_cpus", pinning.online_cpus},         {"threads", pinning.threads},
          {"runnable_s", seconds(pinning.runnable_s)},  {"allowed_busy", rounded(pinning.allowed_busy)},
          {"others_busy", rounded(pinning.others_busy)}};
}

Json cpu_supply_json(const Findings& findings, const ActorNames& names) {
  const CpuSupply& supply = findings.cpu_supply;
  return {{"cause", to_string(supply.cause)},
          {"sentence", text(cpu_supply_text(findings, names))},
          {"target_cpus", rounded(supply.target_cpus)},
          {"other_cpus", rounded(supply.other_cpus)},
          {"stolen_cpus", rounded(supply.stolen_cpus)},
          {"steal", rounded(supply.steal)},
          {"quota", supply.quota ? quota_json(*supply.quota) : Json()},
          {"pinning", supply.pinning ? pinning_json(*supply.pinning) : Json()},
          {"others", array_of(supply.others, [](const FoundProcess& process) -> Json {
             return {{"tgid", process.tgid},
                     {"name", text(process.name)},
                     {"cpu_s", seconds(process.own_s)},
                     {"children_cpu_s", seconds(process.children_s)},
                     {"with_target", process.with_target}};
           })}};
}

Json memory_json(const FoundMemory& memory, const ActorNames& names) {
  return {{"cgroup", memory.cgroup.empty() ? Json(nullptr) : text(memory.cgroup)},
          {"limit_bytes", memory.limit_bytes},
          {"used_bytes", memory.used_bytes},
          {"reached", memory.reached},
          {"of_all_programs", memory.of_all_programs},
          {"refault_bytes", memory.refault_bytes},
          {"swap_bytes", memory.swap_bytes},
          {"read_bytes", memory.read_bytes},
          {"read_again", rounded(memory.read_again())},
          {"sentence", text(memory_text(memory, names))}};
}

Json actor_json(const FoundActor& actor, FoundActorId id, const ActorNames& names) {
  Json out = {{"id", id},
              {"kind", to_string(actor.kind)},
              {"name", text(actor.name)},
              {"display", text(names.brief(id))}};
  if (actor.kind == ActorKind::thread || actor.kind == ActorKind::group) {
    out["tid"] = actor.tid;
    out["tgid"] = actor.tgid;
    out["members"] = actor.tids.size();
    out["tids"] = actor.tids;
    if (actor.lives > actor.tids.size()) out["lives"] = actor.lives;
    if (!actor.ns_tids.empty()) out["ns_tids"] = actor.ns_tids;
    if (actor.tgids.size() > 1) out["tgids"] = actor.tgids;
    if (!actor.program.empty()) out["program"] = text(actor.program);
  } else {
    out["members"] = 1;
  }
  if (actor.kind == ActorKind::disk) {
    out["on"] = array_of(actor.on, [](const std::string& name) { return text(name); });
  }
  out["outside"] = actor.outside;
  out["short_lived"] = actor.short_lived;
  out.update(time_fields(actor.time));
  out["open_wait_s"] = seconds(actor.open_wait_s);
  out["lost_s"] = seconds(actor.lost_s);
  return out;
}

Json phases_json(const std::optional<FoundPhases>& phases) {
  if (!phases) {
    return nullptr;
  }
  return {{"share", rounded(phases->share)},
          {"length_s", seconds(phases->length_s)},
          {"ranges", array_of(phases->ranges, [](const FoundPhases::Range& range) -> Json {
             return {{"from_s", seconds(range.from_s)}, {"to_s", seconds(range.to_s)}};
           })}};
}

Json code_place_json(const FunctionPlace& place) {
  Backtrace callers = place.stack;
  callers.frames.erase(callers.frames.begin());
  return {{"function", to_string(place.stack.frames.front())},
          {"callers", frames(callers)},
          {"share", rounded(place.share)},
          {"samples", place.samples},
          {"own_share", rounded(place.own)},
          {"kernel_share", rounded(place.kernel)},
          {"entered_by", place.entered_by.empty() ? Json(nullptr) : Json(place.entered_by)}};
}

Json samples_json(const FoundSamples& samples) {
  return {{"samples", samples.samples},
          {"stacks_known", samples.stacks_known},
          {"stacks", array_of(samples.stacks,
                              [](const FoundSamples::Place& place) -> Json {
                                return {{"share", rounded(place.share)},
                                        {"samples", place.samples},
                                        {"stack", frames(place.stack)}};
                              })},
          {"places", array_of(samples.places, code_place_json)},
          {"spread", samples.spread}};
}

Json edge_json(const FoundEdge& edge) {
  Json out = {{"from", edge.from},
              {"to", edge.to},
              {"idle", edge.idle},
              {"waits", edge.waits},
              {"wait_s", seconds(edge.wait_s)},
              {"weight_s", seconds(edge.weight_s)},
              {"each_s", seconds(edge.each_s)}};
  Json classes = Json::object();
  for (const auto& [wait_class, wait_s] : edge.classes) {
    classes[std::string(to_string(wait_class))] = seconds(wait_s);
  }
  out["classes"] = std::move(classes);
  out["waker_running_s"] = seconds(edge.waker_running_s);
  out["waker_runnable_s"] = seconds(edge.waker_runnable_s);
  out["waker_blocked_s"] = seconds(edge.waker_blocked_s);
  out["waker_unknown_s"] = seconds(edge.waker_unknown_s);
  out["waker_samples"] = samples_json(edge.waker_samples);
  out["stacks"] = array_of(edge.stacks, [](const FoundStack& stack) {
    Json json{{"class", to_string(stack.wait_class)},   {"weight_s", seconds(stack.weight_s)},
              {"wait_s", seconds(stack.wait_s)},        {"waits", stack.waits},
              {"wait_stack", frames(stack.wait_stack)}, {"waker_stack", frames(stack.waker_stack)}};
    if (stack.weight_error_s > 0) json["weight_error_s"] = seconds(stack.weight_error_s);
    return json;
  });
  out["peers_known"] = edge.peers_known;
  out["peers"] = array_of(edge.peers, [](const FoundPeer& peer) -> Json {
    return {{"peer", text(to_string(peer.peer))},
            {"role", to_string(peer.peer.role)},
            {"waits", peer.waits},
            {"wait_s", seconds(peer.wait_s)}};
  });
  out["phases"] = phases_json(edge.phases);
  return out;
}

Json ends(const Findings& findings, FoundEdgeId edge) {
  return {{"from", findings.edges[edge].from}, {"to", findings.edges[edge].to}};
}

Json knot_json(const Findings& findings, const FoundKnot& knot, const ActorNames& names) {
  return {{"actors", knot.actors},
          {"edges", array_of(knot.edges, [&](FoundEdgeId edge) { return ends(findings, edge); })},
          {"background", knot.background},
          {"pattern", to_string(knot.pattern)},
          {"pattern_title", text(pattern_title(knot))},
          {"evidence", text(evidence(findings, knot, names))},
          {"advice", text(advice(knot.pattern))},
          {"weight_s", seconds(knot.weight_s)},
          {"cpu_s", seconds(knot.cpu_s)}};
}

Json sink_json(const FoundSink& sink) {
  return {{"actor", sink.actor},
          {"saturated", sink.saturated},
          {"paced", sink.paced},
          {"running_s", seconds(sink.running_s)},
          {"runnable_s", seconds(sink.runnable_s)},
          {"busy_s", seconds(sink.busy_s)},
          {"asleep_s", seconds(sink.asleep_s)},
          {"limit", to_string(sink.limit)},
          {"remote_s", seconds(sink.remote_s)},
          {"pattern", sink.pattern ? to_string(*sink.pattern) : ""},
          {"evidence", text(evidence(sink))},
          {"advice", text(advice(sink))},
          {"samples", samples_json(sink.samples)}};
}

Json refinement_json(const Findings& findings) {
  Json out = Json::array();
  for (const RefinementStep& step : findings.refinement) {
    Json removed = nullptr;
    if (step.edge) {
      removed = ends(findings, *step.edge);
    } else if (step.actor) {
      removed = {{"actor", *step.actor}};
    }
    out.push_back({{"step", out.size() + 1},
                   {"removed", std::move(removed)},
                   {"weight_s", seconds(step.weight_s)},
                   {"reason", to_string(step.reason)}});
  }
  return out;
}

Json check_json(const std::optional<FoundDiskCheck>& check) {
  if (!check) {
    return nullptr;
  }
  return {{"counted_ios", check->counted_ios},
          {"counted_bytes", check->counted_bytes},
          {"seen_ios", check->seen_ios},
          {"seen_bytes", check->seen_bytes},
          {"mismatch", check->mismatch}};
}

Json direction_json(const FoundNicDirection& direction) {
  return {{"bytes", direction.bytes},
          {"bytes_per_s", seconds(direction.bytes_per_s)},
          {"capacity_bytes_per_s", seconds(direction.capacity_bytes_per_s)},
          {"busy_s", seconds(direction.busy_s)},
          {"idle_s", seconds(direction.idle_s)}};
}

Json nic_json(const FoundNic& nic) {
  return {{"actor", nic.actor},
          {"capacity_source", nic.capacity_source ? std::string(to_string(*nic.capacity_source)) : "none"},
          {"capacity_raised", nic.capacity_raised},
          {"received", direction_json(nic.received)},
          {"sent", direction_json(nic.sent)}};
}

Json activity_json(const std::optional<FoundDiskActivity>& activity) {
  if (!activity) {
    return nullptr;
  }
  return {{"kind", to_string(activity->kind)},
          {"under_way_s", seconds(activity->under_way_s)},
          {"in_flight", rounded(activity->in_flight)},
          {"in_flight_while_busy", rounded(activity->in_flight_while_busy)},
          {"each_s", seconds(activity->each_s)},
          {"ios", activity->ios},
          {"bytes", activity->bytes},
          {"ios_per_s", rounded(activity->ios_per_s)},
          {"bytes_per_s", rounded(activity->bytes_per_s)}};
}

Json disk_file_json(const FoundDiskFile& file) {
  return {{"file", file.file ? file_name_json(*file.file) : Json(nullptr)},
          {"flushes", file.flushes},
          {"bytes", file.bytes},
          {"ios", file.ios},
          {"written_back", file.written_back},
          {"under_way_s", seconds(file.under_way_s)}};
}

Json disk_json(const FoundDisk& disk) {
  return {{"actor", disk.actor},
          {"bytes", disk.bytes},
          {"ios", disk.ios},
          {"busy_s", seconds(disk.busy_s)},
          {"idle_s", seconds(disk.idle_s)},
          {"capacity",
           {{"bytes_per_s", disk.capacity_bytes_per_s},
            {"ios_per_s", disk.capacity_ios_per_s},
            {"source", to_string(disk.capacity_source)},
            {"raised", disk.capacity_raised},
            {"measured_on",
             disk.capacity_measured_on.empty() ? Json(nullptr) : Json(disk.capacity_measured_on)}}},
          {"bytes_per_s", rounded(disk.bytes_per_s)},
          {"ios_per_s", rounded(disk.ios_per_s)},
          {"service_s", seconds(disk.activity ? disk.activity->each_s : 0)},
          {"in_flight", rounded(disk.activity ? disk.activity->in_flight : 0)},
          {"activity", activity_json(disk.activity)},
          {"serves", disk.serves > 0 ? Json(disk.serves) : Json(nullptr)},
          {"unseen", disk.unseen},
          {"users", array_of(disk.users,
                             [](const FoundDiskUser& user) -> Json {
                               return {{"actor", user.actor ? Json(*user.actor) : Json(nullptr)},
                                       {"bytes", user.bytes},
                                       {"ios", user.ios},
                                       {"service_s", seconds(user.service_s)},
                                       {"in_flight", rounded(user.in_flight)}};
                             })},
          {"files", array_of(disk.files, disk_file_json)},
          {"files_known", disk.files_known},
          {"check", check_json(disk.check)}};
}

Json false_wakeups_json(const FoundFalseWakeups& false_wakeups) {
  return {{"removed", false_wakeups.removed},
          {"count", false_wakeups.count},
          {"ran_s", seconds(false_wakeups.ran_s)},
          {"edges", array_of(false_wakeups.edges, [](const FoundFalseWakeups::Edge& edge) -> Json {
             return {{"from", edge.from}, {"to", edge.to}, {"count", edge.count}};
           })}};
}

Json open_wait_json(const FoundOpenWait& open) {
  return {{"actor", open.actor},
          {"tid", open.tid},
          {"wait_s", seconds(open.wait_s)},
          {"throughout", open.throughout},
          {"class", to_string(open.wait_class)},
          {"wait_stack", frames(open.wait_stack)},
          {"holder", open.holder ? Json{{"actor", open.holder->actor},
                                        {"tid", open.holder->tid},
                                        {"name", text(open.holder->name)}}
                                 : Json()},
          {"deadlock", open.deadlock}};
}

Json excluded_wait_json(const Findings& findings, const ExcludedWait& excluded, const ActorNames& names) {
  Json out = ends(findings, excluded.edge);
  out["reason"] = to_string(excluded.reason);
  out["sentence"] = text(excluded_wait_sentence(findings, excluded, names));
  return out;
}

Json held_back_json(const HeldBack& held) {
  return {{"actor", held.actor},
          {"asked", held.asked},
          {"service", text(to_string(held.service))},
          {"waits", held.waits},
          {"wait_s", seconds(held.wait_s)}};
}

}  // namespace

std::string to_json(const Findings& findings) {
  const ActorNames names(findings, [](std::string_view name) { return escape(name); });
  Json out = {
      {"schema", "offwait-report/1"},
      {"recording", recording_json(findings)},
      {"loss", loss_json(findings)},
      {"totals", totals_json(findings.totals)},
      {"cpu_supply", cpu_supply_json(findings, names)},
      {"memory", findings.memory ? memory_json(*findings.memory, names) : Json(nullptr)},
      {"stack_ends", stack_ends_json(findings.stack_ends)},
      {"options",
       {{"min_weight_s", seconds(findings.options.min_weight_s)},
        {"noise_s", seconds(findings.options.noise_s)},
        {"merge", findings.options.merge},
        {"keep_false_wakeups", findings.options.keep_false_wakeups},
        {"comm", array_of(findings.options.filter.comms, text)},
        {"threads", array_of(findings.options.filter.threads, text)}}},
      {"verdict",
       {{"kind", to_string(findings.verdict.kind())}, {"sentence", text(verdict_sentence(findings, names))}}},
  };
  out["runtimes"] = array_of(findings.runtimes, [](const FoundRuntime& found) {
    return Json{{"name", name_of(found.runtime)},
                {"tasks", tasks_of(found.runtime)},
                {"hides_waits", hides_waits(found.runtime)},
                {"threads", found.threads}};
  });
  Json progress = Json::array();
  for (const FoundProgress& one : findings.progress) {
    progress.push_back(progress_json(one, progress.size()));
  }
  out["progress"] = std::move(progress);
  if (findings.held_back) out["held_back"] = held_back_json(*findings.held_back);
  out["answers"] = array_of(findings.answers, answer_json);
  out["screen"] = screen_json(screen_of(findings));
  out["what_if"] = array_of(findings.what_ifs, what_if_json);
  Json actors = Json::array();
  for (const FoundActor& actor : findings.actors) {
    actors.push_back(actor_json(actor, static_cast<FoundActorId>(actors.size()), names));
  }
  out["actors"] = std::move(actors);
  out["edges"] = array_of(findings.edges, edge_json);
  out["knots"] =
      array_of(findings.knots, [&](const FoundKnot& knot) { return knot_json(findings, knot, names); });
  out["sinks"] = array_of(findings.sinks, sink_json);
  out["refinement"] = refinement_json(findings);
  out["disks"] = array_of(findings.disks, disk_json);
  out["nics"] = array_of(findings.nics, nic_json);
  out["false_wakeups"] = false_wakeups_json(findings.false_wakeups);
  out["open_waits"] = array_of(findings.open_waits, open_wait_json);
  out["elsewhere"] = array_of(findings.excluded_waits, [&](const ExcludedWait& item) {
    return excluded_wait_json(findings, item, names);
  });
  out["functions"] = functions_json(findings.views.functions);
  out["threads"] = threads_json(findings.views.threads);
  out["locks"] = locks_json(findings.views.locks);
  out["files"] = files_json(findings.views.files);
  return out.dump(1).append("\n");
}

}  // namespace offwait
