// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/mutex_owner.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <optional>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace offwait {
namespace {

std::optional<std::uint64_t> own_word(std::uint64_t address) {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

std::uint64_t address_of(const pthread_mutex_t& mutex) { return reinterpret_cast<std::uint64_t>(&mutex); }

std::int32_t own_tid() { return static_cast<std::int32_t>(syscall(SYS_gettid)); }

}  // namespace

TEST_CASE("glibc's mutexes say who holds them") {
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE}) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutex_lock(&mutex);
    // A thread that waits for the mutex sets this before it calls futex.
    mutex.__data.__lock = 2;
    CHECK(mutex_owner({address_of(mutex), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2}, own_word) == own_tid());
    CHECK(mutex_owner({address_of(mutex), FUTEX_WAIT, 2}, own_word) == own_tid());
    // With another value or another operation it is no mutex.
    CHECK(mutex_owner({address_of(mutex), FUTEX_WAIT, 1}, own_word) == std::nullopt);
    CHECK(mutex_owner({address_of(mutex), FUTEX_WAIT_BITSET, 2}, own_word) == std::nullopt);
    pthread_mutex_unlock(&mutex);
    CHECK(mutex_owner({address_of(mutex), FUTEX_WAIT, 2}, own_word) == std::nullopt);
  }
}

TEST_CASE("a mutex with priority inheritance has its owner in the futex word") {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutex_lock(&mutex);
  CHECK(mutex_owner({address_of(mutex), FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0}, own_word) == own_tid());
  pthread_mutex_unlock(&mutex);
}

TEST_CASE("memory that is no mutex, or cannot be read, has no owner") {
  const auto among = [](std::uint64_t lock, std::uint64_t owner, std::uint64_t kind) {
    const std::array<std::uint64_t, 3> words = {lock, owner, kind};
    return mutex_owner({0x1000, FUTEX_WAIT, 2},
                       [&words](std::uint64_t address) -> std::optional<std::uint64_t> {
                         const std::uint64_t at = (address - 0x1000) / 8;
                         return at < words.size() ? std::optional(words.at(at)) : std::nullopt;
                       });
  };
  CHECK(among(2, 77, 0) == 77);
  CHECK(among(2, 0, 0) == std::nullopt);
  CHECK(among(2, 0x80000001, 0) == std::nullopt);
  CHECK(among(2, 77, 0x12345678) == std::nullopt);
  CHECK(mutex_owner({0x1000, FUTEX_WAIT, 2}, [](std::uint64_t) { return std::nullopt; }) == std::nullopt);
  CHECK(mutex_owner({0x1001, FUTEX_WAIT, 2}, [](std::uint64_t) { return 2; }) == std::nullopt);
}

}  // namespace offwait
