// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/top_panels.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/wording_top.h"

namespace offwait {
namespace {

constexpr std::size_t kClassColumns = 4;
constexpr int kNarrowPanel = 72;
/// What the columns of threads take without those of wait classes, and the least for their names.
constexpr int kGroupNumbers = 32;
constexpr int kGroupName = 18;

/// `worker-12` → `worker-*`
std::string pattern_of(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit) out += c;
    if (is_digit && (out.empty() || out.back() != '*')) out += '*';
  }
  return out;
}

/// Threads that are in no actor of the graph, because no graph was made yet or because they are new.
struct Others {
  std::set<std::string> names{};
  TopGroup group{};
};

/// Which actor of the graph each thread is, by tid.
std::unordered_map<std::int32_t, std::size_t> actors_by_tid(const TopModel& model) {
  std::unordered_map<std::int32_t, std::size_t> out;
  if (!model.graph) return out;
  const std::vector<TopActor>& actors = model.graph->findings.actors;
  for (std::size_t i = 0; i < actors.size(); ++i) {
    for (const std::int32_t tid : actors[i].tids) out.emplace(tid, i);
  }
  return out;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool passes(const std::string& text, const TopView& view) {
  return view.filter.empty() || lower(text).find(lower(view.filter)) != std::string::npos;
}

void add_counts(SecondCounts& sum, const SecondCounts& more) {
  const auto add = [](std::optional<double>& to, const std::optional<double>& what) {
    if (what) to = to.value_or(0) + *what;
  };
  add(sum.responses, more.responses);
  add(sum.calls, more.calls);
  sum.cpu_busy += more.cpu_busy;
  sum.cpu_idle += more.cpu_idle;
  sum.cpu_steal += more.cpu_steal;
  sum.lost += more.lost;
  sum.programs_cost += more.programs_cost;
  sum.recorder_cost += more.recorder_cost;
  sum.analysis_cost += more.analysis_cost;
  sum.even = sum.even || more.even;
}

std::string percent_cell(Nanos part, Nanos whole) {
  if (part <= 0 || whole <= 0) return "-";
  return format_percent(static_cast<double>(part), static_cast<double>(whole));
}

/// The classes in which the target waits longest.
std::vector<WaitClass> shown_classes(const TopSums& sums, int width) {
  std::vector<WaitClass> out;
  for (std::size_t i = 0; i < kWaitClasses; ++i) {
    if (sums.target.blocked[i] > 0) out.push_back(static_cast<WaitClass>(i));
  }
  const auto time = [&sums](WaitClass one) { return sums.target.blocked[static_cast<std::size_t>(one)]; };
  std::stable_sort(out.begin(), out.end(), [&time](WaitClass a, WaitClass b) { return time(a) > time(b); });
  const auto room = static_cast<std::size_t>(std::max(1, (width - kGroupNumbers - kGroupName) / 7));
  out.resize(std::min({out.size(), kClassColumns, room}));
  return out;
}

void put_mark(CellWriter& line, bool in_knot) { line.put(in_knot ? "*" : " ", CellRole::knot); }

void put_group(CellWriter& line, const TopGroup& group, const TopSums& sums,
               const std::vector<WaitClass>& classes, int name_columns) {
  const ThreadTimes& times = group.times;
  put_mark(line, group.in_knot);
  const std::string_view outside = group.outside ? " (out)" : "";
  line.put_cut(group.name, name_columns - static_cast<int>(outside.size()),
               group.in_knot ? CellRole::knot : CellRole::actor);
  line.put(outside, CellRole::muted).to(name_columns + 1);
  line.put_right(format_count(group.threads), 6);
  line.put_right(format_ratio(to_seconds(times.running()) / sums.window_s), 6);
  line.put_right(percent_cell(times.running(), times.lived), 6, CellRole::running);
  line.put_right(percent_cell(times.runnable, times.lived), 6, CellRole::runnable);
  Nanos other = times.all_blocked() + times.unknown;
  for (const WaitClass one : classes) {
    const Nanos blocked = times.blocked[static_cast<std::size_t>(one)];
    other -= blocked;
    line.put_right(percent_cell(blocked, times.lived), 7, CellRole::waiting);
  }
  line.put_right(percent_cell(other, times.lived), 6, CellRole::waiting);
  if (line.left() >= 9) {
    line.put_right(format_count(static_cast<std::uint64_t>(
                       std::llround(static_cast<double>(times.waits) / sums.window_s))),
                   9);
  }
}

void sort_groups(std::vector<TopGroup>& groups, TopSort sort) {
  const auto rank = [sort](const TopGroup& group) {
    return sort == TopSort::count ? static_cast<Nanos>(group.times.waits)
                                  : group.times.running() + group.times.runnable;
  };
  std::stable_sort(groups.begin(), groups.end(), [&](const TopGroup& a, const TopGroup& b) {
    if (a.outside != b.outside) return !a.outside;
    if (sort == TopSort::name) return a.name < b.name;
    return rank(a) > rank(b);
  });
}

CellRow heading_row(const std::string& title, const std::string& more, int width, Charset charset) {
  CellWriter line(width, charset);
  line.put(title, CellRole::heading);
  if (!more.empty()) line.put("  ").put(more, CellRole::muted);
  if (line.left() > 1) line.put(" ").rule(width);
  return line.take();
}

TopRows thread_rows(const TopModel& model, const TopView& view, int width) {
  TopSums sums = sums_of(model, view);
  sort_groups(sums.groups, view.sort);
  const std::vector<WaitClass> classes = shown_classes(sums, width);
  const int numbers = kGroupNumbers + 7 * static_cast<int>(classes.size());
  const int name_columns = std::clamp(width - numbers, kGroupName, 28);
  TopRows out;
  std::size_t target = 0;
  std::size_t outside = 0;
  for (const TopGroup& group : sums.groups) (group.outside ? outside : target) += group.threads;
  out.heads.push_back(heading_row(
      "THREADS",
      fmt::format("{} + {} outside, part of their time", format_count(target), format_count(outside)), width,
      view.charset));
  CellWriter head(width, view.charset);
  head.to(1).put("group", CellRole::muted).to(name_columns + 1);
  for (const auto& [text, columns] : {std::pair{"thr", 6}, {"CPUs", 6}, {"run", 6}, {"ready", 6}})
    head.put_right(text, columns, CellRole::muted);
  for (const WaitClass one : classes) head.put_right(to_string(one), 7, CellRole::muted);
  head.put_right("rest", 6, CellRole::muted);
  if (head.left() >= 9) head.put_right("waits/s", 9, CellRole::muted);
  out.heads.push_back(head.take());
  for (const TopGroup& group : sums.groups) {
    if (!passes(group.name, view)) continue;
    CellWriter line(width, view.charset);
    put_group(line, group, sums, classes, name_columns);
    out.rows.push_back({group.name, line.take()});
  }
  return out;
}

/// Time that was waited in each second: of many threads it may be many seconds.
std::string per_second(double s) { return s <= 0 ? "-" : format_seconds(s); }

double rank_of(const TopObject& object, TopSort sort) {
  return sort == TopSort::count ? object.waits : object.waited;
}

/// Where there is little room, names have more of it than numbers that the stack's heading has, too.
int edge_name_columns(int width) { return std::clamp(width - (width < kNarrowPanel ? 19 : 48), 16, 44); }

CellRow edge_row(const TopFindings& findings, const TopEdge& edge, int width, Charset charset) {
  CellWriter line(width, charset);
  put_mark(line, edge.in_knot);
  const bool narrow = width < kNarrowPanel;
  const int name_columns = edge_name_columns(width);
  const int each = (name_columns - 4) / 2;
  const std::string& from = findings.actors[edge.from].name;
  const std::string& to = findings.actors[edge.to].name;
  const CellRole role = edge.in_knot ? CellRole::knot : edge.aside ? CellRole::muted : CellRole::actor;
  // A short name leaves its room to the other one.
  const int to_columns = std::max(each, name_columns - 4 - line.columns_of(from));
  line.put_cut(from, name_columns - 4 - std::min(to_columns, line.columns_of(to)), role);
  line.put(" → ", CellRole::muted).put_cut(to, to_columns, role).to(name_columns + 1);
  line.put_right(per_second(edge.weight), 9, CellRole::strong);
  if (!narrow) line.put_right(edge.idle ? "" : per_second(edge.waited), 9);
  if (!narrow) line.put_right(edge.idle ? "" : format_count(static_cast<std::uint64_t>(edge.waits + 0.5)), 8);
  if (!narrow) line.put_right(edge.idle ? "" : format_seconds(edge.each_s), 9);
  line.put("  ").put(edge.classes, CellRole::waiting);
  if (edge.aside) line.put(" (holds nothing up)", CellRole::muted);
  return line.take();
}

CellRow edge_head(int width, Charset charset) {
  CellWriter head(width, charset);
  const bool narrow = width < kNarrowPanel;
  const int name_columns = edge_name_columns(width);
  head.to(1).put("waits → for", CellRole::muted).to(name_columns + 1);
  head.put_right("weight/s", 9, CellRole::muted);
  if (!narrow) head.put_right("waited/s", 9, CellRole::muted).put_right("waits/s", 8, CellRole::muted);
  if (!narrow) head.put_right("each", 9, CellRole::muted);
  head.put("  class", CellRole::muted);
  return head.take();
}

TopRows wait_rows(const TopModel& model, const TopView& view, int width) {
  TopRows out;
  std::string more;
  if (model.graph) {
    const TopFindings& findings = model.graph->findings;
    if (!findings.knots.empty()) more = findings.knots.front().title + ": " + findings.knots.front().kind;
    more = age_text(model, *model.graph) + (more.empty() ? "" : " · knot " + more);
  }
  out.heads.push_back(heading_row("WAITS", more, width, view.charset));
  out.heads.push_back(edge_head(width, view.charset));
  if (!model.graph) return out;
  const TopFindings& findings = model.graph->findings;
  std::vector<const TopEdge*> edges;
  for (const TopEdge& edge : findings.edges) edges.push_back(&edge);
  if (view.sort == TopSort::name) {
    std::stable_sort(edges.begin(), edges.end(), [&findings](const TopEdge* a, const TopEdge* b) {
      return edge_name(findings, *a) < edge_name(findings, *b);
    });
  } else if (view.sort == TopSort::count) {
    std::stable_sort(edges.begin(), edges.end(),
                     [](const TopEdge* a, const TopEdge* b) { return a->waits > b->waits; });
  }
  for (const TopEdge* edge : edges) {
    const std::string name = edge_name(findings, *edge);
    if (!passes(name, view)) continue;
    out.rows.push_back({name, edge_row(findings, *edge, width, view.charset)});
  }
  return out;
}

TopRows object_rows(const TopModel& model, const TopView& view, TopPanel panel, int width) {
  const bool locks = panel == TopPanel::locks;
  TopRows out;
  out.heads.push_back(heading_row(locks ? "LOCKS" : "FILES", model.graph ? age_text(model, *model.graph) : "",
                                  width, view.charset));
  const int name_columns = std::clamp(width - 40, 16, 48);
  CellWriter head(width, view.charset);
  head.to(1).put(locks ? "lock" : "file", CellRole::muted).to(name_columns + 1);
  for (const auto& [text, columns] : {std::pair{"waited/s", 9}, {"waits/s", 8}, {"longest", 9}})
    head.put_right(text, columns, CellRole::muted);
  head.put(locks ? "  held by" : "  who", CellRole::muted);
  out.heads.push_back(head.take());
  if (!model.graph) return out;
  const TopFindings& findings = model.graph->findings;
  std::vector<const TopObject*> objects;
  for (const TopObject& object : locks ? findings.locks : findings.files) objects.push_back(&object);
  std::stable_sort(objects.begin(), objects.end(), [&view](const TopObject* a, const TopObject* b) {
    return view.sort == TopSort::name ? a->name < b->name : rank_of(*a, view.sort) > rank_of(*b, view.sort);
  });
  for (const TopObject* object : objects) {
    if (!passes(object->name, view)) continue;
    CellWriter line(width, view.charset);
    line.to(1).put_cut(object->name, name_columns - 1, CellRole::actor).to(name_columns + 1);
    line.put_right(per_second(object->waited), 9, CellRole::strong);
    line.put_right(format_count(static_cast<std::uint64_t>(object->waits + 0.5)), 8);
    line.put_right(format_seconds(object->longest_s), 9);
    line.put("  ").put(object->who, CellRole::muted);
    out.rows.push_back({object->name, line.take()});
  }
  return out;
}

const std::string& chosen_key(const TopView& view, TopPanel panel) {
  return view.chosen[static_cast<std::size_t>(panel)];
}

const TopEdge* edge_called(const TopModel& model, const std::string& key) {
  if (!model.graph) return nullptr;
  for (const TopEdge& edge : model.graph->findings.edges) {
    if (edge_name(model.graph->findings, edge) == key) return &edge;
  }
  return nullptr;
}

/// The heaviest edge from the actor of this name; a wait of a thread rather than one for more requests.
const TopEdge* heaviest_from(const TopModel& model, const std::string& name) {
  if (!model.graph) return nullptr;
  const TopEdge* best = nullptr;
  for (const TopEdge& edge : model.graph->findings.edges) {
    if (edge.idle || model.graph->findings.actors[edge.from].name != name) continue;
    if (best == nullptr || edge.weight > best->weight) best = &edge;
  }
  return best;
}

}  // namespace

