// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_top.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/quantity.h"

namespace offwait {
namespace {

std::string rate_text(double per_s) {
  return format_count(static_cast<std::uint64_t>(std::llround(std::max(per_s, 0.0))));
}

}  // namespace

std::string long_time(Nanos time) {
  const auto s = static_cast<std::uint64_t>(std::max<Nanos>(time, 0) / kSecond);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

std::string cost_part(const TopSums& sums) {
  const SecondCounts& counts = sums.counts;
  const Nanos cost = counts.programs_cost + counts.recorder_cost + counts.analysis_cost;
  const Nanos all = counts.cpu_busy + counts.cpu_idle;
  if (cost <= 0 || all <= 0) return "";
  return "costs " + format_percent(static_cast<double>(cost), static_cast<double>(all));
}

std::string limit_part(const TopModel& model) {
  return model.most_overhead > 0 ? fmt::format("(limit {})", format_percent(model.most_overhead, 1)) : "";
}

std::vector<TopHeadPart> top_head(const TopModel& model, const TopView& view, const TopSums& sums) {
  const Nanos whole = model.now() - model.begin;
  const auto last = static_cast<Nanos>(std::llround(sums.window_s)) * kSecond;
  const bool lost = sums.counts.lost > 0;
  std::vector<TopHeadPart> out = {{"offwait top", 9, CellRole::strong}, {model.target, 8, CellRole::actor}};
  if (model.seconds.empty()) {
    out.push_back({"the first second", 7});
    return out;
  }
  out.push_back({"last " + long_time(last), 5});
  if (whole > last + kSecond) out.push_back({"of " + long_time(whole), 1, CellRole::plain, true});
  if (view.last_s > 0)
    out.push_back({rate_text(static_cast<double>(sums.waits) / sums.window_s) + " waits/s", 7});
  if (std::string cost = cost_part(sums); !cost.empty()) {
    out.push_back({std::move(cost), 6});
    if (std::string limit = limit_part(model); !limit.empty())
      out.push_back({std::move(limit), 3, CellRole::plain, true});
  }
  out.push_back(
      {format_count(sums.counts.lost) + " lost", lost ? 4 : 2, lost ? CellRole::warn : CellRole::plain});
  return out;
}

std::string_view top_state(const TopModel& model, const TopView& view) {
  if (view.paused) return "paused";
  switch (model.state) {
    case TopModel::State::live:
      return "live";
    case TopModel::State::replayed:
      return "replay";
    case TopModel::State::ended:
      return "ended";
  }
  return "";
}

std::string progress_rate(const TopSums& sums, double per_s) {
  const SecondCounts& counts = sums.counts;
  if (counts.calls) return rate_text(per_s) + " calls/s";
  if (counts.responses) return rate_text(per_s) + " responses/s";
  return rate_text(per_s) + " waits/s";
}

std::string age_text(const TopModel& model, const TopAnalysis& analysis) {
  const Nanos age = model.now() - analysis.window.end;
  return fmt::format("of {}, {} ago", long_time(analysis.window.length() + kSecond / 2), long_time(age));
}

std::string no_answers_text(const TopModel& model) {
  if (model.analyses) return "The first answers are being worked out.";
  return "There are no answers yet: they come when 10 s are recorded, or with the key a.";
}

std::string changing_text(const TopModel& model) {
  if (!model.answers || model.before.empty() || model.answers->findings.answers.empty()) return "";
  const std::string& now = model.answers->findings.answers.front().change;
  // Twice in three is steady.
  if (std::find(model.before.begin(), model.before.end(), now) != model.before.end()) return "";
  return fmt::format("The first answer changes: before it was {}.", model.before.back());
}

std::string edge_text(const TopFindings& findings, const TopEdge& edge) {
  std::string out = edge_name(findings, edge) + ": " + edge.classes;
  if (edge.idle) return out;
  return out + fmt::format(", {} waits/s, {} each", rate_text(edge.waits), format_seconds(edge.each_s));
}

std::string_view top_no_stack() { return "The chosen row waits for nothing that was analysed."; }

std::string cpus_text(const TopModel& model, const TopSums& sums) {
  const SecondCounts& counts = sums.counts;
  const double all = static_cast<double>(counts.cpu_busy + counts.cpu_idle);
  if (all <= 0) return "It is not known how busy they were.";
  const double s = sums.window_s;
  const double target = to_seconds(sums.target.running()) / s;
  const double stolen = to_seconds(counts.cpu_steal) / s;
  const double others = std::max(0.0, to_seconds(counts.cpu_busy) / s - target - stolen);
  std::string out = fmt::format("{} busy: the target runs on {}",
                                format_percent(to_seconds(counts.cpu_busy), all / 1e9), format_ratio(target));
  if (model.cpus > 0) out += fmt::format(" of {}", model.cpus);
  out += fmt::format(", others on {}", format_ratio(others));
  if (stolen >= 0.01) out += fmt::format(", the hypervisor took {}", format_ratio(stolen));
  const double ready = to_seconds(sums.target.runnable) / s;
  if (ready >= 0.01) out += fmt::format(" · {} threads ready without a CPU", format_ratio(ready));
  return out;
}

std::string empty_panel_text(const TopModel& model, const TopView& view, TopPanel panel) {
  if (!view.filter.empty()) return "No row has this text in it: Esc shows all rows.";
  if (panel == TopPanel::threads) return "No thread has been seen yet.";
  if (!model.graph) return "The first seconds are being analysed.";
  switch (panel) {
    case TopPanel::locks:
      return "No lock is waited for.";
    case TopPanel::files:
      return "No file is waited for.";
    default:
      return "No thread waits for another one, or for a device.";
  }
}

std::vector<std::pair<std::string_view, std::string_view>> top_key_names() {
  return {{"q", "quit"},       {"Tab", "panel"},          {"↑↓", "choose"},
          {"Enter", "stacks"}, {"→", "follow the waker"}, {"p", "pause"},
          {"a", "answers"},    {"/", "filter"},           {"s", "sort"},
          {"S", "save"},       {"1-9", "seconds"},        {"?", "help"}};
}

std::vector<std::string> top_help() {
  return {
      "Keys",
      "  ↑ ↓ k j     choose a row; PgUp, PgDn, Home and End go further",
      "  Tab         go to the next panel: threads, waits, locks, files",
      "  Enter       show the stacks of the chosen row, and back",
      "  → f         follow the waker: to the wait that holds up the one that is waited for",
      "  s           order rows by time, by number of waits, or by name",
      "  /           show only rows with a text in them; Esc shows all",
      "  1 to 9, 0   sum up the last 1 to 9 or 10 seconds",
      "  p           pause: the recording goes on, and the screen stays",
      "  a           work out the answers of the last 10 s now, whatever it costs",
      "  S           write the last minute as a recording, for offwait report",
      "  q           quit",
      "",
      "What the numbers are",
      "  THREADS     CPUs: how many they use. run, ready (to run, without a CPU) and the classes of",
      "              waits are parts of their time. These are of the last seconds.",
      "  WAITS       A → B: A waited, and B ended the wait. weight/s: that time, and the time that",
      "              others waited behind A. * marks a knot: its threads wait for each other.",
      "  HELP        What one change would gain, by a replay of the last full 10 s. up to: at most.",
      "  costs       what offwait takes of the time of all CPUs, analyses included. Waits are always",
      "              recorded, and the key a is obeyed, so that it can be more than the limit.",
  };
}

std::string top_no_waker() { return "It waits for no thread or device: follow another row."; }

std::string top_sort_text(TopSort sort) {
  switch (sort) {
    case TopSort::time:
      return "Rows are ordered by time.";
    case TopSort::count:
      return "Rows are ordered by how many waits they have.";
    case TopSort::name:
      return "Rows are ordered by name.";
  }
  return "";
}

std::string top_nothing_to_save() { return "What is replayed is a recording already."; }

std::string top_line(const TopModel& model) {
  if (model.seconds.empty()) return "";
  TopView view;
  view.last_s = 1;
  const TopSums sums = sums_of(model, view);
  std::string out = fmt::format("{:>5} s  {} waits/s", (model.now() - model.begin + kSecond / 2) / kSecond,
                                rate_text(static_cast<double>(sums.waits) / sums.window_s));
  if (sums.counts.responses)
    out += fmt::format("  {} responses/s", rate_text(*sums.counts.responses / sums.window_s));
  if (sums.counts.calls) out += fmt::format("  {} calls/s", rate_text(*sums.counts.calls / sums.window_s));
  out += fmt::format("  ran {}  ready {}", format_ratio(to_seconds(sums.target.running()) / sums.window_s),
                     format_ratio(to_seconds(sums.target.runnable) / sums.window_s));
  if (const std::string cost = cost_part(sums); !cost.empty()) {
    const std::string limit = limit_part(model);
    out += "  " + cost + (limit.empty() ? "" : " " + limit);
  }
  if (sums.counts.lost > 0) out += fmt::format("  {} lost", format_count(sums.counts.lost));
  if (model.answers && !model.answers->findings.answers.empty()) {
    const TopAnswer& first = model.answers->findings.answers.front();
    out += fmt::format("  {}{}{} ({} ago)", first.change, first.gain.empty() ? " " : ": ",
                       first.gain.empty() ? first.mark : first.gain,
                       long_time(model.now() - model.answers->window.end));
  }
  return out;
}

}  // namespace offwait
