// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace_builder.h"

#include <numeric>
#include <utility>

namespace offwait {

namespace {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32U);
}

}  // namespace

std::size_t TraceBuilder::StackHash::operator()(const FrameIds& frames) const {
  return std::accumulate(frames.begin(), frames.end(), std::uint64_t{frames.size()}, mix);
}

std::size_t TraceBuilder::PeerHash::operator()(const Peer& peer) const {
  return mix(static_cast<std::uint64_t>(peer.role), std::hash<std::string>{}(peer.name));
}

std::size_t TraceBuilder::SiteHash::operator()(const WaitSite& site) const {
  const std::uint64_t actors = std::uint64_t{site.thread} << 32U | site.waker;
  const std::uint64_t stacks = std::uint64_t{site.wait_stack} << 32U | site.waker_stack;
  const std::uint64_t rest = static_cast<std::uint64_t>(site.wait_class) << 2U |
                             (site.any_request ? 2U : 0U) | (site.in_flight ? 1U : 0U);
  return mix(mix(mix(mix(0, actors), stacks), rest << 32U | site.peer), site.holder);
}

StackId TraceBuilder::stack(const std::vector<FrameId>& frames) {
  return frames.empty() ? kNoStack : stacks_.intern(frames);
}

ActorId TraceBuilder::add_actor(Actor actor) {
  trace_.actors.push_back(std::move(actor));
  return static_cast<ActorId>(trace_.actors.size() - 1);
}

}  // namespace offwait