TopSums sums_of(const TopModel& model, const TopView& view) {
  TopSums sums;
  const std::unordered_map<std::int32_t, std::size_t> actor_of = actors_by_tid(model);
  std::map<std::size_t, TopGroup> known;
  std::map<std::pair<std::string, bool>, Others> others;
  const std::size_t first = model.seconds.size() - std::min(view.last_s, model.seconds.size());
  for (std::size_t i = first; i < model.seconds.size(); ++i) {
    const Second& second = model.seconds[i];
    const bool last = i + 1 == model.seconds.size();
    sums.window_s += to_seconds(second.window.length());
    sums.waits += second.waits;
    add_counts(sums.counts, second.counts);
    for (const ThreadSecond& thread : second.threads) {
      if (!thread.outside) sums.target.add(thread.times);
      const auto actor = actor_of.find(thread.tid);
      TopGroup* group = nullptr;
      if (actor != actor_of.end()) {
        group = &known[actor->second];
      } else {
        Others& alike = others[{pattern_of(thread.name), thread.outside}];
        alike.names.insert(thread.name);
        group = &alike.group;
      }
      group->outside = thread.outside;
      group->times.add(thread.times);
      if (last) ++group->threads;
    }
  }
  for (auto& [actor, group] : known) {
    const TopActor& it = model.graph->findings.actors[actor];
    group.name = it.name;
    group.in_knot = it.in_knot;
    sums.groups.push_back(std::move(group));
  }
  for (auto& [key, alike] : others) {
    if (alike.group.threads == 0 && alike.group.times.lived == 0) continue;
    const std::string& name = alike.names.size() == 1 ? *alike.names.begin() : key.first;
    alike.group.name = alike.group.threads > 1 ? fmt::format("{}×{}", name, alike.group.threads) : name;
    if (alike.group.name.empty()) alike.group.name = "(no name)";
    sums.groups.push_back(std::move(alike.group));
  }
  if (sums.window_s <= 0) sums.window_s = 1;
  return sums;
}

