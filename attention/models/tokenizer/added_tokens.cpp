#include <fmt/core.h>

#include <algorithm>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/tokenizer_parts.h"

namespace headscope::attention {
namespace {

constexpr std::size_t kLongest = 1024;
/// Where the white space before `end` begins, but not before `first`.
std::size_t spaceBefore(std::string_view text, std::size_t first, std::size_t end) {
  while (end > first) {
    std::size_t begin = end - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    if (!isSpace(decodeUtf8(text, begin).value)) break;
    end = begin;
  }
  return end;
}

/// Where the white space after `begin` ends.
std::size_t spaceAfter(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    const DecodedCodePoint c = decodeUtf8(text, begin);
    if (!isSpace(c.value)) break;
    begin += c.length;
  }
  return begin;
}

bool wordEndsAt(std::string_view text, std::size_t end) {
  if (end == 0) return false;
  std::size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return isRegexWord(decodeUtf8(text, begin).value);
}

bool wordBeginsAt(std::string_view text, std::size_t begin) {
  return begin < text.size() && isRegexWord(decodeUtf8(text, begin).value);
}

AddedToken readToken(const JsonValue& value, FieldReader& fields) {
  AddedToken token;
  const std::int64_t id = fields.integer("id");
  if (id < 0 || id >= kMaxTokens)
    fields.fail(fmt::format("\"id\" is {}, expected 0 to {}", id, kMaxTokens - 1));
  else
    token.id = static_cast<TokenId>(id);
  token.content = fields.text("content");
  token.singleWord = fields.flag("single_word", false);
  token.stripsLeft = fields.flag("lstrip", false);
  token.stripsRight = fields.flag("rstrip", false);
  token.special = fields.flag("special", false);
  token.normalized = fields.flag("normalized", !token.special);
  if (value.find("content") && (token.content.empty() || token.content.size() > kLongest))
    fields.fail(fmt::format("\"content\" has {} bytes, expected 1 to {}", token.content.size(), kLongest));
  return token;
}

/// The conflict between an added token and the vocabulary; empty if there is none.
std::string conflict(const AddedToken& token, const Vocabulary& vocabulary) {
  const auto id = vocabulary.find(token.content);
  if (id && *id != token.id)
    return fmt::format("token {} has the id {}, but {} in the vocabulary", quotedText(token.content),
                       token.id, *id);
  if (!id && vocabulary.has(token.id))
    return fmt::format("tokens {} and, in the vocabulary, {} have the same id {}", quotedText(token.content),
                       quotedText(vocabulary.text(token.id)), token.id);
  return "";
}

}  // namespace

StringFinder::StringFinder(std::vector<std::string> strings) {
  for (std::size_t i = 0; i < strings.size(); ++i) sorted_.push_back({std::move(strings[i]), i});
  std::sort(sorted_.begin(), sorted_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.text, a.which) < std::tie(b.text, b.which);
  });
  const auto same = [](const Entry& a, const Entry& b) { return a.text == b.text; };
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), same), sorted_.end());
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    auto& range = byFirst_[static_cast<unsigned char>(sorted_[i].text[0])];
    if (range.second == 0) range.first = i;
    range.second = i + 1;
  }
}

std::optional<StringFinder::Found> StringFinder::longestAt(std::string_view text, std::size_t at,
                                                           std::size_t& steps) const {
  auto [first, last] = byFirst_[static_cast<unsigned char>(text[at])];
  std::optional<Found> found;
  // The strings in [first, last) match the text in their first `length` bytes.
  for (std::size_t length = 1; first < last; ++length) {
    ++steps;
    if (sorted_[first].text.size() == length) {
      found = Found{sorted_[first].which, {at, at + length}};
      ++first;
    }
    if (at + length >= text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at + length]);
    const auto begin = sorted_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(last);
    const auto byteOf = [length](const Entry& e) { return static_cast<unsigned char>(e.text[length]); };
    const auto low = std::partition_point(begin, end, [&](const Entry& e) { return byteOf(e) < byte; });
    const auto high = std::partition_point(low, end, [&](const Entry& e) { return byteOf(e) <= byte; });
    first = static_cast<std::size_t>(low - sorted_.begin());
    last = static_cast<std::size_t>(high - sorted_.begin());
  }
  return found;
}

