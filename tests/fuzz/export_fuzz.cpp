// SPDX-License-Identifier: GPL-2.0-or-later
// Any trace that can be read can be exported: JSON stays JSON and protocol buffers stay whole, threads run as
// long as the analysis says, and no CPU has two threads at once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analyse.h"
#include "export/dot.h"
#include "export/ndjson.h"
#include "export/perfetto.h"
#include "export/pprof.h"
#include "export/sched_events.h"
#include "export/speedscope.h"
#include "export/wait_profile.h"
#include "graph/sweep.h"
#include "html/page.h"
#include "trace/text.h"

namespace {

using offwait::Nanos;

void must(bool holds, std::string_view what) {
  if (holds) {
    return;
  }
  std::cerr << "export_fuzz: " << what << "\n";
  std::abort();
}

/// Bytes that a writer hands over, as one string; empty if the writer fails.
template <class Writer>
std::string written(Writer writer) {
  std::string out;
  const offwait::Status status = writer([&out](std::string_view bytes) {
    out += bytes;
    return offwait::success();
  });
  return status.ok() ? out : "";
}

void check_runs(const offwait::Trace& trace, const offwait::Sweep& swept) {
  offwait::SchedEvents events = offwait::sched_events(trace);
  std::vector<Nanos> running(trace.actors.size());
  for (const offwait::Run& run : events.runs) {
    must(run.from <= run.to && run.from >= trace.window.begin && run.to <= trace.window.end, "a run outside");
    running[run.thread] += run.to - run.from;
  }
  for (std::size_t id = 0; id < running.size(); ++id) {
    must(running[id] == swept.actors[id].running_ns, "a thread runs for another time than the analysis says");
  }
  must(std::is_sorted(events.events.begin(), events.events.end(),
                      [](const auto& a, const auto& b) { return a.at < b.at; }),
       "events out of order");
  std::sort(events.runs.begin(), events.runs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.cpu, a.place) < std::pair(b.cpu, b.place);
  });
  for (std::size_t i = 1; i < events.runs.size(); ++i) {
    const bool same = events.runs[i].cpu == events.runs[i - 1].cpu;
    must(!same || events.runs[i].from >= events.runs[i - 1].to, "two threads on one CPU");
  }
}

void check_packets(const std::string& bytes) {
  protozero::pbf_reader trace(bytes);
  while (trace.next()) {
    must(trace.tag() == 1, "no packet");
    protozero::pbf_reader packet = trace.get_message();
    while (packet.next()) packet.skip();
  }
}

void check_lines(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    must(end != std::string_view::npos && nlohmann::json::accept(lines.substr(0, end)),
         "a line that is no JSON");
    lines.remove_prefix(end + 1);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT(*-reinterpret-cast)
  const offwait::Result<offwait::Trace> trace = offwait::parse_text(text, "f");
  if (!trace.ok() || trace->window.length() <= 0) return 0;
  if (const offwait::Result<offwait::Sweep> swept = offwait::sweep(*trace); swept.ok())
    check_runs(*trace, *swept);
  check_packets(written([&](const auto& sink) { return offwait::write_perfetto(*trace, sink); }));
  offwait::AnalysisOptions options;
  options.answers = false;
  if (const offwait::Result<offwait::Findings> findings = offwait::analyse(*trace, options); findings.ok()) {
    check_lines(written([&](const auto& sink) { return offwait::write_ndjson(*trace, *findings, sink); }));
    must(offwait::to_dot(*findings).ends_with("}\n"), "no graph");
    const auto page = offwait::html::to_html(*findings, *trace, {offwait::html::kFewestBytes, false, {}});
    must(page.ok() && page->ends_with("</html>\n"), "no page");
  }
  if (const offwait::Result<offwait::WaitProfile> profile = offwait::wait_profile(*trace, {}, false);
      profile.ok()) {
    must(offwait::to_pprof(*profile).ok(), "no profile");
    must(nlohmann::json::accept(offwait::to_speedscope(*profile)), "no JSON for speedscope");
  }
  return 0;
}
