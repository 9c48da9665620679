// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/noise.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "model/outline.h"

namespace offwait {

namespace {

/// Names without template arguments, argument types and return types; with `*`, all that begin so. C names
/// stand without `__GI_` and leading underscores, but for `_start`.
struct Rule {
  std::string_view name;
  Noise noise;
};

constexpr std::array kRules = {
    // glibc's and the kernel's ways into a thread and main().
    Rule{"_start", Noise::start},
    Rule{"libc_start_main*", Noise::start},
    Rule{"libc_start_call_main", Noise::start},
    Rule{"start_thread", Noise::start},
    Rule{"thread_start", Noise::start},
    Rule{"clone", Noise::start},
    Rule{"clone3", Noise::start},
    // libstdc++, C++20.
    Rule{"execute_native_thread_routine", Noise::start},
    Rule{"std::execute_native_thread_routine", Noise::start},
    Rule{"std::thread::_State_impl::_M_run", Noise::body},
    Rule{"std::thread::_Invoker::operator()", Noise::body},
    Rule{"std::thread::_Invoker::_M_invoke", Noise::body},
    Rule{"std::jthread::_S_create::*", Noise::start},
    // Rust, Go.
    Rule{"std::sys::unix::thread::Thread::new::thread_start", Noise::start},
    Rule{"std::sys::pal::unix::thread::Thread::new::thread_start", Noise::start},
    Rule{"std::sys_common::backtrace::__rust_begin_short_backtrace", Noise::body},
    Rule{"std::sys::backtrace::__rust_begin_short_backtrace", Noise::body},
    Rule{"std::thread::Builder::spawn_unchecked_::*", Noise::body},
    Rule{"std::rt::lang_start*", Noise::start},
    Rule{"std::panicking::try*", Noise::start},
    Rule{"std::panic::catch_unwind", Noise::start},
    Rule{"core::ops::function::FnOnce::call_once*", Noise::glue},
    Rule{"runtime.goexit*", Noise::start},
    Rule{"runtime.mstart*", Noise::start},

    // What a program calls to wait and to wake.
    Rule{"pthread_mutex_lock", Noise::call},
    Rule{"pthread_mutex_timedlock", Noise::call},
    Rule{"pthread_mutex_clocklock", Noise::call},
    Rule{"pthread_mutex_unlock", Noise::call},
    Rule{"pthread_cond_wait", Noise::call},
    Rule{"pthread_cond_timedwait", Noise::call},
    Rule{"pthread_cond_clockwait", Noise::call},
    Rule{"pthread_cond_timedwait64", Noise::call},
    Rule{"pthread_cond_clockwait64", Noise::call},
    Rule{"pthread_mutex_timedlock64", Noise::call},
    Rule{"pthread_mutex_clocklock64", Noise::call},
    Rule{"pthread_cond_signal", Noise::call},
    Rule{"pthread_cond_broadcast", Noise::call},
    Rule{"pthread_rwlock_rdlock", Noise::call},
    Rule{"pthread_rwlock_wrlock", Noise::call},
    Rule{"pthread_rwlock_unlock", Noise::call},
    Rule{"pthread_barrier_wait", Noise::call},
    Rule{"pthread_spin_lock", Noise::call},
    Rule{"pthread_join", Noise::call},
    Rule{"pthread_timedjoin_np", Noise::call},
    Rule{"pthread_clockjoin_np", Noise::call},
    Rule{"sem_wait", Noise::call},
    Rule{"sem_timedwait", Noise::call},
    Rule{"sem_clockwait", Noise::call},
    Rule{"sem_post", Noise::call},
    Rule{"std::mutex::*", Noise::call},
    Rule{"std::timed_mutex::*", Noise::call},
    Rule{"std::recursive_mutex::*", Noise::call},
    Rule{"std::recursive_timed_mutex::*", Noise::call},
    Rule{"std::shared_mutex::*", Noise::call},
    Rule{"std::shared_timed_mutex::*", Noise::call},
    Rule{"std::condition_variable::*", Noise::call},
    Rule{"std::condition_variable_any::*", Noise::call},
    Rule{"std::_V2::condition_variable_any::*", Noise::call},
    Rule{"std::counting_semaphore::*", Noise::call},
    Rule{"std::latch::*", Noise::call},
    Rule{"std::barrier::*", Noise::call},
    Rule{"std::atomic::wait", Noise::call},
    Rule{"std::thread::join", Noise::call},
    Rule{"std::jthread::join", Noise::call},
    Rule{"std::future::get", Noise::call},
    Rule{"std::shared_future::get", Noise::call},
    Rule{"std::promise::set_value", Noise::call},
    Rule{"std::__basic_future::wait*", Noise::call},
    Rule{"std::call_once", Noise::call},
    Rule{"nanosleep", Noise::call},
    Rule{"clock_nanosleep", Noise::call},
    Rule{"clock_nanosleep_time64", Noise::call},
    Rule{"usleep", Noise::call},
    Rule{"std::this_thread::*", Noise::call},

    // What these are made of, and thin shells around them.
    Rule{"futex_abstimed_wait*", Noise::internal},
    Rule{"futex_clocklock*", Noise::internal},
    Rule{"futex_lock_pi*", Noise::internal},
    Rule{"futex_wait", Noise::internal},
    Rule{"futex_wait_simple", Noise::internal},
    Rule{"futex_wait_cancelable", Noise::internal},
    Rule{"futex_reltimed_wait*", Noise::internal},
    Rule{"futex_wake", Noise::internal},
    Rule{"internal_syscall_cancel", Noise::internal},
    Rule{"syscall_cancel*", Noise::internal},
    Rule{"lll_lock_wait*", Noise::internal},
    Rule{"lll_lock_wake*", Noise::internal},
    Rule{"lll_mutex_*", Noise::internal},
    Rule{"lll_clocklock*", Noise::internal},
    Rule{"lll_timedlock*", Noise::internal},
    Rule{"pthread_mutex_lock_full", Noise::internal},
    Rule{"pthread_mutex_lock_usercnt", Noise::internal},
    Rule{"pthread_mutex_cond_lock*", Noise::internal},
    Rule{"pthread_mutex_unlock_usercnt", Noise::internal},
    Rule{"pthread_mutex_unlock_full", Noise::internal},
    Rule{"pthread_cond_wait_common", Noise::internal},
    Rule{"pthread_rwlock_rdlock_full*", Noise::internal},
    Rule{"pthread_rwlock_wrlock_full*", Noise::internal},
    Rule{"pthread_clockjoin_ex", Noise::internal},
    Rule{"new_sem_wait*", Noise::internal},
    Rule{"new_sem_post", Noise::internal},
    Rule{"do_futex_wait*", Noise::internal},
    Rule{"gthread_*", Noise::internal},
    Rule{"std::__condvar::*", Noise::internal},
    Rule{"std::__shared_mutex_pthread::*", Noise::internal},
    Rule{"std::__mutex_base::*", Noise::internal},
    Rule{"std::__glibcxx_rwlock_*", Noise::internal},
    Rule{"std::__timed_mutex_impl::*", Noise::internal},
    Rule{"std::lock_guard::*", Noise::internal},
    Rule{"std::unique_lock::*", Noise::internal},
    Rule{"std::shared_lock::*", Noise::internal},
    Rule{"std::scoped_lock::*", Noise::internal},
    Rule{"std::__atomic_futex_unsigned::*", Noise::internal},
    Rule{"std::__atomic_futex_unsigned_base::*", Noise::internal},
    Rule{"std::__detail::__platform_wait*", Noise::internal},
    Rule{"std::__detail::__waiter*", Noise::internal},
    Rule{"std::__atomic_wait_address*", Noise::internal},
    Rule{"std::__atomic_semaphore::*", Noise::internal},
    Rule{"std::__future_base::_State_baseV2::*", Noise::internal},

    Rule{"std::__invoke", Noise::glue},
    Rule{"std::__invoke_impl", Noise::glue},
    Rule{"std::__invoke_r", Noise::glue},
    Rule{"std::invoke", Noise::glue},
    Rule{"std::__apply_impl", Noise::glue},
    Rule{"std::apply", Noise::glue},
    Rule{"std::function::operator()", Noise::glue},
    Rule{"std::_Function_handler::_M_invoke", Noise::glue},
    Rule{"std::_Function_base::_Base_manager::*", Noise::glue},
    Rule{"std::move_only_function::operator()", Noise::glue},
    Rule{"std::_Bind::operator()", Noise::glue},
    Rule{"std::_Bind::__call", Noise::glue},
    Rule{"std::packaged_task::operator()", Noise::glue},
};

/// As the rules have it.
std::string rule_name(std::string_view function) {
  std::string name = outline(function);
  if (name != "_start" && name.find(':') == std::string::npos) {
    constexpr std::string_view kInsideGlibc = "__GI_";
    name.erase(0, name.starts_with(kInsideGlibc) ? kInsideGlibc.size() : 0);
    name.erase(0, std::min(name.find_first_not_of('_'), name.size()));
  }
  return name;
}

}  // namespace

Noise noise_of(const Frame& frame) {
  if (frame.kind == Frame::Kind::kernel) {
    return Noise::none;
  }
  if (frame.function.empty()) {
    return in_library(frame) ? Noise::unnamed : Noise::none;
  }
  const std::string name = rule_name(frame.function);
  const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& candidate) {
    const std::string_view wanted = candidate.name;
    return wanted.ends_with('*') ? name.starts_with(wanted.substr(0, wanted.size() - 1)) : name == wanted;
  });
  if (rule != kRules.end()) {
    return rule->noise;
  }
  return in_library(frame) ? Noise::library : Noise::none;
}

