// SPDX-License-Identifier: GPL-2.0-or-later
// The progress that counts: what the user of the program wants more of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "progress/group_use.h"
#include "progress/thread_groups.h"

namespace offwait {

/// Groups that progress at one rate.
struct ProgressPart {
  std::vector<GroupId> groups;
  double weight = 0;  ///< among the parts of its progress: its share of all groups' weight, or answers
};

/// Where a server listens.
struct ServedAddress {
  std::uint16_t port = 0;  ///< TCP; 0: a unix socket
  std::string path;        ///< as Responses::path; hostile bytes
  friend bool operator==(const ServedAddress&, const ServedAddress&) = default;
};

/// How many requests of clients there were at a time, on average.
struct Requests {
  double under_way = 0;  ///< received by a thread of the server that had not responded yet
  double unread = 0;     ///< in the sockets of connections, at least; TCP only
};

/// By GroupId: the requests that threads of the group responded to, in the window.
std::vector<Requests> requests_of(const Trace& trace, const ThreadGroups& groups);

struct Progress {
  enum class How : std::uint8_t {
    told,  ///< the user named the threads, or a function whose calls count
    end,   ///< the end of the command that was recorded: the sooner, the better
    /// Answers to clients: the responses that threads of the target sent on accepted connections or, if too
    /// few were counted, the waits of threads outside of the target that threads of the target ended.
    clients,
    inferred,  ///< from what most of the program does
  };
  How how = How::inferred;
  std::vector<ProgressPart> parts;
  double share = 0;         ///< of all groups' weight, 0 to 1
  double work_share = 0;    ///< of all running time and waits for disks, 0 to 1
  std::uint64_t count = 0;  ///< how often it was made in the window; 0: not known
  /// From the first to the last time that it was made, where responses were counted. In the rest of the
  /// window hardly any client got a response. Of no length: not known.
  Window active{};
  ActorId ends = kNoActor;               ///< How::end: the thread whose exit is the end
  std::vector<std::string> functions{};  ///< whose calls count; empty unless the user named one
  // These are known only where responses were counted:
  std::uint64_t connections = 0;           ///< that got one or more; 0: not known
  std::vector<ServedAddress> addresses{};  ///< the one with most responses first
  Requests requests{};
};
std::string_view to_string(Progress::How how);

struct ProgressOptions {
  /// --progress: patterns of a shell (fnmatch(3)). A group counts if the name of one of its threads matches.
  std::vector<std::string> threads;
  bool end = false;  ///< --progress end: `threads` has no pattern, and the trace has a command_end()
};

/// The part of the window in which the target responded to clients: from the first response to the last one;
/// addresses with few of them, such as one that a monitor asks, do not count. All of the window where too few
/// responses were counted. What threads did in the rest of it is no progress. Before the first response, and
/// after the last one, they waited for most of the time; else they worked on a request then.
Window served_part(const Trace& trace);

/// Whether a part of the window is nine tenths of it or more, so that the rest does not matter.
bool is_nearly_all(const Window& part, const Window& whole);

/// The first thread of the command that was recorded (Recording::command), if it exited in the window. Its
/// exit is the end of the command, whatever other processes the command leaves behind.
std::optional<ActorId> command_end(const Trace& trace);

/// How much of the program's activity a group stands for, by GroupId: the hand-overs that it gave and took,
/// and its waits that something other than a timer ended. A group that spends half of its life in waits that
/// timers end counts a tenth, and a group of kernel threads counts nothing.
std::vector<double> weights_of(const ThreadGroups& groups, const Uses& uses);

/// The first one counts. The others are kinds of progress that the user may mean instead: parts of the
/// program, and single groups; where responses are counted, only those without a thread that responds or
/// works for one that does; where no client is answered, also those that work all the time without a wait.
/// There are no others if the user told which threads count, or if it is the end of a command. Patterns that
/// match no thread have no effect. The result is empty if no thread did anything.
std::vector<Progress> progress_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                  const Uses& uses, const ProgressOptions& options);

}  // namespace offwait
