// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/diff.h"
#include "report/frame.h"
#include "report/quantity.h"
#include "report/text_page.h"
#include "report/text_stacks.h"
#include "report/wording_diff.h"

namespace offwait {

namespace {

constexpr int kIndent = 2;
constexpr int kAmount = 10;
constexpr int kPart = 7;
constexpr int kAmounts = 4 * kAmount + kPart;
constexpr int kMostRowName = 60;
constexpr std::size_t kRows = 6;
constexpr std::size_t kVerdicts = 3;
constexpr std::size_t kDiffFrames = 4;

class DiffPage {
 public:
  DiffPage(const Comparison& comparison, const TextStyle& style)
      : comparison_(comparison),
        canvas_(style.width, style.color, style.charset),
        written_([this](std::string_view name) { return canvas_.fit(name, kNameColumns); }),
        names_(comparison.before.recordings.front().findings, written_),
        page_{comparison.before.recordings.front().findings,
              screen_,
              names_,
              style.verbosity > 0,
              style.full_stacks ? StackNoise::kept : StackNoise::folded,
              canvas_},
        name_columns_(std::clamp(canvas_.width() - kIndent - kAmounts, 12, kMostRowName)) {}

  std::string run() {
    put_side("before", comparison_.before);
    put_side("after", comparison_.after);
    put_first_lines();
    put_times();
    put_edges();
    put_locks();
    put_functions();
    put_knots();
    return canvas_.take();
  }

 private:
  void put_side(const std::string& title, const ComparedSide& side) {
    constexpr int kText = 8;
    canvas_.put(title, Ink::strong).to(kText);
    canvas_.flow(words(side_text(side, comparison_.unit)), kText);
    const std::vector<std::string> verdicts = verdict_texts(side, written_);
    const std::size_t shown = page_.limit(kVerdicts, verdicts.size());
    for (std::size_t i = 0; i < shown; ++i) {
      canvas_.to(kText);
      canvas_.flow(words(verdicts[i], Ink::strong), kText);
    }
    put_left_out(canvas_, verdicts.size() - shown, "verdict", kText);
    if (page_.verbose && side.recordings.size() > 1) {
      for (const ComparedSide::Recording& one : side.recordings) {
        canvas_.to(kText).flow(
            words(fmt::format("{} of {}", one.file, format_seconds(one.findings.window_s)), Ink::dim), kText);
      }
    }
  }

  void put_first_lines() {
    canvas_.gap();
    canvas_.flow(words(headline(comparison_), Ink::strong), 0);
    if (const std::string text = throughput_text(comparison_); !text.empty()) canvas_.flow(words(text), 0);
    for (const std::string& caveat : caveats(comparison_)) canvas_.flow(words(caveat, Ink::warn), 0);
    if (comparison_.amounts > 0) canvas_.flow(words(rule_text(comparison_), Ink::dim), 0);
  }

  void put_titles(const std::string& what) {
    canvas_.to(kIndent).put(what, Ink::dim).to(kIndent + name_columns_);
    for (const char* title : {"before", "after", "change"}) canvas_.put_right(title, kAmount, Ink::dim);
    canvas_.put_right("", kPart).put_right("±", kAmount, Ink::dim).end();
  }

  void put_row(const std::string& name, bool row_changed, const ComparedAmount& amount) {
    canvas_.to(kIndent)
        .put(canvas_.fit(name, name_columns_ - 1), row_changed ? Ink::actor : Ink::plain)
        .to(kIndent + name_columns_);
    canvas_.put_right(format_seconds(amount.before), kAmount)
        .put_right(format_seconds(amount.after), kAmount)
        .put_right(change_text(amount), kAmount, amount.changed() ? Ink::strong : Ink::plain)
        .put_right(part_text(amount), kPart)
        .put_right(format_seconds(amount.spread), kAmount)
        .end();
    if (!page_.verbose || amount.each_before.size() + amount.each_after.size() <= 2) return;
    canvas_.to(4).flow(
        words(fmt::format("each: {} | {}", list_of(amount.each_before), list_of(amount.each_after)),
              Ink::dim),
        10);
  }

