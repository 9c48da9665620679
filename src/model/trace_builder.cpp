// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace_builder.h"

#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace offwait {

namespace {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32U);
}

}  // namespace

std::size_t TraceBuilder::FrameHash::operator()(const Frame& frame) const {
  const std::hash<std::string> text;
  const std::uint64_t place = mix(frame.begin.value_or(0), frame.offset.value_or(0));
  const std::uint64_t rest = std::uint64_t{frame.line} << 32U | static_cast<std::uint64_t>(frame.kind) << 1U |
                             (frame.inlined ? 1U : 0U);
  return mix(mix(mix(mix(place, rest), text(frame.function)), text(frame.module)), text(frame.file));
}

std::size_t TraceBuilder::StackHash::operator()(const Stack& stack) const {
  const std::uint64_t cut = stack.cut ? static_cast<std::uint64_t>(*stack.cut) + 1 : 0;
  return std::accumulate(stack.frames.begin(), stack.frames.end(), cut << 32U | stack.frames.size(), mix);
}

std::size_t TraceBuilder::PeerHash::operator()(const Peer& peer) const {
  const std::uint64_t port = peer.port ? std::uint64_t{1} << 16U | *peer.port : 0;
  return mix(static_cast<std::uint64_t>(peer.role) << 32U | port, std::hash<std::string>{}(peer.address));
}

std::size_t TraceBuilder::SiteHash::operator()(const WaitSite& site) const {
  const std::uint64_t actors = std::uint64_t{site.thread} << 32U | site.waker;
  const std::uint64_t stacks = std::uint64_t{site.wait_stack} << 32U | site.waker_stack;
  const std::uint64_t rest = static_cast<std::uint64_t>(site.wait_class) << 2U |
                             (site.any_request ? 2U : 0U) | (site.in_flight ? 1U : 0U);
  return mix(mix(mix(0, actors), stacks), rest << 32U | site.peer);
}

std::size_t TraceBuilder::ObjectHash::operator()(const Object& object) const {
  const std::hash<std::string> text;
  const std::uint64_t kind = static_cast<std::uint64_t>(object.kind) << 8U |
                             static_cast<std::uint64_t>(object.lock) << 1U | (object.deleted ? 1U : 0U);
  const std::uint64_t process = std::uint64_t{static_cast<std::uint32_t>(object.tgid)} << 32U | object.hash;
  const std::uint64_t device = std::uint64_t{object.device.major} << 32U | object.device.minor;
  std::uint64_t hash = mix(mix(mix(kind, process), object.address), device);
  hash = mix(mix(mix(hash, object.inode), object.generation), object.file_offset);
  hash = mix(mix(mix(hash, text(object.path)), text(object.symbol)), text(object.module));
  return mix(hash, object.symbol_offset);
}

ActorId TraceBuilder::add_actor(Actor actor) {
  trace_.actors.push_back(std::move(actor));
  return static_cast<ActorId>(trace_.actors.size() - 1);
}

}  // namespace offwait
