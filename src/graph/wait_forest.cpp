// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/wait_forest.h"

#include <cstddef>

namespace offwait {

WaitForest::WaitForest(const std::vector<std::uint32_t>& own_sizes)
    : links_(own_sizes.size()), paths_(own_sizes.size()) {
  for (ActorId id = 0; id < links_.size(); ++id) {
    links_[id].rest.size = own_sizes[id];
    links_[id].path = id;
    paths_[id] = {links_[id].rest, id, 1};
  }
}

bool WaitForest::begin_wait(ActorId thread, ActorId waker, std::uint64_t now) {
  Link& link = links_[thread];
  Sum& own = paths_[link.path].sum;
  link.rest.moment += own.weight(now);
  own.moment = own.size * now;
  if (waker == kNoActor) return true;
  link.waker = waker;
  const Sum added = own;
  std::uint32_t hanging = link.path;
  for (ActorId at = waker; at != kNoActor;) {
    Link& above = links_[at];
    if (above.path == link.path) return false;
    Path& path = paths_[above.path];
    above.rest.add(added);
    path.sum.add(added);
    const ActorId next = links_[path.first].waker;
    if (above.next == kNoActor || paths_[hanging].sum.size > path.sum.size / 2) continue_path(at, hanging);
    hanging = above.path;
    at = next;
  }
  return true;
}

std::uint64_t WaitForest::end_wait(ActorId thread, std::uint64_t now) {
  Link& link = links_[thread];
  if (link.waker != kNoActor) {
    if (links_[link.waker].next == thread) cut_path(link.waker);
    const std::uint32_t size = paths_[link.path].sum.size;
    const Sum removed{size * now, size};
    for (ActorId at = link.waker; at != kNoActor;) {
      links_[at].rest.subtract(removed);
      Path& path = paths_[links_[at].path];
      path.sum.subtract(removed);
      at = links_[path.first].waker;
    }
    link.waker = kNoActor;
  }
  return paths_[link.path].sum.weight(now);
}

std::vector<std::uint64_t> WaitForest::weights(std::uint64_t now) const {
  std::vector<std::uint64_t> weights(links_.size());
  for (ActorId id = 0; id < links_.size(); ++id) {
    const Path& path = paths_[links_[id].path];
    if (path.first != id) continue;
    Sum sum = path.sum;
    for (ActorId at = id; at != kNoActor; at = links_[at].next) {
      weights[at] = sum.weight(now);
      sum.subtract(links_[at].rest);
    }
  }
  return weights;
}

/// Makes the path `hanging`, whose first thread waits for `last`, the continuation of the path of `last`
/// after it. What came after `last` is cut off.
void WaitForest::continue_path(ActorId last, std::uint32_t hanging) {
  Link& link = links_[last];
  if (link.next != kNoActor) cut_path(last);
  link.rest.subtract(paths_[hanging].sum);
  link.next = paths_[hanging].first;
  Path& front = paths_[link.path];
  Path& back = paths_[hanging];
  if (back.length <= front.length) {
    front.length += back.length;
    free_paths_.push_back(hanging);
    move(back.first, back.length, link.path);
  } else {
    const std::uint32_t freed = link.path;
    free_paths_.push_back(freed);
    move(front.first, front.length, hanging);
    back = {front.sum, front.first, front.length + back.length};
  }
}

/// Ends the path of `last` after it. What came after becomes a path that hangs at `last`.
void WaitForest::cut_path(ActorId last) {
  Link& link = links_[last];
  Path& old = paths_[link.path];
  const std::uint32_t fresh = free_paths_.back();
  free_paths_.pop_back();
  const ActorId behind = link.next;
  link.next = kNoActor;
  // Walks from the cut to both ends at once; the shorter part moves to the fresh path.
  Sum front, back;
  std::uint32_t length = 0;
  for (ActorId up = last, down = behind;; up = links_[up].waker, down = links_[down].next) {
    ++length;
    front.add(links_[up].rest);
    back.add(links_[down].rest);
    if (up == old.first) {
      move(old.first, length, fresh);
      paths_[fresh] = {old.sum, old.first, length};
      old.sum.subtract(front);
      old.first = behind;
      link.rest.add(old.sum);
      break;
    }
    if (links_[down].next == kNoActor) {
      move(behind, length, fresh);
      paths_[fresh] = {back, behind, length};
      link.rest.add(back);
      break;
    }
  }
  old.length -= length;
}

/// Moves `count` threads, from `first` on, to another path.
void WaitForest::move(ActorId first, std::uint32_t count, std::uint32_t path) {
  for (; count > 0; --count, first = links_[first].next) {
    links_[first].path = path;
  }
}

}  // namespace offwait
