// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a plan: threads that repeat the same operations, with queues, locks, barriers, a disk and sleeps
// between them (README.md describes plans).
//
//   planted --directory DIR [--speed PIECE=FACTOR]... [--seconds S] < PLAN
//
// Without --seconds it prints "ready" once all threads run, and runs until it is killed. With --seconds it
// prints how often per second `count` was reached in the last S seconds of S + kWarmUp.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace {

constexpr std::int64_t kNsPerUs = 1000;
constexpr std::int64_t kNsPerS = 1'000'000'000;
constexpr double kWarmUp = 0.2;
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kBlocks = 256;

[[noreturn]] void die(const std::string& what) {
  std::cerr << "planted: " << what << std::endl;
  std::_Exit(1);
}
[[noreturn]] void die_of_errno(const std::string& what) {
  die(what + ": " + std::generic_category().message(errno));
}

std::int64_t now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * kNsPerS + t.tv_nsec;
}

void sleep_ns(std::int64_t ns) {
  timespec left{.tv_sec = ns / kNsPerS, .tv_nsec = ns % kNsPerS};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

void use_cpu(std::int64_t ns) {
  const std::int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

// A thread that made a `call` waits here for the `reply`.
class Reply {
 public:
  void give() {
    const std::lock_guard lock(mutex_);
    given_ = true;
    changed_.notify_one();  // under the lock: after it the caller may return, and this object is on its stack
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_ = false;
};
using Item = Reply*;  // null if no thread waits for a reply

class Queue {
 public:
  Queue(std::size_t capacity, std::size_t items) : capacity_(capacity), items_(items, nullptr) {}

  [[gnu::noinline]] void put(Item item) {
    {
      std::unique_lock lock(mutex_);
      not_full_.wait(lock, [this] { return items_.size() < capacity_; });
      items_.push_back(item);
    }
    not_empty_.notify_one();
  }
  [[gnu::noinline]] Item take() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return !items_.empty(); });
    const Item item = items_.front();
    items_.pop_front();
    lock.unlock();
    not_full_.notify_one();
    return item;
  }
  [[gnu::noinline]] std::deque<Item> take_all() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return !items_.empty(); });
    std::deque<Item> items;
    items.swap(items_);
    lock.unlock();
    not_full_.notify_all();
    return items;
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<Item> items_;
};

class Barrier {
 public:
  explicit Barrier(std::size_t threads) : threads_(threads) {}

  [[gnu::noinline]] void meet() {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = round_;
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      lock.unlock();
      all_here_.notify_all();
      return;
    }
    all_here_.wait(lock, [&] { return round_ != round; });
  }

 private:
  const std::size_t threads_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
};

