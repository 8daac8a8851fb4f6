#pragma once

#include <string>
#include <vector>

#include "attention/models/tokenizer/json_value.h"
#include "attention/models/tokenizer/vocabulary.h"

namespace headscope::attention {

/// The tokens that are put around every text, such as "<s>" and "[SEP]".
struct PutAround {
  std::vector<TokenId> before, behind;
};

/// Adds what a "post_processor" puts around a single text, outside of what is there already. Errors: kinds
/// that are not supported, by name; a template without the text, or with tokens that it does not explain.
/// `where` stands in front.
Status readPostProcessor(const JsonValue& value, const std::string& where, PutAround& around);

}  // namespace headscope::attention
