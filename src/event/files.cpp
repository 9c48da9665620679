// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/files.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace offwait {
namespace {

DeviceNumber device_number(std::uint32_t dev) {
  constexpr std::uint32_t kMinorBits = 20;
  return {dev >> kMinorBits, dev & ((1U << kMinorBits) - 1)};
}

/// The path of a file in a file system whose place in the tree of directories is to be found.
std::string mounted_path(const std::vector<KernelMount>& mounts, std::uint32_t dev, const std::string& path) {
  const KernelMount* best = nullptr;
  for (const KernelMount& mount : mounts) {
    const bool whole = mount.root == "/";
    const bool inside = whole || path == mount.root || path.starts_with(mount.root + "/");
    if (mount.dev != dev || !inside) continue;
    if (best == nullptr || mount.root.size() < best->root.size()) best = &mount;
  }
  if (best == nullptr) return path;
  const std::string rest = best->root == "/" ? path : path.substr(best->root.size());
  if (best->path == "/") return rest.empty() ? "/" : rest;
  return rest == "/" ? best->path : best->path + rest;
}

}  // namespace

KernelFile kernel_file(const offwait_file& record) {
  KernelFile file;
  file.kind = record.kind;
  file.flags = record.flags;
  file.dev = record.dev;
  file.inode = record.inode;
  file.generation = record.generation;
  std::string_view rest(record.parts, std::min<std::size_t>(record.length, sizeof(record.parts)));
  std::vector<std::string_view> names;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find('\0'));
    names.push_back(name);
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  if (record.kind != OFFWAIT_FILE_OF_PATH) return file;
  const bool whole = (record.flags & (OFFWAIT_FILE_TO_ROOT | OFFWAIT_FILE_TO_FILE_SYSTEM)) != 0;
  if (!whole && !names.empty()) file.path = "...";
  for (auto name = names.rbegin(); name != names.rend(); ++name) file.path.append("/").append(*name);
  if (whole && names.empty()) file.path = "/";
  return file;
}

ObjectId Files::with_id(std::uint32_t id) {
  if (id == 0) return kNoObject;
  const auto [known, added] = objects_.try_emplace(id, kNoObject);
  const auto found = recording_.files.find(id);
  if (!added || found == recording_.files.end()) return known->second;
  const KernelFile& file = found->second;
  Object object;
  object.device = device_number(file.dev);
  switch (file.kind) {
    case OFFWAIT_FILE_JOURNAL:
      object.kind = Object::Kind::journal;
      break;
    case OFFWAIT_FILE_METADATA:
      object.kind = Object::Kind::metadata;
      break;
    default:
      object.kind = Object::Kind::file;
      object.inode = file.inode;
      object.generation = file.generation;
      object.deleted = (file.flags & OFFWAIT_FILE_DELETED) != 0;
      object.path = (file.flags & OFFWAIT_FILE_TO_FILE_SYSTEM) != 0
                        ? mounted_path(recording_.mounts, file.dev, file.path)
                        : file.path;
      if (object.inode == 0 && object.path.empty()) return kNoObject;
  }
  return known->second = builder_.object(object);
}

ObjectId Files::pipe(std::uint64_t inode) {
  if (inode == 0) return kNoObject;
  Object object;
  object.kind = Object::Kind::file;
  object.inode = inode;
  object.path = "pipe:[" + std::to_string(inode) + "]";
  return builder_.object(object);
}

void add_files_of_requests(Trace& trace) {
  constexpr Nanos kLongest = 100'000;  // from a completion to the wakeup in the same interrupt
  std::map<ActorId, std::vector<std::pair<Nanos, ObjectId>>> done;  // by disk
  for (const DiskIo& io : trace.disk_ios) {
    if (io.complete != kNever) done[io.disk].emplace_back(io.complete, io.file);
  }
  for (auto& [disk, requests] : done) std::sort(requests.begin(), requests.end());
  for (Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    if (wait.object != kNoObject || site.peer != kNoPeer || wait.wake == kNever || site.waker == kNoActor ||
        (site.wait_class != WaitClass::disk && site.wait_class != WaitClass::fault)) {
      continue;
    }
    const auto requests = done.find(site.waker);
    if (requests == done.end()) continue;
    const auto after = std::upper_bound(requests->second.begin(), requests->second.end(),
                                        std::pair(wait.wake, ObjectId{UINT32_MAX}));
    if (after == requests->second.begin()) continue;
    const auto& [complete, file] = *(after - 1);
    if (wait.wake - complete <= kLongest) wait.object = file;
  }
}

}  // namespace offwait
