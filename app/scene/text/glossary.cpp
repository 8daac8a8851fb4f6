#include "app/scene/text/glossary.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "app/platform/assets.h"
#include "attention/text/ascii.h"

namespace headscope::app {

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(' '), to = text.find_last_not_of(' ');
  return from == std::string_view::npos ? "" : std::string(text.substr(from, to - from + 1));
}

/// The cells of a row of a Markdown table; "\|" is a bar inside a cell.
std::vector<std::string> cellsOf(std::string_view row) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|')
      cell += row[++i];
    else if (row[i] == '|')
      cells.push_back(trimmed(std::exchange(cell, {})));
    else
      cell += row[i];
  }
  return cells;
}

/// Whether `word` is `name` or its plural: "keys" for "key".
bool isCalled(std::string_view word, std::string_view name) {
  return word == name || (word.size() == name.size() + 1 && word.starts_with(name) && word.back() == 's');
}

bool isCalledBy(std::string_view word, const Term& term) {
  const std::string name = attention::lowerCase(term.name);
  const std::size_t bracket = name.find(" (");
  if (bracket == std::string::npos) return isCalled(word, name);
  return isCalled(word, name.substr(0, bracket)) ||
         isCalled(word, std::string_view(name).substr(bracket + 2, name.size() - bracket - 3));
}

}  // namespace

std::string Term::explained() const {
  return formula.empty() ? meaning : meaning + "\n" + formula;
}

Glossary::Glossary(std::string_view chapter) {
  for (std::size_t at = 0; at < chapter.size();) {
    const std::size_t end = std::min(chapter.find('\n', at), chapter.size());
    const std::string_view line = chapter.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("| ") || line.starts_with("| term |")) continue;
    std::vector<std::string> cells = cellsOf(line);
    if (cells.size() == 3) terms_.push_back({std::move(cells[0]), std::move(cells[1]), std::move(cells[2])});
  }
}

const Term* Glossary::find(std::string_view word) const {
  const std::string wanted = attention::lowerCase(word);
  const auto found =
      std::find_if(terms_.begin(), terms_.end(), [&](const Term& term) { return isCalledBy(wanted, term); });
  return found == terms_.end() ? nullptr : &*found;
}

attention::Result<Glossary> readGlossary() {
  try {
    return Glossary(readAssetText("manual/glossary.md"));
  } catch (const std::runtime_error& missing) {
    return attention::Error{missing.what()};
  }
}

}  // namespace headscope::app
