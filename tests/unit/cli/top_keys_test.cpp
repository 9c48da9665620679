// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_keys.h"

#include <catch2/catch.hpp>
#include <string_view>

namespace offwait::cli {
namespace {

using Kind = TopKey::Kind;

/// Two threads: the first one waits for the second one, and that for a disk.
TopModel two_waits() {
  TopModel model;
  Second second;
  second.window = {0, kSecond};
  for (const auto& [tid, name] : {std::pair{11, "A"}, {12, "B"}}) {
    second.threads.push_back(
        {tid, 10, name, false, {.lived = kSecond, .runnable = (13 - tid) * kSecond / 4}});
  }
  model.seconds.push_back(second);
  TopFindings findings;
  findings.window_s = 1;
  findings.actors = {{"A", {11}, true}, {"B", {12}, true}, {"disk vda", {}}};
  TopEdge to_b;
  to_b.from = 0;
  to_b.to = 1;
  to_b.weight = 0.5;
  TopEdge to_disk;
  to_disk.from = 1;
  to_disk.to = 2;
  to_disk.weight = 0.25;
  findings.edges = {to_b, to_disk};
  model.graph = TopAnalysis{findings, {0, kSecond}};
  return model;
}

TopWishes type(std::string_view text, const TopModel& model, TopView& view) {
  TopWishes wishes;
  for (const char c : text) wishes = press({Kind::character, c}, model, true, view);
  return wishes;
}

TEST_CASE("keys that want something of the recording") {
  const TopModel model = two_waits();
  TopView view;
  CHECK(type("q", model, view).quit);
  CHECK(type("a", model, view).answers);
  CHECK(type("S", model, view).save);
  CHECK(press({Kind::end_of_input}, model, true, view).quit);
  CHECK_FALSE(press({Kind::character, 'S'}, model, false, view).save);
  CHECK(view.message == "What is replayed is a recording already.");
}

TEST_CASE("the choice moves among the rows and stays at their ends") {
  const TopModel model = two_waits();
  TopView view;
  CHECK(top_chosen(model, view, view.panel) == "A");
  press({Kind::down}, model, true, view);
  CHECK(top_chosen(model, view, view.panel) == "B");
  type("j", model, view);
  CHECK(top_chosen(model, view, view.panel) == "B");
  type("k", model, view);
  CHECK(top_chosen(model, view, view.panel) == "A");
  press({Kind::end}, model, true, view);
  CHECK(top_chosen(model, view, view.panel) == "B");
  press({Kind::home}, model, true, view);
  CHECK(top_chosen(model, view, view.panel) == "A");
}

TEST_CASE("following the waker goes from a thread along its waits until nothing waits any more") {
  const TopModel model = two_waits();
  TopView view;
  press({Kind::right}, model, true, view);
  CHECK(view.panel == TopPanel::waits);
  CHECK(top_chosen(model, view, view.panel) == "A → B");
  type("f", model, view);
  CHECK(top_chosen(model, view, view.panel) == "B → disk vda");
  type("f", model, view);
  CHECK(top_chosen(model, view, view.panel) == "B → disk vda");
  CHECK(view.message == "It waits for no thread or device: follow another row.");
}

TEST_CASE("Tab goes through all panels, and back") {
  const TopModel model = two_waits();
  TopView view;
  for (std::size_t i = 0; i < kTopPanels; ++i) press({Kind::tab}, model, true, view);
  CHECK(view.panel == TopPanel::threads);
  press({Kind::back_tab}, model, true, view);
  CHECK(view.panel == TopPanel::files);
}

TEST_CASE("a filter is typed, and its letters are no keys meanwhile") {
  const TopModel model = two_waits();
  TopView view;
  CHECK_FALSE(type("/qb", model, view).quit);
  CHECK(view.filter == "qb");
  press({Kind::backspace}, model, true, view);
  press({Kind::backspace}, model, true, view);
  type("b", model, view);
  press({Kind::enter}, model, true, view);
  CHECK_FALSE(view.typing);
  CHECK(top_keys(model, view, TopPanel::threads) == std::vector<std::string>{"B"});
  press({Kind::escape}, model, true, view);
  CHECK(view.filter.empty());
}

TEST_CASE("digits choose how many seconds are summed up") {
  const TopModel model = two_waits();
  TopView view;
  type("3", model, view);
  CHECK(view.last_s == 3);
  type("0", model, view);
  CHECK(view.last_s == 10);
}

TEST_CASE("pause, help, stacks and order are switched by their keys") {
  const TopModel model = two_waits();
  TopView view;
  type("p", model, view);
  CHECK(view.paused);
  type("p", model, view);
  CHECK_FALSE(view.paused);
  type("?", model, view);
  CHECK(view.help);
  press({Kind::escape}, model, true, view);
  CHECK_FALSE(view.help);
  press({Kind::enter}, model, true, view);
  CHECK(view.stacks);
  press({Kind::escape}, model, true, view);
  CHECK_FALSE(view.stacks);
  type("s", model, view);
  CHECK(view.sort == TopSort::count);
  type("ss", model, view);
  CHECK(view.sort == TopSort::time);
}

}  // namespace
}  // namespace offwait::cli
