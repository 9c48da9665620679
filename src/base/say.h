// SPDX-License-Identifier: GPL-2.0-or-later
// Messages for whoever started offwait.
#pragma once

#include <string_view>

namespace offwait {

/// Writes `offwait: SENTENCE` as a line to standard error. Bytes of the sentence that a terminal would act on
/// are escaped. A message that cannot be written (standard error is closed, or on a full disk) is dropped:
/// a recording does not end because of a message.
void say(std::string_view sentence);

/// Writes the text as it is to standard error, or drops it like say().
void write_to_stderr(std::string_view text);

/// Shows escaped text in the terminal's line on standard error, in place of what was there, cut to its width.
/// Shows nothing, and returns false, while another process has the terminal.
bool show_on_line(std::string_view text);
void clear_line();

}  // namespace offwait
