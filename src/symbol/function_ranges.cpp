// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/function_ranges.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace offwait {
namespace {

struct Extent {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t name;
};

/// Keeps one symbol per address and settles where it ends.
std::vector<Extent> settle(std::vector<FunctionSymbol> symbols) {
  std::stable_sort(symbols.begin(), symbols.end(), [](const FunctionSymbol& a, const FunctionSymbol& b) {
    return std::tuple(a.begin, a.size == 0, a.rank) < std::tuple(b.begin, b.size == 0, b.rank);
  });
  symbols.erase(
      std::unique(symbols.begin(), symbols.end(),
                  [](const FunctionSymbol& a, const FunctionSymbol& b) { return a.begin == b.begin; }),
      symbols.end());

  std::vector<Extent> extents;
  extents.reserve(symbols.size());
  std::uint64_t sized_until = 0;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const FunctionSymbol& symbol = symbols[i];
    std::uint64_t end = symbol.limit;
    if (symbol.size != 0) {
      if (symbol.limit > symbol.begin && symbol.size < symbol.limit - symbol.begin) {
        end = symbol.begin + symbol.size;
      }
      sized_until = std::max(sized_until, end);
    } else if (symbol.begin < sized_until) {
      continue;
    } else if (i + 1 < symbols.size()) {
      end = std::min(end, symbols[i + 1].begin);
    }
    if (symbol.begin < end) {
      extents.push_back({symbol.begin, end, symbol.name});
    }
  }
  return extents;
}

}  // namespace

FunctionRanges::FunctionRanges(std::vector<FunctionSymbol> symbols) {
  const std::vector<Extent> extents = settle(std::move(symbols));
  std::vector<Extent> open;  // those that cover `cursor`; below them some may have ended
  std::uint64_t cursor = 0;
  const auto add = [&](std::uint64_t end) {
    if (cursor < end) {
      ranges_.push_back({cursor, end, open.back().begin, open.back().name});
      cursor = end;
    }
  };
  const auto advance = [&](std::uint64_t to) {
    while (!open.empty() && open.back().end <= to) {
      add(open.back().end);
      open.pop_back();
    }
    if (!open.empty()) {
      add(to);
    }
    cursor = to;
  };
  ranges_.reserve(extents.size());
  for (const Extent& extent : extents) {
    advance(extent.begin);
    open.push_back(extent);
  }
  advance(UINT64_MAX);
  ranges_.shrink_to_fit();
}

void FunctionRanges::write(MessageWriter& message) const { message.values(ranges_); }

std::optional<FunctionRanges> FunctionRanges::read(MessageReader& message, std::uint64_t names) {
  FunctionRanges result;
  result.ranges_ = message.values<Range>();
  const bool named = std::all_of(result.ranges_.begin(), result.ranges_.end(),
                                 [names](const Range& range) { return range.name < names; });
  if (message.failed() || !named) return std::nullopt;
  return result;
}

std::optional<FunctionHit> FunctionRanges::find(std::uint64_t address) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](std::uint64_t a, const Range& range) { return a < range.begin; });
  if (after == ranges_.begin()) {
    return std::nullopt;
  }
  const Range& range = *--after;
  if (address >= range.end) {
    return std::nullopt;
  }
  return FunctionHit{range.function, range.name};
}

}  // namespace offwait
