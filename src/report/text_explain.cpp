// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_explain.h"

#include "report/wording_sections.h"

namespace offwait {

void put_search(const TextPage& page) {
  put_heading(page.canvas, "HOW IT WAS FOUND", search_options_text(page.findings));
  const std::vector<RefinementStep>& steps = page.findings.refinement;
  if (const std::string noise = noise_text(page.findings); !noise.empty() && !page.verbose) {
    page.canvas.to(2).put(noise).end();
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].reason == RefinementStep::Reason::noise && !page.verbose) continue;
    page.canvas.to(2).put_right(std::to_string(i + 1), 4, Ink::dim).put(" ");
    page.canvas.flow(words(step_text(page.findings, steps[i], page.names)), 8);
  }
  if (steps.empty()) {
    page.canvas.to(2).put("nothing had to be removed").end();
  }
}

}  // namespace offwait
