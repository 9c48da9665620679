// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/analyse.h"

#include <utility>
#include <vector>

#include "analysis/actors.h"
#include "analysis/answers.h"
#include "analysis/cpu_supply.h"
#include "analysis/devices.h"
#include "analysis/disk_sharing.h"
#include "analysis/edges.h"
#include "analysis/excluded_waits.h"
#include "analysis/held_back.h"
#include "analysis/knot_input.h"
#include "analysis/knot_patterns.h"
#include "analysis/memory_reads.h"
#include "analysis/open_waits.h"
#include "analysis/prepare.h"
#include "analysis/remote_services.h"
#include "analysis/sinks.h"
#include "analysis/stack_ends.h"
#include "analysis/verdict.h"
#include "analysis/wait_graph.h"
#include "analysis/wait_places.h"
#include "base/side_by_side.h"
#include "knot/knots.h"

namespace offwait {

namespace {

std::vector<RefinementStep> refinement_steps(const std::vector<KnotStep>& steps) {
  std::vector<RefinementStep> out;
  for (const KnotStep& step : steps) {
    out.push_back({step.reason, step.edge, step.vertex, to_seconds(step.weight_ns)});
  }
  return out;
}

}  // namespace

Result<Findings> analyse(Trace given, const AnalysisOptions& options) {
  const std::size_t actors = given.actors.size();
  Result<Prepared> prepared = prepare(std::move(given), options);
  if (!prepared.ok()) {
    return prepared.error();
  }
  options.begins(AnalysisStep::graph);
  const Trace& trace = prepared->trace.all();
  const WaitGraph graph = build_wait_graph(*prepared, options.merge);
  const std::vector<RemoteServices> remote = find_remote_services(*prepared, graph);
  const KnotInput input = knot_input(*prepared, graph, remote, options);
  const KnotResult found = find_knots(input.vertices, input.edges, input.options);

  Findings findings;
  OpenWaits open;
  findings.recording = trace.recording;
  const MachineTime machine = machine_time(*prepared);
  findings.recording.cpu_busy_ns = machine.busy_ns;
  findings.recording.cpu_idle_ns = machine.idle_ns;
  findings.window_s = to_seconds(trace.window.length());
  findings.loss = trace.loss;
  findings.lost = lost_time(trace);
  findings.options = {to_seconds(input.options.min_weight_ns), to_seconds(input.options.noise_ns),
                      options.merge, options.keep_false_wakeups, options.filter};
  // Most of these look at every wait.
  side_by_side(
      [&] {
        findings.totals = sum_totals(*prepared, graph);
        findings.cpu_supply = find_cpu_supply(*prepared, findings.totals.target);
        findings.stack_ends = stack_ends(*prepared);
        findings.actors = find_actors(*prepared, graph);
        open = find_open_waits(*prepared, graph);
      },
      [&] { findings.edges = find_edges(*prepared, graph); });
  findings.disks = find_disks(*prepared, graph);
  findings.memory = find_memory(trace);
  findings.nics = find_nics(*prepared, graph);
  findings.false_wakeups = find_false_wakeups_by_edge(*prepared, graph, !options.keep_false_wakeups);
  findings.held_back = find_held_back(*prepared, graph);
  findings.open_waits = std::move(open.waits);
  findings.deadlocks = std::move(open.deadlocks);
  findings.knots = find_patterns(graph, input, found.knots, wait_places(trace, graph, found.knots),
                                 machine_busy(findings));
  findings.sinks = find_sinks(*prepared, graph, input, remote, found.sinks);
  findings.refinement = refinement_steps(found.steps);
  findings.verdict = find_verdict(findings, waits_for_requests(graph, input, found.knots));
  findings.excluded_waits = find_excluded_waits(findings);
  const std::vector<Runtime> runtimes = runtimes_of(trace);
  findings.runtimes = find_runtimes(trace, runtimes);
  FoundAnswers answers = find_answers(*prepared, graph, findings.knots, options.what_ifs, runtimes);
  findings.progress = std::move(answers.progress);
  findings.answers = std::move(answers.answers);
  findings.what_ifs = std::move(answers.what_ifs);
  find_disk_sharing(findings);
  findings.views = std::move(prepared->views);
  findings.actor_of.assign(graph.vertex_of.begin(),
                           graph.vertex_of.begin() + static_cast<std::ptrdiff_t>(actors));
  return findings;
}

}  // namespace offwait
