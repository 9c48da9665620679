// SPDX-License-Identifier: GPL-2.0-or-later
// Names for people of what matches by keys: no two keys have the same one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diff/keys.h"
#include "diff/profile.h"

namespace offwait {

/// What threads are called. Where others are called the same, what tells them apart is added: the function in
/// which they began, the process, the program, or that they are the first of their process, as in
/// `mariadbd [handle_one_connection]` and `db [main]`. Hostile bytes.
class ThreadNames {
 public:
  explicit ThreadNames(const std::vector<const Profile*>& profiles);
  /// One of a thread of the profiles; empty for any other.
  std::string of(const ThreadKindKey& key) const;

 private:
  std::map<ThreadKindKey, std::string> names_;
};

}  // namespace offwait
