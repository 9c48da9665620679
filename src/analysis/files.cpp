// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/files.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/file_calls.h"
#include "base/nanos.h"
#include "model/called.h"

namespace offwait {

namespace {

/// Waits of one site for one object.
struct ObjectWaits {
  std::uint64_t waits = 0;
  Nanos wait_ns = 0;
  Nanos longest_ns = 0;
};
using WaitedKey = std::uint64_t;
WaitedKey key_of(ObjectId object, SiteId site) { return (std::uint64_t{object} << 32U) | site; }

/// A call, and what it does: a write may be synced at once.
using FileCall = std::pair<std::string, FileAction>;

/// Sums over the waits and requests for one object.
struct Sums {
  ObjectWaits waited;
  Nanos stack_ns = 0;
  StackId stack = kNoStack;
  std::map<FileCall, FoundFile::Call> calls;
  struct Threads {
    std::set<ActorId> actors;
    Nanos wait_ns = 0;
  };
  std::map<std::string, Threads> threads;
  std::map<StackId, Nanos> stacks;
  std::uint64_t ios = 0;
  std::uint64_t bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};

template <class Item>
void longest_first(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.wait_s > b.wait_s; });
}

class FileTable {
 public:
  explicit FileTable(const Trace& trace) : trace_(trace), names_(trace) {}

  FoundFiles run() {
    add_waits();
    add_requests();
    return rows();
  }

 private:
  void add_waits() {
    std::unordered_map<WaitedKey, ObjectWaits> waited;
    for (const Wait& wait : trace_.waits) {
      const WaitSite& site = trace_.sites[wait.site];
      if (trace_.actors[site.thread].outside) continue;
      const Nanos wait_ns = clipped(wait.block, wait.wake, trace_.window);
      if (!is_for_file(trace_, wait)) {
        const bool at_disk = site.wait_class == WaitClass::disk || site.wait_class == WaitClass::fault;
        if (at_disk && wait.object == kNoObject) unknown_ns_ += wait_ns;
        continue;
      }
      ObjectWaits& sum = waited[key_of(wait.object, wait.site)];
      const bool ended = wait.wake > trace_.window.begin && wait.wake <= trace_.window.end;
      sum.waits += ended && !site.in_flight ? 1 : 0;
      sum.wait_ns += wait_ns;
      sum.longest_ns = std::max(sum.longest_ns, wait_ns);
    }
    std::vector<WaitedKey> keys;
    for (const auto& [key, sum] : waited) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    for (const WaitedKey key : keys) {
      add(sums_[static_cast<ObjectId>(key >> 32U)], static_cast<SiteId>(key), waited[key]);
    }
  }

  void add(Sums& sums, SiteId id, const ObjectWaits& waited) {
    const WaitSite& site = trace_.sites[id];
    sums.waited.waits += waited.waits;
    sums.waited.wait_ns += waited.wait_ns;
    sums.waited.longest_ns = std::max(sums.waited.longest_ns, waited.longest_ns);
    sums.stacks[site.wait_stack] += waited.wait_ns;
    FoundFile::Call& call = sums.calls[call_of(site.wait_stack)];
    call.waits += waited.waits;
    call.wait_s += to_seconds(waited.wait_ns);
    Sums::Threads& threads = sums.threads[called(trace_.actors[site.thread])];
    threads.actors.insert(site.thread);
    threads.wait_ns += waited.wait_ns;
  }

  const FileCall& call_of(StackId stack) {
    const auto [found, added] = calls_.try_emplace(stack);
    if (added) found->second = {file_call(trace_, stack), file_action(trace_, stack)};
    return found->second;
  }

  void add_requests() {
    for (const DiskIo& io : trace_.disk_ios) {
      if (io.complete <= trace_.window.begin || io.complete > trace_.window.end) continue;
      ++out_.ios;
      out_.bytes += io.bytes;
      if (io.file == kNoObject) {
        ++out_.unknown_ios;
        out_.unknown_bytes += io.bytes;
        continue;
      }
      Sums& sums = sums_[io.file];
      ++sums.ios;
      sums.bytes += io.bytes;
      sums.read_bytes += io.operation == DiskOperation::read ? io.bytes : 0;
      sums.written_bytes += io.operation == DiskOperation::write ? io.bytes : 0;
    }
  }

