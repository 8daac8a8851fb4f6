#include <fmt/core.h>

#include <algorithm>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/tokenizer_parts.h"

namespace headscope::attention {
namespace {

constexpr std::size_t kLongest = 1024;

/// Where the character before `end` begins; end > 0.
std::size_t characterBefore(std::string_view text, std::size_t end) {
  do --end;
  while (end > 0 && continuesCharacter(text[end]));
  return end;
}

/// Where the white space before `end` begins, but not before `first`.
std::size_t spaceBefore(std::string_view text, std::size_t first, std::size_t end) {
  while (end > first) {
    const std::size_t begin = characterBefore(text, end);
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
  return end > 0 && isRegexWord(decodeUtf8(text, characterBefore(text, end)).value);
}

bool wordBeginsAt(std::string_view text, std::size_t begin) {
  return begin < text.size() && isRegexWord(decodeUtf8(text, begin).value);
}

AddedToken readToken(FieldReader& fields) {
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

Result<AddedTokens> AddedTokens::read(const std::vector<JsonValue>& list, const std::string& where,
                                      const Vocabulary& vocabulary, const Normalizers& normalizers,
                                      const std::stop_token& stop) {
  std::vector<AddedToken> tokens;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i % 256 == 0 && stop.stop_requested()) return stopped();
    FieldReader fields(list[i], fmt::format("{}[{}]", where, i));
    tokens.push_back(readToken(fields));
    if (const Status status = fields.status(); !status) return status.error();
  }
  return make(std::move(tokens), where, vocabulary, normalizers, stop);
}

Result<AddedTokens> AddedTokens::make(std::vector<AddedToken> tokens, const std::string& where,
                                      const Vocabulary& vocabulary, const Normalizers& normalizers,
                                      const std::stop_token& stop) {
  AddedTokens added;
  added.tokens_ = std::move(tokens);
  std::vector<SortedTexts::Entry> typed, normalized;
  for (std::size_t i = 0; i < added.tokens_.size(); ++i) {
    if (i % 256 == 0 && stop.stop_requested()) return stopped();
    AddedToken& token = added.tokens_[i];
    const std::string at = fmt::format("{}[{}]: ", where, i);
    std::string problem = conflict(token, vocabulary);
    if (token.content.empty() || token.content.size() > kLongest)
      problem = fmt::format("\"content\" has {} bytes, expected 1 to {}", token.content.size(), kLongest);
    if (problem.empty() && added.find(token.content))
      problem = fmt::format("token {} appears twice in the list", quotedText(token.content));
    if (const AddedToken* const other = added.find(token.id); problem.empty() && other)
      problem = fmt::format("tokens {} and {} have the same id {}", quotedText(other->content),
                            quotedText(token.content), token.id);
    if (!problem.empty()) return Error{at + problem};
    token.wanted = token.content;
    if (token.normalized) {
      auto changed = normalize(normalizers, AlignedText(token.wanted, {0, token.wanted.size()}), stop);
      if (!changed) return changed.error();
      token.wanted = changed->text();
      if (token.wanted.empty() || token.wanted.size() > kLongest)
        return Error{fmt::format("{}{} has {} bytes once it is normalized, expected 1 to {}", at,
                                 quotedText(token.content), token.wanted.size(), kLongest)};
    }
    (token.normalized ? normalized : typed).push_back({token.wanted, static_cast<std::int32_t>(i)});
    added.byId_[token.id] = i;
    added.byContent_[token.content] = i;
  }
  added.typed_ = SortedTexts(std::move(typed));
  added.normalized_ = SortedTexts(std::move(normalized));
  return added;
}

Result<std::vector<AddedTokens::Part>> AddedTokens::cut(std::string_view text, Stage stage,
                                                        std::size_t& allowance,
                                                        const std::stop_token& stop) const {
  constexpr std::size_t kBetweenStops = std::size_t{1} << 12;
  std::vector<Part> parts;
  const SortedTexts& texts = stage == Stage::typed ? typed_ : normalized_;
  std::size_t done = 0;
  for (std::size_t at = 0, next = 0; at < text.size(); at = next) {
    next = at + 1;
    if (next % kBetweenStops == 0 && stop.stop_requested()) return stopped();
    if (!texts.anyBegins(text[at])) continue;
    std::int32_t longest = -1;
    const bool enough = texts.eachAtFront(text.substr(at), [&](std::int32_t which, std::size_t length) {
      if (which >= 0) {
        longest = which;
        next = at + length;
      }
      return allowance-- > 0;
    });
    if (!enough) return Error{"the search for added tokens takes too many steps on this text"};
    if (longest < 0) continue;
    ByteRange range{at, next};
    const AddedToken& token = tokens_[static_cast<std::size_t>(longest)];
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
