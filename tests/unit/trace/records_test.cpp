// SPDX-License-Identifier: GPL-2.0-or-later
// The table of the text form has the properties that the reader and the writer rely on.
#include "trace/records.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <set>
#include <string_view>
#include <tuple>

namespace offwait {
namespace {

/// Calls `visit.operator()<Line>()` for each record.
template <class Visit>
void for_each_record(Visit visit) {
  [&]<class... Line>(std::tuple<Line...>*) {
    (visit.template operator()<Line>(), ...);
  }(static_cast<AllLines*>(nullptr));
}

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t=#%;") == std::string_view::npos;
}

TEST_CASE("no two records have one name, and names can stand in a line") {
  std::set<std::string_view> names;
  for_each_record([&]<class Line>() {
    INFO(RecordForm<Line>::kName);
    CHECK(is_word(RecordForm<Line>::kName));
    CHECK(names.insert(RecordForm<Line>::kName).second);
  });
  CHECK(names.size() == 28);
}

TEST_CASE("no two keys of a record are the same, and keys can stand before a '='") {
  for_each_record([]<class Line>() {
    INFO(RecordForm<Line>::kName);
    std::set<std::string_view> keys;
    for (const Key& key : kKeys<Line>) {
      INFO(key.name);
      CHECK(is_word(key.name));
      CHECK(keys.insert(key.name).second);
    }
  });
}

TEST_CASE("a time that must not be before another one stands after it") {
  std::size_t pairs = 0;
  for_each_record([&]<class Line>() {
    INFO(RecordForm<Line>::kName);
    std::set<std::string_view> earlier;
    std::apply(
        [&](const auto&... field) {
          [[maybe_unused]] const auto check = [&](std::string_view key, std::string_view not_before) {
            INFO(key);
            if (!not_before.empty()) {
              CHECK(earlier.contains(not_before));
              ++pairs;
            }
            earlier.insert(key);
          };
          (check(field.key, field.not_before), ...);
        },
        RecordForm<Line>::kFields);
  });
  CHECK(pairs == 9);
}

TEST_CASE("every kind of actor that has lines is read and written under its name") {
  CHECK(RecordForm<ThreadLine>::kName == to_string(ActorKind::thread));
  CHECK(RecordForm<DiskLine>::kName == to_string(ActorKind::disk));
  CHECK(RecordForm<NicLine>::kName == to_string(ActorKind::nic));
  CHECK(RecordForm<IrqLine>::kName == to_string(ActorKind::irq));
  CHECK(RecordForm<SoftirqLine>::kName == to_string(ActorKind::softirq));
  CHECK(RecordForm<TimerLine>::kName == to_string(ActorKind::timer));
}

}  // namespace
}  // namespace offwait
