// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan.h"

#include <cmath>
#include <sstream>

#include "clock.h"
#include "die.h"

namespace {

double speed_of(const std::map<std::string, double>& speeds, const std::string& piece) {
  const auto found = speeds.find(piece);
  return found == speeds.end() ? 1 : found->second;
}

}  // namespace

std::int64_t Hands::vary(double us) {
  return static_cast<std::int64_t>(us * kNsPerUs * std::uniform_real_distribution<>(0.8, 1.2)(random));
}

Plan::Plan(std::istream& text, Speeds speeds, Shared& shared) : speeds_(std::move(speeds)), shared_(shared) {
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
  for (const auto* part : {&speeds_.whole, &speeds_.cpu, &speeds_.disk}) {
    for (const auto& [piece, speed] : *part) {
      if (pieces_.count(piece) == 0) die("no piece " + piece);
    }
  }
  if (stages_.empty()) die("no thread in the plan");
}

void Plan::refuse(const std::string& why) const { die("line " + std::to_string(line_) + ": " + why); }

template <class T>
T Plan::word(std::istream& words) const {
  T value{};
  if (!(words >> value)) refuse("a word is missing or is no number");
  return value;
}

template <class T>
T& Plan::named(std::map<std::string, T>& all, std::istream& words) {
  const auto name = word<std::string>(words);
  const auto found = all.find(name);
  if (found == all.end()) refuse("no " + name);
  stays_in_this_process(name);
  return found->second;
}

Channel& Plan::channel(std::istream& words) {
  const auto name = word<std::string>(words);
  const auto found = channels_.find(name);
  if (found == channels_.end()) refuse("no " + name);
  if (dynamic_cast<const Queue*>(found->second.get()) != nullptr) stays_in_this_process(name);
  return *found->second;
}

void Plan::stays_in_this_process(const std::string& name) {
  const std::size_t process = stages_.back().process;
  if (process_of_.try_emplace(name, process).first->second != process) {
    refuse(name + " is used by another process, which has its own copy");
  }
}

void Plan::read(const std::string& keyword, std::istream& words) {
  if (keyword == "planted" || keyword == "decoy") {
    std::string rest;  // only planted_test.py needs it
    std::getline(words, rest);
  } else if (keyword == "cpus") {
    pieces_.insert("cpus");
    cpus_ = static_cast<int>(std::lround(word<int>(words) * speed_of(speeds_.whole, "cpus")));
  } else if (keyword == "end") {
    end_after_ = word<std::int64_t>(words);
  } else if (keyword == "process") {
    begin_process(words);
  } else if (keyword == "queue") {
    const auto name = word<std::string>(words);
    const auto capacity = word<std::size_t>(words);
    channels_.try_emplace(name, std::make_unique<Queue>(capacity, word<std::size_t>(words)));
  } else if (keyword == "pipe") {
    const auto name = word<std::string>(words);
    channels_.try_emplace(name, std::make_unique<Pipe>(word<std::size_t>(words)));
  } else if (keyword == "socket") {
    channels_.try_emplace(word<std::string>(words), std::make_unique<SocketPair>());
  } else if (keyword == "port") {
    channels_.try_emplace(word<std::string>(words), std::make_unique<Port>());
  } else if (keyword == "lock") {
    locks_[word<std::string>(words)];
  } else if (keyword == "barrier") {
    const auto name = word<std::string>(words);
    barriers_.try_emplace(name, word<std::size_t>(words));
  } else if (keyword == "thread") {
    Stage stage;
    stage.name = word<std::string>(words);
    stage.threads = word<int>(words);
    stage.process = processes_.size() - 1;
    stages_.push_back(std::move(stage));
  } else if (stages_.empty()) {
    refuse("an operation before the first thread");
  } else {
    stages_.back().operations.push_back(operation(keyword, words));
  }
}

void Plan::begin_process(std::istream& words) {
  if (processes_.size() == 1 && !stages_.empty()) refuse("a thread before the first process");
  Process process;
  process.copies = word<int>(words);
  const auto where = word<std::string>(words);
  if (where != "inside" && where != "outside") refuse("a process is inside or outside of the target");
  process.is_outside = where == "outside";
  processes_.push_back(process);
}

Operation Plan::operation(const std::string& keyword, std::istream& words) {
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
    return [this](Hands&) {
      if (shared_.counted.fetch_add(1, std::memory_order_relaxed) + 1 == end_after_)
        sem_post(&shared_.finished);
    };
  }
  if (keyword == "cpu" || keyword == "sleep" || keyword == "sync" || keyword == "read") {
    return service(keyword, words);
  }
  return hand_over(keyword, words);
}

Operation Plan::hand_over(const std::string& keyword, std::istream& words) {
  if (keyword == "take") {
    return [&from = channel(words)](Hands& hands) { hands.items.push_back(from.take()); };
  }
  if (keyword == "take_all") {
    return [&from = channel(words)](Hands& hands) { hands.items = from.take_all(); };
  }
  if (keyword == "put") {
    return [&to = channel(words)](Hands& hands) {
      Item item = nullptr;
      if (!hands.items.empty()) {
        item = hands.items.front();
        hands.items.pop_front();
      }
      to.put(item);
    };
  }
  if (keyword == "call") {
    std::vector<Channel*>& calls = stages_.back().calls;
    calls.push_back(&channel(words));
    return [which = calls.size() - 1](Hands& hands) { hands.callers[which]->call(); };
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
  refuse("no operation " + keyword);
}

// KEYWORD MICROSECONDS PIECE
Operation Plan::service(const std::string& keyword, std::istream& words) {
  auto us = word<double>(words);
  const auto piece = word<std::string>(words);
  pieces_.insert(piece);
  us /= speed_of(speeds_.whole, piece);
  const DiskSpeeds parts{.cpu = speed_of(speeds_.cpu, piece), .disk = speed_of(speeds_.disk, piece)};
  if (keyword == "cpu") return [us](Hands& hands) { use_cpu(hands.vary(us)); };
  if (keyword == "sleep") return [us](Hands& hands) { sleep_ns(hands.vary(us)); };
  stages_.back().uses_file = true;
  if (keyword == "sync") return [us, parts](Hands& hands) { hands.file->sync_for(hands.vary(us), parts); };
  return [us, parts](Hands& hands) { hands.file->read_for(hands.vary(us), parts); };
}
