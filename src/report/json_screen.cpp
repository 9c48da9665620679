// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_screen.h"

namespace offwait {

Json screen_json(const Screen& screen) {
  return {
      {"sections", array_of(screen.sections, [](ScreenSection section) { return Json(to_string(section)); })},
      {"heading", {{"what", to_string(screen.heading.what)}, {"most", rounded(screen.heading.most)}}},
      {"neighbours", screen.neighbours},
      {"answers", array_of(screen.answers,
                           [](const ShownAnswer& shown) -> Json {
                             return {{"answer", shown.answer}, {"evidence", shown.evidence}};
                           })},
      {"others", screen.others ? Json{{"count", screen.others->count}, {"gain", rounded(screen.others->gain)}}
                               : Json(nullptr)},
      {"knots",
       array_of(
           screen.knots,
           [](const ShownKnot& shown) -> Json {
             return {{"knot", shown.knot}, {"explains", or_null(shown.explains)}, {"edges", shown.edges}};
           })},
      {"why_runnable", screen.why_runnable},
      {"disks", array_of(screen.disks,
                         [](const ShownDisk& shown) -> Json {
                           return {{"disk", shown.disk}, {"mismatch", shown.mismatch}};
                         })},
      {"nics", screen.nics},
      {"background_knots", screen.background_knots},
      {"left_out",
       {{"knots", screen.left_out.knots},
        {"waits", screen.left_out.waits},
        {"background", screen.left_out.background},
        {"blocked", screen.left_out.blocked}}}};
}

}  // namespace offwait
