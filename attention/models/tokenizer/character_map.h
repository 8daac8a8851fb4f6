#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/models/tokenizer/aligned_text.h"

namespace headscope::attention {

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

}  // namespace headscope::attention
