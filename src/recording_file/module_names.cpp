// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/module_names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "event/lock_addresses.h"
#include "process/mapped_files.h"
#include "process/proc_maps.h"
#include "recording_file/frame_addresses.h"

namespace offwait {
namespace {

/// The mappings of one process by their starts. A later mapping replaces those that it overlaps.
using Regions = std::map<std::uint64_t, const Mapping*>;

void note(Regions& regions, const Mapping& mapping) {
  auto at = regions.lower_bound(mapping.begin);
  if (at != regions.begin() && std::prev(at)->second->end > mapping.begin) --at;
  while (at != regions.end() && at->first < mapping.end) at = regions.erase(at);
  regions.emplace(mapping.begin, &mapping);
}

/// The regions of all processes. `list` is AddressSpace::mappings or AddressSpace::shared.
class ProcessRegions {
 public:
  ProcessRegions(const std::vector<AddressSpace>& spaces, std::vector<Mapping> AddressSpace::*list) {
    for (const AddressSpace& space : spaces) {
      for (const Mapping& mapping : space.*list) note(regions_[space.tgid], mapping);
    }
  }

  /// The mapping in which the address lies; null for none.
  const Mapping* at(std::int32_t tgid, std::uint64_t address) const {
    const auto process = regions_.find(tgid);
    if (process == regions_.end()) return nullptr;
    const auto above = process->second.upper_bound(address);
    if (above == process->second.begin()) return nullptr;
    const Mapping* const mapping = std::prev(above)->second;
    return address < mapping->end ? mapping : nullptr;
  }

 private:
  std::unordered_map<std::int32_t, Regions> regions_;
};

Frame frame_at(std::uint64_t pc, const Mapping* found) {
  Frame frame;
  frame.module = "unknown";
  frame.offset = pc;
  if (found == nullptr) return frame;
  const Mapping& mapping = *found;
  std::string name = module_name(mapping.path);
  if (name.empty() || !(is_file(mapping) || mapping.path == "[vdso]")) {
    frame.module = "anon";
    return frame;
  }
  if (name == "[vdso]") name = "vdso";
  frame.module = std::move(name);
  frame.offset = pc - mapping.begin + mapping.offset;
  return frame;
}

Frame kernel_address(std::uint64_t pc) {
  Frame frame;
  frame.kind = Frame::Kind::kernel;
  frame.module = "kernel";
  frame.offset = pc;
  return frame;
}

/// Names one stack after the other.
class Namer {
 public:
  Namer(const std::vector<AddressSpace>& mappings, const KernelFrames& kernel, NamedStacks& names)
      : regions_(mappings, &AddressSpace::mappings), kernel_(kernel), names_(names) {}

  NamedStacks::Indices name(const std::vector<FrameAddress>& addresses) {
    NamedStacks::Indices indices;
    RecorderFrames recorder;
    for (const FrameAddress& address : addresses) {
      if (address.tgid == 0) {
        const auto known = kernel_.find(address);
        const Frame nameless = kernel_address(address.pc);
        const auto frames = known == kernel_.end() ? std::span(&nameless, 1) : std::span(known->second);
        if (recorder.reach(frames)) {
          indices.clear();
          continue;
        }
        for (const Frame& frame : frames) indices.push_back(index_of(frame));
      } else {
        indices.push_back(index_of(frame_at(address.pc, regions_.at(address.tgid, address.pc))));
      }
    }
    return indices;
  }

 private:
  std::uint32_t index_of(const Frame& frame) {
    const auto [found, added] = known_.try_emplace(frame, static_cast<std::uint32_t>(names_.frames.size()));
    if (added) names_.frames.push_back(frame);
    return found->second;
  }

  const ProcessRegions regions_;
  const KernelFrames& kernel_;
  NamedStacks& names_;
  std::map<Frame, std::uint32_t> known_;
};

}  // namespace

void add_module_names(const KernelRecording& recording, const std::vector<AddressSpace>& mappings,
                      const KernelFrames& kernel, NamedStacks& names) {
  Namer namer(mappings, kernel, names);
  for (const auto& [id, stack] : recording.stacks) {
    if (names.recorded.contains(id)) continue;
    names.recorded.emplace(
        id, NamedStacks::Recorded{namer.name(frame_addresses(stack.tgid, pcs_of(stack))), cut_of(stack)});
  }
  for (const RecordStack& stack : stacks_in_records(recording)) {
    if (names.in_records.contains(stack)) continue;
    names.in_records.emplace(stack, namer.name(frame_addresses(stack.tgid, stack.pcs)));
  }
}

void add_shared_places(const KernelRecording& recording, const std::vector<AddressSpace>& mappings,
                       std::map<DataAddress, DataName>& data) {
  const bool shares = std::any_of(mappings.begin(), mappings.end(),
                                  [](const AddressSpace& space) { return !space.shared.empty(); });
  if (!shares) return;
  LockAddresses locks;
  locks.add(recording);
  const ProcessRegions regions(mappings, &AddressSpace::shared);
  for (const auto& [tgid, address] : locks.places()) {
    if (const Mapping* const mapping = regions.at(tgid, address))
      data.try_emplace({tgid, address}, DataName{"", "", 0, *mapping});
  }
}

}  // namespace offwait
