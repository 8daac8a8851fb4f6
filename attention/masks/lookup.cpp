#include "attention/masks/lookup.h"

#include <fmt/core.h>
#include <fmt/format.h>

namespace headscope::attention {

std::string CodeTables::define(const std::string& name, const std::string& definition) {
  const auto found = names_.find(definition);
  if (found != names_.end()) return found->second;
  const Index count = ++counts_[name];
  const std::string unique = count == 1 ? name : fmt::format("{}_{}", name, count);
  for (const char c : definition) {
    if (c == '@') {
      code_ += unique;
    } else {
      code_ += c;
    }
  }
  if (dialect_.onDevice()) code_ += unique + " = " + unique + ".to(device)\n";
  names_[definition] = unique;
  return unique;
}

std::string codeList(const std::vector<std::string>& items) {
  constexpr std::size_t kWidth = 100;
  std::size_t length = 2;
  for (const auto& item : items) length += item.size() + 2;
  const bool broken = length > kWidth - 20;
  std::string text = broken ? "[\n    " : "[";
  std::size_t column = 4;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool last = i + 1 == items.size();
    if (broken && column + items[i].size() + 1 > kWidth) {
      // No line break right after the bracket, even if an item is as long as a line.
      if (column > 4) text.back() = '\n', text += "    ";
      column = 4;
    }
    text += items[i] + (last ? "" : ", ");
    column += items[i].size() + 2;
  }
  return text + (broken ? "\n]" : "]");
}

std::string codeList(const std::vector<Index>& values) {
  std::vector<std::string> items;
  items.reserve(values.size());
  for (const Index value : values) items.push_back(std::to_string(value));
  return codeList(items);
}

std::string codeTuple(std::initializer_list<Index> values) {
  return fmt::format("({})", fmt::join(values, ", "));
}

void limitCode(Index found, Index most, const std::string& what) {
  if (found > most) throw CodeLimit(fmt::format("{} {}, expected at most {} for code", what, found, most));
}

std::string TableSource::filled(const std::string& shape, const char* type,
                                const std::vector<std::string>& items, const std::string& variables,
                                const std::string& assignment) const {
  const std::string zeros = "@ = " + dialect.zeros(shape, type) + "\n";
  if (items.empty()) return zeros;
  return zeros + "for " + variables + " in " + codeList(items) + ":\n    @" + assignment + "\n";
}

}  // namespace headscope::attention
