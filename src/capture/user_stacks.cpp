// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/user_stacks.h"

#include <cerrno>
#include <cstring>

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include "base/monotonic.h"
#include "capture/libbpf_calls.h"

namespace offwait {

void UserStacks::FreeRing::operator()(ring_buffer* ring) const { ring_buffer__free(ring); }

void UserStacks::note(const offwait_thread_record& record) {
  const auto tgid = static_cast<std::int32_t>(record.tgid);
  if (record.event == OFFWAIT_THREAD_EXITED) {
    if (record.tid != record.tgid) return;
    known_.erase(tgid);
    if (spaces_.end_copy(tgid)) tables_.forget(tgid);
    return;
  }
  const bool exec = record.event == OFFWAIT_THREAD_NAMED && record.exec != 0;
  // A new main thread may have the number of an earlier process.
  const bool born = record.event == OFFWAIT_THREAD_BORN && record.tid == record.tgid;
  if (exec || born) {
    // The parent's tid is that of its process if the main thread forked.
    const auto parent = static_cast<std::int32_t>(record.parent);
    const bool is_copy = born && known_.contains(parent);
    known_.insert(tgid);
    is_copy ? spaces_.begin_as_copy(tgid, parent) : spaces_.begin_anew(tgid);
  } else if (known_.insert(tgid).second) {
    spaces_.look_soon(tgid);
  }
}

int UserStacks::on_wanted(void* self, void* data, std::size_t size) {
  offwait_mappings_wanted wanted{};
  if (size != sizeof(wanted)) return 0;
  std::memcpy(&wanted, data, sizeof(wanted));
  static_cast<UserStacks*>(self)->spaces_.look_soon(static_cast<std::int32_t>(wanted.tgid));
  return 0;
}

Status UserStacks::open(int wanted_ring, LateStacks::Maps maps) {
  wanted_.reset(ring_buffer__new(wanted_ring, on_wanted, this, nullptr));
  if (!wanted_) return libbpf_error("cannot map the ring buffer", errno);
  late_stacks_.emplace(maps);
  return success();
}

Status UserStacks::refresh(Nanos most) {
  const Nanos begin = thread_cpu_time();
  if (const int taken = wanted_ ? ring_buffer__consume(wanted_.get()) : 0; taken < 0)
    return libbpf_error("cannot read the ring buffer", taken);
  for (const std::int32_t tgid : spaces_.take_due(monotonic_now())) {
    if (thread_cpu_time() - begin >= most) {
      spaces_.look_soon(tgid);
      continue;
    }
    if (const AddressSpace* const space = spaces_.look_at(tgid)) {
      OFFWAIT_TRY_STATUS(tables_.update(*space));
    } else {
      tables_.forget(tgid);
    }
  }
  if (!late_stacks_) return success();
  // A process may have made new mappings while the earlier ones were read.
  for (const std::int32_t tgid : late_stacks_->look(tables_)) spaces_.look_soon(tgid);
  return success();
}

int UserStacks::urgent_fd() const { return wanted_ ? ring_buffer__epoll_fd(wanted_.get()) : -1; }

std::vector<std::int32_t> UserStacks::take_gone() {
  std::vector<std::int32_t> gone = spaces_.take_gone();
  std::erase_if(gone, [this](std::int32_t tgid) { return late_stacks_ && late_stacks_->knows(tgid); });
  return gone;
}

void UserStacks::finish(KernelRecording& recording, std::vector<std::string>& notes) {
  spaces_.look_at_all();
  add_late_stacks(recording);
  if (tables_.left_out() > 0)
    notes.push_back(
        fmt::format("the unwind tables of {} files found no room in the kernel: stacks are cut there",
                    tables_.left_out()));
  if (late_stacks_ && late_stacks_->left_out() > 0)
    notes.push_back(fmt::format("{} stacks that were walked after a thread had blocked found no room",
                                late_stacks_->left_out()));
}

void UserStacks::add_late_stacks(KernelRecording& recording) const {
  if (late_stacks_) late_stacks_->add_to(recording);
}

void UserStacks::forget_before(Nanos begin) {
  if (late_stacks_) late_stacks_->forget_before(begin);
  spaces_.take_gone();
}

}  // namespace offwait
