#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/core/result.h"
#include "attention/text/unicode.h"

namespace headscope::attention {

// Character classes used by tokenizers, based on Unicode's general categories.

/// Category P*, or one of ASCII's !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~.
bool isTokenizerPunctuation(char32_t c);
/// Category N*: digits, letter numbers, fractions.
bool isNumeric(char32_t c);
/// Category Mn.
bool isNonspacingMark(char32_t c);
/// Category M*.
bool isMark(char32_t c);
/// Categories Cc, Cf, Cs and Co: control, format, surrogate and private-use characters, but not unassigned
/// ones.
bool isOther(char32_t c);
/// \w of regular expressions (Unicode Technical Standard 18): letters, marks, decimal digits, connectors,
/// joiners.
bool isRegexWord(char32_t c);
/// The blocks of Han ideographs that BERT surrounds with spaces.
bool isBertIdeograph(char32_t c);

/// Appends the lower case of `c`.
void appendLowerCase(char32_t c, std::string& text);

/// Whether a byte of well-formed text isn't the first of its character.
constexpr bool continuesCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// Calls visit(code point, begin, end) for every character of well-formed `text`. Returns false, leaving out
/// the rest, once `stop` is requested.
template <class Visit>
bool eachCharacter(std::string_view text, const std::stop_token& stop, Visit visit) {
  constexpr std::size_t kBetweenStops = 4096;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (++count % kBetweenStops == 0 && stop.stop_requested()) return false;
    const auto byte = static_cast<unsigned char>(text[at]);
    const DecodedCodePoint c = byte < 0x80 ? DecodedCodePoint{byte} : decodeUtf8(text, at);
    visit(c.value, at, at + c.length);
    at += c.length;
  }
  return true;
}
template <class Visit>
void eachCharacter(std::string_view text, const Visit& visit) {
  eachCharacter(text, {}, visit);
}

// GPT-2's spelling of bytes: each of the 256 is one printable character ("Ġ" is a space, "Ċ" a line feed).

/// Appends the character for `byte`, one or two bytes of UTF-8.
void appendByteCharacter(unsigned char byte, std::string& text);

/// Appends the bytes that `spelled` stands for, or `spelled` itself if one of its characters stands for none.
void appendSpelledBytes(std::string_view spelled, std::string& bytes);

/// Returns `bytes` as UTF-8: invalid bytes become U+FFFD, one per maximal prefix of a character (Unicode
/// Standard, table 3-8), as in the reference and in browsers.
std::string repairedUtf8(std::string_view bytes);

/// Returns how many bytes at the end of `bytes` begin a character that more bytes would complete; 0 if none
/// do.
std::size_t unfinishedLength(std::string_view bytes);

/// Returns `bytes` in readable form: a space is "␣", an invisible character its number in angle brackets
/// ("<0A>", "<200B>"), and so is a byte that belongs to no character ("<E2>").
std::string readableBytes(std::string_view bytes);

/// A token's row in the model's embedding.
using TokenId = std::int32_t;

/// Ids must be below this: no model has as many tokens, and tables are as long as the largest id.
inline constexpr TokenId kMaxTokens = 1 << 22;

/// Bytes [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// The origin of a token.
enum class TokenSource : std::uint8_t {
  text,    ///< made by the model from a piece of text
  added,   ///< an added token found in the text as it is, such as a typed "<s>"
  around,  ///< added by the tokenizer; not typed
};

/// A text as a model reads it. `ids`, `spans` and `sources` have one entry per token.
struct EncodedText {
  std::vector<TokenId> ids;
  /// The typed bytes that each token stands for, without gaps and overlaps from the first byte to the last.
  /// Tokens that weren't typed have empty spans, unless all characters of the text were dropped: then the
  /// first of these tokens has all the bytes. A token may stand for part of a character. If the text was
  /// rewritten (composed, in lower case, without accents), the tokens of a character share its bytes from the
  /// left, and dropped text belongs to the token before it.
  std::vector<ByteRange> spans;
  std::vector<TokenSource> sources;
  /// For added tokens, by index: the text that was found, with the white space they took.
  std::vector<std::pair<std::size_t, std::string>> addedSpellings;
};

/// Consecutive tokens that together hold whole characters: nearly always one token, several if a character is
/// split between them.
struct ReadableRun {
  std::size_t begin = 0, end = 0;  ///< tokens [begin, end)
  std::string text;
  bool complete = true;  ///< false if the list ends within a character
  bool operator==(const ReadableRun&) const = default;
};

