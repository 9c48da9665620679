// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cmath>
#include <string>

#include "html/page_json.h"
#include "report/wording.h"
#include "report/wording_edges.h"

namespace offwait::html {

namespace {

constexpr std::size_t kMostStacks = 12;  ///< of an arrow
constexpr std::size_t kMostPeers = 3;

Json box_json(const Findings& findings, const DrawnBox& box, const ActorNames& names) {
  StateSeconds time;
  std::size_t threads = 0;
  for (const FoundActorId id : box.actors) {
    const FoundActor& actor = findings.actors[id];
    threads += actor.members();
    time.running_s += actor.time.running_s;
    time.runnable_s += actor.time.runnable_s;
    time.blocked_s += actor.time.blocked_s;
    time.unknown_s += actor.time.unknown_s;
  }
  const FoundActor& first = findings.actors[box.actors.front()];
  return {{"name", text(names.box(findings, box))},
          {"actors", box.actors},
          {"kind", to_string(first.kind)},
          {"outside", first.outside},
          {"threads", threads},
          {"knot", or_null(box.knot)},
          {"limits", box.limits},
          {"running_s", seconds(time.running_s)},
          {"runnable_s", seconds(time.runnable_s)},
          {"blocked_s", seconds(time.blocked_s)},
          {"unknown_s", seconds(time.unknown_s)}};
}

/// The heaviest stacks of all its edges.
Json stacks_json(const Findings& findings, const DrawnArrow& arrow, StackTable& stacks) {
  std::vector<const FoundStack*> all;
  for (const FoundEdgeId edge : arrow.edges) {
    for (const FoundStack& stack : findings.edges[edge].stacks) all.push_back(&stack);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const FoundStack* a, const FoundStack* b) { return a->weight_s > b->weight_s; });
  if (all.size() > kMostStacks) all.resize(kMostStacks);
  return array_of(all, [&](const FoundStack* stack) -> Json {
    return {{"class", to_string(stack->wait_class)},
            {"weight_s", seconds(stack->weight_s)},
            {"wait_s", seconds(stack->wait_s)},
            {"waits", stack->waits},
            {"stack", stacks.number_of(stack->wait_stack)},
            {"waker_stack", stacks.number_of(stack->waker_stack)}};
  });
}

/// One edge with the classes of all of the arrow's.
FoundEdge as_one_edge(const Findings& findings, const DrawnArrow& arrow) {
  FoundEdge out;
  out.idle = arrow.idle;
  for (const FoundEdgeId id : arrow.edges) out.wait_s += findings.edges[id].wait_s;
  out.classes = classes_of(findings, arrow);
  return out;
}

/// `[power of two in µs, waits, seconds]` of each length that waits had.
Json lengths_json(const ArrowWaits& waits) {
  Json out = Json::array();
  for (std::size_t i = 0; i < kLengths; ++i) {
    if (waits.counts[i] > 0) out.push_back({i, waits.counts[i], rounded(waits.seconds[i])});
  }
  return out;
}

std::string why_excluded(const Findings& findings, FoundEdgeId edge, const ActorNames& names) {
  for (const ExcludedWait& excluded : findings.excluded_waits) {
    if (excluded.edge == edge) return excluded_wait_sentence(findings, excluded, names);
  }
  return "";
}

Json arrow_json(const Findings& findings, const DrawnArrow& arrow, const ArrowWaits& waits,
                const Window& window, const ActorNames& names, StackTable& stacks) {
  const FoundEdge& first = findings.edges[arrow.edges.front()];
  Json sentences = Json::array();
  const auto say = [&sentences](const std::string& sentence) {
    if (!sentence.empty()) sentences.push_back(text(sentence));
  };
  if (arrow.edges.size() > 1) {
    // What is said of one edge does not hold for the others.
  } else if (arrow.idle) {
    say(spare_text(findings, first, names));
  } else {
    say(waker_text(first, names));
    if (first.phases) say(phases_text(*first.phases, findings.window_s));
    say(peers_text(first, kMostPeers));
    say(why_excluded(findings, arrow.edges.front(), names));
  }
  const auto micros = [&window](Nanos time) { return (time - window.begin) / 1000; };
  return {{"from", arrow.from},
          {"to", arrow.to},
          {"edges", arrow.edges},
          {"weight_s", seconds(arrow.weight_s)},
          {"wait_s", seconds(arrow.wait_s)},
          {"waits", arrow.waits},
          {"idle", arrow.idle},
          {"in_knot", arrow.in_knot},
          {"holds_up", arrow.holds_up},
          {"classes", text(classes_text(as_one_edge(findings, arrow)))},
          {"sentences", std::move(sentences)},
          {"stacks", stacks_json(findings, arrow, stacks)},
          {"lengths", lengths_json(waits)},
          {"over_time", arrow.idle ? Json::array()
                                   : array_of(waits.over_time,
                                              [](double s) -> Json { return std::round(s * 1e5) / 1e5; })},
          {"longest", array_of(waits.longest,
                               [&](const LongWait& wait) -> Json {
                                 return {wait.row, micros(wait.begin), micros(wait.wake)};
                               })},
          {"objects", array_of(waits.objects, [](const std::pair<std::string, double>& object) -> Json {
             return {text(object.first), rounded(object.second)};
           })}};
}

}  // namespace

Json graph_json(const Findings& findings, const DrawnGraph& graph, const std::vector<ArrowWaits>& waits,
                const Window& window, const ActorNames& names, StackTable& stacks) {
  Json arrows = Json::array();
  for (std::size_t i = 0; i < graph.arrows.size(); ++i)
    arrows.push_back(arrow_json(findings, graph.arrows[i], waits[i], window, names, stacks));
  return {
      {"boxes", array_of(graph.boxes, [&](const DrawnBox& box) { return box_json(findings, box, names); })},
      {"arrows", std::move(arrows)},
      {"first_boxes", graph.first_boxes},
      {"first_arrows", graph.first_arrows}};
}

}  // namespace offwait::html
