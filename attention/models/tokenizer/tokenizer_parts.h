#pragma once

#include <memory>
#include <stop_token>
#include <string_view>

#include "attention/models/tokenizer/added_tokens.h"
#include "attention/models/tokenizer/decoders.h"
#include "attention/models/tokenizer/normalizers.h"
#include "attention/models/tokenizer/post_processor.h"
#include "attention/models/tokenizer/pre_tokenizers.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {

/// The parts of a tokenizer.json, in the order in which a text passes through them.
struct TokenizerParts {
  AddedTokens added;
  Normalizers normalizers;
  PreTokenizers preTokenizers;
  std::unique_ptr<const TokenModel> model;
  SurroundingTokens around;
  Decoders decoders;
};

/// Reads the bytes of a tokenizer.json. Returns an Error that names the member; "stopped" once `stop` is
/// requested.
Result<std::unique_ptr<const TokenizerParts>> readTokenizerParts(std::string_view json,
                                                                 const std::stop_token& stop);

}  // namespace headscope::attention
