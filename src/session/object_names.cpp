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

bool is_nameless(const Object& object) {
  return object.address != 0 && object.symbol.empty() && !is_stored(object);
}

DataAddress address_of(const Object& object) {
  return {object.kind == Object::Kind::kernel_lock ? 0 : object.tgid, object.address};
}

}  // namespace

std::vector<DataAddress> nameless_objects(const Trace& trace) {
  std::vector<DataAddress> addresses;
  for (const Object& object : trace.objects) {
    if (is_nameless(object)) addresses.push_back(address_of(object));
  }
  return addresses;
}

std::map<DataAddress, DataName> data_names(const std::vector<DataAddress>& addresses, Symbolizer& symbols) {
  std::map<DataAddress, DataName> names;
  if (addresses.empty()) return names;
  std::vector<DataName> found = symbols.data_names(addresses);
  for (std::size_t i = 0; i < addresses.size(); ++i) names.emplace(addresses[i], std::move(found[i]));
  return names;
}

void name_objects(Trace& trace, const std::map<DataAddress, DataName>& names) {
  for (Object& object : trace.objects) {
    if (!is_nameless(object)) continue;
    const auto found = names.find(address_of(object));
    if (found == names.end()) continue;
    const DataName& name = found->second;
    if (name.shared && name.shared->inode != 0) {
      object = in_file(object, *name.shared);
    } else if (!name.module.empty()) {
      object.symbol = name.symbol;
      object.module = name.module;
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
