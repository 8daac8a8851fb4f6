#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attention/models/tokenizer/text_tokenizer.h"

namespace headscope::attention::test {

/// One text of tests/golden/tokens with its expected results.
struct TokenCase {
  std::string text, decoded;
  std::vector<TokenId> ids;
  std::vector<std::string> tokens;
  std::vector<ByteRange> offsets;
  std::vector<ByteRange> spans;  ///< empty if the file has none
  bool hasSpans = false;
};

/// The cases in tests/golden/tokens/NAME.json.
std::vector<TokenCase> tokenCases(const std::string& name);

/// The text of tests/golden/tokens/NAME.tokenizer.json.
std::string smallTokenizer(const std::string& name);

/// BERT's tokenizer.json, built from the word list of its package (see tests/golden/tokens/README.md).
std::string bertTokenizer(const std::string& wordList);

/// Describes how the tokenizer's result for `expected.text` differs; empty if it doesn't.
std::string difference(const TextTokenizer& tokenizer, const TokenCase& expected);

/// Describes an error in the spans, which have to tile `text`; empty if there is none.
std::string spanFault(const EncodedText& encoded, const std::string& text);

}  // namespace headscope::attention::test