// Each thread has a file of its own. Its blocks are allocated, so that a sync writes data and flushes, and
// changes no metadata.
class File {
 public:
  explicit File(const std::string& directory) {
    const std::string name = directory + "/planted.XXXXXX";
    std::vector<char> path(name.begin(), name.end());
    path.push_back('\0');
    file_ = mkostemp(path.data(), O_CLOEXEC);
    if (file_ < 0) die_of_errno(name);
    struct statfs status {};
    if (fstatfs(file_, &status) != 0) die_of_errno(name);
    direct_ = open(path.data(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    const int open_errno = errno;
    unlink(path.data());
    if (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC) die(directory + " is in memory");
    errno = open_errno;
    if (direct_ < 0) die_of_errno(name);
    for (std::size_t i = 0; i < kBlocks; ++i) write_block();
    if (fsync(file_) != 0) die_of_errno("fsync");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    close(file_);
    close(direct_);
  }

  // A virtual machine's disk syncs in a fraction of a millisecond. To act as a slower disk, the sync is
  // repeated until `ns` have passed.
  [[gnu::noinline]] void sync_for(std::int64_t ns) {
    const std::int64_t end = now(CLOCK_MONOTONIC) + ns;
    do {
      write_block();
      if (fdatasync(file_) != 0) die_of_errno("fdatasync");
    } while (now(CLOCK_MONOTONIC) < end);
  }
  [[gnu::noinline]] void read_for(std::int64_t ns) {
    const std::int64_t end = now(CLOCK_MONOTONIC) + ns;
    do {
      if (pread(direct_, block_->data(), kBlock, next_offset()) != kBlock) die_of_errno("reading");
    } while (now(CLOCK_MONOTONIC) < end);
  }

 private:
  struct alignas(kBlock) Block : std::array<char, kBlock> {};

  off_t next_offset() { return static_cast<off_t>(next_++ % kBlocks * kBlock); }
  void write_block() {
    if (pwrite(file_, block_->data(), kBlock, next_offset()) != kBlock) die_of_errno("writing");
  }

  int file_ = -1;
  int direct_ = -1;
  std::size_t next_ = 0;
  std::unique_ptr<Block> block_ = std::make_unique<Block>();
};

// The state of one running thread.
struct Hands {
  std::deque<Item> items;  // the thread took these and has not put or answered them yet
  std::unique_ptr<File> file;
  std::minstd_rand random;

  // A service time, up to a fifth shorter or longer than `us`.
  std::int64_t vary(double us) {
    return static_cast<std::int64_t>(us * kNsPerUs * std::uniform_real_distribution<>(0.8, 1.2)(random));
  }
};
using Operation = std::function<void(Hands&)>;

struct Stage {
  std::string name;
  int threads = 0;
  bool uses_file = false;
  std::vector<Operation> operations;
};

class Plan {
 public:
  Plan(std::istream& text, std::map<std::string, double> speeds) : speeds_(std::move(speeds)) {
    std::string line;
    while (std::getline(text, line)) {
      ++line_;
      std::istringstream words(line.substr(0, line.find('#')));
      std::string keyword;
      if (words >> keyword) {
        read(keyword, words);
        if (words >> keyword) refuse("too many words");
      }
    }
    for (const auto& [piece, speed] : speeds_) {
      if (pieces_.count(piece) == 0) die("no piece " + piece);
    }
    if (stages_.empty()) die("no thread in the plan");
  }

  const std::vector<Stage>& stages() const { return stages_; }
  std::int64_t counted() const { return counted_.load(std::memory_order_relaxed); }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    die("line " + std::to_string(line_) + ": " + why);
  }

  template <class T>
  T word(std::istream& words) const {
    T value{};
    if (!(words >> value)) refuse("a word is missing or is no number");
    return value;
  }
  template <class T>
  T& named(std::map<std::string, T>& all, std::istream& words) const {
    const auto name = word<std::string>(words);
    const auto found = all.find(name);
    if (found == all.end()) refuse("no " + name);
    return found->second;
  }

  void read(const std::string& keyword, std::istream& words) {
    if (keyword == "planted" || keyword == "decoy") {
      std::string rest;  // only planted_test.py needs it
      std::getline(words, rest);
    } else if (keyword == "queue") {
      const auto name = word<std::string>(words);
      const auto capacity = word<std::size_t>(words);
      queues_.try_emplace(name, capacity, word<std::size_t>(words));
    } else if (keyword == "lock") {
      locks_[word<std::string>(words)];
    } else if (keyword == "barrier") {
      const auto name = word<std::string>(words);
      barriers_.try_emplace(name, word<std::size_t>(words));
    } else if (keyword == "thread") {
      Stage stage;
      stage.name = word<std::string>(words);
      stage.threads = word<int>(words);
      stages_.push_back(std::move(stage));
    } else if (stages_.empty()) {
      refuse("an operation before the first thread");
    } else {
      stages_.back().operations.push_back(operation(keyword, words));
    }
  }

  Operation operation(const std::string& keyword, std::istream& words) {
    if (keyword == "take") {
      return [&queue = named(queues_, words)](Hands& hands) { hands.items.push_back(queue.take()); };
    }
    if (keyword == "take_all") {
      return [&queue = named(queues_, words)](Hands& hands) { hands.items = queue.take_all(); };
    }
    if (keyword == "put") {
      return [&queue = named(queues_, words)](Hands& hands) {
        Item item = nullptr;
        if (!hands.items.empty()) {
          item = hands.items.front();
          hands.items.pop_front();
        }
        queue.put(item);
      };
    }
    if (keyword == "call") {
      return [&queue = named(queues_, words)](Hands&) {
        Reply reply;
        queue.put(&reply);
        reply.wait();
      };
    }
    if (keyword == "reply") {
      return [](Hands& hands) {
        for (const Item item : hands.items) {
          if (item != nullptr) item->give();
        }
        hands.items.clear();
      };
    }
    if (keyword == "drop") {
      return [](Hands& hands) { hands.items.clear(); };
    }
    if (keyword == "hold") {
      return [&lock = named(locks_, words)](Hands&) { lock.lock(); };
    }
    if (keyword == "release") {
      return [&lock = named(locks_, words)](Hands&) { lock.unlock(); };
    }
    if (keyword == "meet") {
      return [&barrier = named(barriers_, words)](Hands&) { barrier.meet(); };
    }
    if (keyword == "count") {
      return [this](Hands&) { counted_.fetch_add(1, std::memory_order_relaxed); };
    }
    return service(keyword, words);
  }

  // KEYWORD MICROSECONDS PIECE
  Operation service(const std::string& keyword, std::istream& words) {
    auto us = word<double>(words);
    const auto piece = word<std::string>(words);
    pieces_[piece] = true;
    if (const auto speed = speeds_.find(piece); speed != speeds_.end()) us /= speed->second;
    if (keyword == "cpu") return [us](Hands& hands) { use_cpu(hands.vary(us)); };
    if (keyword == "sleep") return [us](Hands& hands) { sleep_ns(hands.vary(us)); };
    if (keyword == "sync" || keyword == "read") {
      stages_.back().uses_file = true;
      if (keyword == "sync") return [us](Hands& hands) { hands.file->sync_for(hands.vary(us)); };
      return [us](Hands& hands) { hands.file->read_for(hands.vary(us)); };
    }
    refuse("no operation " + keyword);
  }

  std::map<std::string, double> speeds_;
  std::map<std::string, bool> pieces_;
  std::map<std::string, Queue> queues_;
  std::map<std::string, std::mutex> locks_;
  std::map<std::string, Barrier> barriers_;
  std::vector<Stage> stages_;
  std::atomic<std::int64_t> counted_{0};
  int line_ = 0;
};

void run(const Stage& stage, Hands& hands) {
  pthread_setname_np(pthread_self(), stage.name.c_str());
  for (;;) {
    for (const Operation& operation : stage.operations) operation(hands);
  }
}

struct Arguments {
  std::string directory;
  std::map<std::string, double> speeds;
  double seconds = 0;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--directory") {
      arguments.directory = value;
    } else if (words[i] == "--seconds") {
      arguments.seconds = std::strtod(value.c_str(), nullptr);
    } else if (const std::size_t equals = value.find('=');
               words[i] == "--speed" && equals != std::string::npos) {
      const double speed = std::strtod(value.c_str() + equals + 1, nullptr);
      if (!(speed > 0)) die("no speed: " + value);
      arguments.speeds[value.substr(0, equals)] = speed;
    } else {
      die("unknown: " + words[i] + " " + value);
    }
  }
  if (words.size() % 2 != 0 || arguments.directory.empty()) {
    die("usage: planted --directory DIR [--speed PIECE=FACTOR]... [--seconds S] < PLAN");
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse({argv + 1, argv + argc});
  Plan plan(std::cin, arguments.speeds);
  std::deque<Hands> hands;
  for (const Stage& stage : plan.stages()) {
    for (int i = 0; i < stage.threads; ++i) {
      hands.emplace_back();
      hands.back().random.seed(static_cast<unsigned>(hands.size()));
      if (stage.uses_file) hands.back().file = std::make_unique<File>(arguments.directory);
    }
  }
  std::size_t next = 0;
  for (const Stage& stage : plan.stages()) {
    for (int i = 0; i < stage.threads; ++i) {
      std::thread(run, std::cref(stage), std::ref(hands[next++])).detach();
    }
  }
  if (arguments.seconds <= 0) {
    std::cout << "ready" << std::endl;
    for (;;) pause();
  }
  sleep_ns(static_cast<std::int64_t>(kWarmUp * kNsPerS));
  const std::int64_t counted = plan.counted();
  const std::int64_t begin = now(CLOCK_MONOTONIC);
  sleep_ns(static_cast<std::int64_t>(arguments.seconds * kNsPerS));
  const double seconds = static_cast<double>(now(CLOCK_MONOTONIC) - begin) / kNsPerS;
  std::cout << static_cast<double>(plan.counted() - counted) / seconds << std::endl;
  std::_Exit(0);
}
