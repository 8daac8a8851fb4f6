// How GGUF's byte-level tokenizers split text, on words for which their rules differ.

#include <gtest/gtest.h>

#include "attention/models/gguf/gguf_source.h"
#include "tests/attention/models/tokenizer/tokenizer_json.h"

namespace headscope::attention::test {
namespace {

/// The pieces of a text, each preceded by a bar.
std::string piecesBy(const std::string& name, const std::string& text) {
  Json json = bytePairJson({});
  json["model"]["fuse_unk"] = true;  // a piece is one unknown token
  json["pre_tokenizer"] = Json::parse(ggufSplit(name)->preTokenizer);
  const auto encoded = made(json).encode(text);
  if (!encoded) return encoded.error().message;
  std::string line;
  for (const ByteRange& span : encoded->spans) line += "|" + text.substr(span.begin, span.end - span.begin);
  return line;
}

TEST(GgufSplits, SplitsAsDeepSeekModelsDo) {
  EXPECT_EQ(piecesBy("deepseek-v3", "Hello, world! 12345 don't 日本語テスト\n\nx"),
            "|Hello|,| world|!| |123|45| don|'t| |日本語テスト|\n\n|x");
  EXPECT_EQ(piecesBy("deepseek-llm", "Hi there, 12a日é\nЯ한!  "), "|Hi| there|,| |12|a|日|é|\n|Я|한|!|  ");
  // Its letters leave out whole blocks, such as those for mathematics.
  EXPECT_EQ(piecesBy("deepseek-llm", "a𝐀bꞐ"), "|a|𝐀|b|Ꞑ");
  EXPECT_EQ(piecesBy("deepseek-coder", "Hi there, 12a日"), "|Hi| there|,| |1|2|a|日");
}

TEST(GgufSplits, SplitsAsOtherModelsDo) {
  EXPECT_EQ(piecesBy("gpt-2", "don't 1234"), "|don|'t| 1234");
  EXPECT_EQ(piecesBy("llama-bpe", "DON'T 1234"), "|DON|'T| |123|4");
  EXPECT_EQ(piecesBy("qwen2", "a 12"), "|a| |1|2");
  EXPECT_EQ(piecesBy("gpt-4o", "CamelCase's"), "|Camel|Case's");
  EXPECT_EQ(piecesBy("glm4", "DON'T 1234"), "|DON|'T| |123|4");
  EXPECT_EQ(piecesBy("falcon", "Hi--there, 12345 don't"), "|Hi|--|there|,| |123|45| don|'|t");
  EXPECT_EQ(piecesBy("bloom", "don't 12345, x|y (z)"), "|don't| 12345|,| x|||y| (|z|)");
  EXPECT_EQ(ggufSplit("mpt")->normalizer, ggufSplit("olmo")->normalizer);
  EXPECT_EQ(ggufSplit("of nobody"), nullptr);
}

}  // namespace
}  // namespace headscope::attention::test
