// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/top_screen.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "report/top_panels.h"
#include "unit/report/sample.h"

using namespace offwait;

namespace {

constexpr std::size_t kFutex = static_cast<std::size_t>(WaitClass::futex);

/// A second in which thread A ran for a tenth and waited for a lock, and a thread outside did nothing.
Second second_at(Nanos begin, double responses) {
  Second second;
  second.window = {begin, begin + kSecond};
  second.waits = 1200;
  second.counts.responses = responses;
  second.counts.cpu_busy = kSecond;
  second.counts.cpu_idle = kSecond;
  second.counts.recorder_cost = kSecond / 50;
  ThreadSecond thread{11, 10, "A", false, {}};
  thread.times.lived = kSecond;
  thread.times.runnable = kSecond / 10;
  thread.times.blocked[kFutex] = 8 * kSecond / 10;
  thread.times.waits = 1200;
  second.threads.push_back(thread);
  second.threads.push_back({77, 70, "client", true, {.lived = kSecond, .unknown = kSecond}});
  return second;
}

TopModel sample_model(std::size_t seconds = 12) {
  TopModel model;
  model.target = "pid 10 (server)";
  model.cpus = 2;
  model.most_overhead = 0.05;
  for (std::size_t i = 0; i < seconds; ++i)
    model.seconds.push_back(second_at(static_cast<Nanos>(i) * kSecond, 100 + 10 * static_cast<double>(i)));
  return model;
}

void add_analysis(TopModel& model, const TopFindings& findings) {
  const TopAnalysis analysis{findings, {model.now() - 10 * kSecond, model.now() - 2 * kSecond}};
  model.graph = analysis;
  model.answers = analysis;
}

TopAnswer answer(const std::string& change, double most, bool sure) {
  TopAnswer out;
  out.change = change;
  out.gain = "+82% (77 to 88)";
  out.mark = sure ? "[sure]" : "";
  out.advice = "fewer syncs";
  out.has_number = true;
  out.most = most;
  out.low = sure ? most * 0.9 : 0;
  out.high = most;
  out.sure = sure;
  return out;
}

TopFindings sample_top() {
  TopFindings findings = top_findings(sample_findings());
  findings.with_answers = true;
  findings.progress = "to 20 clients on :80";
  findings.answers = {answer("disk vda twice as fast", 0.82, true),
                      answer("B's CPU work halved", 0.41, false)};
  return findings;
}

TopView view_of(int width, int height) {
  TopView view;
  view.width = width;
  view.height = height;
  return view;
}

std::string shown(const TopModel& model, const TopView& view) { return top_screen(model, view).text(); }

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("The screen has its size, whatever is in it") {
  TopModel model = sample_model();
  for (const bool analysed : {false, true}) {
    if (analysed) add_analysis(model, sample_top());
    for (const auto& [width, height] : {std::pair{80, 24}, {120, 40}, {200, 60}, {60, 12}, {300, 100}}) {
      for (const bool stacks : {false, true}) {
        for (const TopPanel panel : {TopPanel::threads, TopPanel::waits, TopPanel::locks, TopPanel::files}) {
          TopView view = view_of(width, height);
          view.panel = panel;
          view.stacks = stacks;
          const CellScreen screen = top_screen(model, view);
          REQUIRE(screen.rows.size() == static_cast<std::size_t>(height));
          for (const CellRow& row : screen.rows) CHECK(display_width(row.text()) <= width);
        }
      }
    }
  }
}

TEST_CASE("Each number says of which time it is") {
  TopModel model = sample_model();
  add_analysis(model, sample_top());
  const std::string text = shown(model, view_of(120, 40));
  CHECK(says(text,
             "offwait top · pid 10 (server) · last 10 s of 12 s · 1,200 waits/s · costs 1.0% (limit 5.0%) · "
             "0 lost"));
  CHECK(says(text, "PROGRESS  165 responses/s"));
  CHECK(says(text, "WHAT WOULD HELP  (of 8 s, 2 s ago)"));
  CHECK(says(text, "1 disk vda twice as fast"));
  CHECK(says(text, "+82% (77 to 88) [sure]"));
  CHECK(says(text, "WAITS  of 8 s, 2 s ago"));
  CHECK(says(text, "B → disk vda"));
  CHECK(says(text, "CPUs  50% busy: the target runs on 0.10 of 2, others on 0.90"));
}

TEST_CASE("The number of seconds is the user's choice") {
  const TopModel model = sample_model();
  TopView view = view_of(120, 40);
  view.last_s = 1;
  CHECK(says(shown(model, view), "last 1 s of 12 s"));
  CHECK(says(shown(model, view), "PROGRESS  210 responses/s"));
}

TEST_CASE("Before the first analysis threads that are called alike are one row") {
  TopModel model = sample_model(1);
  for (const std::int32_t tid : {12, 13}) {
    model.seconds[0].threads.push_back(model.seconds[0].threads[0]);
    model.seconds[0].threads.back().tid = tid;
    model.seconds[0].threads.back().name = "worker-" + std::to_string(tid);
  }
  CHECK(top_keys(model, view_of(80, 24), TopPanel::threads) ==
        std::vector<std::string>{"worker-*×2", "A", "client"});
  CHECK(says(shown(model, view_of(80, 24)), "There are no answers yet"));
}

TEST_CASE("A row stays chosen when others move, and keys act on it") {
  TopModel model = sample_model();
  add_analysis(model, sample_top());
  TopView view = view_of(120, 40);
  view.panel = TopPanel::waits;
  view.chosen[1] = "A → B";
  std::reverse(model.graph->findings.edges.begin(), model.graph->findings.edges.end());
  CHECK(top_chosen(model, view, TopPanel::waits) == "A → B");
  CHECK(says(shown(model, view), "STACK  A → B"));
  CHECK(top_waker(model, view) == "B → disk vda");
  view.panel = TopPanel::threads;
  view.chosen[0] = "A";
  CHECK(top_waker(model, view) == "A → B");
}

TEST_CASE("The chosen row is marked by more than its look") {
  TopModel model = sample_model();
  add_analysis(model, sample_top());
  TopView view = view_of(80, 24);
  view.panel = TopPanel::waits;
  view.chosen[1] = "A → B";
  const CellScreen screen = top_screen(model, view);
  std::size_t chosen = 0;
  for (const CellRow& row : screen.rows) {
    if (row.cells.empty() || !row.cells.front().chosen) continue;
    ++chosen;
    CHECK(row.text().starts_with("> "));
  }
  CHECK(chosen == 1);
}

TEST_CASE("A filter leaves rows out, whatever the case, and says so where none is left") {
  TopModel model = sample_model();
  add_analysis(model, sample_top());
  TopView view = view_of(80, 24);
  view.panel = TopPanel::waits;
  view.filter = "DISK";
  for (const std::string& key : top_keys(model, view, TopPanel::waits)) CHECK(says(key, "disk"));
  view.filter = "nowhere";
  CHECK(top_keys(model, view, TopPanel::waits).empty());
  CHECK(says(shown(model, view), "No row has this text in it"));
}

TEST_CASE("An answer that held in two of three analyses is steady; another one is said to change") {
  TopModel model = sample_model();
  add_analysis(model, sample_top());
  model.before = {"B's CPU work halved", "disk vda twice as fast"};
  CHECK_FALSE(says(shown(model, view_of(120, 40)), "changes"));
  model.before = {"B's CPU work halved"};
  CHECK(says(shown(model, view_of(120, 40)), "The first answer changes: before it was B's CPU work halved."));
}

TEST_CASE("What names have in them never reaches the terminal as it is") {
  const std::string hostile = "\x1b]0;owned\x07\xe2\x80\xae\n\xff";
  TopModel model = sample_model();
  TopFindings findings = sample_top();
  for (TopActor& actor : findings.actors) actor.name = hostile;
  for (TopEdge& edge : findings.edges) {
    edge.classes = hostile;
    edge.meanwhile = hostile;
    for (TopWaitStacks& stacks : edge.stacks) stacks.waits_in.frames = {hostile};
  }
  findings.answers[0].change = hostile;
  findings.progress = hostile;
  findings.locks = {{hostile, 1, 1, 1, hostile, {0, {hostile}}}};
  findings.disks = {{hostile, hostile, hostile}};
  findings.knots = {{hostile, hostile}};
  add_analysis(model, findings);
  model.target = hostile;
  for (Second& second : model.seconds) second.threads[1].name = hostile;
  for (const Charset charset : {Charset::utf8, Charset::ascii}) {
    for (const bool stacks : {false, true}) {
      TopView view = view_of(120, 40);
      view.charset = charset;
      view.filter = "";
      view.message = hostile;
      view.stacks = stacks;
      const CellScreen screen = top_screen(model, view);
      for (const CellRow& row : screen.rows) {
        CHECK(escape(row.text(), charset) == row.text());
        CHECK(display_width(row.text()) <= 120);
      }
    }
  }
}

TEST_CASE("A sparkline ends with the last value, and its highest mark is the largest value") {
  CHECK(sparkline({0, 7, 3.5}, 10, Charset::utf8) == "▁█▅");
  CHECK(sparkline({9, 9, 1, 2}, 2, Charset::ascii) == "=#");
  CHECK(sparkline({}, 5, Charset::utf8).empty());
  CHECK(sparkline({0, 0}, 5, Charset::utf8) == "▁▁");
}

TEST_CASE("A bar is a part of its columns, in eighths where there are marks for them") {
  CHECK(bar(0.5, 4, Charset::utf8) == "██");
  CHECK(bar(0.5, 5, Charset::utf8) == "██▌");
  CHECK(bar(0.5, 5, Charset::ascii) == "##");
  CHECK(bar(7, 2, Charset::utf8) == "██");
  CHECK(bar(-1, 2, Charset::utf8).empty());
}

TEST_CASE("A line of a log has the last second") {
  const TopModel model = sample_model(3);
  CHECK(top_line(model) ==
        "    3 s  1,200 waits/s  120 responses/s  ran 0.10  ready 0.10  costs 1.0% (limit 5.0%)");
  CHECK(top_line(TopModel{}).empty());
}
