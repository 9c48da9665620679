// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/top_screen.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/top_panels.h"
#include "report/wording_top.h"

namespace offwait {
namespace {

/// From this width on there are two columns of panels.
constexpr int kTwoColumns = 118;
constexpr int kSparkline = 60;
constexpr std::size_t kMostAnswers = 4;
/// With so many rows for answers, the first one has what to try, and where its code is.
constexpr int kWithAdvice = 7;
constexpr int kLeastRows = 3;  ///< of a panel that is shown
constexpr int kStackRows = 4;  ///< with the heading

using Rows = std::vector<CellRow>;

/// What the parts of the screen are made of.
struct Page {
  const TopModel& model;
  const TopView& view;
  int width;
  int height;

  CellWriter writer(int columns) const { return {columns, view.charset}; }
  CellWriter writer() const { return writer(width); }
  const char* mark() const { return ">"; }
};

/// If not all of it fits, how long it has been recorded is left out first.
CellRow head_row(const Page& page, const TopSums& sums) {
  const std::vector<TopHeadPart> parts = top_head(page.model, page.view, sums);
  const std::string state = fmt::format("[{}]", top_state(page.model, page.view));
  CellWriter line = page.writer();
  int room = page.width - static_cast<int>(state.size()) - 1;
  std::vector<std::size_t> by_worth(parts.size());
  std::iota(by_worth.begin(), by_worth.end(), std::size_t{0});
  std::stable_sort(by_worth.begin(), by_worth.end(),
                   [&parts](std::size_t a, std::size_t b) { return parts[a].worth > parts[b].worth; });
  std::vector<bool> fits(parts.size());
  for (const std::size_t i : by_worth) {
    const int columns = line.columns_of(parts[i].text) + 3;
    fits[i] = columns <= room + 3;
    if (fits[i]) room -= columns;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!fits[i] || (parts[i].joined && !fits[i - 1])) continue;
    if (line.used() > 0) line.put(parts[i].joined ? " " : " · ", CellRole::muted);
    line.put(parts[i].text, parts[i].role);
  }
  line.to(page.width - static_cast<int>(state.size()));
  line.put(state, page.view.paused ? CellRole::warn : CellRole::muted);
  return line.take();
}

/// What each second brought of what counts.
std::vector<double> progress_of(const Page& page) {
  const TopModel& model = page.model;
  const bool calls = std::any_of(model.seconds.begin(), model.seconds.end(),
                                 [](const Second& one) { return one.counts.calls.has_value(); });
  const bool responses = std::any_of(model.seconds.begin(), model.seconds.end(),
                                     [](const Second& one) { return one.counts.responses.has_value(); });
  std::vector<std::int32_t> tids;
  if (!calls && !responses && model.answers) tids = model.answers->findings.progress_tids;
  std::sort(tids.begin(), tids.end());
  std::vector<double> out;
  for (const Second& second : model.seconds) {
    double count = static_cast<double>(second.waits);
    if (calls)
      count = second.counts.calls.value_or(0);
    else if (responses)
      count = second.counts.responses.value_or(0);
    else if (!tids.empty()) {
      count = 0;
      for (const ThreadSecond& thread : second.threads) {
        if (std::binary_search(tids.begin(), tids.end(), thread.tid))
          count += static_cast<double>(thread.times.waits);
      }
    }
    const double s = to_seconds(second.window.length());
    out.push_back(s > 0 ? count / s : 0);
  }
  return out;
}

CellRow progress_row(const Page& page, const TopSums& sums) {
  const std::vector<double> rates = progress_of(page);
  const std::size_t shown = std::min<std::size_t>(std::max<std::size_t>(page.view.last_s, 1), rates.size());
  double mean = 0;
  for (std::size_t i = rates.size() - shown; i < rates.size(); ++i) mean += rates[i];
  if (shown > 0) mean /= static_cast<double>(shown);
  CellWriter line = page.writer();
  line.put("PROGRESS  ", CellRole::heading);
  line.put(progress_rate(sums, mean), CellRole::strong).put("  ");
  // Counts that are taken as even have no course.
  if (!sums.counts.even || !(sums.counts.responses || sums.counts.calls)) {
    const int columns =
        std::clamp(line.left() - 2, 0, page.width < kTwoColumns ? kSparkline / 2 : kSparkline);
    line.put(sparkline(rates, columns, page.view.charset), CellRole::bar).put("  ");
  }
  if (page.model.answers && line.left() > 20)
    line.put(page.model.answers->findings.progress, CellRole::muted);
  return line.take();
}

/// `████▒▒`: the sure part of a gain, and what it may be more, of the largest on the screen.
void put_gain_bar(CellWriter& line, const Page& page, const TopAnswer& answer, double largest, int columns) {
  if (!answer.has_number || largest <= 0) return;
  const double low = std::max(0.0, std::min(answer.low, answer.high)) / largest;
  const double high = std::max(answer.high, answer.most) / largest;
  const auto whole = [columns](double part) {
    return static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * columns));
  };
  line.put(bar(static_cast<double>(whole(low)) / columns, columns, page.view.charset), CellRole::bar);
  std::string more;
  for (int i = whole(low); i < whole(high); ++i) more += page.view.charset == Charset::utf8 ? "░" : ".";
  line.put(more, CellRole::unsure);
}

