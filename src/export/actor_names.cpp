// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/actor_names.h"

#include <fmt/format.h>

#include "analysis/lock_names.h"
#include "model/called.h"
#include "report/wording_files.h"

namespace offwait {

std::string actor_name(const Actor& actor) {
  std::string name = called(actor);
  if (actor.kind == ActorKind::thread) return name.empty() ? fmt::format("tid {}", actor.tid) : name;
  return name.empty() ? std::string(to_string(actor.kind))
                      : fmt::format("{} {}", to_string(actor.kind), name);
}

std::string ObjectNames::operator()(ObjectId id) const {
  const Object& object = trace_.objects[id];
  if (is_stored(object)) return file_text(files_(id));
  if (std::string name = own_name(object); !name.empty()) return name;
  if (object.kind == Object::Kind::kernel_lock) {
    const std::string_view kind = object.lock == KernelLock::unknown ? "lock" : to_string(object.lock);
    return fmt::format("kernel {} {:#x}", kind, object.address);
  }
  return object.address != 0 ? fmt::format("futex {:#x} of pid {}", object.address, object.tgid)
                             : fmt::format("futex {:08x}", object.hash);
}

std::string ObjectNames::in_stack(ObjectId id, StackId wait_stack) const {
  return is_stored(trace_.objects[id]) ? file_text(files_(id)) : name_of_lock(trace_, id, wait_stack);
}

std::string ObjectNames::best(ObjectId id, StackId wait_stack) const {
  std::string name = in_stack(id, wait_stack);
  return name.empty() ? (*this)(id) : name;
}

}  // namespace offwait
