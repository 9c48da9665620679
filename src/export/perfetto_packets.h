// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of a Perfetto trace, and what they refer to by number.
#pragma once

#include <cstdint>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "export/formats.h"
#include "export/perfetto_fields.h"
#include "model/trace.h"

namespace offwait::perfetto {

/// Hands packets to a sink in pieces. After the sink's first error nothing more is written.
class Packets {
 public:
  explicit Packets(const ByteSink& sink) : sink_(sink) {}

  /// Writes one packet: `fill` gets the writer of its fields. No other packet may be written meanwhile.
  template <class Fill>
  void add(Fill fill) {
    {
      protozero::pbf_writer trace(piece_);
      protozero::pbf_writer packet(trace, trace::kPacket);
      fill(packet);
    }
    if (piece_.size() >= kPiece) flush();
  }
  /// Hands over the rest. Returns the sink's first error.
  Status finish() {
    flush();
    return std::move(status_);
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  void flush() {
    if (status_.ok()) status_ = sink_(piece_);
    piece_.clear();
  }

  const ByteSink& sink_;
  std::string piece_;
  Status status_ = success();
};

/// A sequence of packets, which share numbered strings and stacks. Its first packet clears them.
class Sequence {
 public:
  Sequence(Packets& packets, std::uint32_t id) : packets_(packets), id_(id) {}

  /// Writes a packet of this sequence.
  template <class Fill>
  void add(Fill fill) {
    const bool is_first = std::exchange(is_first_, false);
    packets_.add([&](protozero::pbf_writer& packet) {
      packet.add_uint32(packet::kTrustedPacketSequenceId, id_);
      packet.add_uint32(packet::kSequenceFlags,
                        is_first ? packet::kIncrementalStateCleared : packet::kNeedsIncrementalState);
      if (is_first) packet.add_bool(packet::kFirstPacketOnSequence, true);
      fill(packet);
    });
  }

  /// The number of a string, which is written now if it is new.
  std::uint64_t string(std::string_view raw, unsigned field);
  /// The number of a stack, which is written now if it is new; 0: no stack.
  std::uint64_t callstack(const Trace& trace, StackId stack);

 private:
  std::uint64_t mapping_number(const std::string& module);
  std::uint64_t frame_number(const Frame& frame, FrameId id);
  std::uint64_t cut_frame_number(StackCut cut);

  Packets& packets_;
  std::uint32_t id_;
  bool is_first_ = true;
  std::map<unsigned, std::map<std::string, std::uint64_t>> strings_;  ///< by field, escaped
  std::map<std::string, std::uint64_t> mappings_;
  std::set<std::uint64_t> frames_;
  std::map<StackId, std::uint64_t> stacks_;  ///< 0: nothing to show
};

}  // namespace offwait::perfetto
