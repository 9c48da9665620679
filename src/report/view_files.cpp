// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/text_stacks.h"
#include "report/views.h"
#include "report/wording_files.h"

namespace offwait {

namespace {

constexpr int kTime = 9;
constexpr int kCell = 6;
constexpr int kNumber = 10;
constexpr int kFileNumbers = 2 * kTime + kCell + 4 * kNumber;
constexpr int kLeastName = 24;
constexpr int kDetails = 4;
constexpr std::size_t kWaiters = 3;
constexpr std::size_t kFileFrames = 5;

/// 0 where a name has a line of its own.
int file_columns(const TextPage& page) {
  const int left = page.canvas.width() - kFileNumbers;
  return left < kLeastName ? 0 : left;
}

/// The end of a path says most.
std::string name_of(const TextPage& page, const FoundFileName& file, int columns) {
  const std::string name = page.canvas.clean(file_text(file));
  std::size_t begin = 0;
  while (page.canvas.columns((begin > 0 ? "…" : "") + name.substr(begin)) > columns) {
    const std::size_t next = name.find('/', begin + 1);
    if (next == std::string::npos) break;
    begin = next;
  }
  return page.canvas.fit((begin > 0 ? "…" : "") + name.substr(begin), columns);
}

void put_name(const TextPage& page, const std::string& name) {
  page.canvas.put(name, Ink::actor);
  if (file_columns(page) == 0) page.canvas.end();
  page.canvas.to(file_columns(page));
}

std::string bytes_cell(std::uint64_t bytes) {
  return bytes == 0 ? "" : format_scaled(static_cast<double>(bytes)) + "B";
}

void put_file_titles(const TextPage& page) {
  put_name(page, "file");
  page.canvas.put_right("waited", kTime).put_right("%", kCell);
  page.canvas.put_right("waits", kNumber).put_right("longest", kTime);
  page.canvas.put_right("read", kNumber).put_right("written", kNumber).put_right("requests", kNumber).end();
}

void put_row(const TextPage& page, const FoundFile& file) {
  Canvas& canvas = page.canvas;
  const int columns = file_columns(page);
  put_name(page, name_of(page, file.name, columns == 0 ? canvas.width() : columns - 1));
  const bool waited = file.wait_s > 0;
  canvas.put_right(waited ? format_seconds(file.wait_s) : "", kTime);
  canvas.put_right(cell(file.wait_s, page.findings.views.files.wait_s), kCell);
  canvas.put_right(file.waits > 0 ? format_count(file.waits) : "", kNumber);
  canvas.put_right(waited ? format_seconds(file.longest_s) : "", kTime);
  canvas.put_right(bytes_cell(file.read_bytes), kNumber).put_right(bytes_cell(file.written_bytes), kNumber);
  canvas.put_right(file.ios > 0 ? format_count(file.ios) : "", kNumber).end();
  if (!waited) return;
  std::vector<Word> line =
      words(fmt::format("{}; {}", calls_text(file), waiters_text(file, page.names, kWaiters)), Ink::dim);
  if (const std::vector<Word> stack = chain(page, file.stack, "", kFileFrames); !stack.empty()) {
    line.back().text += ";";
    for (const Word& word :
         words(fmt::format("{} in", format_percent(file.stack_s, file.wait_s)), Ink::dim)) {
      line.push_back(word);
    }
    line.insert(line.end(), stack.begin(), stack.end());
  }
  canvas.to(kDetails).flow(line, kDetails, page.verbose ? 0 : 3);
}

}  // namespace

void put_files(const TextPage& page) {
  const FoundFiles& all = page.findings.views.files;
  put_paragraph(page.canvas, "FILES", files_meaning(page.findings));
  page.canvas.gap();
  put_file_titles(page);
  const std::size_t shown = page.limit(kViewRows, all.rows.size());
  for (std::size_t i = 0; i < shown; ++i) put_row(page, all.rows[i]);
  put_more_rows(page, static_cast<std::size_t>(all.files) - shown);
  if (const std::string rest = unknown_files_text(all); !rest.empty()) {
    page.canvas.gap();
    page.canvas.flow(words(rest), 2);
  }
}

}  // namespace offwait