TopRows panel_rows(const TopModel& model, const TopView& view, TopPanel panel, int width) {
  TopRows out;
  switch (panel) {
    case TopPanel::threads:
      out = thread_rows(model, view, width);
      break;
    case TopPanel::waits:
      out = wait_rows(model, view, width);
      break;
    case TopPanel::locks:
    case TopPanel::files:
      out = object_rows(model, view, panel, width);
      break;
  }
  if (out.rows.empty()) out.empty = empty_panel_text(model, view, panel);
  return out;
}

std::vector<std::string> top_keys(const TopModel& model, const TopView& view, TopPanel panel) {
  std::vector<std::string> out;
  for (TopRow& row : panel_rows(model, view, panel, view.width).rows) out.push_back(std::move(row.key));
  return out;
}

std::string chosen_of(const TopRows& content, const TopView& view, TopPanel panel) {
  const std::string& key = chosen_key(view, panel);
  const bool is_there = std::any_of(content.rows.begin(), content.rows.end(),
                                    [&key](const TopRow& row) { return row.key == key; });
  if (is_there) return key;
  return content.rows.empty() ? "" : content.rows.front().key;
}

std::string top_chosen(const TopModel& model, const TopView& view, TopPanel panel) {
  return chosen_of(panel_rows(model, view, panel, view.width), view, panel);
}

