// SPDX-License-Identifier: GPL-2.0-or-later
// A plan as `planted` runs it. README.md describes the text form.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <semaphore.h>

#include "channels.h"
#include "disk_file.h"

/// What all processes of a program share.
struct Shared {
  std::atomic<std::int64_t> counted;
  std::atomic<int> started;  // threads
  sem_t finished;            // the last item was counted
};

/// How many times as fast pieces are: the whole piece, or of work on a disk one part.
struct Speeds {
  std::map<std::string, double> whole, cpu, disk;
};

/// The state of one running thread.
struct Hands {
  std::deque<Item> items;  // the thread took these and has not put or answered them yet
  std::vector<std::unique_ptr<Caller>> callers;
  std::unique_ptr<DiskFile> file;
  std::minstd_rand random;

  /// A service time, up to a fifth shorter or longer than `us`.
  std::int64_t vary(double us);
};

using Operation = std::function<void(Hands&)>;

/// Threads that do the same.
struct Stage {
  std::string name;
  int threads = 0;
  std::size_t process = 0;  // index into Plan::processes
  bool uses_file = false;
  std::vector<Channel*> calls;  // by index into Hands::callers
  std::vector<Operation> operations;
};

struct Process {
  int copies = 1;
  bool is_outside = false;
};

class Plan {
 public:
  /// Ends the program if the plan or the speeds cannot be understood.
  Plan(std::istream& text, Speeds speeds, Shared& shared);

  const std::vector<Stage>& stages() const { return stages_; }
  /// The first one is the parent of all others.
  const std::vector<Process>& processes() const { return processes_; }
  int cpus() const { return cpus_; }                     // 0: all
  std::int64_t end_after() const { return end_after_; }  // 0: it does not end

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  template <class T>
  T word(std::istream& words) const;
  template <class T>
  T& named(std::map<std::string, T>& all, std::istream& words);
  Channel& channel(std::istream& words);
  void stays_in_this_process(const std::string& name);

  void read(const std::string& keyword, std::istream& words);
  void begin_process(std::istream& words);
  Operation operation(const std::string& keyword, std::istream& words);
  Operation hand_over(const std::string& keyword, std::istream& words);
  Operation service(const std::string& keyword, std::istream& words);

  Speeds speeds_;
  Shared& shared_;
  std::set<std::string> pieces_;
  std::map<std::string, std::unique_ptr<Channel>> channels_;
  std::map<std::string, std::mutex> locks_;
  std::map<std::string, Barrier> barriers_;
  std::map<std::string, std::size_t> process_of_;  // of queues, locks and barriers, by who used them first
  std::vector<Process> processes_{Process{}};
  std::vector<Stage> stages_;
  int cpus_ = 0;
  std::int64_t end_after_ = 0;
  int line_ = 0;
};
