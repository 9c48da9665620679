// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/module_tables.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace offwait {
namespace {

constexpr std::string_view kSignalReturn = "__restore_rt";

}  // namespace

ModuleTables ModuleTables::read(const ModuleFiles& files) {
  ModuleTables tables;
  auto own = files.file >= 0 ? ElfSymbols::read(files.file) : ElfSymbols::read(files.image);
  if (own.ok()) tables.own_ = std::move(own).value();
  if (files.debug >= 0 && files.debug != files.file) {
    auto debug = ElfSymbols::read(files.debug);
    if (debug.ok()) tables.debug_ = std::move(debug).value();
  }
  return tables;
}

void ModuleTables::read_extents(const ModuleFiles& files) {
  has_extents_ = true;
  auto rules = files.file >= 0 ? read_unwind_table(files.file) : read_unwind_table(files.image);
  if (!rules.ok()) return;
  extents_base_ = rules->base;
  extents_ = std::move(rules->functions);
}

void ModuleTables::write(MessageWriter& message) const {
  own_.write(message);
  debug_.write(message);
  message.number(has_extents_ ? 1 : 0);
  message.number(extents_base_);
  message.values(extents_);
}

std::optional<ModuleTables> ModuleTables::read(MessageReader& message) {
  ModuleTables tables;
  std::optional<ElfSymbols> own = ElfSymbols::read(message);
  std::optional<ElfSymbols> debug = ElfSymbols::read(message);
  tables.has_extents_ = message.number() != 0;
  tables.extents_base_ = message.number();
  tables.extents_ = message.values<FunctionExtent>();
  if (!own || !debug || message.failed() || !message.at_end()) return std::nullopt;
  tables.own_ = *std::move(own);
  tables.debug_ = *std::move(debug);
  return tables;
}

std::optional<ModuleTables::Place> ModuleTables::at(std::uint64_t offset) const {
  const std::optional<std::uint64_t> address = own_.address_of(offset);
  if (!address) return std::nullopt;
  // The exported name is preferred to the name that the function has inside its library.
  auto function = own_.find(*address);
  const auto inside = debug_.find(*address);
  if (!function || (inside && inside->begin > function->begin)) function = inside;
  if (function) return Place{*address, function->begin, function->name};
  const FunctionExtent* const extent = extent_at(*address);
  if (extent == nullptr) return Place{*address, 0, {}};
  return Place{*address, extents_base_ + extent->begin,
               extent->of_signals != 0 ? kSignalReturn : std::string_view()};
}

/// The function without a name that covers the address, or null. Every function has unwind rules even in a
/// stripped file; a part of a function that the compiler has put elsewhere (`.cold`) has rules of its own.
const FunctionExtent* ModuleTables::extent_at(std::uint64_t address) const {
  const auto after = std::upper_bound(extents_.begin(), extents_.end(), address,
                                      [this](std::uint64_t value, const FunctionExtent& function) {
                                        return value < extents_base_ + function.begin;
                                      });
  if (after == extents_.begin()) return nullptr;
  const FunctionExtent& function = *std::prev(after);
  return address - (extents_base_ + function.begin) < function.size ? &function : nullptr;
}

}  // namespace offwait