const TopEdge* chosen_edge(const TopModel& model, const TopView& view) {
  if (view.panel == TopPanel::threads) return heaviest_from(model, top_chosen(model, view, view.panel));
  if (view.panel == TopPanel::waits) return edge_called(model, top_chosen(model, view, view.panel));
  return nullptr;
}

const TopObject* chosen_object(const TopModel& model, const TopView& view) {
  if (!model.graph || (view.panel != TopPanel::locks && view.panel != TopPanel::files)) return nullptr;
  const std::string key = top_chosen(model, view, view.panel);
  const TopFindings& findings = model.graph->findings;
  for (const TopObject& object : view.panel == TopPanel::locks ? findings.locks : findings.files) {
    if (object.name == key) return &object;
  }
  return nullptr;
}

std::string top_waker(const TopModel& model, const TopView& view) {
  const TopEdge* next = nullptr;
  if (view.panel == TopPanel::threads) {
    next = chosen_edge(model, view);
  } else if (const TopEdge* edge = chosen_edge(model, view)) {
    next = heaviest_from(model, model.graph->findings.actors[edge->to].name);
  }
  return next == nullptr ? "" : edge_name(model.graph->findings, *next);
}

std::string edge_name(const TopFindings& findings, const TopEdge& edge) {
  return findings.actors[edge.from].name + " → " + findings.actors[edge.to].name;
}

CellRow stack_row(const std::string& label, const TopStack& stack, int width, Charset charset) {
  CellWriter line(width, charset);
  line.to(1).put(label, CellRole::muted).to(12);
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    const bool first_user = i == stack.kernel && i > 0;
    const std::string joint = i == 0 ? "" : first_user ? " ┆ " : " ← ";
    if (line.left() < line.columns_of(joint) + line.columns_of(stack.frames[i]) && i > 0) {
      line.put(" ← …", CellRole::muted);
      break;
    }
    line.put(joint, CellRole::muted);
    line.put(stack.frames[i], i < stack.kernel ? CellRole::muted : CellRole::plain);
  }
  return line.take();
}

std::vector<CellRow> stack_rows(const std::string& label, const TopStack& stack, int width, Charset charset) {
  std::vector<CellRow> out;
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    CellWriter line(width, charset);
    line.to(1).put(i == 0 ? label : "", CellRole::muted).to(12);
    line.put(stack.frames[i], i < stack.kernel ? CellRole::muted : CellRole::plain);
    if (i < stack.kernel) line.put(" (kernel)", CellRole::muted);
    out.push_back(line.take());
  }
  return out;
}

}  // namespace offwait
