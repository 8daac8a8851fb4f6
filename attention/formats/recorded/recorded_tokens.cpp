#include "attention/formats/recorded/recorded_tokens.h"

#include <fmt/core.h>

#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include "attention/formats/json_tree.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Removes the mark that tokenizers write for a space before a word: "Ġdog" and "▁dog" become "dog".
std::string withoutSpaceMark(std::string token) {
  for (const std::string_view mark : {"Ġ", "▁"})
    if (token.starts_with(mark) && token.size() > mark.size()) return token.substr(mark.size());
  return token;
}

/// Returns nullopt if the text isn't a JSON list of texts or ids.
std::optional<std::vector<std::string>> jsonTokens(const std::string& text) {
  const auto parsed = parseJsonTree(text, "tokens");
  if (!parsed) return std::nullopt;
  const nlohmann::json* json = &*parsed;
  for (const char* name : {"input_ids", "tokens"})
    if (parsed->is_object() && parsed->contains(name)) json = &(*parsed)[name];
  // A batch of one text.
  if (json->is_array() && json->size() == 1 && json->front().is_array()) json = &json->front();
  if (!json->is_array()) return std::nullopt;
  std::vector<std::string> tokens;
  for (const auto& token : *json) {
    if (!token.is_string() && !token.is_number_integer()) return std::nullopt;
    tokens.push_back(token.is_string() ? token.get<std::string>() : token.dump());
  }
  return tokens;
}

}  // namespace

Result<std::vector<std::string>> parseTokens(const std::string& text, Index expected, const std::string& what,
                                             const std::string& name) {
  if (!validateUtf8(text)) return Error{name + ": " + what + " are not UTF-8"};
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string::npos && (text[begin] == '[' || text[begin] == '{');
  std::vector<std::string> tokens;
  if (auto list = json ? jsonTokens(text) : std::nullopt) {
    tokens = *std::move(list);
  } else if (json && (text.find('"') != std::string::npos)) {
    return Error{name + ": " + what + " are not a list of texts or ids in JSON"};
  } else {
    tokens = linesOf(text);
    if (std::ssize(tokens) != expected) tokens = wordsOf(text);
  }
  for (std::string& token : tokens) token = withoutSpaceMark(std::move(token));
  if (std::ssize(tokens) == expected) return tokens;
  return Error{fmt::format("{}: holds {} {}, expected {}", name, tokens.size(), what, expected)};
}

}  // namespace headscope::attention
