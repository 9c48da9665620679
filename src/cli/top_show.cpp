// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_show.h"

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "cli/choices.h"
#include "cli/top_bytes.h"
#include "cli/top_keys.h"

namespace offwait::cli {
namespace {

constexpr int kTextWidth = 100;
constexpr int kTextHeight = 40;
constexpr std::size_t kAnswersBefore = 2;

Charset charset_of_locale() {
  std::setlocale(LC_CTYPE, "");
  const bool utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  std::setlocale(LC_CTYPE, "C");
  return utf8 ? Charset::utf8 : Charset::ascii;
}

}  // namespace

TopShow::TopShow(const TopOptions& options, TopModel model) : model_(std::move(model)) {
  if (options.once) form_ = Form::once;
  if (options.batch) form_ = Form::lines;
  view_.width = kTextWidth;
  view_.height = kTextHeight;
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    view_.width = size.ws_col;
    view_.height = size.ws_row;
  }
  view_.width = options.look.width.value_or(view_.width);
  view_.height = options.height.value_or(view_.height);
}

Result<TopShow> TopShow::open(const TopOptions& options, bool color, TopModel model) {
  TopShow show(options, std::move(model));
  if (show.form_ != Form::screen) {
    show.view_.charset = charset_of_locale();
    return show;
  }
  OFFWAIT_TRY(Terminal terminal, Terminal::open(color));
  show.terminal_.emplace(std::move(terminal));
  show.view_.width = show.terminal_->width();
  show.view_.height = show.terminal_->height();
  show.view_.charset = show.terminal_->charset();
  return show;
}

std::vector<int> TopShow::fds() const {
  if (!terminal_) return {};
  return {terminal_->fd(), terminal_->resized_fd()};
}

void TopShow::add(Second second) {
  model_.seconds.push_back(std::move(second));
  if (model_.seconds.size() > kTopSeconds) model_.seconds.pop_front();
  changed_ = true;
  has_line_ = true;
}

void TopShow::begins(AnalysisBudget::Kind kind) {
  model_.analyses = kind == AnalysisBudget::Kind::answers;
  changed_ = true;
}

void TopShow::analysed(std::string_view bytes, AnalysisBudget::Kind kind, Window window) {
  changed_ = true;
  model_.analyses = false;
  if (ended_ && kind == AnalysisBudget::Kind::answers) is_last_ = true;
  Result<TopFindings> findings = top_findings_of(bytes);
  if (!findings) {
    if (!bytes.empty()) say(findings.error().message);
    return;
  }
  if (kind == AnalysisBudget::Kind::answers) {
    if (model_.answers && !model_.answers->findings.answers.empty()) {
      model_.before.push_back(model_.answers->findings.answers.front().change);
      if (model_.before.size() > kAnswersBefore) model_.before.erase(model_.before.begin());
    }
    model_.answers = TopAnalysis{*findings, window};
  }
  model_.graph = TopAnalysis{std::move(findings).value(), window};
}

void TopShow::say(const std::string& sentence) {
  view_.message = sentence;
  changed_ = true;
}

void TopShow::ended() {
  ended_ = true;
  if (model_.state == TopModel::State::live) model_.state = TopModel::State::ended;
  changed_ = true;
}

Status TopShow::write(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0)
    return Error{fmt::format("cannot write to standard output: {}", std::strerror(errno))};
  return success();
}

Result<TopWishes> TopShow::look(bool saves) {
  TopWishes wishes;
  if (form_ == Form::lines) {
    if (std::exchange(has_line_, false))
      OFFWAIT_TRY_STATUS(write(escape(top_line(model_), view_.charset) + "\n"));
    return wishes;
  }
  if (form_ == Form::once) {
    if (!is_last_) return wishes;
    if (!model_.answers)
      return Error{view_.message.empty() ? "the recording was not analysed" : view_.message};
    OFFWAIT_TRY_STATUS(write(top_screen(model_, view_).text()));
    wishes.quit = true;
    return wishes;
  }
  if (terminal_->resize()) {
    view_.width = terminal_->width();
    view_.height = terminal_->height();
    changed_ = true;
  }
  for (TopKey key = terminal_->key(); key.kind != TopKey::Kind::none; key = terminal_->key()) {
    const TopWishes more = press(key, paused_ ? *paused_ : model_, saves, view_);
    wishes.add(more);
    changed_ = true;
    if (wishes.quit) return wishes;
  }
  if (view_.paused != paused_.has_value()) {
    if (view_.paused)
      paused_ = model_;
    else
      paused_.reset();
  }
  // A terminal that takes nothing must not hold up the recording: what changed is shown when it does again.
  if (changed_ && terminal_->takes_output() && std::exchange(changed_, false))
    terminal_->show(top_screen(paused_ ? *paused_ : model_, view_));
  return wishes;
}

std::string analyse_for_top(Trace trace, AnalysisBudget::Kind kind, const TopOptions& options) {
  offwait::AnalysisOptions analysis = analysis_options(options.analysis, trace.window);
  analysis.answers = kind == AnalysisBudget::Kind::answers;
  analysis.views = true;
  const Result<Findings> findings = analyse(std::move(trace), analysis);
  return findings ? to_bytes(top_findings(*findings)) : std::string();
}

}  // namespace offwait::cli
