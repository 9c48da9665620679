// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as the value of --what-if. What is read is bounded, and reads the same again; its changes are
// looked up in a small trace, and the result names groups and disks of the trace that exist.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "replay/what_if.h"

namespace {

const offwait::Trace& trace() {
  static const offwait::Trace kTrace = [] {
    offwait::Trace made;
    made.window = {0, 1000};
    made.actors.resize(3);
    made.actors[0].name = "db1";
    made.actors[1].name = "GC Thread";
    made.actors[2].kind = offwait::ActorKind::disk;
    made.actors[2].name = "vda";
    for (offwait::ActorId id = 0; id < 2; ++id)
      made.actors[id].tid = made.actors[id].tgid = 1 + static_cast<int>(id);
    made.frames = {{"ns::parse(int)", {}, {}, "db", "", 0, false, offwait::Frame::Kind::user}};
    made.stacks = {{{0}, {}}};
    return made;
  }();
  return kTrace;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT(*-reinterpret-cast)
  const auto what_if = offwait::parse_what_if(text);
  if (!what_if) {
    if (what_if.error().exit_status != 2 || what_if.error().message.empty()) std::abort();
    return 0;
  }
  if (what_if->changes.empty() || what_if->changes.size() > offwait::kMostChanges) std::abort();
  for (const offwait::NamedChange& change : what_if->changes) {
    const bool is_free = change.resource == offwait::Resource::waited && change.factor == 0;
    if (!is_free && !(change.factor >= 0.001 && change.factor <= 1000)) std::abort();
  }
  const auto again = offwait::parse_what_if(what_if->asked);
  if (!again || again->changes != what_if->changes) std::abort();
  static const offwait::ThreadGroups kGroups = offwait::group_threads(trace());
  static const std::vector<std::string> kLocks = {"mutex (app)", "lock of take"};
  std::vector<offwait::CodeStacks> code;
  const auto scenario = offwait::scenario_of(*what_if, trace(), kGroups, kLocks, code);
  if (!scenario) return 0;
  if (scenario->empty()) std::abort();
  for (const offwait::Change& change : *scenario) {
    if (change.group != offwait::kNoGroup && change.group >= kGroups.groups.size()) std::abort();
    if (change.code != offwait::kNoCode && change.code >= code.size()) std::abort();
    if (change.device != offwait::kNoActor && change.device != 2) std::abort();
  }
  return 0;
}
