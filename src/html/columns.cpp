// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

#include "export/actor_names.h"
#include "export/deflate.h"
#include "html/encode.h"

namespace offwait::html {

namespace {

/// Which stretches a page has.
struct Choice {
  std::vector<bool> slices = std::vector<bool>(kSlices);
  Nanos longer_than = 0;
};

std::size_t slice_of(Nanos time, const Window& window) {
  const auto slice = static_cast<std::size_t>(static_cast<double>(time - window.begin) /
                                              static_cast<double>(window.length()) * double{kSlices});
  return std::min(slice, kSlices - 1);
}

/// How many stretches there are: by the slice that they begin in, and by length (the power of two of its ns).
struct Counts {
  std::array<std::size_t, kSlices> slices{};
  std::array<std::size_t, 64> lengths{};
  std::size_t all = 0;
};

Counts count(const Trace& trace, const Histories& histories, const Rows& rows) {
  Counts out;
  for (const ActorId thread : rows.threads) {
    each_stretch(trace, histories, thread, [&](const Stretch& stretch) {
      ++out.slices[slice_of(stretch.begin, trace.window)];
      ++out.lengths[static_cast<std::size_t>(
          std::bit_width(static_cast<std::uint64_t>(stretch.end - stretch.begin)))];
      ++out.all;
    });
  }
  return out;
}

/// The slices in the order in which a page takes them.
std::vector<std::size_t> order_of(const std::vector<Window>& first, const Window& window) {
  std::vector<std::size_t> out;
  for (const Window& one : first) {
    const std::size_t last = slice_of(std::max(one.begin, one.end - 1), window);
    for (std::size_t slice = slice_of(one.begin, window); slice <= last; ++slice) out.push_back(slice);
  }
  out.push_back(0);
  out.push_back(kSlices - 1);
  for (std::size_t i = 0; i < kSlices; ++i) {
    // The bits of the number in reverse: each next one halves a gap.
    std::size_t spread = 0;
    for (std::size_t bit = 1; bit < kSlices; bit *= 2) spread = spread * 2 + (i / bit & 1);
    out.push_back(spread);
  }
  return out;
}

/// A third of the room is for long stretches.
Choice choose(const Counts& counts, const std::vector<std::size_t>& order, std::size_t most) {
  Choice out;
  if (counts.all <= most) {
    out.slices.assign(kSlices, true);
    return out;
  }
  std::size_t longer = 0;
  std::size_t power = counts.lengths.size();
  while (power > 1 && longer + counts.lengths[power - 1] <= most / 3) longer += counts.lengths[--power];
  out.longer_than = Nanos{1} << (power - 1);
  std::size_t taken = longer;
  for (const std::size_t slice : order) {
    if (out.slices[slice] || taken + counts.slices[slice] > most) continue;
    out.slices[slice] = true;
    taken += counts.slices[slice];
  }
  return out;
}

class Writer {
 public:
  Writer(const Trace& trace, const Histories& histories, const Findings& findings, const Rows& rows,
         StackTable& stacks)
      : trace_(trace),
        histories_(histories),
        findings_(findings),
        rows_(rows),
        stacks_(stacks),
        names_(trace),
        stack_numbers_(trace.stacks.size(), kUnknownStack) {}