/// The longest text that can be encoded, and the longest that rewriting may make of it, in bytes: more than
/// any model reads at once. Each byte takes up to 71 bytes of memory if it becomes a separate token.
inline constexpr std::size_t kMaxTyped = std::size_t{16} << 20, kMaxRewritten = std::size_t{36} << 20;
/// The most bytes that rewriting may make of `typed` bytes. Compatibility decomposition makes at most 11
/// bytes of one (U+FDFA), and spelling bytes as characters makes two.
constexpr std::size_t mostRewritten(std::size_t typed) {
  constexpr std::size_t kFloor = std::size_t{64} << 10, kTimes = 32;
  return typed < (kMaxRewritten - kFloor) / kTimes ? kFloor + kTimes * typed : kMaxRewritten;
}

Error tooLongRewritten(std::size_t most);

/// UTF-8 text that was rewritten step by step, and for each of its bytes the typed byte it comes from. These
/// origins never decrease, so ranges that tile the text map to ranges that tile what was typed.
class AlignedText {
 public:
  AlignedText() = default;
  /// Bytes `range` of a typed text, unchanged.
  AlignedText(std::string_view typed, ByteRange range);
  /// Bytes `range` of a rewritten text, which may grow as long as the whole of it.
  AlignedText(const AlignedText& text, ByteRange range);
  /// An empty text for rewriting `text`: it has space for as many bytes and the same limit.
  static AlignedText rewriting(const AlignedText& text);

  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }
  std::string_view part(ByteRange range) const {
    return std::string_view(text_).substr(range.begin, range.end - range.begin);
  }
  /// Where byte `at` of this text begins in the typed text; for size(), where the text ends there.
  std::size_t origin(std::size_t at) const { return at < origins_.size() ? origins_[at] : end_; }
  ByteRange typedRange(ByteRange range) const { return {origin(range.begin), origin(range.end)}; }

  /// Appends `written` in place of the bytes `range` of `from`: byte for byte as far as the range reaches;
  /// further bytes map to its end. Drops anything that would make the text too long, and everything after it.
  void append(std::string_view written, const AlignedText& from, ByteRange range);
  /// Appends the bytes `range` of `from` unchanged.
  void append(const AlignedText& from, ByteRange range);
  /// Returns an Error if rewriting would have made the text longer than mostRewritten() of the typed one.
  Status checkLength() const;

 private:
  /// Whether `bytes` more bytes may be added.
  bool hasRoom(std::size_t bytes);

  std::string text_;
  std::vector<std::uint32_t> origins_;
  std::uint32_t end_ = 0;
  std::size_t most_ = kMaxRewritten;
  bool tooLong_ = false;
};

/// What happens to the matches at which a piece of text is split.
enum class SplitBehaviour { removed, isolated, mergedWithPrevious, mergedWithNext, contiguous };

/// Splits the bytes `whole` at `matches` (relative to its beginning, from left to right, without overlap) and
/// adds the pieces that aren't empty to `pieces`. With `invert`, the text between matches counts as the
/// matches.
void splitRange(ByteRange whole, std::span<const ByteRange> matches, SplitBehaviour behaviour, bool invert,
                std::vector<ByteRange>& pieces);

/// SentencePiece's table of replacements ("precompiled_charsmap"; Kudo & Richardson 2018): a double-array
/// trie (Aoe 1989, in Darts-clone's format) over UTF-8, whose values are offsets into a list of
/// zero-terminated texts.
class CharacterMap {
 public:
  /// Reads the table from base64. Returns an Error if it isn't one or its sizes don't fit.
  static Result<CharacterMap> read(std::string_view base64);

  /// Returns the replacement for the shortest prefix of `text` in the table; nothing if there is none.
  std::optional<std::string_view> find(std::string_view text) const;
  /// Replaces graphemes of less than six bytes that begin with an entry as a whole, and others character by
  /// character, as the tokenizers library does.
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const;

 private:
  std::vector<std::uint32_t> units_;
  std::string texts_;
};

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Returns `text` in a normalization form of Unicode Standard Annex 15. A character made from several, or
/// split into several, maps to the typed bytes of all of them.
Result<AlignedText> normalForm(const AlignedText& text, NormalForm form, const std::stop_token& stop);

}  // namespace headscope::attention