CellRow answer_row(const Page& page, const TopAnswer& answer, std::size_t number, double largest) {
  CellWriter line = page.writer();
  line.put(fmt::format(" {} ", number), CellRole::strong);
  const int name_columns = std::clamp(page.width * 2 / 5, 28, 52);
  line.put_cut(answer.change, name_columns - 4, CellRole::strong).to(name_columns);
  line.put_right(answer.has_number ? answer.gain : "", 18, answer.sure ? CellRole::good : CellRole::plain);
  line.put(" ").put(answer.mark.empty() ? "" : answer.mark + " ", CellRole::muted);
  const int bar_columns = std::clamp((page.width - 80) / 3 + 10, 0, 24);
  line.to(std::max(name_columns + 31, line.used()));
  put_gain_bar(line, page, answer, largest, std::min(bar_columns, line.left()));
  return line.take();
}

/// A sentence in rows; what is left over stands in the last one, which is cut.
std::vector<std::string> broken(const Page& page, const std::string& text, std::size_t most) {
  std::vector<std::string> out;
  const CellWriter line = page.writer();
  for (const Word& word : words(text)) {
    const bool begins =
        out.empty() || (out.size() < most && line.columns_of(out.back() + " " + word.text) > page.width - 2);
    if (begins)
      out.push_back(word.text);
    else
      out.back() += " " + word.text;
  }
  return out;
}

/// The answers, at most `most` rows of them and of what is said about them.
Rows answer_rows(const Page& page, int most) {
  const TopModel& model = page.model;
  Rows out;
  CellWriter head = page.writer();
  head.put("WHAT WOULD HELP", CellRole::heading);
  if (model.answers) {
    const std::string age = age_text(model, *model.answers) + (model.analyses ? ", again now" : "");
    head.put("  (" + age + ")", CellRole::muted);
  }
  if (head.left() > 1) head.put(" ").rule(page.width);
  out.push_back(head.take());
  const auto say = [&](const std::string& text, CellRole role) {
    if (text.empty() || static_cast<int>(out.size()) >= most) return;
    CellWriter line = page.writer();
    line.to(1).put(text, role);
    out.push_back(line.take());
  };
  if (!model.answers) {
    say(no_answers_text(model), CellRole::muted);
    if (model.graph) say(model.graph->findings.verdict, CellRole::plain);
    return out;
  }
  const TopFindings& findings = model.answers->findings;
  for (const std::string& row : broken(page, findings.said, most >= kWithAdvice - 1 ? 2 : 1))
    say(row, CellRole::strong);
  double largest = 0;
  for (const TopAnswer& answer : findings.answers) largest = std::max({largest, answer.most, answer.high});
  const std::size_t count = std::min(kMostAnswers, findings.answers.size());
  for (std::size_t i = 0; i < count && static_cast<int>(out.size()) < most; ++i)
    out.push_back(answer_row(page, findings.answers[i], i + 1, largest));
  if (findings.answers.empty()) say(findings.said.empty() ? findings.verdict : "", CellRole::plain);
  say(changing_text(model), CellRole::warn);
  if (findings.answers.empty() || most < kWithAdvice) return out;
  const TopAnswer& first = findings.answers.front();
  if (!first.advice.empty()) say("try 1: " + first.advice, CellRole::muted);
  if (first.code.frames.empty() || static_cast<int>(out.size()) >= most) return out;
  out.push_back(stack_row("1 is in", first.code, page.width, page.view.charset));
  return out;
}

