// SPDX-License-Identifier: GPL-2.0-or-later
// Builds a Trace. Both the assembler of recordings (src/event) and the reader of the text form (src/trace)
// use it, so that equal frames, stacks, peers, objects and sites are one entry in every
// trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "base/number_map.h"
#include "model/interner.h"
#include "model/tid_lives.h"
#include "model/trace.h"

namespace offwait {

class TraceBuilder {
 public:
  TraceBuilder() = default;
  // The interners refer to the trace.
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;

  // Each of these returns the id of the equal entry, which is added if there is none. Ids are in order of
  // first appearance.
  FrameId frame(const Frame& frame) { return frames_.intern(frame); }
  /// Returns kNoStack for an empty stack. Stacks whose frames have the same names are equal, even if the code
  /// was at different addresses.
  StackId stack(const Stack& stack) { return stack.empty() ? kNoStack : stacks_.intern(stack); }
  PeerId peer(const Peer& peer) { return peers_.intern(peer); }
  SiteId site(const WaitSite& site) { return sites_.intern(site); }
  ObjectId object(const Object& object) { return objects_.intern(object); }

  /// Adds an actor, even if an equal one is there.
  ActorId add_actor(Actor actor);

  /// The lives of a tid; there are none at first. The reference stays valid.
  TidLives& lives_of(std::int32_t tid) {
    const auto [index, added] =
        index_of_tid_.try_emplace(number_of(tid), static_cast<std::uint32_t>(lives_.size()));
    if (added) lives_.emplace_back();
    return lives_[index];
  }
  /// The lives of a tid; nullptr if lives_of() was never called for it.
  const TidLives* find_lives(std::int32_t tid) const {
    const std::uint32_t* const index = index_of_tid_.find(number_of(tid));
    return index == nullptr ? nullptr : &lives_[*index];
  }

  /// The trace under construction, to add everything else to. Frames, stacks, peers, objects and sites may
  /// be changed only by the functions above.
  Trace& trace() { return trace_; }
  const Trace& trace() const { return trace_; }

  /// Returns the trace. The builder must not be used afterwards.
  Trace take() { return std::move(trace_); }

 private:
  struct FrameHash {
    std::size_t operator()(const Frame& frame) const;
  };
  struct StackHash {
    std::size_t operator()(const Stack& stack) const;
  };
  struct PeerHash {
    std::size_t operator()(const Peer& peer) const;
  };
  struct SiteHash {
    std::size_t operator()(const WaitSite& site) const;
  };
  struct ObjectHash {
    std::size_t operator()(const Object& object) const;
  };

  static std::uint64_t number_of(std::int32_t tid) { return static_cast<std::uint32_t>(tid); }

  Trace trace_;
  NumberMap<std::uint32_t> index_of_tid_;  ///< into `lives_`
  std::deque<TidLives> lives_;
  Interner<Frame, FrameHash, std::equal_to<>> frames_{trace_.frames};
  Interner<Stack, StackHash, std::equal_to<>> stacks_{trace_.stacks};
  Interner<Peer, PeerHash, std::equal_to<>> peers_{trace_.peers};
  Interner<WaitSite, SiteHash, std::equal_to<>> sites_{trace_.sites};
  Interner<Object, ObjectHash, std::equal_to<>> objects_{trace_.objects};
};

}  // namespace offwait
