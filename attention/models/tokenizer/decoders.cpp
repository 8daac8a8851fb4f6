#include <algorithm>
#include <charconv>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/pattern.h"
#include "attention/models/tokenizer/tokenizer_parts.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

using Tokens = std::vector<std::string>;

void replaceAll(std::string& text, std::string_view what, std::string_view by) {
  std::string replaced;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find(what, done)) != std::string::npos; done = at + what.size())
    replaced.append(text, done, at - done).append(by);
  if (done > 0) text = replaced.append(text, done, std::string::npos);
}

Decoder fromByteCharacters() {
  return {[](Tokens& tokens, std::size_t) {
            std::string bytes;
            for (const std::string& token : tokens) appendSpelledBytes(token, bytes);
            tokens.assign(1, repairedUtf8(bytes));
            return success();
          },
          [](std::string& token, std::size_t) {
            std::string bytes;
            appendSpelledBytes(token, bytes);
            token = std::move(bytes);
          }};
}

/// Replaces the matches in all tokens, which may then have `most` bytes together.
Status replaceMatches(const TextPattern& pattern, const std::string& by, Tokens& tokens, std::size_t most) {
  PatternFinder finder(pattern);
  std::size_t left = most;
  for (std::string& token : tokens) {
    std::string replaced;
    std::size_t at = 0;
    const auto replace = [&](ByteRange match) -> Status {
      if (match.begin - at + by.size() > left - replaced.size()) return tooLongRewritten(most);
      replaced.append(token, at, match.begin - at).append(by);
      at = match.end;
      return success();
    };
    if (const auto status = finder.find(token, replace, {}); !status) return status;
    replaced.append(token, at, std::string::npos);
    if (replaced.size() > left) return tooLongRewritten(most);
    left -= replaced.size();
    token = std::move(replaced);
  }
  return success();
}

Decoder matchesReplaced(const TextPattern& pattern, const std::string& by) {
  return {[=](Tokens& tokens, std::size_t most) { return replaceMatches(pattern, by, tokens, most); },
          [=](std::string& token, std::size_t most) {
            Tokens one{token};
            if (replaceMatches(pattern, by, one, most)) token = std::move(one[0]);
          }};
}

/// The byte that a token such as "<0xE2>" names.
std::optional<char> byteOf(std::string_view token) {
  unsigned value = 0;
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const auto [end, code] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  if (code != std::errc{} || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

/// Joins consecutive byte tokens into one text or, if they aren't UTF-8, into one replacement character each.
Status joinBytes(Tokens& tokens, std::size_t) {
  Tokens decoded;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (validateUtf8(bytes))
      decoded.push_back(bytes);
    else
      decoded.insert(decoded.end(), bytes.size(), "\xEF\xBF\xBD");
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const auto byte = byteOf(token)) {
      bytes += *byte;
      continue;
    }
    flush();
    decoded.push_back(std::move(token));
  }
  flush();
  tokens = std::move(decoded);
  return success();
}

Decoder bytesJoined() {
  return {joinBytes, [](std::string& token, std::size_t) {
            if (const auto byte = byteOf(token)) token.assign(1, *byte);
          }};
}

Status fuse(Tokens& tokens, std::size_t) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  tokens.assign(1, text);
  return success();
}

/// Strips up to `start` and `stop` copies of a string from the two ends of every token.
Decoder endsStripped(const std::string& what, std::int64_t start, std::int64_t stop) {
  return {[=](Tokens& tokens, std::size_t) {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (std::int64_t i = 0; i < start && rest.starts_with(what); ++i) rest.remove_prefix(what.size());
      for (std::int64_t i = 0; i < stop && rest.ends_with(what); ++i) rest.remove_suffix(what.size());
      token = std::string(rest);
    }
    return success();
  }};
}

/// Removes spaces that written English doesn't have.
void cleanUp(std::string& token) {
  constexpr std::pair<std::string_view, std::string_view> kTypos[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [spaced, right] : kTypos) replaceAll(token, spaced, right);
}

Decoder wordPiecesJoined(const std::string& prefix, bool cleanup) {
  return {[=](Tokens& tokens, std::size_t) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0 && !token.starts_with(prefix))
        token.insert(0, " ");
      else if (i > 0)
        token.erase(0, prefix.size());
      if (cleanup) cleanUp(token);
    }
    return success();
  }};
}

/// Turns a mark into a space, except in the token that has one that wasn't typed: the last if the mark ends
/// words, or the first if it begins them. `alone`: what it stands for in a token by itself.
enum class Untyped { none, first, last };
Decoder marksToSpaces(const std::string& mark, Untyped untyped, const char* alone) {
  return {[=](Tokens& tokens, std::size_t) {
            for (std::size_t i = 0; i < tokens.size(); ++i) {
              const bool drop = untyped == Untyped::first  ? i == 0
                                : untyped == Untyped::last ? i + 1 == tokens.size()
                                                           : false;
              replaceAll(tokens[i], mark, drop ? "" : " ");
            }
            return success();
          },
          [=](std::string& token, std::size_t) { replaceAll(token, mark, alone); }};
}

void readStrip(FieldReader& fields, Decoders& rules) {
  const std::string what = fields.text("content");
  const std::int64_t start = fields.integer("start"), stop = fields.integer("stop");
  if (what.empty()) fields.fail("\"content\" is empty");
  if (start < 0 || stop < 0) fields.fail("\"start\" or \"stop\" is negative");
  rules.push_back(endsStripped(what, start, stop));
}

void readWordEnds(FieldReader& fields, Decoders& rules) {
  const std::string suffix = fields.text("suffix", "</w>");
  if (suffix.empty()) fields.fail("\"suffix\" is empty");
  rules.push_back(marksToSpaces(suffix, Untyped::last, ""));
}

void readMarkedSpaces(FieldReader& fields, Decoders& rules) {
  const std::string mark = fields.text("replacement");
  if (mark.empty()) fields.fail("\"replacement\" is empty");
  const bool prefix = fields.flag("add_prefix_space", true);
  const std::string scheme = fields.text("prepend_scheme", prefix ? "always" : "never");
  rules.push_back(marksToSpaces(mark, scheme == "never" ? Untyped::none : Untyped::first, " "));
}

constexpr ComponentKind<Decoders> kDecoders[] = {
    {"ByteLevel", [](FieldReader&, Decoders& rules) { rules.push_back(fromByteCharacters()); }},
    {"Replace",
     [](FieldReader& fields, Decoders& rules) {
       if (const auto pattern = TextPattern::read(fields))
         rules.push_back(matchesReplaced(*pattern, fields.text("content")));
     }},
    {"ByteFallback", [](FieldReader&, Decoders& rules) { rules.push_back(bytesJoined()); }},
    {"Fuse", [](FieldReader&, Decoders& rules) { rules.push_back({fuse}); }},
    {"Strip", readStrip},
    {"WordPiece",
     [](FieldReader& fields, Decoders& rules) {
       rules.push_back(wordPiecesJoined(fields.text("prefix", "##"), fields.flag("cleanup", true)));
     }},
    {"Metaspace", readMarkedSpaces},
    {"BPEDecoder", readWordEnds},
    {"Sequence",
     [](FieldReader& fields, Decoders& rules) { readEach(fields, "decoders", readDecoders, rules); }},
};

}  // namespace

Status readDecoders(const JsonValue& value, const std::string& where, Decoders& rules) {
  return readRules(kDecoders, value, where, rules);
}

}  // namespace headscope::attention
