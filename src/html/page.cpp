// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/drawn_graph.h"
#include "export/deflate.h"
#include "graph/false_wakeups.h"
#include "html/arrow_waits.h"
#include "html/columns.h"
#include "html/document.h"
#include "html/encode.h"
#include "html/page_json.h"
#include "html/state_map.h"
#include "report/text.h"

namespace offwait::html {

namespace {

Json row_json(const Trace& trace, const Findings& findings, ActorId thread, std::uint32_t count) {
  const Actor& actor = trace.actors[thread];
  const Window life = life_in(actor, trace.window);
  return {{"tid", actor.tid},
          {"tgid", actor.tgid},
          {"name", text(actor.name)},
          {"actor", findings.actor_of[thread]},
          {"outside", actor.outside},
          {"from_us", (life.begin - trace.window.begin) / 1000},
          {"to_us", (life.end - trace.window.begin) / 1000},
          {"count", count}};
}

/// With three digits, which is as much as a line of a chart shows.
Json line_of(const std::vector<double>& values) {
  return array_of(values, [](double value) -> Json { return std::round(value * 1000) / 1000; });
}

/// Neighbouring bins as one, so that there are `bins` of them.
std::vector<double> coarser(const std::vector<double>& values, std::size_t bins) {
  const std::size_t each = values.size() / bins;
  std::vector<double> out(bins);
  for (std::size_t i = 0; i < bins * each; ++i) out[i / each] += values[i] / static_cast<double>(each);
  return out;
}

/// `[actor, stack, samples]`. Those after the first kMostSampleSums have no stacks.
Json samples_json(const Trace& trace, const Findings& findings, StackTable& stacks) {
  constexpr std::size_t kMostSampleSums = 6000;
  std::map<std::pair<FoundActorId, StackId>, std::size_t> counts;
  for (const CpuSample& sample : trace.cpu_samples) {
    const bool inside = sample.at >= trace.window.begin && sample.at < trace.window.end;
    if (inside && !trace.actors[sample.thread].outside)
      ++counts[{findings.actor_of[sample.thread], sample.stack}];
  }
  std::vector<std::pair<std::pair<FoundActorId, StackId>, std::size_t>> all(counts.begin(), counts.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::map<std::pair<FoundActorId, std::uint32_t>, std::size_t> sums;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [actor, stack] = all[i].first;
    sums[{actor, i < kMostSampleSums ? stacks.number_of(backtrace_of(trace, stack)) : 0}] += all[i].second;
  }
  Json out = Json::array();
  for (const auto& [key, count] : sums) out.push_back({key.first, key.second, count});
  return out;
}

Json lines_json(const Trace& trace, const Findings& findings, const StateMap& map) {
  constexpr std::size_t kBins = 256;
  Json disks = Json::array();
  const auto under_way = requests_under_way(trace, kBins);
  for (ActorId id = 0; id < under_way.size(); ++id) {
    if (!under_way[id].empty())
      disks.push_back({{"actor", findings.actor_of[id]}, {"values", line_of(under_way[id])}});
  }
  return {{"running", line_of(coarser(map.running, kBins))},
          {"runnable", line_of(coarser(map.runnable, kBins))},
          {"disks", std::move(disks)}};
}

Json timeline_json(const Trace& trace, const Findings& findings, const Rows& rows, const StateMap& map,
                   const Columns& columns) {
  Json threads = Json::array();
  for (std::size_t row = 0; row < rows.threads.size(); ++row)
    threads.push_back(row_json(trace, findings, rows.threads[row], columns.counts[row]));
  const auto micros = [&trace](Nanos time) { return (time - trace.window.begin) / 1000; };
  return {{"span_us", trace.window.length() / 1000},
          {"states", state_names()},
          {"bins", map.bins},
          {"rows", std::move(threads)},
          {"left_out", rows.left_out},
          {"others", columns.others},
          {"objects", array_of(columns.objects, [](const std::string& name) { return text(name); })},
          {"whole", array_of(columns.whole,
                             [&](const Window& part) -> Json {
                               return {micros(part.begin), micros(part.end)};
                             })},
          {"is_whole", columns.is_whole},
          {"longer_than_us", columns.longer_than / 1000},
          {"lines", lines_json(trace, findings, map)}};
}

/// The longest waits of the arrows that are drawn first: the longest of each, then the next ones.
std::vector<Window> longest_waits(const DrawnGraph& graph, const std::vector<ArrowWaits>& waits) {
  std::vector<Window> out;
  for (std::size_t place = 0; place < kMostLongest; ++place) {
    for (std::size_t i = 0; i < graph.first_arrows; ++i) {
      const std::vector<LongWait>& longest = waits[i].longest;
      if (place < longest.size()) out.push_back({longest[place].begin, longest[place].wake});
    }
  }
  return out;
}

}  // namespace

Result<std::string> to_html(const Findings& findings, Trace given, const PageOptions& options) {
  const Curves curves = curves_of(findings, given, options.progress);
  const Trace trace = options.keep_false_wakeups ? std::move(given) : without_false_wakeups(std::move(given));
  const ActorNames names(findings, [](std::string_view name) { return escape(name); });
  const Histories histories(trace);
  const DrawnGraph graph = drawn_graph(findings);
  const Rows rows = rows_of(trace, findings, graph);
  const StateMap map = state_map(trace, histories, rows);
  const std::vector<ArrowWaits> waits = arrow_waits(trace, histories, findings, graph, rows);
  StackTable stacks;
  Json report = findings_json(findings, curves, names, stacks);
  report["graph"] = graph_json(findings, graph, waits, trace.window, names, stacks);
  report["samples"] = samples_json(trace, findings, stacks);
  OFFWAIT_TRY(const std::string far, deflate_raw(map.bytes));
  const std::string above =
      document_head(findings.recording.target) + fallback(to_text(findings, TextStyle{}));
  const std::string below = document_script() + payload("far", far);
  const auto with = [&](const Columns& columns, const StackTable& all) -> Result<std::string> {
    report["timeline"] = timeline_json(trace, findings, rows, map, columns);
    report["frames"] = all.frames();
    report["stacks"] = all.stacks();
    OFFWAIT_TRY(const std::string packed, deflate_raw(report.dump()));
    return above + payload("report", packed) + below + payload("near", columns.deflated) + document_end();
  };
  Columns none;
  none.counts.assign(rows.threads.size(), 0);
  none.is_whole = false;
  OFFWAIT_TRY(std::string page, with(none, stacks));
  const std::vector<Window> first = longest_waits(graph, waits);
  // Names of more stacks and objects come with single waits, and base64 takes a third more.
  double bytes = 0.72 * (static_cast<double>(options.most_bytes) - static_cast<double>(page.size()));
  for (int tries = 0; tries < 4 && bytes >= 1; ++tries) {
    StackTable all = stacks;
    OFFWAIT_TRY(const Columns columns,
                columns_of(trace, histories, findings, rows, first, static_cast<std::size_t>(bytes), all));
    OFFWAIT_TRY(std::string fuller, with(columns, all));
    if (fuller.size() <= options.most_bytes) return fuller;
    bytes -= 0.8 * static_cast<double>(fuller.size() - options.most_bytes);
  }
  return page;
}

}  // namespace offwait::html
