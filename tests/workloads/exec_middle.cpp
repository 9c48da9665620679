// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeps, becomes another program (after_exec) with the same tid, and sleeps again. With --from-thread
// another thread than the leader executes the program: it takes over the leader's tid, and the leader
// disappears while it waits.
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

#include <unistd.h>

#include "workloads.h"

namespace workload {
namespace {

void sleep_rounds(const char* name, std::int64_t rounds, Nanos sleep_ns) {
  ThreadTruth truth(name);
  truth.sleep(rounds, sleep_ns);
  truth.end();
  truth.print();
}

/// Starts this program again through a link called after_exec, which gives the process its new name.
[[noreturn]] void become_after_exec(std::int64_t rounds, std::int64_t sleep_us, bool exit_at_once) {
  std::string directory = "/tmp/workload-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) fail("mkdtemp");
  const std::string link = directory + "/after_exec";
  std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"), link);
  const std::string rounds_text = std::to_string(rounds);
  const std::string sleep_text = std::to_string(sleep_us);
  execl(link.c_str(), link.c_str(), "exec_middle", "--stage", directory.c_str(), "--rounds",
        rounds_text.c_str(), "--sleep-us", sleep_text.c_str(), exit_at_once ? "--exit" : nullptr, nullptr);
  fail("execl");
}

}  // namespace

void exec_middle(Options& options) {
  const bool exit_at_once = options.exit_at_once();
  const auto rounds = options.number("rounds", 100);
  const auto sleep_us = options.number("sleep-us", 3000);
  const bool from_thread = options.flag("from-thread");
  const std::string link_directory = options.text("stage", "");
  if (!link_directory.empty()) {
    options.refuse_others();
    std::filesystem::remove_all(link_directory);
    sleep_rounds("after_exec", rounds * 2, sleep_us * 1000);
    return;
  }
  ready(options);
  if (!from_thread) {
    sleep_rounds("before_exec", rounds, sleep_us * 1000);
    become_after_exec(rounds, sleep_us, exit_at_once);
  }
  std::thread([&] {
    sleep_rounds("before_exec", rounds, sleep_us * 1000);
    become_after_exec(rounds, sleep_us, exit_at_once);
  }).join();
}

}  // namespace workload
