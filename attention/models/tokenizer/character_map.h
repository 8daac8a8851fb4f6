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

/// SentencePiece's table of what is written instead of what ("precompiled_charsmap"; Kudo & Richardson 2018):
/// a double-array trie (Aoe 1989, as Darts-clone keeps it) of UTF-8, whose values are places in a list of
/// texts that end in 0.
class CharacterMap {
 public:
  /// Of the table in base64. An error where it isn't one, or its sizes don't fit.
  static Result<CharacterMap> read(std::string_view base64);

  /// What the shortest beginning of `text` that the table has is replaced by; nothing where it has none.
  std::optional<std::string_view> find(std::string_view text) const;
  /// Graphemes of less than six bytes that begin with an entry are replaced whole, others character by
  /// character, as the tokenizers library does.
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const;

 private:
  std::vector<std::uint32_t> units_;
  std::string texts_;
};

}  // namespace headscope::attention
