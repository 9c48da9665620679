// SPDX-License-Identifier: GPL-2.0-or-later
// Names the locks of a trace by the variables in which they lie.
#pragma once

#include <map>
#include <vector>

#include "model/trace.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// The addresses of futexes and locks of the kernel that have no symbols.
std::vector<DataAddress> nameless_objects(const Trace& trace);

/// Gives futexes and locks of the kernel the symbols of their addresses, where `names` has them. A futex in a
/// mapping that processes share is identified by its place in the mapped file from then on, so that what two
/// processes wait for is one object.
void name_objects(Trace& trace, const std::map<DataAddress, DataName>& names);

/// What lies at these addresses. The symbolizer must have the mappings of their processes.
std::map<DataAddress, DataName> data_names(const std::vector<DataAddress>& addresses, Symbolizer& symbols);

}  // namespace offwait
