// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/object_names.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace_builder.h"
#include "process/proc_maps.h"

namespace offwait {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

/// The futex as a place in the file that the mapping shows.
Object in_file(const Object& futex, const Mapping& mapping) {
  Object object;
  object.device = {mapping.dev_major, mapping.dev_minor};
  object.inode = mapping.inode;
  object.file_offset = mapping.offset + (futex.address - mapping.begin);
  object.deleted = mapping.path.ends_with(kDeleted);
  object.path = candidate_paths(mapping.path).front();
  return object;
}

}  // namespace

void name_objects(Trace& trace, Symbolizer& symbols) {
  std::vector<DataAddress> addresses;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < trace.objects.size(); ++i) {
    const Object& object = trace.objects[i];
    const bool in_kernel = object.kind == Object::Kind::kernel_lock;
    if (object.address == 0 || !object.symbol.empty() || is_stored(object)) continue;
    addresses.push_back({in_kernel ? 0 : object.tgid, object.address});
    asked.push_back(i);
  }
  if (asked.empty()) return;
  std::vector<DataName> names = symbols.data_names(addresses);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Object& object = trace.objects[asked[i]];
    DataName& name = names[i];
    if (name.shared && name.shared->inode != 0) {
      object = in_file(object, *name.shared);
    } else if (!name.module.empty()) {
      object.symbol = std::move(name.symbol);
      object.module = std::move(name.module);
      object.symbol_offset = name.offset;
    }
  }
  // Objects of several processes may have become equal.
  TraceBuilder builder;
  std::vector<ObjectId> interned;
  interned.reserve(trace.objects.size());
  for (const Object& object : trace.objects) interned.push_back(builder.object(object));
  trace.objects = builder.take().objects;
  const auto replace = [&interned](ObjectId& id) {
    if (id != kNoObject) id = interned[id];
  };
  for (Wait& wait : trace.waits) replace(wait.object);
  for (DiskIo& io : trace.disk_ios) replace(io.file);
}

}  // namespace offwait
