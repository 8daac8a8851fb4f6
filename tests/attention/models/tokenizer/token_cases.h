#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attention/models/tokenizer/text_tokenizer.h"

namespace headscope::attention::test {

/// One text of tests/golden/tokens with what must come out.
struct TokenCase {
  std::string text, decoded;
  std::vector<TokenId> ids;
  std::vector<std::string> tokens;
  std::vector<ByteRange> offsets;
  std::vector<ByteRange> spans;  ///< empty where the file has none
  bool hasSpans = false;
};

/// Those of tests/golden/tokens/NAME.json.
std::vector<TokenCase> tokenCases(const std::string& name);

/// tests/golden/tokens/NAME.tokenizer.json.
std::string smallTokenizer(const std::string& name);

/// BERT's tokenizer.json, put together from the word list of its package (see tests/golden/tokens/README.md).
std::string bertTokenizer(const std::string& wordList);

/// Says in a failure's words how the tokenizer's answer to `expected.text` differs; empty where it doesn't.
std::string difference(const TextTokenizer& tokenizer, const TokenCase& expected);

/// What is wrong with the spans of `text`, which has to be tiled by them; empty where nothing is.
std::string spanFault(const EncodedText& encoded, const std::string& text);

}  // namespace headscope::attention::test