std::vector<std::size_t> without_noise(std::span<const Noise> frames, bool cut) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i] != Noise::glue) {
      left.push_back(i);
    }
  }
  const auto one_of = [&frames](std::size_t frame, auto... some) { return ((frames[frame] == some) || ...); };
  const auto has_own = [&](auto end) {
    return std::any_of(left.begin(), end, [&](std::size_t frame) { return frames[frame] == Noise::none; });
  };
  auto end = left.end();
  while (!cut && end - left.begin() > 1 &&
         (one_of(*std::prev(end), Noise::start, Noise::unnamed) ||
          (frames[*std::prev(end)] == Noise::body &&
           (has_own(std::prev(end)) || frames[*std::prev(end, 2)] == Noise::body)))) {
    --end;
  }
  const auto inside = std::find_if_not(left.begin(), end, [&](std::size_t frame) {
    return one_of(frame, Noise::call, Noise::internal, Noise::unnamed);
  });
  std::vector<std::size_t> out;
  if (inside != left.begin()) {
    const auto outermost_call = std::find_if(std::make_reverse_iterator(inside), left.rend(),
                                             [&](std::size_t frame) { return frames[frame] == Noise::call; });
    out.push_back(outermost_call == left.rend() ? *std::prev(inside) : *outermost_call);
  }
  out.insert(out.end(), inside, end);
  if (out.empty() && !frames.empty() && !cut) {
    out.push_back(0);
  }
  return out;
}

std::vector<Frame> without_noise(const std::vector<Frame>& user_frames, bool cut) {
  std::vector<Noise> noise;
  std::transform(user_frames.begin(), user_frames.end(), std::back_inserter(noise),
                 [](const Frame& frame) { return noise_of(frame); });
  std::vector<Frame> out;
  for (const std::size_t frame : without_noise(noise, cut)) {
    out.push_back(user_frames[frame]);
  }
  return out;
}

}  // namespace offwait
