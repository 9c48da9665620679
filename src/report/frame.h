// SPDX-License-Identifier: GPL-2.0-or-later
// What a frame is called where there is little room.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/frame.h"

namespace offwait {

/// `ns::do_commit(int)+0x1f (server) at src/db.cc:120` → `ns::do_commit (db.cc:120)`: without offset, module
/// and argument types. A function without a name is its place, `[module+0xoff]`.
std::string short_frame(const Frame& frame);

/// `void ns::Pool<Task, 8>::run (pool.h:12)` → `ns::Pool<…>::run (pool.h:12)`: short_frame() without return
/// type and template arguments.
std::string narrow_frame(const Frame& frame);

/// The frame in at most `columns`, as far as that is possible without cutting what it is called by: template
/// arguments go first, then outer namespaces (`…Pool<…>::run (pool.h:12)`). What an operator or a lambda is
/// part of stays.
std::string fitting_frame(const Frame& frame, int columns,
                          const std::function<int(std::string_view)>& columns_of);

}  // namespace offwait
