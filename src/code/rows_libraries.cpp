// SPDX-License-Identifier: GPL-2.0-or-later
// Databases, and libraries that have locks of their own.
#include <array>

#include "code/rows.h"

namespace offwait {

namespace {

using enum Noise;
using W = WaitsFor;
using M = LockManager;

constexpr Roles kWay{.noise = internal, .way_to_wait = true};
/// Its waiters are a list, and each of them waits on a semaphore of its own.
constexpr Roles kListedMutex{.noise = call, .waits_for = W::mutex, .way_to_wait = true};
constexpr Roles kListedRwlock{.noise = call, .waits_for = W::rwlock, .way_to_wait = true};
constexpr Roles kParkingLot{
    .noise = internal, .waits_for = W::anything, .way_to_wait = true, .own_object = true};

constexpr std::array kRowsOfLibraries = {
    // Abseil, whose inline namespace has a version. Its mutexes and conditions wait by the same functions.
    Row{"absl::*Mutex::Lock*", kListedMutex},
    Row{"absl::*Mutex::TryLockSlow*", kListedMutex},
    Row{"absl::*Mutex::ReaderLock*", kListedRwlock},
    Row{"absl::*Mutex::WriterLock*", kListedMutex},
    Row{"absl::*Mutex::Await*", {call, W::condition}},
    Row{"absl::*Mutex::Block*", kWay},
    Row{"absl::*CondVar::Wait*", {call, W::condition}},
    Row{"absl::*synchronization_internal::*", kWay},
    Row{"*AbslInternalPerThreadSemWait*", {.noise = internal, .way_to_wait = true, .own_object = true}},
    Row{"absl::*SpinLock::SlowLock*", {call, W::mutex}},
    // Go's sync.Mutex and WebKit's as well.
    Row{"*LockSlow*", {none, W::mutex}},
    Row{"*lockSlow*", {none, W::mutex}},

    // Rust's parking_lot.
    Row{"parking_lot_core::*", kParkingLot},
    Row{"<ThreadParker as ThreadParkerT>::*", kParkingLot},
    Row{"parking_lot::*", {none, W::anything}},
    Row{"parking_lot::*RawMutex*", kListedMutex},
    Row{"parking_lot::*RwLock*", kListedRwlock},
    Row{"parking_lot::*ondvar*", {call, W::condition}},

    // GLib, MariaDB's performance schema.
    Row{"g_thread_proxy", kThreadStart},
    Row{"pfs_spawn_thread", kThreadStart},

    // MariaDB, MySQL. Debian's mariadbd has no names of InnoDB's own functions.
    Row{"*wait_and_lock*", {none, W::mutex}},
    Row{"ssux_lock_impl::*", {none, W::rwlock}},
    Row{"srw_lock_impl::*", {none, W::rwlock}},
    Row{"*lock_wait(*", {.manager = M::innodb}, NameForm::whole},
    Row{"handler::ha_*", {.manager = M::storage_engine}},
    Row{"handler::ha_rnd_next*", {.manager = M::storage_engine, .work = Work::table_scan}},
    Row{"*rr_sequential*", {.work = Work::table_scan}},
    Row{"*TableScanIterator::Read*", {.work = Work::table_scan}},
    Row{"Item_*::val_bool*", {.work = Work::condition}},
    Row{"Item_cond_*::val_*", {.work = Work::condition}},
    Row{"Item_func_like::*", {.work = Work::condition}},
    Row{"*sub_select*", {.work = Work::row_loop}},
    Row{"*evaluate_join_record*", {.work = Work::row_loop}},
    Row{"FilterIterator::Read*", {.work = Work::row_loop}},

    // PostgreSQL.
    Row{"*LockAcquireExtended*", {.manager = M::postgres}},
    Row{"*XactLockTableWait*", {.manager = M::postgres_row}},
    Row{"*heap_acquire_tuplock*", {.manager = M::postgres_row}},
    Row{"*ExecSeqScan*", {.work = Work::table_scan}},
    Row{"*heap_getnextslot*", {.work = Work::table_scan}},
};

}  // namespace

std::span<const Row> rows_of_libraries() { return kRowsOfLibraries; }

}  // namespace offwait
