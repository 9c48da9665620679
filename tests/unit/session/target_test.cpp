// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/target.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <future>
#include <string>
#include <thread>

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace offwait {
namespace {

TEST_CASE("the threads of a target are its living threads, with their names") {
  std::promise<std::int32_t> started;
  std::promise<void> ended;
  std::thread thread([&] {
    ::pthread_setname_np(::pthread_self(), "second");
    started.set_value(static_cast<std::int32_t>(::syscall(SYS_gettid)));
    ended.get_future().wait();
  });
  const std::int32_t tid = started.get_future().get();
  const auto named = [tid](const Actor& actor) {
    return actor.tid == tid && actor.tgid == ::getpid() && actor.name == "second";
  };
  Target target;
  target.tgids = {::getpid()};
  const std::vector<Actor> all = threads_of(target);
  CHECK(all.size() == 2);
  CHECK(std::count_if(all.begin(), all.end(), named) == 1);
  CHECK(std::none_of(all.begin(), all.end(), [](const Actor& actor) { return actor.outside; }));

  target.tid = tid;
  for (const Actor& actor : threads_of(target)) CHECK(actor.outside == (actor.tid != tid));

  ended.set_value();
  thread.join();
  CHECK(threads_of(target).size() == 1);
}

TEST_CASE("a target that does not exist is an error") {
  TargetOptions options;
  options.pids = {2147483647};
  CHECK(find_target(options).error().message == "there is no process 2147483647");
  options.pids.clear();
  options.tid = 2147483647;
  CHECK(find_target(options).error().message == "there is no thread 2147483647");
}

/// A process of this name that waits; ends with this object.
class Named {
 public:
  explicit Named(const std::string& name) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_NAME, name.c_str());
    for (;;) ::pause();
  }
  ~Named() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

/// A name that no other test has that runs meanwhile.
std::string own(const std::string& name) { return name + std::to_string(::getpid()); }

Result<Target> target_called(const std::string& name) {
  TargetOptions options;
  options.names = {name};
  // A new process has its name in a moment.
  for (int i = 0; i < 1000 && !find_target(options); ++i) ::usleep(1000);
  return find_target(options);
}

TEST_CASE("a process is found by its name, which the kernel cuts; several are listed") {
  const Named one(own("ot-a-"));
  CHECK(target_called(own("ot-a-"))->tgids == std::vector<std::int32_t>{one.pid()});
  const Named long_one(own("ot-") + "-long-name");
  CHECK(target_called(own("ot-") + "-long-name")->tgids == std::vector<std::int32_t>{long_one.pid()});
  TargetOptions both;
  both.pids = {one.pid()};
  both.names = {own("ot-a-"), own("ot-") + "-long-name"};
  CHECK(find_target(both)->tgids == std::vector<std::int32_t>{one.pid(), long_one.pid()});

  const Named first(own("ot-b-"));
  REQUIRE(target_called(own("ot-b-")));
  const Named second(own("ot-b-"));
  TargetOptions options;
  options.names = {own("ot-b-")};
  std::string message;
  for (int i = 0; i < 1000 && message.empty(); ++i) {
    const Result<Target> found = find_target(options);
    if (!found) message = found.error().message;
    ::usleep(1000);
  }
  CHECK(message.starts_with("2 processes are called '" + own("ot-b-") + "': "));
  CHECK(message.ends_with("; choose one, or record all: -p " +
                          std::to_string(std::min(first.pid(), second.pid())) + "," +
                          std::to_string(std::max(first.pid(), second.pid()))));
  options.names = {"offwait-none"};
  CHECK(find_target(options).error().message == "no process is called 'offwait-none' ('ps -e' lists all)");
}

TEST_CASE("the whole system is every process but this one") {
  TargetOptions options;
  options.all = true;
  const Result<Target> target = find_target(options);
  REQUIRE(target);
  CHECK(target->all);
  CHECK(std::count(target->tgids.begin(), target->tgids.end(), 1) == 1);
  CHECK(std::count(target->tgids.begin(), target->tgids.end(), ::getpid()) == 0);
}

}  // namespace
}  // namespace offwait
