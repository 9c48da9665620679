// SPDX-License-Identifier: GPL-2.0-or-later
// The libbpf calls that several files need: errors that say what was wrong, reading maps, running iterators.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

/// From now on keeps libbpf's complaints for libbpf_error(), and forgets the earlier ones.
void keep_libbpf_complaints();

/// `what: text of errno (libbpf's first complaint)`. `error` may be positive or negative.
Error libbpf_error(const std::string& what, int error);

/// Opens a BPF iterator over all tasks or symbols. Its program runs when the descriptor is read.
Result<UniqueFd> open_iterator(const bpf_program* program);

/// Runs a BPF iterator to its end.
Status run_iterator(const bpf_program* program);

/// Calls visit(key, value) for each entry of a hash map that may change meanwhile. An entry that is added or
/// removed meanwhile is visited or not.
template <class Key, class Value, class Visit>
Status for_each_entry(const bpf_map* map, Visit visit) {
  std::vector<Key> keys(1024);
  std::vector<Value> values(keys.size());
  std::array<std::byte, sizeof(Key) < 8 ? 8 : sizeof(Key)> place{};  // the number of a bucket, or a key
  for (const void* from = nullptr;; from = place.data()) {
    auto count = static_cast<__u32>(keys.size());
    const int error = bpf_map_lookup_batch(bpf_map__fd(map), const_cast<void*>(from),  // NOLINT(*-const-cast)
                                           place.data(), keys.data(), values.data(), &count, nullptr);
    if (error == -ENOSPC && keys.size() < (std::size_t{1} << 20)) {  // a bucket has more
      keys.resize(keys.size() * 2);
      values.resize(keys.size());
      continue;
    }
    if (error != 0 && error != -ENOENT)
      return libbpf_error(std::string("cannot read the map ") + bpf_map__name(map), error);
    for (__u32 i = 0; i < count; ++i) visit(keys[i], values[i]);
    if (error == -ENOENT) return success();
  }
}

/// The values at one index of a per-CPU array, by CPU; empty if they cannot be read.
template <class Value>
std::vector<Value> values_by_cpu(const bpf_map* map, std::uint32_t index) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return {};
  std::vector<Value> values(static_cast<std::size_t>(cpus));
  if (bpf_map_lookup_elem(bpf_map__fd(map), &index, values.data()) != 0) return {};
  return values;
}

}  // namespace offwait
