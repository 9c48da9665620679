// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/perfetto_packets.h"

#include <vector>

#include "base/escape.h"
#include "export/stack_frames.h"

namespace offwait::perfetto {

std::uint64_t Sequence::string(std::string_view raw, unsigned field) {
  std::map<std::string, std::uint64_t>& known = strings_[field];
  const auto [found, added] = known.try_emplace(escape(raw), known.size() + 1);
  const std::string& text = found->first;
  const std::uint64_t iid = found->second;
  if (added) {
    add([&](protozero::pbf_writer& packet) {
      protozero::pbf_writer data(packet, packet::kInternedData);
      protozero::pbf_writer entry(data, field);
      entry.add_uint64(interned_data::kIid, iid);
      entry.add_string(interned_data::kString, text);
    });
  }
  return iid;
}

std::uint64_t Sequence::mapping_number(const std::string& module) {
  if (module.empty()) return 0;
  const auto [found, added] = mappings_.try_emplace(module, mappings_.size() + 1);
  const std::uint64_t iid = found->second;
  if (added) {
    const std::uint64_t path = string(module, interned_data::kMappingPaths);
    add([&](protozero::pbf_writer& packet) {
      protozero::pbf_writer data(packet, packet::kInternedData);
      protozero::pbf_writer entry(data, interned_data::kMappings);
      entry.add_uint64(mapping::kIid, iid);
      entry.add_uint64(mapping::kPathStringIds, path);
    });
  }
  return iid;
}

std::uint64_t Sequence::frame_number(const Frame& frame, FrameId id) {
  const std::uint64_t iid = std::uint64_t{id} + 1;
  if (!frames_.insert(iid).second) return iid;
  const ShownFrame shown = shown_frame(frame);
  const std::uint64_t name = string(shown.name, interned_data::kFunctionNames);
  const std::uint64_t in = mapping_number(frame.module);
  const std::uint64_t file = shown.file.empty() ? 0 : string(shown.file, interned_data::kSourcePaths);
  add([&](protozero::pbf_writer& packet) {
    protozero::pbf_writer data(packet, packet::kInternedData);
    protozero::pbf_writer entry(data, interned_data::kFrames);
    entry.add_uint64(frame::kIid, iid);
    entry.add_uint64(frame::kFunctionNameId, name);
    if (in != 0) {
      // Addresses are not recorded, but tell frames of one mapping apart.
      entry.add_uint64(frame::kMappingId, in);
      entry.add_uint64(frame::kRelPc, iid);
    }
    if (file != 0) {
      entry.add_uint64(frame::kSourcePathIid, file);
      entry.add_uint32(frame::kLineNumber, shown.line);
    }
  });
  return iid;
}

std::uint64_t Sequence::cut_frame_number(StackCut cut) {
  constexpr std::uint64_t kAboveAllFrames = std::uint64_t{1} << 33;
  const std::uint64_t iid = kAboveAllFrames + static_cast<std::uint64_t>(cut);
  if (!frames_.insert(iid).second) return iid;
  const std::uint64_t name = string(cut_frame(cut), interned_data::kFunctionNames);
  add([&](protozero::pbf_writer& packet) {
    protozero::pbf_writer data(packet, packet::kInternedData);
    protozero::pbf_writer entry(data, interned_data::kFrames);
    entry.add_uint64(frame::kIid, iid);
    entry.add_uint64(frame::kFunctionNameId, name);
  });
  return iid;
}

std::uint64_t Sequence::callstack(const Trace& trace, StackId stack) {
  if (stack == kNoStack || trace.stacks[stack].empty()) return 0;
  const auto [found, added] = stacks_.try_emplace(stack, 0);
  if (!added) return found->second;
  std::vector<std::uint64_t> frames;  // outermost first
  if (trace.stacks[stack].cut) frames.push_back(cut_frame_number(*trace.stacks[stack].cut));
  const std::vector<FrameId>& ids = trace.stacks[stack].frames;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    if (trace.frames[*id].kind != Frame::Kind::boundary)
      frames.push_back(frame_number(trace.frames[*id], *id));
  }
  if (frames.empty()) return 0;
  const std::uint64_t iid = found->second = stacks_.size();
  add([&](protozero::pbf_writer& packet) {
    protozero::pbf_writer data(packet, packet::kInternedData);
    protozero::pbf_writer entry(data, interned_data::kCallstacks);
    entry.add_uint64(callstack::kIid, iid);
    for (const std::uint64_t frame : frames) entry.add_uint64(callstack::kFrameIds, frame);
  });
  return iid;
}

}  // namespace offwait::perfetto