/// The row of a panel behind its mark.
CellRow marked(const Page& page, bool with_mark, const CellRow& row) {
  CellWriter mark = page.writer(1);
  mark.put(with_mark ? page.mark() : " ", CellRole::key);
  CellRow out = mark.take();
  out.cells.insert(out.cells.end(), row.cells.begin(), row.cells.end());
  return out;
}

/// The panel in exactly `height` rows: as many as fit, from where the chosen one is among them.
Rows panel(const Page& page, TopPanel which, int width, int height) {
  const bool focused = page.view.panel == which;
  const TopRows content = panel_rows(page.model, page.view, which, width - 1);
  Rows out;
  for (const CellRow& head : content.heads) out.push_back(marked(page, out.empty() && focused, head));
  const std::string chosen = focused ? chosen_of(content, page.view, which) : "";
  const auto room = static_cast<std::size_t>(std::max(0, height - static_cast<int>(out.size())));
  const auto at = std::find_if(content.rows.begin(), content.rows.end(),
                               [&chosen](const TopRow& row) { return row.key == chosen; });
  const auto index = static_cast<std::size_t>(at - content.rows.begin());
  const std::size_t first = !focused || at == content.rows.end() || index < room ? 0 : index + 1 - room;
  for (std::size_t i = first; i < content.rows.size() && i < first + room; ++i) {
    const bool is_chosen = focused && content.rows[i].key == chosen;
    CellRow row = marked(page, is_chosen, content.rows[i].row);
    for (Cell& cell : row.cells) cell.chosen = is_chosen;
    out.push_back(std::move(row));
  }
  if (content.rows.empty() && room > 0) {
    CellWriter line = page.writer(width);
    line.to(2).put(content.empty, CellRole::muted);
    out.push_back(line.take());
  }
  out.resize(static_cast<std::size_t>(height));
  return out;
}

int wanted_rows(const Page& page, TopPanel which) {
  return 2 + std::max(1, static_cast<int>(top_keys(page.model, page.view, which).size()));
}

/// Shows where the chosen row waits, and where that was ended.
Rows stack_panel(const Page& page, int height) {
  Rows out;
  CellWriter head = page.writer();
  const TopEdge* const edge = chosen_edge(page.model, page.view);
  const TopObject* const object = chosen_object(page.model, page.view);
  head.put("STACK", CellRole::heading);
  if (edge != nullptr) head.put("  " + edge_text(page.model.graph->findings, *edge), CellRole::muted);
  if (object != nullptr) head.put("  " + object->name, CellRole::muted);
  if (head.left() > 1) head.put(" ").rule(page.width);
  out.push_back(head.take());
  const auto add = [&](const std::string& label, const TopStack& stack) {
    if (stack.frames.empty()) return;
    if (!page.view.stacks) {
      out.push_back(stack_row(label, stack, page.width, page.view.charset));
      return;
    }
    for (CellRow& row : stack_rows(label, stack, page.width, page.view.charset))
      out.push_back(std::move(row));
  };
  const auto say = [&](const std::string& text) {
    CellWriter line = page.writer();
    line.to(1).put(text, CellRole::muted);
    out.push_back(line.take());
  };
  if (edge == nullptr && object == nullptr) say(std::string(top_no_stack()));
  if (edge != nullptr && !edge->meanwhile.empty()) say("meanwhile  " + edge->meanwhile);
  if (edge != nullptr) {
    for (const TopWaitStacks& stacks : edge->stacks) {
      if (edge->stacks.size() > 1 && (page.view.stacks || height > kStackRows))
        say(fmt::format("{} of the weight:", format_percent(stacks.share, 1)));
      add("waits in", stacks.waits_in);
      add("woken in", stacks.woken_in);
      if (static_cast<int>(out.size()) >= height) break;
    }
  } else if (object != nullptr) {
    if (!object->who.empty()) say(object->who);
    add("waits in", object->code);
  }
  out.resize(static_cast<std::size_t>(height));
  return out;
}

