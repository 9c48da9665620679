// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/target.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/read_file.h"
#include "cgroup/names.h"
#include "model/called.h"
#include "process/running_program.h"
#include "process/threads.h"

namespace offwait {
namespace {

/// The process that a thread belongs to; 0 if there is no such thread. /proc/TID exists for threads, too.
std::int32_t process_of(std::int32_t tid) {
  std::ifstream status("/proc/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("Tgid:", 0) == 0) return std::stoi(line.substr(5));
  }
  return 0;
}

struct Stat {
  char state = '?';
  std::uint64_t flags = 0;
};

/// Reads what follows the command name in /proc/PID/stat. The name may hold parentheses and blanks, so it
/// ends at the last ')'.
Stat read_stat(std::int32_t tid) {
  const std::string text = read_file("/proc/" + std::to_string(tid) + "/stat");
  Stat stat;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return stat;
  std::istringstream fields(text.substr(name_end + 1));
  std::int64_t skipped = 0;
  fields >> stat.state;
  for (int i = 0; i < 5; ++i) fields >> skipped;  // ppid, pgrp, session, tty_nr, tpgid
  fields >> stat.flags;
  return stat;
}

bool has_exited(const UniqueFd& process) {
  pollfd poll{process.get(), POLLIN, 0};
  return ::poll(&poll, 1, 0) > 0;
}

/// One process or thread. The label is its number and name.
Result<Target> find(std::int32_t id, bool thread) {
  constexpr std::uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD
  const std::int32_t tgid = process_of(id);
  if (tgid == 0) return Error{fmt::format("there is no {} {}", thread ? "thread" : "process", id)};
  if (!thread && tgid != id) {
    return Error{fmt::format(
        "{0} is a thread of process {1}: use -t {0} for the thread alone or -p {1} for the process", id,
        tgid)};
  }
  const Stat stat = read_stat(id);
  if ((stat.flags & kKernelThread) != 0) {
    return Error{fmt::format(
        "{} is a kernel thread: record the process that waits for it, kernel threads that it waits for are "
        "followed",
        id)};
  }
  Target target;
  target.tgids.push_back(tgid);
  target.tid = thread ? id : 0;
  target.label = fmt::format("{} ({})", id, read_comm(id));
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, tgid, 0)));
  if (!process) return Error{fmt::format("cannot watch process {}: {}", tgid, std::strerror(errno))};
  // A process of which only the main thread has exited is a zombie in /proc, but still runs.
  const bool exited = thread ? stat.state == 'Z' || stat.state == 'X' : has_exited(process);
  if (exited) return Error{fmt::format("{} {} has already exited", thread ? "thread" : "process", id)};
  target.living.push_back(std::move(process));
  return target;
}

Result<Target> find_processes(const std::vector<std::int32_t>& pids) {
  constexpr std::size_t kMostNamed = 3;
  Target all;
  all.label = pids.size() == 1 ? "pid " : "pids ";
  for (const std::int32_t pid : pids) {
    OFFWAIT_TRY(Target one, find(pid, false));
    if (all.tgids.size() < kMostNamed) all.label += (all.tgids.empty() ? "" : ", ") + one.label;
    all.tgids.push_back(pid);
    all.living.push_back(std::move(one.living.front()));
  }
  if (pids.size() > kMostNamed) all.label += fmt::format(" and {} more", pids.size() - kMostNamed);
  return all;
}

/// `12 (nginx: worker process)`
std::string described(std::int32_t pid) {
  constexpr std::size_t kMost = 40;
  std::string words = read_file("/proc/" + std::to_string(pid) + "/cmdline");
  std::replace(words.begin(), words.end(), '\0', ' ');
  words.erase(words.find_last_not_of(' ') + 1);
  if (words.size() > kMost) words = words.substr(0, kMost) + "…";
  return fmt::format("{} ({})", pid, words);
}

Error which_of(const std::string& name, const std::vector<std::int32_t>& pids) {
  constexpr std::size_t kMostListed = 8;
  const std::size_t listed = std::min(pids.size(), kMostListed);
  std::string list;
  for (std::size_t i = 0; i < listed; ++i) list += (i == 0 ? "" : ", ") + described(pids[i]);
  if (pids.size() > listed) list += fmt::format(" and {} more", pids.size() - listed);
  return Error{fmt::format("{} processes are called '{}': {}; choose one, or record all: -p {}", pids.size(),
                           name, list, fmt::join(pids, ","))};
}

/// The name of the file that the process executes; empty if that may not be read.
std::string executable_name(std::int32_t pid) {
  const auto program = read_program(pid);
  return program ? program->path.substr(program->path.rfind('/') + 1) : "";
}

