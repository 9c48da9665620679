// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_keys.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace offwait::cli {
namespace {

using Kind = TopKey::Kind;

constexpr std::size_t kMostFilter = 40;

std::string& chosen(TopView& view) { return view.chosen[static_cast<std::size_t>(view.panel)]; }

/// Chooses the row that is so many further down.
void move(const TopModel& model, TopView& view, std::ptrdiff_t by) {
  const std::vector<std::string> keys = top_keys(model, view, view.panel);
  if (keys.empty()) return;
  const std::string now = top_chosen(model, view, view.panel);
  const auto at = std::find(keys.begin(), keys.end(), now) - keys.begin();
  const auto last = static_cast<std::ptrdiff_t>(keys.size()) - 1;
  std::ptrdiff_t to = std::clamp<std::ptrdiff_t>(at + by, 0, last);
  // Rows that are called alike are chosen together.
  while (by > 0 && to < last && keys[static_cast<std::size_t>(to)] == now) ++to;
  chosen(view) = keys[static_cast<std::size_t>(to)];
}

void next_panel(TopView& view, std::size_t by) {
  view.panel = static_cast<TopPanel>((static_cast<std::size_t>(view.panel) + by) % kTopPanels);
}

void follow_waker(const TopModel& model, TopView& view) {
  const std::string next = top_waker(model, view);
  if (next.empty()) {
    view.message = top_no_waker();
    return;
  }
  view.panel = TopPanel::waits;
  view.filter.clear();
  chosen(view) = next;
}

void type(TopKey key, TopView& view) {
  switch (key.kind) {
    case Kind::enter:
      view.typing = false;
      return;
    case Kind::escape:
      view.typing = false;
      view.filter.clear();
      return;
    case Kind::backspace:
      if (!view.filter.empty()) view.filter.pop_back();
      return;
    case Kind::character:
      if (view.filter.size() < kMostFilter) view.filter += key.character;
      return;
    default:
      return;
  }
}

TopWishes press_character(char character, const TopModel& model, bool saves, TopView& view) {
  TopWishes wishes;
  switch (character) {
    case 'q':
      wishes.quit = true;
      break;
    case 'k':
      move(model, view, -1);
      break;
    case 'j':
      move(model, view, 1);
      break;
    case 'f':
      follow_waker(model, view);
      break;
    case 's':
      view.sort = static_cast<TopSort>((static_cast<std::uint8_t>(view.sort) + 1) % 3);
      view.message = top_sort_text(view.sort);
      break;
    case 'p':
    case ' ':
      view.paused = !view.paused;
      break;
    case 'a':
      wishes.answers = true;
      break;
    case 'S':
      wishes.save = saves;
      if (!saves) view.message = top_nothing_to_save();
      break;
    case '/':
      view.typing = true;
      break;
    case '?':
    case 'h':
      view.help = !view.help;
      break;
    default:
      if (std::isdigit(static_cast<unsigned char>(character)) != 0)
        view.last_s = character == '0' ? 10 : static_cast<std::size_t>(character - '0');
  }
  return wishes;
}

}  // namespace

TopWishes press(TopKey key, const TopModel& model, bool saves, TopView& view) {
  constexpr std::ptrdiff_t kPage = 10;
  constexpr std::ptrdiff_t kFar = 1'000'000;
  if (key.kind == Kind::none) return {};
  if (key.kind == Kind::end_of_input) return {.quit = true};
  view.message.clear();
  if (view.typing) {
    type(key, view);
    return {};
  }
  const bool helped = view.help;
  switch (key.kind) {
    case Kind::character:
      return press_character(key.character, model, saves, view);
    case Kind::enter:
      view.stacks = !view.stacks;
      break;
    case Kind::tab:
      next_panel(view, 1);
      break;
    case Kind::back_tab:
      next_panel(view, kTopPanels - 1);
      break;
    case Kind::up:
      move(model, view, -1);
      break;
    case Kind::down:
      move(model, view, 1);
      break;
    case Kind::page_up:
      move(model, view, -kPage);
      break;
    case Kind::page_down:
      move(model, view, kPage);
      break;
    case Kind::home:
      move(model, view, -kFar);
      break;
    case Kind::end:
      move(model, view, kFar);
      break;
    case Kind::right:
      follow_waker(model, view);
      break;
    case Kind::escape:
      view.help = false;
      if (!helped && !view.stacks) view.filter.clear();
      if (!helped) view.stacks = false;
      break;
    default:
      break;
  }
  return {};
}

}  // namespace offwait::cli
