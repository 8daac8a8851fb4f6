#pragma once

#include <string>
#include <vector>

#include "attention/models/tokenizer/json_value.h"
#include "attention/models/tokenizer/vocabulary.h"

namespace headscope::attention {

/// The tokens that are put around every text, such as "<s>" and "[SEP]".
struct SurroundingTokens {
  std::vector<TokenId> before, after;
};

/// Adds what a "post_processor" puts around a single text, outside what is already there. Returns an Error,
/// prefixed by `where`, for unsupported kinds (by name), a template without the text, or one with tokens that
/// it doesn't define.
Status readPostProcessor(const JsonValue& value, const std::string& where, SurroundingTokens& around);

}  // namespace headscope::attention