  static std::string list_of(const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(format_seconds(value));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  void put_details(const std::string& text) {
    if (!text.empty()) canvas_.to(4).flow(words(text, Ink::dim), 4, page_.verbose ? 0 : 2);
  }

  void put_place(const Backtrace& stack) {
    const std::vector<Word> frames = chain(page_, stack, "", kDiffFrames);
    if (frames.empty()) return;
    std::vector<Word> line = words("in", Ink::dim);
    line.insert(line.end(), frames.begin(), frames.end());
    canvas_.to(4).flow(line, 4, page_.verbose ? 0 : 2);
  }

  /// The rows that changed, and with -v all of them.
  template <class Row, class PutRow>
  void put_rows(const std::vector<Row>& rows, const std::string& noun, PutRow put) {
    const auto changed = static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.changed(); }));
    const std::size_t shown = page_.verbose ? rows.size() : std::min(kRows, changed);
    if (shown > 0) put_titles(noun);
    for (std::size_t i = 0; i < shown; ++i) put(rows[i]);
    if (page_.verbose) return;
    put_left_out(canvas_, changed - shown, noun + " changed");
    if (rows.size() > changed) {
      canvas_.to(kIndent)
          .put(fmt::format("{} within the spread (-v)", format_plural(rows.size() - changed, noun)), Ink::dim)
          .end();
    }
  }

  std::string with_unit(const std::string& text) const {
    return fmt::format("{}, {}", text, per_unit(comparison_.unit));
  }

  void put_times() {
    if (comparison_.times.empty()) return;
    put_heading(canvas_, "TIME", with_unit("what the threads that count did"));
    put_titles("spent");
    // All other rows are compared with these few, so they are always shown.
    for (const ComparedTime& row : comparison_.times)
      put_row(std::string(time_text(row.kind)), row.changed(), row.time);
  }

  void put_edges() {
    if (comparison_.edges.empty()) return;
    put_heading(canvas_, "EDGES", with_unit("weights: time waited, and what others waited behind it"));
    put_rows(comparison_.edges, "edge", [this](const ComparedEdge& row) {
      put_row(edge_text(row), row.changed(), row.weight);
      put_details(edge_details(row));
      put_place(row.stack);
    });
  }

  void put_locks() {
    if (comparison_.locks.empty()) return;
    put_heading(canvas_, "LOCKS", with_unit("time waited for them"));
    put_rows(comparison_.locks, "lock", [this](const ComparedLock& row) {
      put_row(lock_text(row.key), row.changed(), row.wait);
      put_details(lock_details(row));
      if (page_.verbose) put_place(row.stack);
    });
  }

  void put_functions() {
    if (comparison_.functions.empty()) return;
    put_heading(canvas_, "FUNCTIONS", with_unit("their own time, on CPUs and in waits"));
    put_rows(comparison_.functions, "function", [this](const ComparedFunction& row) {
      put_row(function_name(row.function), row.changed(), row.time);
      put_details(function_details(row));
    });
  }

  std::string function_name(const Frame& function) const {
    if (function.function.empty()) return fmt::format("without names ({})", function.module);
    const std::string name = short_frame(function);
    return canvas_.columns(name) < name_columns_ ? name : narrow_frame(function);
  }

  void put_knots() {
    if (comparison_.knots.empty()) return;
    put_heading(canvas_, "KNOTS", with_unit("the weights of all their edges"));
    put_rows(comparison_.knots, "knot", [this](const ComparedKnot& row) {
      put_row(knot_text(row), row.changed(), row.weight);
      put_details(knot_details(comparison_, row));
    });
  }

  const Comparison& comparison_;
  Canvas canvas_;
  WrittenName written_;
  ActorNames names_;
  Screen screen_;  ///< a comparison has no sections of a report
  TextPage page_;
  int name_columns_;
};

}  // namespace

std::string to_text(const Comparison& comparison, const TextStyle& style) {
  return DiffPage(comparison, style).run();
}

}  // namespace offwait