std::optional<StringFinder::Found> StringFinder::find(std::string_view text, std::size_t from,
                                                      std::size_t until, std::size_t& steps) const {
  for (std::size_t at = from; at < std::min(until, text.size()); ++at) {
    if (byFirst_[static_cast<unsigned char>(text[at])].second == 0) continue;
    if (auto found = longestAt(text, at, steps)) return found;
  }
  return std::nullopt;
}

Result<AddedTokens> AddedTokens::read(const JsonValue& list, const std::string& where,
                                      const Vocabulary& vocabulary, const Normalizers& normalizers,
                                      const std::stop_token& stop) {
  AddedTokens added;
  std::vector<std::string> typed, normalized;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (i % 256 == 0 && stop.stop_requested()) return stopped();
    FieldReader fields(list.items[i], fmt::format("{}[{}]", where, i));
    AddedToken token = readToken(list.items[i], fields);
    if (fields.error()) return *fields.error();
    std::string problem = conflict(token, vocabulary);
    if (problem.empty() && added.byContent_.contains(token.content))
      problem = fmt::format("token {} appears twice in the list", quotedText(token.content));
    if (const auto other = added.byId_.find(token.id); problem.empty() && other != added.byId_.end())
      problem =
          fmt::format("tokens {} and {} have the same id {}",
                      quotedText(added.tokens_[other->second].content), quotedText(token.content), token.id);
    if (!problem.empty()) return Error{fields.where() + ": " + problem};
    token.wanted = token.content;
    if (token.normalized) {
      auto changed = normalize(normalizers, AlignedText(token.wanted, {0, token.wanted.size()}), stop);
      if (!changed) return changed.error();
      token.wanted = changed->text();
      if (token.wanted.empty() || token.wanted.size() > kLongest)
        return Error{fmt::format("{}: {} has {} bytes once it is normalized, expected 1 to {}",
                                 fields.where(), quotedText(token.content), token.wanted.size(), kLongest)};
    }
    (token.normalized ? normalized : typed).push_back(token.wanted);
    (token.normalized ? added.normalized_ : added.typed_).tokens.push_back(i);
    added.byId_[token.id] = i;
    added.byContent_[token.content] = i;
    added.tokens_.push_back(std::move(token));
  }
  added.typed_.finder = StringFinder(std::move(typed));
  added.normalized_.finder = StringFinder(std::move(normalized));
  return added;
}

Result<std::vector<AddedTokens::Part>> AddedTokens::cut(std::string_view text, Stage stage,
                                                        std::size_t& allowance,
                                                        const std::stop_token& stop) const {
  constexpr std::size_t kBetweenStops = std::size_t{1} << 12;
  std::vector<Part> parts;
  const Stages& stages = at(stage);
  std::size_t done = 0, looked = 0, until = kBetweenStops;
  while (looked < text.size()) {
    std::size_t steps = 0;
    const auto found = stages.finder.find(text, looked, until, steps);
    if (steps > allowance) return Error{"the search for added tokens takes too many steps on this text"};
    allowance -= steps;
    if (!found) {
      if (stop.stop_requested()) return stopped();
      looked = std::exchange(until, until + kBetweenStops);
      continue;
    }
    looked = found->range.end;
    until = std::max(until, looked);
    ByteRange range = found->range;
    const AddedToken& token = tokens_[stages.tokens[found->which]];
    if (token.singleWord && (wordEndsAt(text, range.begin) || wordBeginsAt(text, range.end))) continue;
    // White space taken by the previous token is no longer available. Without lstrip, the reference makes a
    // token of it anyway.
    if (token.stripsLeft && range.end <= done) continue;
    if (token.stripsLeft) range.begin = spaceBefore(text, done, range.begin);
    if (token.stripsRight) range.end = spaceAfter(text, std::max(range.end, done));
    range.begin = std::max(range.begin, done);
    range.end = std::max(range.end, range.begin);
    if (done < range.begin) parts.push_back({{done, range.begin}, nullptr});
    parts.push_back({range, &token});
    done = range.end;
  }
  if (done < text.size()) parts.push_back({{done, text.size()}, nullptr});
  return parts;
}

const AddedToken* AddedTokens::find(TokenId id) const {
  const auto found = byId_.find(id);
  return found == byId_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = byContent_.find(std::string(content));
  return found == byContent_.end() ? nullptr : &tokens_[found->second];
}

}  // namespace headscope::attention