/// The graph's disks, one row each.
Rows disk_rows(const Page& page, int width, int most) {
  Rows out;
  if (!page.model.graph) return out;
  for (const TopDisk& disk : page.model.graph->findings.disks) {
    for (const auto& [title, text] : {std::pair{disk.name, disk.use}, {std::string(), disk.files}}) {
      if (text.empty() || static_cast<int>(out.size()) >= most) continue;
      CellWriter line = page.writer(width);
      line.put(title.empty() ? "  " : " " + title + "  ", CellRole::heading).put(text, CellRole::muted);
      out.push_back(line.take());
    }
  }
  return out;
}

CellRow cpus_row(const Page& page, const TopSums& sums) {
  CellWriter line = page.writer();
  line.put("CPUs  ", CellRole::heading).put(cpus_text(page.model, sums));
  return line.take();
}

CellRow key_row(const Page& page) {
  CellWriter line = page.writer();
  if (page.view.typing) {
    line.put(" /", CellRole::key).put(page.view.filter, CellRole::strong).put("_");
    return line.take();
  }
  if (!page.view.message.empty()) {
    line.to(1).put(page.view.message, CellRole::strong);
    return line.take();
  }
  for (const auto& [key, name] : top_key_names()) {
    const int columns = line.columns_of(key) + line.columns_of(name) + 3;
    if (columns > line.left()) break;
    line.put(" ").put(key, CellRole::key).put(" ").put(name, CellRole::muted).put(" ");
  }
  return line.take();
}

void append(Rows& to, Rows more) {
  for (CellRow& row : more) to.push_back(std::move(row));
}

/// Two panels side by side.
Rows band(const Page& page, TopPanel left, TopPanel right, int left_columns, int height) {
  const Rows a = panel(page, left, left_columns, height);
  const Rows b = panel(page, right, page.width - left_columns - 1, height);
  Rows out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    out.push_back(beside(a[i], b[i], left_columns, page.view.charset));
  }
  return out;
}

/// The room of each part: the least of each first, in the order of their worth, then what they want. The
/// second one, the stack, has what is left over.
std::vector<int> rooms_of(int height, const std::vector<std::pair<int, int>>& least_and_wanted) {
  std::vector<int> rooms(least_and_wanted.size(), 0);
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    const int least = least_and_wanted[i].first;
    if (least > height) continue;
    rooms[i] = least;
    height -= least;
  }
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    if (rooms[i] == 0) continue;
    const int more = std::clamp(least_and_wanted[i].second - rooms[i], 0, height);
    rooms[i] += more;
    height -= more;
  }
  if (rooms[1] > 0) rooms[1] += height;
  return rooms;
}

