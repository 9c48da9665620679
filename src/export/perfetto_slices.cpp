// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/perfetto_slices.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/escape.h"
#include "export/actor_names.h"
#include "model/histories.h"

namespace offwait::perfetto {

namespace {

using protozero::pbf_writer;

std::uint64_t track_of(ActorId id) { return std::uint64_t{id} + 1; }
std::uint64_t track_of_process(std::int32_t tgid) {
  constexpr std::uint64_t kAboveAllActors = std::uint64_t{1} << 33;
  return kAboveAllActors + static_cast<std::uint64_t>(tgid);
}

void write_process_track(const Actor& thread, Sequence& sequence) {
  sequence.add([&](pbf_writer& packet) {
    pbf_writer track(packet, packet::kTrackDescriptor);
    track.add_uint64(track_descriptor::kUuid, track_of_process(thread.tgid));
    pbf_writer process(track, track_descriptor::kProcess);
    process.add_int32(track_descriptor::kProcessPid, thread.tgid);
  });
}

void write_track(const Actor& actor, ActorId id, Sequence& sequence) {
  sequence.add([&](pbf_writer& packet) {
    pbf_writer track(packet, packet::kTrackDescriptor);
    track.add_uint64(track_descriptor::kUuid, track_of(id));
    if (actor.kind != ActorKind::thread) {
      track.add_string(track_descriptor::kName, escape(actor_name(actor)));
      return;
    }
    if (actor.tgid > 0) track.add_uint64(track_descriptor::kParentUuid, track_of_process(actor.tgid));
    pbf_writer thread(track, track_descriptor::kThread);
    thread.add_int32(track_descriptor::kThreadPid, actor.tgid > 0 ? actor.tgid : actor.tid);
    thread.add_int32(track_descriptor::kThreadTid, actor.tid);
    thread.add_string(track_descriptor::kThreadName, escape(actor_name(actor)));
  });
}

class Slices {
 public:
  Slices(const Trace& trace, Sequence& sequence)
      : trace_(trace), sequence_(sequence), histories_(trace), objects_(trace) {}

  void write() {
    std::set<std::int32_t> processes;
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      const Actor& actor = trace_.actors[id];
      if (actor.kind == ActorKind::thread && actor.tgid > 0 && processes.insert(actor.tgid).second)
        write_process_track(actor, sequence_);
      write_track(actor, id, sequence_);
    }
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      if (trace_.actors[id].kind == ActorKind::thread) write_thread(id);
    }
  }

 private:
  void write_thread(ActorId id) {
    const Actor& thread = trace_.actors[id];
    begin_ = std::max(thread.start, trace_.window.begin);
    end_ = std::min(thread.exit, trace_.window.end);
    History rest = histories_.of(id);
    while (const std::optional<Interval> interval = take_next(trace_, rest)) {
      if (interval->from >= end_) break;
      if (interval->kind == Interval::Kind::wait) write_wait(id, interval->index);
      if (interval->kind == Interval::Kind::gap && interval->to > begin_)
        write_gap(id, interval->from, interval->to);
    }
  }

  void write_wait(ActorId id, std::uint32_t index) {
    const Wait& wait = trace_.waits[index];
    if (wait.wake < begin_) return;
    const WaitSite& site = trace_.sites[wait.site];
    const std::uint64_t name = sequence_.string(slice_name(site), interned_data::kEventNames);
    const std::uint64_t category = sequence_.string("wait", interned_data::kEventCategories);
    const std::uint64_t stack = sequence_.callstack(trace_, site.wait_stack);
    add_names();
    event(id, std::max(wait.block, begin_), track_event::kSliceBegin, [&](pbf_writer& out) {
      out.add_uint64(track_event::kNameIid, name);
      out.add_uint64(track_event::kCategoryIids, category);
      if (stack != 0) out.add_uint64(track_event::kCallstackIid, stack);
      annotate(wait, site, out);
    });
    if (wait.wake >= end_) return;  // the slice stays open, like the wait
    event(id, wait.wake, track_event::kSliceEnd, [](pbf_writer&) {});
    if (site.waker != kNoActor) write_flow(index, wait, site);
  }

