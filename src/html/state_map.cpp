// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/state_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace offwait::html {

namespace {

/// A page has room for about as many bins of all rows together.
std::size_t bins_for(std::size_t rows) {
  constexpr std::size_t kMost = 2048;
  constexpr std::size_t kFewest = 256;
  constexpr std::size_t kAll = 200 * kMost;
  std::size_t bins = kMost;
  while (bins > kFewest && bins * rows > kAll) bins /= 2;
  return bins;
}

/// Adds the part of each bin that [from, to) takes.
void add(std::span<double> bins, const Window& window, Nanos from, Nanos to) {
  if (to <= from) return;
  const double scale = static_cast<double>(bins.size()) / static_cast<double>(window.length());
  const double begin = static_cast<double>(from - window.begin) * scale;
  const double end = static_cast<double>(to - window.begin) * scale;
  for (auto bin = static_cast<std::size_t>(begin); bin < bins.size() && static_cast<double>(bin) < end;
       ++bin) {
    const auto here = static_cast<double>(bin);
    bins[bin] += std::min(end, here + 1) - std::max(begin, here);
  }
}

void put_row(std::string& out, const std::array<std::vector<double>, kStates>& states) {
  std::uint32_t mask = 0;
  for (std::size_t state = 0; state < kStates; ++state) {
    const bool any =
        std::any_of(states[state].begin(), states[state].end(), [](double part) { return part > 0; });
    if (any) mask |= 1U << state;
  }
  out += static_cast<char>(mask & 0xff);
  out += static_cast<char>(mask >> 8);
  for (std::size_t state = 0; state < kStates; ++state) {
    if ((mask >> state & 1) == 0) continue;
    double left = 0;
    for (const double part : states[state]) {
      left += part * 255;
      const double byte = std::clamp(std::round(left), 0.0, 255.0);
      left -= byte;
      out += static_cast<char>(static_cast<std::uint8_t>(byte));
    }
  }
}

}  // namespace

StateMap state_map(const Trace& trace, const Histories& histories, const Rows& rows) {
  static_assert(kStates <= 16, "a row says in 16 bits which states it has");
  StateMap out;
  out.bins = bins_for(rows.threads.size());
  out.running.assign(out.bins, 0);
  out.runnable.assign(out.bins, 0);
  std::array<std::vector<double>, kStates> states;
  for (const ActorId thread : rows.threads) {
    for (std::vector<double>& bins : states) bins.assign(out.bins, 0);
    const Window life = life_in(trace.actors[thread], trace.window);
    Nanos at = life.begin;
    each_stretch(trace, histories, thread, [&](const Stretch& stretch) {
      add(states[kRunning], trace.window, at, stretch.begin);
      add(states[stretch.state], trace.window, stretch.begin, stretch.wake);
      add(states[kRunnable], trace.window, stretch.wake, stretch.end);
      at = stretch.end;
    });
    add(states[kRunning], trace.window, at, life.end);
    put_row(out.bytes, states);
    if (trace.actors[thread].outside) continue;
    for (std::size_t bin = 0; bin < out.bins; ++bin) {
      out.running[bin] += states[kRunning][bin];
      out.runnable[bin] += states[kRunnable][bin];
    }
  }
  return out;
}

std::vector<std::vector<double>> requests_under_way(const Trace& trace, std::size_t bins) {
  std::vector<std::vector<double>> out(trace.actors.size());
  for (const DiskIo& io : trace.disk_ios) {
    std::vector<double>& disk = out[io.disk];
    if (disk.empty()) disk.assign(bins, 0);
    add(disk, trace.window, std::max(io.issue, trace.window.begin), std::min(io.complete, trace.window.end));
  }
  return out;
}

}  // namespace offwait::html
