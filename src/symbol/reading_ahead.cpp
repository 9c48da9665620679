// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/reading_ahead.h"

#include <utility>

namespace offwait {
namespace {

constexpr Nanos kPartOfTime = 200;         // one part of this many
constexpr Nanos kOneTable = kSecond / 10;  // what one takes, about

}  // namespace

bool ReadingAhead::is_due(Nanos now) {
  if (!since_) since_ = now;
  return !reading_ && cpu_time_ + kOneTable <= (now - *since_) / kPartOfTime;
}

void ReadingAhead::begin(Result<ConfinedBeside> process, std::function<void(const Confined&)> use) {
  if (process.ok()) reading_.emplace(Reading{std::move(process).value(), std::move(use)});
}

void ReadingAhead::take() {
  if (!reading_) return;
  const std::optional<Confined> read = reading_->process.take();
  if (!read) return;
  reading_->use(*read);
  reading_.reset();
}

}  // namespace offwait