/// One column. The panel that is chosen comes first in worth; disks, files and locks drop out before waits,
/// stacks and threads do.
Rows narrow_middle(const Page& page, int height) {
  constexpr std::array<TopPanel, kTopPanels> kAll = {TopPanel::threads, TopPanel::waits, TopPanel::locks,
                                                     TopPanel::files};
  std::vector<TopPanel> order = {page.view.panel};
  for (const TopPanel one : kAll) {
    if (one != page.view.panel && !page.view.stacks) order.push_back(one);
  }
  const int share = page.view.stacks ? std::max(5, height / 3) : std::max(5, height / 2);
  std::vector<std::pair<int, int>> sizes;
  sizes.emplace_back(kLeastRows, std::min(share, wanted_rows(page, order[0])));
  sizes.emplace_back(kStackRows - (page.view.stacks ? 0 : 1), page.view.stacks ? height : kStackRows);
  for (std::size_t i = 1; i < order.size(); ++i)
    sizes.emplace_back(kLeastRows + 1, wanted_rows(page, order[i]));
  const int disks = page.view.stacks ? 0 : static_cast<int>(disk_rows(page, page.width, 2).size());
  if (disks > 0) sizes.emplace_back(disks, disks);
  const std::vector<int> rooms = rooms_of(height, sizes);
  Rows out;
  for (const TopPanel one : kAll) {
    const auto at = std::find(order.begin(), order.end(), one);
    if (at == order.end()) continue;
    const auto index = static_cast<std::size_t>(at - order.begin());
    const int rows = rooms[index == 0 ? 0 : index + 1];
    if (rows > 0) append(out, panel(page, one, page.width, rows));
  }
  if (disks > 0 && rooms.back() > 0) append(out, disk_rows(page, page.width, rooms.back()));
  if (rooms[1] > 0) append(out, stack_panel(page, rooms[1]));
  return out;
}

Rows wide_middle(const Page& page, int height) {
  const int left = page.width * 11 / 20;
  const int upper = std::max(wanted_rows(page, TopPanel::threads), wanted_rows(page, TopPanel::waits));
  const int lower = std::max(wanted_rows(page, TopPanel::locks), wanted_rows(page, TopPanel::files));
  const Rows disks = disk_rows(page, page.width, 4);
  const bool low = page.view.panel == TopPanel::locks || page.view.panel == TopPanel::files;
  std::vector<std::pair<int, int>> sizes;
  const int most_upper = low ? height / 3 : height * 3 / 5;
  if (page.view.stacks) {
    sizes = {{kLeastRows, std::min(low ? lower : upper, height / 3)}, {kStackRows, height}};
  } else {
    sizes = {{kLeastRows, std::min(upper, most_upper)},
             {kStackRows, kStackRows},
             {kLeastRows, lower},
             {static_cast<int>(disks.size()), static_cast<int>(disks.size())}};
  }
  const std::vector<int> rooms = rooms_of(height, sizes);
  Rows out;
  const auto upper_band = [&](int rows) {
    if (rows > 0) append(out, band(page, TopPanel::threads, TopPanel::waits, left, rows));
  };
  const auto lower_band = [&](int rows) {
    if (rows > 0) append(out, band(page, TopPanel::locks, TopPanel::files, page.width / 2, rows));
  };
  if (page.view.stacks) {
    low ? lower_band(rooms[0]) : upper_band(rooms[0]);
    append(out, stack_panel(page, rooms[1]));
    return out;
  }
  upper_band(rooms[0]);
  lower_band(rooms[2]);
  if (rooms[3] > 0) append(out, disks);
  if (rooms[1] > 0) append(out, stack_panel(page, rooms[1]));
  return out;
}

}  // namespace

CellScreen top_screen(const TopModel& model, const TopView& view) {
  const Page page{model, view, std::max(view.width, kTopLeastWidth), std::max(view.height, kTopLeastHeight)};
  CellScreen screen{page.width, page.height};
  const auto add = [&screen](CellRow row) { screen.rows.push_back(std::move(row)); };
  if (view.help) {
    for (const std::string& text : top_help()) {
      CellWriter line = page.writer();
      const bool heading = !text.empty() && text.front() != ' ';
      line.to(1).put(text, heading ? CellRole::heading : CellRole::plain);
      add(line.take());
    }
  } else {
    const TopSums sums = sums_of(model, view);
    add(head_row(page, sums));
    add(progress_row(page, sums));
    append(screen.rows, answer_rows(page, std::clamp(page.height / 5, 3, 8)));
    const int middle = page.height - static_cast<int>(screen.rows.size()) - 2;
    append(screen.rows, page.width >= kTwoColumns ? wide_middle(page, middle) : narrow_middle(page, middle));
    screen.rows.resize(static_cast<std::size_t>(page.height - 2));
    add(cpus_row(page, sums));
  }
  screen.rows.resize(static_cast<std::size_t>(page.height - 1));
  add(key_row(page));
  return screen;
}

}  // namespace offwait
