// SPDX-License-Identifier: GPL-2.0-or-later
// A source of records that needs no kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/recording_source.h"

namespace offwait::test {

/// Recorded time goes on by `step` with each drain. All that a test says nothing of is empty.
class FakeSource : public RecordingSource {
 public:
  Status drain() override {
    now += step;
    ++drains;
    return failure ? Status(*failure) : success();
  }
  Result<KernelRecording> take(Taken /*what*/) override { return std::exchange(taken, {}); }
  void forget_taken() override {}
  std::vector<std::pair<std::uint32_t, offwait_stack>> stacks(
      std::span<const std::uint32_t> /*ids*/) const override {
    return {};
  }
  void move_begin(Nanos begin, const Exited& /*exited*/) override { moved_to = begin; }
  Status add_requests(KernelRecording& /*recording*/) const override { return success(); }
  void complete(KernelRecording& /*recording*/) const override {}
  void keep_stacks(bool /*keep*/) override {}
  int urgent_fd() const override { return -1; }
  std::vector<AddressSpace> take_mappings(AddressSpaces::Copies asked) override {
    copies = asked;
    return std::exchange(mappings, {});
  }
  std::vector<std::int32_t> take_gone() override { return {}; }
  std::string kernel_symbols() override { return ""; }
  Nanos elapsed() const override { return now; }
  CaptureProgress progress() const override { return {}; }
  bool is_full() const override { return full; }
  const std::vector<std::string>& notes() const override { return no_notes_; }
  Status await_last_exits(std::span<const std::int32_t> /*ended*/) override { return success(); }
  Result<KernelRecording> stop() override { return std::exchange(rest, {}); }

  Nanos step = kSecond / 10;
  Nanos now = 0;
  int drains = 0;
  bool full = false;
  std::optional<Error> failure;
  KernelRecording taken;  ///< what the next take() returns
  KernelRecording rest;   ///< what stop() returns
  std::vector<AddressSpace> mappings;
  std::optional<AddressSpaces::Copies> copies;
  Nanos moved_to = 0;

 private:
  std::vector<std::string> no_notes_;
};

}  // namespace offwait::test