  Result<Columns> write(const Choice& choice) {
    choice_ = &choice;
    out_ = Columns();
    columns_ = {};
    others_.clear();
    objects_.clear();
    for (const ActorId thread : rows_.threads) put_row(thread);
    std::string bytes;
    for (const std::string& column : columns_) {
      for (std::size_t shift = 0; shift < 32; shift += 8)
        bytes += static_cast<char>(column.size() >> shift & 0xff);
      bytes += column;
    }
    OFFWAIT_TRY(out_.deflated, deflate_raw(bytes));
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kUnknownStack = UINT32_MAX;
  static constexpr std::size_t kMostObjectNames = 4000;

  bool is_chosen(const Stretch& stretch) const {
    if (choice_->longer_than > 0 && stretch.end - stretch.begin >= choice_->longer_than) return true;
    const std::size_t last = slice_of(stretch.end, trace_.window);
    for (std::size_t slice = slice_of(stretch.begin, trace_.window); slice <= last; ++slice) {
      if (choice_->slices[slice]) return true;
    }
    return false;
  }

  std::uint64_t micros(Nanos time) const {
    return static_cast<std::uint64_t>(time - trace_.window.begin) / 1000;
  }

  void put_row(ActorId thread) {
    std::uint32_t count = 0;
    std::uint64_t at = 0;
    each_stretch(trace_, histories_, thread, [&](const Stretch& stretch) {
      if (!is_chosen(stretch)) return;
      put_number(columns_[0], micros(stretch.begin) - at);
      put_number(columns_[1], micros(stretch.wake) - micros(stretch.begin));
      put_number(columns_[2], micros(stretch.end) - micros(stretch.wake));
      at = micros(stretch.end);
      put_wait(stretch);
      ++count;
    });
    out_.counts.push_back(count);
  }

  void put_wait(const Stretch& stretch) {
    const Wait* const wait = stretch.wait;
    const bool open = wait != nullptr && wait->wake == kNever;
    columns_[3] += static_cast<char>(stretch.state | (open ? 128 : 0));
    const WaitSite* const site = wait != nullptr ? &trace_.sites[wait->site] : nullptr;
    put_number(columns_[4], site != nullptr ? waker(site->waker) : 0);
    put_number(columns_[5], site != nullptr ? stack(site->wait_stack) : 0);
    put_number(columns_[6], site != nullptr ? stack(site->waker_stack) : 0);
    put_number(columns_[7], wait != nullptr ? object(wait->object, site->wait_stack) : 0);
    put_number(columns_[8], wait != nullptr ? waker(wait->holder) : 0);
  }

  std::uint64_t waker(ActorId actor) {
    if (actor == kNoActor) return 0;
    if (rows_.of[actor] != kNoRow) return 2 * (std::uint64_t{rows_.of[actor]} + 1);
    const FoundActorId found = findings_.actor_of[actor];
    const auto [other, fresh] = others_.try_emplace(found, out_.others.size());
    if (fresh) out_.others.push_back(found);
    return 2 * std::uint64_t{other->second} + 1;
  }

  std::uint32_t stack(StackId id) {
    if (id == kNoStack) return 0;
    if (stack_numbers_[id] == kUnknownStack) stack_numbers_[id] = stacks_.number_of(backtrace_of(trace_, id));
    return stack_numbers_[id];
  }

  std::uint64_t object(ObjectId id, StackId wait_stack) {
    if (id == kNoObject) return 0;
    if (const auto known = objects_.find(id); known != objects_.end()) return known->second;
    if (out_.objects.size() >= kMostObjectNames) return 0;
    out_.objects.push_back(names_.best(id, wait_stack));
    return objects_[id] = out_.objects.size();
  }

  const Trace& trace_;
  const Histories& histories_;
  const Findings& findings_;
  const Rows& rows_;
  StackTable& stacks_;
  ObjectNames names_;
  std::vector<std::uint32_t> stack_numbers_;  ///< by StackId
  const Choice* choice_ = nullptr;
  Columns out_;
  std::array<std::string, kColumns> columns_;
  std::unordered_map<FoundActorId, std::size_t> others_;
  std::unordered_map<ObjectId, std::size_t> objects_;
};

std::vector<Window> windows_of(const Choice& choice, const Window& window) {
  std::vector<Window> out;
  const auto begin = [&window](std::size_t slice) {
    return window.begin + static_cast<Nanos>(static_cast<double>(window.length()) *
                                             static_cast<double>(slice) / double{kSlices});
  };
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    if (!choice.slices[slice]) continue;
    if (slice > 0 && choice.slices[slice - 1]) {
      out.back().end = begin(slice + 1);
    } else {
      out.push_back({begin(slice), begin(slice + 1)});
    }
  }
  return out;
}

}  // namespace

Result<Columns> columns_of(const Trace& trace, const Histories& histories, const Findings& findings,
                           const Rows& rows, const std::vector<Window>& first, std::size_t bytes,
                           StackTable& stacks) {
  constexpr double kBytesOfStretch = 4.5;  // measured: 2 to 5
  constexpr int kMostTries = 5;
  const Counts counts = count(trace, histories, rows);
  const std::vector<std::size_t> order = order_of(first, trace.window);
  Writer writer(trace, histories, findings, rows, stacks);
  double most = static_cast<double>(bytes) / kBytesOfStretch;
  for (int tries = 1;; ++tries) {
    const Choice choice = choose(counts, order, static_cast<std::size_t>(most));
    OFFWAIT_TRY(Columns columns, writer.write(choice));
    const double fill =
        static_cast<double>(columns.deflated.size()) / static_cast<double>(std::max<std::size_t>(1, bytes));
    const bool is_whole = choice.longer_than == 0;
    if ((fill <= 1 && (is_whole || fill > 0.8 || tries >= kMostTries - 1)) || most < 1) {
      columns.longer_than = choice.longer_than;
      columns.is_whole = is_whole;
      if (!is_whole) columns.whole = windows_of(choice, trace.window);
      return columns;
    }
    most *= (tries < kMostTries ? 0.93 : 0.5) / fill;
  }
}

}  // namespace offwait::html