  /// From the waker to the thread that it woke.
  void write_flow(std::uint32_t index, const Wait& wait, const WaitSite& site) {
    const std::uint64_t flow = std::uint64_t{index} + 1;
    const std::uint64_t wakes =
        sequence_.string("wakes " + actor_name(trace_.actors[site.thread]), interned_data::kEventNames);
    const std::uint64_t woken =
        sequence_.string("woken by " + actor_name(trace_.actors[site.waker]), interned_data::kEventNames);
    const std::uint64_t category = sequence_.string("wakeup", interned_data::kEventCategories);
    const std::uint64_t stack = sequence_.callstack(trace_, site.waker_stack);
    event(site.waker, wait.wake, track_event::kInstant, [&](pbf_writer& out) {
      out.add_uint64(track_event::kNameIid, wakes);
      out.add_uint64(track_event::kCategoryIids, category);
      out.add_fixed64(track_event::kFlowIds, flow);
      if (stack != 0) out.add_uint64(track_event::kCallstackIid, stack);
    });
    event(site.thread, wait.wake, track_event::kInstant, [&](pbf_writer& out) {
      out.add_uint64(track_event::kNameIid, woken);
      out.add_uint64(track_event::kCategoryIids, category);
      out.add_fixed64(track_event::kTerminatingFlowIds, flow);
    });
  }

  void write_gap(ActorId id, Nanos from, Nanos to) {
    const std::uint64_t name = sequence_.string("unknown: records were lost", interned_data::kEventNames);
    event(id, std::max(from, begin_), track_event::kSliceBegin,
          [name](pbf_writer& out) { out.add_uint64(track_event::kNameIid, name); });
    event(id, std::min(to, end_), track_event::kSliceEnd, [](pbf_writer&) {});
  }

  template <class Fill>
  void event(ActorId id, Nanos at, int type, Fill fill) {
    sequence_.add([&](pbf_writer& packet) {
      packet.add_uint64(packet::kTimestamp, static_cast<std::uint64_t>(std::max<Nanos>(at, 0)));
      pbf_writer out(packet, packet::kTrackEvent);
      out.add_enum(track_event::kType, type);
      out.add_uint64(track_event::kTrackUuid, track_of(id));
      fill(out);
    });
  }

  std::string slice_name(const WaitSite& site) const {
    if (site.in_flight) return "packet in flight";
    const std::string by = site.waker == kNoActor ? "" : " by " + actor_name(trace_.actors[site.waker]);
    return fmt::format("{}{}", to_string(site.wait_class), by);
  }

  /// The names of annotations have to be known before the packet that refers to them is begun.
  void add_names() {
    class_ = sequence_.string("class", interned_data::kDebugAnnotationNames);
    object_ = sequence_.string("object", interned_data::kDebugAnnotationNames);
    holder_ = sequence_.string("holder", interned_data::kDebugAnnotationNames);
    peer_ = sequence_.string("peer", interned_data::kDebugAnnotationNames);
  }

  void annotate(const Wait& wait, const WaitSite& site, pbf_writer& out) const {
    const auto add = [&out](std::uint64_t name, std::string_view value) {
      pbf_writer annotation(out, track_event::kDebugAnnotations);
      annotation.add_uint64(debug_annotation::kNameIid, name);
      annotation.add_string(debug_annotation::kStringValue, escape(value));
    };
    add(class_, to_string(site.wait_class));
    if (wait.object != kNoObject) add(object_, objects_(wait.object));
    if (wait.holder != kNoActor) add(holder_, actor_name(trace_.actors[wait.holder]));
    if (site.peer != kNoPeer) add(peer_, to_string(trace_.peers[site.peer]));
  }

  const Trace& trace_;
  Sequence& sequence_;
  Histories histories_;
  ObjectNames objects_;
  Nanos begin_ = 0;  ///< of the thread whose slices are written, inside the window
  Nanos end_ = 0;
  std::uint64_t class_ = 0;
  std::uint64_t object_ = 0;
  std::uint64_t holder_ = 0;
  std::uint64_t peer_ = 0;
};

}  // namespace

void write_slices(const Trace& trace, Sequence& sequence) { Slices(trace, sequence).write(); }

}  // namespace offwait::perfetto
