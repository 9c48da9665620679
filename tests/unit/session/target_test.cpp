// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/target.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include <pthread.h>
#include <sys/syscall.h>
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
