// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/diff_page.h"

#include "export/deflate.h"
#include "html/document.h"
#include "report/diff.h"

namespace offwait::html {

Result<std::string> to_html(const Comparison& comparison) {
  OFFWAIT_TRY(const std::string packed, deflate_raw(to_json(comparison)));
  return document_head("before and after") + fallback(to_text(comparison, TextStyle{})) +
         payload("report", packed) + document_script() + document_end();
}

}  // namespace offwait::html