/// The only process that `ps` calls so or, if there is none, whose executable is called so.
Result<std::int32_t> find_named(const std::string& name) {
  constexpr std::size_t kCommLength = 15;  // the kernel keeps this many characters
  std::vector<std::int32_t> all = numbers_in("/proc");
  std::erase_if(all, [](std::int32_t pid) { return pid == ::getpid() || read_stat(pid).state == 'Z'; });
  std::vector<std::int32_t> pids;
  const auto add_those = [&](const auto& is_called) {
    if (pids.empty()) std::copy_if(all.begin(), all.end(), std::back_inserter(pids), is_called);
  };
  add_those([&](std::int32_t pid) { return read_comm(pid) == name.substr(0, kCommLength); });
  add_those([&](std::int32_t pid) { return executable_name(pid) == name; });
  if (pids.empty()) return Error{fmt::format("no process is called '{}' ('ps -e' lists all)", name)};
  if (pids.size() == 1) return pids.front();
  std::sort(pids.begin(), pids.end());
  return which_of(name, pids);
}

Result<Target> find_processes(std::vector<std::int32_t> pids, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    OFFWAIT_TRY(const std::int32_t pid, find_named(name));
    if (std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
  }
  return find_processes(pids);
}

Result<Target> find_thread(std::int32_t tid) {
  Result<Target> target = find(tid, true);
  if (target) target->label.insert(0, "tid ");
  return target;
}

Result<Target> find_processes_of_cgroup(const std::string& path) {
  OFFWAIT_TRY(Cgroup cgroup, find_cgroup(path));
  Target target;
  target.tgids = processes_in(cgroup);
  target.label = "cgroup " + cgroup.name;
  target.cgroup = std::move(cgroup);
  return target;
}

Result<Target> find_processes_of_unit(const std::string& unit) {
  OFFWAIT_TRY(const std::string mount, cgroup_mount());
  const Result<std::string> cgroup = find_unit(list_cgroups(mount), unit);
  return cgroup ? find_processes_of_cgroup(mount + *cgroup) : cgroup.error();
}

Result<Target> find_processes_of_container(const std::string& id) {
  OFFWAIT_TRY(const std::string mount, cgroup_mount());
  const Result<std::string> cgroup = find_container(list_cgroups(mount), id);
  if (cgroup) return find_processes_of_cgroup(mount + *cgroup);
  // A container's cgroup may have any name; then the runtime's own files name it.
  if (const std::optional<std::string> named = cgroup_in_runtime_state(id))
    return find_processes_of_cgroup(*named);
  return cgroup.error();
}

Target whole_system() {
  Target target;
  target.all = true;
  target.label = "the whole system";
  target.tgids = numbers_in("/proc");
  std::erase(target.tgids, ::getpid());
  return target;
}

}  // namespace

Result<Target> find_target(const TargetOptions& options) {
  if (options.all) return whole_system();
  if (!options.cgroup.empty()) return find_processes_of_cgroup(options.cgroup);
  if (!options.unit.empty()) return find_processes_of_unit(options.unit);
  if (!options.container.empty()) return find_processes_of_container(options.container);
  return options.tid != 0 ? find_thread(options.tid) : find_processes(options.pids, options.names);
}

Result<Target> find_command(const HeldCommand& command, const std::string& name) {
  OFFWAIT_TRY(Target target, find_processes({command.tgid()}));
  target.label = fmt::format("command {} (pid {})", name.substr(name.rfind('/') + 1), command.tgid());
  return target;
}

std::vector<Actor> threads_of(const Target& target) {
  std::vector<Actor> threads;
  for (const std::int32_t tgid : target.tgids) {
    const std::optional<ProcessProgram> program = read_program(tgid);
    for (const std::int32_t tid : numbers_in("/proc/" + std::to_string(tgid) + "/task")) {
      // The main thread gives its process the name, so it is listed even if another thread is the target.
      Actor thread;
      thread.kind = ActorKind::thread;
      thread.tgid = tgid;
      thread.tid = tid;
      thread.name = read_comm(tid);
      if (program && has_title(program->title, thread.name, tid == tgid)) thread.title = program->title;
      thread.outside = target.tid != 0 && target.tid != tid;
      threads.push_back(std::move(thread));
    }
  }
  return threads;
}

bool goes_on(Target& target) {
  if (target.all) return true;
  if (target.cgroup) return exists(*target.cgroup);
  std::erase_if(target.living, has_exited);
  if (target.tid == 0) return !target.living.empty();
  const std::string task =
      "/proc/" + std::to_string(target.tgids.front()) + "/task/" + std::to_string(target.tid);
  if (::access(task.c_str(), F_OK) != 0) target.living.clear();
  return !target.living.empty();
}

}  // namespace offwait
