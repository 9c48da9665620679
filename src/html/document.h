// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the file that every page has.
#pragma once

#include <string>
#include <string_view>

namespace offwait::html {

/// Up to the start of the body, with the rules that forbid all scripts and styles but the page's own. The
/// title may hold hostile bytes.
std::string document_head(std::string_view title);
/// What is seen without a script, and until the script has put the page in its place. `text` is escaped as
/// text reports are.
std::string fallback(std::string_view text);
/// Bytes that the script finds by this id.
std::string payload(std::string_view id, std::string_view bytes);
/// The script, which shows what it can when it is there, and the rest when the document ends.
std::string document_script();
std::string document_end();

}  // namespace offwait::html
