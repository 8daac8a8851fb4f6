#include "attention/text/tokenizer.h"

#include <fmt/core.h>

#include <algorithm>

#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

constexpr std::string_view kVisibleSpace = "␣";

/// "<0A>": the visible form of an invisible character or a byte outside ASCII.
std::string escaped(char32_t c) {
  return fmt::format("<{:02X}>", static_cast<unsigned>(c));
}

/// Apostrophes and hyphens (including the soft hyphen) that join the two sides of a word.
bool isJoiner(char32_t c) {
  return std::u32string_view(U"'-’\u00AD\u2010\u2011").find(c) != std::u32string_view::npos;
}

bool isDigit(char32_t c) {
  return c >= '0' && c <= '9';
}

bool belongsToWord(char32_t c) {
  return isWordCharacter(c) && !isIdeograph(c) && !isInvisible(c);
}

Token characterToken(char32_t base, std::string_view cluster) {
  if (base == ' ') return {std::string(kVisibleSpace), false};
  if (isControl(base) || isSpace(base) || isInvisible(base)) return {escaped(base), false};
  return {std::string(cluster), isPunctuation(base)};
}

std::vector<Token> wordsOf(std::string_view line) {
  std::vector<Token> tokens;
  std::string word;
  char32_t before = 0;
  const auto finishWord = [&] {
    if (!word.empty()) tokens.push_back({std::move(word), false});
    word.clear();
  };
  for (std::size_t at = 0, end = 0; at < line.size(); at = end) {
    end = clusterEnd(line, at);
    const std::string_view cluster = line.substr(at, end - at);
    const char32_t base = decodeUtf8(line, at).value;
    const char32_t next = end < line.size() ? decodeUtf8(line, end).value : 0;
    const bool point = base == '.' && isDigit(before) && isDigit(next);
    const bool joins = !word.empty() && (point || (isJoiner(base) && belongsToWord(next)));
    before = base;
    if (joins || belongsToWord(base)) {
      word += cluster;
      continue;
    }
    finishWord();
    if (!isSpace(base) && !isInvisible(base)) tokens.push_back(characterToken(base, cluster));
  }
  finishWord();
  return tokens;
}

/// Whether the byte at `at` is a decimal point between ASCII digits, such as the second byte of "3.14".
bool isNumbersPoint(std::string_view line, std::size_t at) {
  const auto digitAt = [&](std::size_t i) {
    return i < line.size() && isDigit(static_cast<unsigned char>(line[i]));
  };
  return line[at] == '.' && at > 0 && digitAt(at - 1) && digitAt(at + 1);
}

std::vector<Token> charactersOf(std::string_view line) {
  std::vector<Token> tokens;
  for (std::size_t at = 0, end = 0; at < line.size(); at = end) {
    end = clusterEnd(line, at);
    tokens.push_back(characterToken(decodeUtf8(line, at).value, line.substr(at, end - at)));
    if (isNumbersPoint(line, at)) tokens.back().separator = false;
  }
  return tokens;
}

std::vector<Token> bytesOf(std::string_view line) {
  std::vector<Token> tokens;
  tokens.reserve(line.size());
  for (std::size_t at = 0; at < line.size(); ++at) {
    const auto byte = static_cast<unsigned char>(line[at]);
    const bool ascii = byte < 0x80;
    tokens.push_back(ascii ? characterToken(byte, line.substr(at, 1)) : Token{escaped(byte), false});
    if (isNumbersPoint(line, at)) tokens.back().separator = false;
  }
  return tokens;
}

std::vector<Token> tokensOf(std::string_view line, Tokenization how) {
  switch (how) {
    case Tokenization::words:
      return wordsOf(line);
    case Tokenization::characters:
      return charactersOf(line);
    case Tokenization::bytes:
      return bytesOf(line);
  }
  return {};
}

}  // namespace

Status validateUtf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const DecodedCodePoint decoded = decodeUtf8(text, at);
    if (decoded.fault != nullptr) {
      return Error{fmt::format("text is not valid UTF-8: byte 0x{:02X} at offset {} {}",
                               static_cast<unsigned char>(text[at]), at, decoded.fault)};
    }
    at += decoded.length;
  }
  return success();
}

Result<std::vector<std::vector<Token>>> tokenize(std::string_view text, Tokenization how) {
  if (Status valid = validateUtf8(text); !valid) return valid.error();
  // A byte-order mark names the encoding and isn't part of the text.
  if (constexpr std::string_view kMark = "\xEF\xBB\xBF"; text.starts_with(kMark))
    text.remove_prefix(kMark.size());
  std::vector<std::vector<Token>> batch;
  while (!text.empty()) {
    // LF, CR and CR LF each end a line. The pair CR LF leaves an empty line in between, which is skipped like
    // any other line without tokens.
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::vector<Token> tokens = tokensOf(text.substr(0, end), how);
    if (!tokens.empty()) batch.push_back(std::move(tokens));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return batch;
}

std::string tokenIdentity(const Token& token, bool ignoreCase) {
  return ignoreCase ? foldCase(token.text) : token.text;
}

}  // namespace headscope::attention
