// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/stack_store.h"

#include <atomic>
#include <cerrno>
#include <optional>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>

#include "capture/libbpf_calls.h"

namespace offwait {
namespace {

/// Programs run for microseconds. One that the host keeps from its CPU for longer may use an id of an earlier
/// generation too late; its stack is here then, unless it was dropped in the meantime.
constexpr Nanos kPause = kSecond / 10;

}  // namespace

StackStore::~StackStore() {
  if (!recalled_.empty()) ::munmap(recalled_.data(), recalled_.size_bytes());
}

Status StackStore::open() {
  static_assert(sizeof(offwait_known_stack) % 8 == 0, "values in an array lie 8 bytes apart");
  const bpf_map* const map = skeleton_.maps.known_stacks;
  const std::size_t count = bpf_map__max_entries(map);
  void* const memory = ::mmap(nullptr, count * sizeof(offwait_known_stack), PROT_READ | PROT_WRITE,
                              MAP_SHARED, bpf_map__fd(map), 0);
  if (memory == MAP_FAILED) return libbpf_error("cannot map the known stacks", errno);
  recalled_ = {static_cast<offwait_known_stack*>(memory), count};
  return success();
}

Status StackStore::make_room(Nanos now) {
  if (held_ || now < due_) return success();
  switch (next_) {
    case Step::begin_generation:
      if (!begin_generation()) return success();
      next_ = Step::forget_recalled;
      break;
    case Step::forget_recalled:
      forget_recalled();
      next_ = Step::move;
      break;
    case Step::move:
      OFFWAIT_TRY_STATUS(move());
      next_ = Step::begin_generation;
      return success();
  }
  due_ = now + kPause;
  return success();
}

/// False if there is room enough in the kernel, or too little here: then the programs count what is lost.
bool StackStore::begin_generation() {
  const std::size_t capacity = bpf_map__max_entries(skeleton_.maps.stacks);
  const std::uint64_t stored = std::atomic_ref(skeleton_.bss->stacks_stored).load() - deleted_;
  if (stored < capacity / 4 * 3 || moved_.size() + capacity > MovedStacks::kMost) return false;
  const std::optional<std::uint32_t> next = moved_.generation_after(generation_);
  if (!next) return false;
  generation_ = *next;
  std::atomic_ref(skeleton_.bss->stack_generation).store(generation_);
  return true;
}

/// If a program has just replaced an entry that is forgotten here, its stack is only walked once more.
void StackStore::forget_recalled() {
  for (offwait_known_stack& known : recalled_) {
    const std::atomic_ref id(known.id);
    if (const std::uint32_t recalled = id.load(std::memory_order_relaxed);
        recalled != 0 && generation_of(recalled) != generation_)
      id.store(0, std::memory_order_relaxed);
  }
}

/// A stack is here before it is deleted there, so that a reader finds it in one place at least.
Status StackStore::move() {
  std::vector<std::uint32_t> ids;
  {
    std::vector<std::pair<std::uint32_t, offwait_stack>> old;
    OFFWAIT_TRY_STATUS((for_each_entry<std::uint32_t, offwait_stack>(
        skeleton_.maps.stacks, [&](std::uint32_t id, const offwait_stack& stack) {
          if (generation_of(id) != generation_) old.emplace_back(id, stack);
        })));
    const std::lock_guard lock(mutex_);
    for (const auto& [id, stack] : old) {
      moved_.add(id, stack);
      ids.push_back(id);
    }
  }
  for (const std::uint32_t id : ids) {
    if (bpf_map_delete_elem(bpf_map__fd(skeleton_.maps.stacks), &id) == 0) ++deleted_;
  }
  return success();
}

/// The kernel may give the memory of a stack that is deleted to another one while it is copied. So a stack is
/// read there only while it is known not to be moved.
std::vector<std::pair<std::uint32_t, offwait_stack>> StackStore::read(
    std::span<const std::uint32_t> ids) const {
  std::vector<std::pair<std::uint32_t, offwait_stack>> stacks;
  for (const std::uint32_t id : ids) {
    const std::lock_guard lock(mutex_);
    offwait_stack stack{};
    if (const offwait_stack* const moved = moved_.find(id))
      stacks.emplace_back(id, *moved);
    else if (bpf_map_lookup_elem(bpf_map__fd(skeleton_.maps.stacks), &id, &stack) == 0)
      stacks.emplace_back(id, stack);
  }
  return stacks;
}

Status StackStore::add_to(KernelRecording& recording) const {
  {
    const std::lock_guard lock(mutex_);
    moved_.add_to(recording);
  }
  return for_each_entry<std::uint32_t, offwait_stack>(
      skeleton_.maps.stacks,
      [&](std::uint32_t id, const offwait_stack& stack) { recording.stacks.emplace(id, stack); });
}

void StackStore::note_threads(std::span<const std::pair<std::uint32_t, offwait_thread>> threads, Nanos now) {
  const std::lock_guard lock(mutex_);
  moved_.note_threads(threads, now);
}

void StackStore::forget_before(Nanos begin) {
  const std::lock_guard lock(mutex_);
  moved_.forget_before(begin);
}

}  // namespace offwait
