// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/terminal.h"

#include <array>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "session/interruption.h"

// Its macros would change names of others.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <ncurses.h>

namespace offwait::cli {
namespace {

using Kind = TopKey::Kind;

constexpr short kMany = 256;

/// How a role looks: an attribute that every terminal has, and a colour where there are colours.
struct Look {
  attr_t attribute = A_NORMAL;
  short color = -1;       ///< of 8; -1: the terminal's own
  short many_color = -1;  ///< of 256
};

Look look_of(CellRole role) {
  switch (role) {
    case CellRole::plain:
      return {};
    case CellRole::strong:
      return {A_BOLD};
    case CellRole::heading:
      return {A_BOLD, COLOR_CYAN, 31};
    case CellRole::muted:
      return {A_DIM};
    case CellRole::actor:
      return {A_NORMAL, COLOR_CYAN, 38};
    case CellRole::knot:
      return {A_BOLD, COLOR_MAGENTA, 170};
    case CellRole::good:
      return {A_BOLD, COLOR_GREEN, 71};
    case CellRole::warn:
      return {A_BOLD | A_UNDERLINE, COLOR_RED, 167};
    case CellRole::running:
      return {A_NORMAL, COLOR_GREEN, 71};
    case CellRole::runnable:
      return {A_BOLD, COLOR_YELLOW, 172};
    case CellRole::waiting:
      return {A_NORMAL, COLOR_BLUE, 68};
    case CellRole::bar:
      return {A_NORMAL, COLOR_GREEN, 71};
    case CellRole::unsure:
      return {A_DIM, COLOR_GREEN, 71};
    case CellRole::key:
      return {A_BOLD};
  }
  return {};
}

TopKey key_of(int code) {
  switch (code) {
    case KEY_UP:
      return {Kind::up};
    case KEY_DOWN:
      return {Kind::down};
    case KEY_RIGHT:
      return {Kind::right};
    case KEY_LEFT:
      return {Kind::left};
    case KEY_PPAGE:
      return {Kind::page_up};
    case KEY_NPAGE:
      return {Kind::page_down};
    case KEY_HOME:
      return {Kind::home};
    case KEY_END:
      return {Kind::end};
    case KEY_BTAB:
      return {Kind::back_tab};
    case KEY_BACKSPACE:
    case 0x7f:
    case '\b':
      return {Kind::backspace};
    case KEY_ENTER:
    case '\n':
    case '\r':
      return {Kind::enter};
    case '\t':
      return {Kind::tab};
    case 0x1b:
      return {Kind::escape};
    default:
      break;
  }
  if (code >= 0x20 && code < 0x7f) return {Kind::character, static_cast<char>(code)};
  return {};
}

}  // namespace

struct Terminal::State {
  SCREEN* screen = nullptr;
  Charset charset = Charset::ascii;
  bool color = false;
  bool input_ended = false;
  Interruption resized{SIGWINCH};
  std::array<attr_t, kCellRoles> looks{};
};

Terminal::Terminal(std::unique_ptr<State> state) : state_(std::move(state)) {}
Terminal::Terminal(Terminal&&) noexcept = default;
Terminal& Terminal::operator=(Terminal&&) noexcept = default;

Terminal::~Terminal() {
  if (!state_) return;
  ::endwin();
  ::delscreen(state_->screen);
  std::setlocale(LC_CTYPE, "C");
}

Result<Terminal> Terminal::open(bool color) {
  constexpr const char* kInstead = "--once prints one screen as text, and --batch a line each second";
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)
    return Error{fmt::format("top needs a terminal for its screen: {}", kInstead)};
  auto state = std::make_unique<State>();
  std::setlocale(LC_CTYPE, "");
  state->charset = std::string_view(::nl_langinfo(CODESET)) == "UTF-8" ? Charset::utf8 : Charset::ascii;
  // With capabilities of its own this process reads no files that its user names.
  if (::getauxval(AT_SECURE) != 0) {
    for (const char* name : {"TERMINFO", "TERMINFO_DIRS", "TERMCAP", "TERMPATH"}) ::unsetenv(name);
  }
  // Unlike initscr() it does not end the process where it does not know the terminal.
  state->screen = ::newterm(nullptr, stdout, stdin);
  if (state->screen == nullptr) {
    const char* const name = std::getenv("TERM");
    return Error{
        fmt::format("the terminal '{}' is not known here (TERM): {}", name == nullptr ? "" : name, kInstead)};
  }
  ::set_escdelay(25);
  ::cbreak();
  ::noecho();
  ::nonl();
  ::curs_set(0);
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  state->color = color && ::has_colors();
  if (state->color) {
    ::start_color();
    ::use_default_colors();
  }
  for (std::size_t i = 0; i < kCellRoles; ++i) {
    const Look look = look_of(static_cast<CellRole>(i));
    state->looks[i] = look.attribute;
    const short wanted = COLORS >= kMany ? look.many_color : look.color;
    if (!state->color || wanted < 0) continue;
    const auto pair = static_cast<short>(i + 1);
    ::init_pair(pair, wanted, -1);
    state->looks[i] |= static_cast<attr_t>(COLOR_PAIR(pair));
  }
  return Terminal(std::move(state));
}

int Terminal::fd() const { return state_->input_ended ? -1 : STDIN_FILENO; }
int Terminal::resized_fd() const { return state_->resized.fd(); }
int Terminal::width() const { return ::getmaxx(stdscr); }
int Terminal::height() const { return ::getmaxy(stdscr); }
Charset Terminal::charset() const { return state_->charset; }

bool Terminal::resize() {
  if (!state_->resized.take()) return false;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return false;
  ::resizeterm(size.ws_row, size.ws_col);
  ::clearok(curscr, TRUE);
  return true;
}

TopKey Terminal::key() {
  for (;;) {
    const int code = ::wgetch(stdscr);
    if (code == ERR) break;
    if (const TopKey key = key_of(code); key.kind != Kind::none) return key;
  }
  // A terminal that is gone can always be read, and has nothing.
  char byte = 0;
  if (!state_->input_ended && ::isatty(STDIN_FILENO) == 0) {
    state_->input_ended = ::read(STDIN_FILENO, &byte, 1) <= 0;
    if (state_->input_ended) return {Kind::end_of_input};
  }
  return {};
}

bool Terminal::takes_output() const {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLOUT) != 0;
}

void Terminal::show(const CellScreen& screen) {
  ::werase(stdscr);
  const int height = ::getmaxy(stdscr);
  for (int y = 0; y < height && y < static_cast<int>(screen.rows.size()); ++y) {
    const CellRow& row = screen.rows[static_cast<std::size_t>(y)];
    if (::wmove(stdscr, y, 0) == ERR) break;
    for (const Cell& cell : row.cells) {
      const attr_t chosen = cell.chosen ? A_REVERSE : A_NORMAL;
      ::wattrset(stdscr, static_cast<int>(state_->looks[static_cast<std::size_t>(cell.role)] | chosen));
      // At the right end ncurses would go on in the next row.
      const int room = ::getmaxx(stdscr) - ::getcurx(stdscr);
      if (room <= 0 || ::getcury(stdscr) != y) break;
      const std::string text =
          display_width(cell.text) > room ? cut_to_width(cell.text, room, state_->charset) : cell.text;
      ::waddstr(stdscr, text.c_str());
    }
  }
  ::wattrset(stdscr, A_NORMAL);
  ::wrefresh(stdscr);
}

}  // namespace offwait::cli
