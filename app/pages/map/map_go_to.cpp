#include <algorithm>
#include <charconv>

#include "app/pages/map/map_page.h"
#include "app/scene/text/number_text.h"
#include "attention/text/ascii.h"

namespace headscope::app::map_page {

using attention::Error;
using attention::Result;

namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

/// Returns the position given as a number, or the next position after `from` (wrapping around) whose token
/// contains the text.
Result<Index> findOne(const std::string& part, const std::vector<attention::Token>& tokens, Index count,
                      Index from, const char* what) {
  Index number = 0;
  const auto parsed = std::from_chars(part.data(), part.data() + part.size(), number);
  const bool whole = parsed.ptr == part.data() + part.size();
  if (whole && parsed.ec != std::errc::invalid_argument) {
    if (parsed.ec == std::errc() && number >= 0 && number < count) return number;
    return Error{std::string(what) + " " + part + " doesn't exist; expected 0 to " +
                 countText(static_cast<std::uint64_t>(count - 1)) + "."};
  }
  if (tokens.empty()) return Error{"No text to search. Enter numbers: query, key."};
  const std::string wanted = attention::lowerCase(part);
  for (Index step = 1; step <= count; ++step) {
    const Index at = (std::max<Index>(from, -1) + step) % count;
    if (attention::lowerCase(tokens[static_cast<std::size_t>(at)].text).find(wanted) != std::string::npos)
      return at;
  }
  return Error{std::string("No ") + what + " contains “" + part + "”."};
}

}  // namespace

Result<Destination> findPlace(const std::string& line, const MapSnapshot& state, const MapCursor& from) {
  // A lone comma is searched for as a token.
  const std::size_t comma = line.size() > 1 ? line.find(',') : std::string::npos;
  const std::string first = trimmed(std::string_view(line).substr(0, comma));
  const std::string second =
      comma == std::string::npos ? "" : trimmed(std::string_view(line).substr(comma + 1));
  if (first.empty() && second.empty())
    return Error{"Type query, key as numbers such as 120, 40, or as parts of tokens."};
  Destination place{std::clamp<Index>(from.query, 0, state.queries - 1),
                    std::clamp<Index>(from.key, 0, state.keys - 1)};
  if (!first.empty()) {
    const Result<Index> query = findOne(first, state.text->queries, state.queries, from.query, "query");
    if (!query) return query.error();
    place.query = *query;
    // Both axes show the same text, so a single word means a position on the diagonal.
    if (comma == std::string::npos && state.text->one) place.key = std::min(*query, state.keys - 1);
  }
  if (!second.empty()) {
    const Result<Index> key = findOne(second, state.text->keys, state.keys, from.key, "key");
    if (!key) return key.error();
    place.key = *key;
  }
  return place;
}

}  // namespace headscope::app::map_page
