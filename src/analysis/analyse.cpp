// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/analyse.h"

#include <utility>
#include <vector>

#include "analysis/actors.h"
#include "analysis/devices.h"
#include "analysis/edges.h"
#include "analysis/elsewhere.h"
#include "analysis/knot_input.h"
#include "analysis/knot_patterns.h"
#include "analysis/open_waits.h"
#include "analysis/prepare.h"
#include "analysis/remote_services.h"
#include "analysis/sinks.h"
#include "analysis/stack_ends.h"
#include "analysis/verdict.h"
#include "analysis/wait_graph.h"
#include "knot/knots.h"

namespace offwait {

namespace {

std::vector<ReportStep> report_steps(const std::vector<KnotStep>& steps) {
  std::vector<ReportStep> out;
  for (const KnotStep& step : steps) {
    out.push_back({step.reason, step.edge, step.vertex, to_seconds(step.weight_ns)});
  }
  return out;
}

}  // namespace

Result<Report> analyse(Trace given, const AnalysisOptions& options) {
  const Result<Prepared> prepared = prepare(std::move(given), options);
  if (!prepared.ok()) {
    return prepared.error();
  }
  const Trace& trace = prepared->trace.all();
  const WaitGraph graph = build_wait_graph(*prepared, options.merge);
  const std::vector<RemoteServices> remote = find_remote_services(*prepared, graph);
  const KnotInput input = knot_input(*prepared, graph, remote, options);
  const KnotResult found = find_knots(input.vertices, input.edges, input.options);

  Report report;
  report.recording = trace.recording;
  report.window_s = to_seconds(trace.window.length());
  report.loss = trace.loss;
  report.totals = sum_totals(*prepared, graph);
  report.stack_ends = stack_ends(*prepared);
  report.options = {to_seconds(input.options.min_weight_ns), to_seconds(input.options.noise_ns),
                    options.merge, options.keep_false_wakeups, options.filter};
  report.actors = find_actors(*prepared, graph);
  report.edges = find_edges(*prepared, graph);
  report.disks = find_disks(*prepared, graph);
  report.nics = find_nics(*prepared, graph);
  report.false_wakeups = find_false_wakeups_by_edge(*prepared, graph, !options.keep_false_wakeups);
  OpenWaits open = find_open_waits(*prepared, graph);
  report.open_waits = std::move(open.waits);
  report.deadlocks = std::move(open.deadlocks);
  report.knots = find_patterns(graph, input, found.knots, machine_busy(report));
  report.sinks = find_sinks(*prepared, graph, input, remote, found.sinks);
  report.refinement = report_steps(found.steps);
  report.verdict = find_verdict(report, waits_for_requests(graph, input, found.knots));
  report.elsewhere = long_waits_elsewhere(report);
  return report;
}

}  // namespace offwait
