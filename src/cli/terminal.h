// SPDX-License-Identifier: GPL-2.0-or-later
// Puts screens of cells out to a terminal, and reads keys, by ncurses. Nothing else knows ncurses.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "cli/top_keys.h"
#include "report/cells.h"

namespace offwait::cli {

/// While it exists, standard output is a screen. Its destructor leaves the terminal as it was.
class Terminal {
 public:
  /// Fails with what to do instead if standard input or output is no terminal, or one that ncurses does not
  /// know.
  static Result<Terminal> open(bool color);

  Terminal(Terminal&&) noexcept;
  Terminal& operator=(Terminal&&) noexcept;
  ~Terminal();

  /// Where keys come from: readable when key() has one.
  int fd() const;
  /// A signal that says that the terminal has another size.
  int resized_fd() const;
  /// To be called when resized_fd() is readable. Whether it has another size now.
  bool resize();
  int width() const;
  int height() const;
  Charset charset() const;
  /// The next key that was pressed; Kind::none without one.
  TopKey key();
  void show(const CellScreen& screen);
  /// Whether show() would not wait, as it does after Ctrl-S.
  bool takes_output() const;

 private:
  struct State;
  explicit Terminal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace offwait::cli
