#include "app/scene/text/manual.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "app/platform/assets.h"
#include "attention/formats/quote.h"
#include "attention/text/ascii.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

/// In reading order: the pages, what Headscope reads and writes, and further topics.
constexpr std::array<std::string_view, 21> kChapters{
    "heads",   "mask",     "map",     "cache",    "cost",  "model",   "lab",
    "lessons", "present",  "talk",    "files",    "masks", "figures", "commands",
    "keys",    "settings", "browser", "glossary", "speed", "scenes",  "development"};

bool sameWord(std::string_view a, std::string_view b) {
  return attention::lowerCase(a) == attention::lowerCase(b);
}

/// The text after "# " in the first line.
std::string titleOf(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return std::string(line.substr(std::min(line.find_first_not_of("# "), line.size())));
}

}  // namespace

Result<std::vector<Chapter>> readManual() {
  std::vector<Chapter> chapters;
  try {
    for (const std::string_view key : kChapters) {
      std::string text = readAssetText("manual/" + std::string(key) + ".md");
      std::string title = titleOf(text);
      chapters.push_back({std::string(key), std::move(title), std::move(text)});
    }
  } catch (const std::runtime_error& missing) {
    return Error{missing.what()};
  }
  return chapters;
}

const Chapter* findChapter(const std::vector<Chapter>& manual, std::string_view topic) {
  const auto found = std::find_if(manual.begin(), manual.end(), [&](const Chapter& chapter) {
    return sameWord(chapter.key, topic) || sameWord(chapter.title, topic);
  });
  return found == manual.end() ? nullptr : &*found;
}

Result<std::string> withTables(std::string_view text,
                               const std::function<std::string(std::string_view)>& table) {
  constexpr std::string_view kBegin = "<!-- table: ", kClose = " -->\n", kEnd = "<!-- end -->";
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t begin = text.find(kBegin, at);
    if (begin == std::string_view::npos) return out += text.substr(at);
    const std::size_t close = text.find(kClose, begin), end = text.find(kEnd, begin);
    if (close == std::string_view::npos || end == std::string_view::npos || end < close)
      return Error{attention::quotedText(text.substr(begin, text.find('\n', begin) - begin)) +
                   " has no <!-- end -->"};
    const std::string_view name = text.substr(begin + kBegin.size(), close - begin - kBegin.size());
    out += text.substr(at, close + kClose.size() - at);
    out += table(name);
    at = end;
  }
}

}  // namespace headscope::app