  FoundFile row(ObjectId id, Sums& sums) const {
    FoundFile file;
    file.name = names_(id);
    file.waits = sums.waited.waits;
    file.wait_s = to_seconds(sums.waited.wait_ns);
    file.longest_s = to_seconds(sums.waited.longest_ns);
    file.ios = sums.ios;
    file.bytes = sums.bytes;
    file.read_bytes = sums.read_bytes;
    file.written_bytes = sums.written_bytes;
    for (auto& [what, call] : sums.calls) {
      call.name = what.first;
      call.action = what.second;
      file.calls.push_back(std::move(call));
    }
    longest_first(file.calls);
    for (const auto& [name, threads] : sums.threads) {
      file.threads.push_back({name, threads.actors.size(), to_seconds(threads.wait_ns)});
    }
    longest_first(file.threads);
    if (file.threads.size() > kMostFileThreads) file.threads.resize(kMostFileThreads);
    const auto stack = std::max_element(sums.stacks.begin(), sums.stacks.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    if (stack != sums.stacks.end()) {
      file.stack = backtrace_of(trace_, stack->first);
      file.stack_s = to_seconds(stack->second);
    }
    return file;
  }

  FoundFiles rows() {
    std::vector<std::pair<ObjectId, Sums*>> order;
    Nanos wait_ns = 0;
    for (auto& [id, sums] : sums_) {
      order.emplace_back(id, &sums);
      wait_ns += sums.waited.wait_ns;
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second->waited.wait_ns, a.second->bytes) >
             std::tie(b.second->waited.wait_ns, b.second->bytes);
    });
    out_.files = order.size();
    out_.wait_s = to_seconds(wait_ns);
    out_.unknown_s = to_seconds(unknown_ns_);
    for (std::size_t i = 0; i < std::min(kMostFiles, order.size()); ++i) {
      out_.rows.push_back(row(order[i].first, *order[i].second));
    }
    return std::move(out_);
  }

  const Trace& trace_;
  FileNames names_;
  std::map<ObjectId, Sums> sums_;
  std::map<StackId, FileCall> calls_;
  Nanos unknown_ns_ = 0;
  FoundFiles out_;
};

}  // namespace

std::string_view to_string(FileAction action) {
  static constexpr std::array<std::string_view, kFileActions> kNames = {"sync", "write", "read", "other"};
  const auto index = static_cast<std::size_t>(action);
  return index < kNames.size() ? kNames.at(index) : "?";
}

void ActionTimes::add(FileAction action, double time_s) {
  switch (action) {
    case FileAction::sync:
      sync_s += time_s;
      break;
    case FileAction::write:
      write_s += time_s;
      break;
    case FileAction::read:
      read_s += time_s;
      break;
    case FileAction::other:
      other_s += time_s;
      break;
  }
}

FileAction ActionTimes::longest() const {
  FileAction out = FileAction::other;
  double most_s = other_s;
  for (const auto& [action, time_s] :
       {std::pair(FileAction::read, read_s), std::pair(FileAction::write, write_s),
        std::pair(FileAction::sync, sync_s)}) {
    if (time_s <= 0 || time_s < most_s) continue;
    out = action;
    most_s = time_s;
  }
  return out;
}

bool ActionTimes::are_syncs() const {
  constexpr double kSyncsToo = 0.5;  // syncs that take this part of the time in writes
  const FileAction most = longest();
  return most == FileAction::sync || (most == FileAction::write && sync_s >= kSyncsToo * write_s);
}

FileNames::FileNames(const Trace& trace) : trace_(trace), disk_of_(trace.objects.size(), kNoActor) {
  if (trace.objects.empty()) return;
  std::map<std::pair<ObjectId, ActorId>, std::uint64_t> bytes;
  for (const DiskIo& io : trace.disk_ios) {
    if (io.file != kNoObject && io.disk != kNoActor) bytes[{io.file, io.disk}] += io.bytes;
  }
  std::uint64_t most = 0;
  for (const auto& [both, sum] : bytes) {
    const auto& [file, disk] = both;
    if (disk_of_[file] != kNoActor && sum <= most) continue;
    most = sum;
    disk_of_[file] = disk;
  }
}

FoundFileName FileNames::operator()(ObjectId id) const {
  const Object& object = trace_.objects[id];
  const ActorId disk = disk_of_[id];
  return {object.kind,   object.path,  object.deleted,
          object.device, object.inode, disk == kNoActor ? "" : trace_.actors[disk].name};
}

bool is_for_file(const Trace& trace, const Wait& wait) {
  return wait.object != kNoObject && is_stored(trace.objects[wait.object]);
}

FoundFiles files_of(const Trace& trace) { return FileTable(trace).run(); }

}  // namespace offwait
