// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_views.h"

namespace offwait {

namespace {

Json time_json(const CodeTime& time) {
  return {{"cpu_s", seconds(time.cpu_s)},
          {"io_s", seconds(time.io_s)},
          {"lock_s", seconds(time.lock_s)},
          {"runnable_s", seconds(time.runnable_s)},
          {"other_s", seconds(time.other_s)}};
}

Json function_json(const FoundFunction& row) {
  return {{"function", text(to_string(row.function))},
          {"file", row.file.empty() ? Json(nullptr) : text(row.file)},
          {"line", row.file.empty() ? Json(nullptr) : Json(row.line)},
          {"self", time_json(row.self)},
          {"all", time_json(row.all)},
          {"critical_s", seconds(row.critical_s)},
          {"critical_all_s", seconds(row.critical_all_s)},
          {"samples", row.samples},
          {"waits", row.waits},
          {"callers", array_of(row.callers, [](const Frame& caller) { return text(to_string(caller)); })},
          {"caller_share", rounded(row.caller_share)},
          {"gains",
           {{"all", gain_json(row.gain)},
            {"cpu", gain_json(row.cpu_gain)},
            {"io", gain_json(row.io_gain)},
            {"runnable", gain_json(row.runnable_gain)},
            {"other", gain_json(row.other_gain)}}}};
}

Json thread_json(const FoundCriticalThread& thread) {
  return {{"tid", thread.tid},
          {"name", text(thread.name)},
          {"critical_s", seconds(thread.critical_s)},
          {"time", time_json(thread.time)},
          {"requests_s", seconds(thread.requests_s)}};
}

Json file_json(const std::optional<Object>& file) {
  if (!file) return nullptr;
  return {{"kind", to_string(file->kind)},
          {"path", file->path.empty() ? Json(nullptr) : text(file->path)},
          {"device", to_string(file->device)},
          {"deleted", file->deleted}};
}

Json critical_stack_json(const FoundCriticalStack& stack) {
  return {{"critical_s", seconds(stack.critical_s)},
          {"count", stack.count},
          {"cause", to_string(stack.cause)},
          {"class", stack.wait_class ? Json(to_string(*stack.wait_class)) : Json(nullptr)},
          {"file", file_json(stack.file)},
          {"stack", frames(stack.stack)}};
}

Json lock_json(const FoundLockRow& row) {
  const Object& object = row.object;
  const FoundLockRow::Meanwhile& meanwhile = row.meanwhile;
  return {
      {"name", text(row.name)},
      {"kind", to_string(row.kind)},
      {"evidence", row.evidence ? Json(to_string(*row.evidence)) : Json(nullptr)},
      {"kernel_lock",
       object.kind == Object::Kind::kernel_lock ? Json(to_string(object.lock)) : Json(nullptr)},
      {"tgid", object.tgid != 0 ? Json(object.tgid) : Json(nullptr)},
      {"address", object.address != 0 ? Json(object.address) : Json(nullptr)},
      {"waits", row.waits},
      {"wait_s", seconds(row.wait_s)},
      {"longest_s", seconds(row.longest_s)},
      {"mean_line", rounded(row.mean_line)},
      {"longest_line", row.longest_line},
      {"places", array_of(row.places,
                          [](const FoundLockRow::Place& place) {
                            return Json{{"wait_s", seconds(place.wait_s)}, {"stack", frames(place.stack)}};
                          })},
      {"holders", array_of(row.holders,
                           [](const FoundLockRow::Holder& holder) {
                             return Json{{"name", text(holder.name)},
                                         {"threads", holder.threads},
                                         {"wait_s", seconds(holder.wait_s)}};
                           })},
      {"owner_s", seconds(row.owner_s)},
      {"meanwhile",
       {{"looked_s", seconds(meanwhile.looked_s)},
        {"ran_s", seconds(meanwhile.ran_s)},
        {"runnable_s", seconds(meanwhile.runnable_s)},
        {"at_disks_s", seconds(meanwhile.at_disks_s)},
        {"other_locks_s", seconds(meanwhile.other_locks_s)},
        {"others_s", seconds(meanwhile.others_s)},
        {"unknown_s", seconds(meanwhile.unknown_s)}}},
      {"let_go", frames(row.let_go)},
      {"let_go_s", seconds(row.let_go_s)}};
}

Json text_or_null(const std::string& name) { return name.empty() ? Json(nullptr) : text(name); }

Json call_json(const FoundFile::Call& call) {
  return {{"name", text_or_null(call.name)},
          {"action", to_string(call.action)},
          {"waits", call.waits},
          {"wait_s", seconds(call.wait_s)}};
}

Json file_row_json(const FoundFile& file) {
  return {{"file", file_name_json(file.name)},
          {"waits", file.waits},
          {"wait_s", seconds(file.wait_s)},
          {"longest_s", seconds(file.longest_s)},
          {"ios", file.ios},
          {"bytes", file.bytes},
          {"read_bytes", file.read_bytes},
          {"written_bytes", file.written_bytes},
          {"calls", array_of(file.calls, call_json)},
          {"threads", array_of(file.threads,
                               [](const FoundFile::Threads& threads) -> Json {
                                 return {{"name", text(threads.name)},
                                         {"threads", threads.count},
                                         {"wait_s", seconds(threads.wait_s)}};
                               })},
          {"stack", frames(file.stack)},
          {"stack_s", seconds(file.stack_s)}};
}

}  // namespace

Json functions_json(const FoundFunctions& functions) {
  return {{"counted", time_json(functions.counted)},
          {"without_stack", time_json(functions.without_stack)},
          {"requests_s", seconds(functions.requests_s)},
          {"apart_s", seconds(functions.apart_s)},
          {"threads", functions.threads},
          {"names", array_of(functions.names, text)},
          {"samples", functions.samples},
          {"rows", array_of(functions.rows, function_json)}};
}

Json threads_json(const FoundThreads& threads) {
  return {{"critical_s", seconds(threads.critical_s)},
          {"some_active_s", seconds(threads.some_active_s)},
          {"mean_active", rounded(threads.mean_active)},
          {"preempted_s", seconds(threads.preempted_s)},
          {"rows", array_of(threads.rows, thread_json)},
          {"stacks", array_of(threads.stacks, critical_stack_json)},
          {"wakers", array_of(threads.wakers, critical_stack_json)},
          {"files", array_of(threads.files, critical_stack_json)}};
}

Json locks_json(const FoundLocks& locks) {
  return {{"locks", locks.locks},
          {"wait_s", seconds(locks.wait_s)},
          {"queues", locks.queues},
          {"queues_s", seconds(locks.queues_s)},
          {"requests_s", seconds(locks.requests_s)},
          {"apart_s", seconds(locks.apart_s)},
          {"not_let_go_s", seconds(locks.not_let_go_s)},
          {"unknown_s", seconds(locks.unknown_s)},
          {"rows", array_of(locks.rows, lock_json)}};
}

Json file_name_json(const FoundFileName& file) {
  return {{"kind", to_string(file.kind)}, {"path", text_or_null(file.path)},
          {"deleted", file.deleted},      {"device", to_string(file.device)},
          {"inode", file.inode},          {"disk", text_or_null(file.disk)}};
}

Json files_json(const FoundFiles& files) {
  return {{"files", files.files},
          {"wait_s", seconds(files.wait_s)},
          {"ios", files.ios},
          {"bytes", files.bytes},
          {"unknown_ios", files.unknown_ios},
          {"unknown_bytes", files.unknown_bytes},
          {"unknown_s", seconds(files.unknown_s)},
          {"rows", array_of(files.rows, file_row_json)}};
}

}  // namespace offwait
