// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/module_names.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace offwait {
namespace {

Mapping mapping(std::uint64_t begin, std::uint64_t end, std::uint64_t offset, const std::string& path) {
  return {begin, end, offset, 8, 1, path.starts_with('/') ? 77U : 0U, true, path, false};
}

/// The frame at `pc` of process 10 that has these mappings, the later ones last.
std::string frame(std::uint64_t pc, const std::vector<std::vector<Mapping>>& spaces,
                  std::uint32_t tgid = 10) {
  KernelRecording recording;
  offwait_stack stack{};
  stack.tgid = tgid;
  stack.frames = 1;
  stack.pc[0] = pc;
  recording.stacks.emplace(1, stack);
  std::vector<AddressSpace> mappings;
  for (const std::vector<Mapping>& space : spaces) mappings.push_back({10, space});
  NamedStacks names;
  add_module_names(recording, mappings, {}, names);
  REQUIRE(names.recorded.at(1).frames.size() == 1);
  return to_string(names.frames.at(names.recorded.at(1).frames[0]));
}

TEST_CASE("a frame without a name is a place in the file that is mapped there") {
  const std::vector<std::vector<Mapping>> server = {{mapping(0x1000, 0x3000, 0x500, "/usr/bin/server"),
                                                     mapping(0x3000, 0x4000, 0, ""),
                                                     mapping(0x7000, 0x8000, 0, "[vdso]")}};
  CHECK(frame(0x1000, server) == "[server+0x500]");
  CHECK(frame(0x2fff, server) == "[server+0x24ff]");
  CHECK(frame(0x3000, server) == "[anon+0x3000]");
  CHECK(frame(0x4000, server) == "[unknown+0x4000]");
  CHECK(frame(0x7010, server) == "[vdso+0x10]");
  CHECK(frame(0x10, {}) == "[unknown+0x10]");
  CHECK(frame(0xffffffff81000000, server, 0) == "[kernel+0xffffffff81000000]");
}

TEST_CASE("a later mapping replaces those that it overlaps") {
  const std::vector<std::vector<Mapping>> spaces = {
      {mapping(0x1000, 0x3000, 0, "/a"), mapping(0x3000, 0x5000, 0, "/b")},
      {mapping(0x2000, 0x4000, 0, "/c")}};
  CHECK(frame(0x2000, spaces) == "[c+0x0]");
  CHECK(frame(0x3fff, spaces) == "[c+0x1fff]");
  CHECK(frame(0x1000, spaces) == "[unknown+0x1000]");
}

TEST_CASE("frames of the kernel have the names that were stored") {
  KernelRecording recording;
  offwait_stack stack{};
  stack.frames = 4;
  stack.pc[0] = 1;
  stack.pc[1] = 2;
  stack.pc[2] = 3;
  stack.pc[3] = 4;
  recording.stacks.emplace(1, stack);
  Frame inner;
  inner.function = "inner";
  Frame outer;
  outer.function = "outer";
  Frame leaf;
  leaf.function = "leaf";
  // 2 is the recorder's own and left out with what it called. 3 as a leaf is another place.
  const KernelFrames kernel = {
      {{0, 1, false}, {leaf}}, {{0, 2, true}, {}}, {{0, 3, true}, {inner, outer}}, {{0, 4, false}, {leaf}}};
  NamedStacks names;
  add_module_names(recording, {}, kernel, names);
  std::vector<std::string> frames;
  for (const std::uint32_t index : names.recorded.at(1).frames)
    frames.push_back(to_string(names.frames.at(index)));
  CHECK(frames == std::vector<std::string>{"inner", "outer", "[kernel+0x4]"});
}

TEST_CASE("what leads to the recorder is left out with it, and kept elsewhere") {
  KernelRecording recording;
  const auto add = [&recording](std::uint32_t id, std::initializer_list<std::uint64_t> pcs) {
    offwait_stack& stack = recording.stacks[id];
    stack.frames = static_cast<std::uint16_t>(pcs.size());
    std::copy(pcs.begin(), pcs.end(), std::begin(stack.pc));
  };
  add(1, {9, 1, 2, 3});
  add(2, {9, 2, 3});
  Frame finish;
  finish.kind = Frame::Kind::kernel;
  finish.function = "finish_task_switch.isra.0";
  Frame schedule = finish;
  schedule.function = "__schedule";
  Frame leaf = finish;
  leaf.function = "leaf";
  const KernelFrames kernel = {
      {{0, 9, false}, {leaf}}, {{0, 1, true}, {}}, {{0, 2, true}, {finish}}, {{0, 3, true}, {schedule}}};
  NamedStacks names;
  add_module_names(recording, {}, kernel, names);
  const auto functions = [&names](std::uint32_t id) {
    std::vector<std::string> found;
    for (const std::uint32_t index : names.recorded.at(id).frames)
      found.push_back(names.frames.at(index).function);
    return found;
  };
  CHECK(functions(1) == std::vector<std::string>{"__schedule"});
  CHECK(functions(2) == std::vector<std::string>{"leaf", "finish_task_switch.isra.0", "__schedule"});
}

TEST_CASE("a lock in shared memory is a place in it, unless it has a name") {
  constexpr std::uint64_t kBegin = 0x5000;
  KernelRecording recording;
  const auto add = [&recording](std::uint32_t tid, std::uint64_t object) {
    offwait_thread thread{};
    thread.tgid = 10;
    thread.object_kind = OFFWAIT_OBJECT_SHARED_FUTEX;
    thread.object = object;
    recording.threads.emplace_back(tid, thread);
  };
  add(11, kBegin + 8);
  add(12, kBegin + 16);
  add(13, kBegin + 0x1000);
  AddressSpace space{10, {}};
  space.shared.push_back({kBegin, kBegin + 0x1000, 0, 0, 1, 99, false, "/dev/shm/pool", true});
  std::map<DataAddress, DataName> data = {{{10, kBegin + 16}, {"named", "server", 0, std::nullopt}}};
  add_shared_places(recording, {space}, data);
  REQUIRE(data.size() == 2);
  CHECK(data.at({10, kBegin + 8}).shared.value() == space.shared.front());
  CHECK(data.at({10, kBegin + 16}).symbol == "named");
  CHECK_FALSE(data.at({10, kBegin + 16}).shared);
}

TEST_CASE("names that are there stay") {
  KernelRecording recording;
  offwait_stack stack{};
  stack.tgid = 10;
  stack.frames = 1;
  recording.stacks.emplace(1, stack);
  NamedStacks names;
  Frame known;
  known.function = "known";
  names.frames = {known};
  names.recorded[1] = {{0}, std::nullopt};
  add_module_names(recording, {}, {}, names);
  CHECK(names.frames.size() == 1);
  CHECK(names.recorded.at(1).frames == NamedStacks::Indices{0});
}

}  // namespace
}  // namespace offwait
