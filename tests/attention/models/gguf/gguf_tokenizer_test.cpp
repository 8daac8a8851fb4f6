// What a GGUF file's metadata say about its tokenizer, with the tokens that llama.cpp gives for the same
// files.

#include <gtest/gtest.h>

#include <concepts>

#include "attention/models/gguf/gguf_source.h"
#include "tests/attention/models/tokenizer/tokenizer_json.h"
#include "tests/support/gguf_bytes.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

/// A file with nothing but a tokenizer, written entry by entry.
class TokenizerFile {
 public:
  TokenizerFile& set(std::string_view key, std::string_view value) { return text(key, 8).end(value); }
  TokenizerFile& set(std::string_view key, std::uint32_t value) { return text(key, 4).end(value); }
  TokenizerFile& set(std::string_view key, std::same_as<bool> auto value) {
    return text(key, 7).end(static_cast<std::uint8_t>(value));
  }
  TokenizerFile& set(std::string_view key, const std::vector<std::string>& values) {
    text(key, 9).entries_.number<std::uint32_t>(8).number<std::uint64_t>(values.size());
    for (const std::string& value : values) entries_.text(value);
    return *this;
  }
  TokenizerFile& set(std::string_view key, const std::vector<std::int32_t>& values) {
    return list(key, 5, values);
  }
  TokenizerFile& set(std::string_view key, const std::vector<float>& values) { return list(key, 6, values); }

  /// The tokens of `text`, each preceded by a bar; what is wrong with the file if it can't be read.
  std::string spelled(const std::string& text) const {
    const headscope::test::TemporaryFolder folder;
    headscope::test::GgufBytes file;
    file.start(0, count_);
    for (const std::uint8_t byte : entries_.bytes()) file.number(byte);
    headscope::test::putFile(folder / "t.gguf", file.data(0).bytes());
    const auto tokenizer = TextTokenizer::open(folder / "t.gguf");
    if (tokenizer) return test::spelled(*tokenizer, text);
    const std::string message = tokenizer.error().message;
    return message.substr(message.find("t.gguf"));
  }

 private:
  TokenizerFile& text(std::string_view key, std::uint32_t type) {
    ++count_;
    const bool general = key.starts_with("general.");
    entries_.text(general ? std::string(key) : "tokenizer.ggml." + std::string(key)).number(type);
    return *this;
  }
  template <typename Number>
  TokenizerFile& end(Number value) {
    entries_.number(value);
    return *this;
  }
  TokenizerFile& end(std::string_view value) {
    entries_.text(value);
    return *this;
  }
  template <typename Number>
  TokenizerFile& list(std::string_view key, std::uint32_t type, const std::vector<Number>& values) {
    text(key, 9).entries_.number(type).template number<std::uint64_t>(values.size());
    for (const Number value : values) entries_.number(value);
    return *this;
  }

  headscope::test::GgufBytes entries_;
  std::uint64_t count_ = 0;
};

/// SentencePiece's BPE over a few pieces, the best one first.
TokenizerFile sentencePieces(const std::vector<std::string>& more = {}) {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>", "▁a", "▁", "a", "b"};
  std::vector<std::int32_t> types = {2, 3, 3, 1, 1, 1, 1};
  for (const std::string& token : more) {
    tokens.push_back(token);
    types.push_back(token.empty() ? 1 : 3);
  }
  std::vector<float> scores;
  for (std::size_t i = 0; i < tokens.size(); ++i) scores.push_back(-static_cast<float>(i));
  TokenizerFile file;
  return file.set("general.architecture", "llama")
      .set("model", "llama")
      .set("tokens", tokens)
      .set("token_type", types)
      .set("scores", scores);
}

/// WordPiece over 104 tokens, with BERT's own special ones at their usual places.
TokenizerFile wordPieces(const std::vector<std::string>& words) {
  std::vector<std::string> tokens = {"[PAD]"};
  std::vector<std::int32_t> types = {3};
  for (int i = 1; i < 100; ++i) tokens.push_back("▁[unused" + std::to_string(i) + "]");
  types.resize(100, 1);
  for (const char* special : {"[UNK]", "[CLS]", "[SEP]"}) {
    tokens.emplace_back(special);
    types.push_back(3);
  }
  for (const std::string& word : words) {
    tokens.push_back(word);
    types.push_back(1);
  }
  TokenizerFile file;
  return file.set("general.architecture", "bert")
      .set("model", "bert")
      .set("tokens", tokens)
      .set("token_type", types);
}

TEST(GgufTokenizer, TakesUsualIdsWhereMetadataNameNone) {
  EXPECT_EQ(sentencePieces().spelled("ab"), "|<s>|▁a|b");
  EXPECT_EQ(sentencePieces().set("add_eos_token", true).spelled("ab"), "|<s>|▁a|b|</s>");
  EXPECT_EQ(sentencePieces().set("bos_token_id", 2u).spelled("a"), "|</s>|▁a");
  EXPECT_EQ(wordPieces({"▁a"}).spelled("a é"), "|[CLS]|a|[UNK]|[SEP]");
}

TEST(GgufTokenizer, SurroundsWordPiecesWhateverTheFlags) {
  EXPECT_EQ(wordPieces({"▁a"}).set("add_bos_token", false).set("add_eos_token", false).spelled("a"),
            "|[CLS]|a|[SEP]");
}

TEST(GgufTokenizer, NormalizesWordPiecesAsMetadataSay) {
  const std::vector<std::string> words = {"▁a", "▁é", "▁A", "▁e"};
  const auto spelled = [](const TokenizerFile& file) { return file.spelled("a é A É"); };
  EXPECT_EQ(spelled(wordPieces({"▁a", "▁é", "▁e"})), "|[CLS]|a|e|a|e|[SEP]");
  EXPECT_EQ(spelled(wordPieces(words)), "|[CLS]|a|é|A|[UNK]|[SEP]");
  EXPECT_EQ(spelled(wordPieces(words).set("normalizer.lowercase", true)), "|[CLS]|a|e|a|e|[SEP]");
  EXPECT_EQ(spelled(wordPieces({"▁a", "▁é"}).set("normalizer.lowercase", false)),
            "|[CLS]|a|é|[UNK]|[UNK]|[SEP]");
  EXPECT_EQ(spelled(wordPieces({"▁a", "▁é"}).set("normalizer.strip_accents", false)), "|[CLS]|a|é|a|é|[SEP]");
}

TEST(GgufTokenizer, Phi3TokensTakeTheSpaceAfterThem) {
  const std::vector<std::string> more = {"<|user|>", "<|endoftext|>"};
  EXPECT_EQ(sentencePieces(more).spelled("<|user|> a"), "|<s>|<|user|>|▁|▁a");
  EXPECT_EQ(sentencePieces(more).set("general.name", "My Phi-3").spelled("<|user|>  a<s> a"),
            "|<s>|<|user|>  |▁a|<s>|▁|▁a");
}

TEST(GgufTokenizer, ReadsTokensWithoutText) {
  EXPECT_EQ(sentencePieces({"", ""}).spelled("ab"), "|<s>|▁a|b");
}

TEST(GgufTokenizer, DeepSeekTextsBeginAsMetadataSay) {
  const auto file = [] {
    TokenizerFile empty;
    return empty.set("general.architecture", "deepseek2")
        .set("model", "gpt2")
        .set("pre", "deepseek-v3")
        .set("tokens", std::vector<std::string>{"<s>", "a"})
        .set("merges", std::vector<std::string>{})
        .set("bos_token_id", 0u);
  };
  EXPECT_EQ(file().spelled("a"), "|a");
  EXPECT_EQ(file().set("add_bos_token", true).spelled("a"), "|<s>|a");
}

TEST(GgufTokenizer, RefusesUnknownKinds) {
  TokenizerFile file;
  file.set("general.architecture", "llama").set("tokens", std::vector<std::string>{"a"});
  EXPECT_EQ(TokenizerFile(file).set("model", "gpt2").spelled("a"),
            "t.gguf: lacks the metadata \"tokenizer.ggml.pre\", which says how text is split");
  EXPECT_EQ(TokenizerFile(file).set("model", "gpt2").set("pre", "default").spelled("a"),
            "t.gguf: \"tokenizer.ggml.pre\" is \"default\", which Headscope doesn't know");
  EXPECT_EQ(TokenizerFile(file).set("model", "t5").spelled("a"),
            "t.gguf: \"tokenizer.ggml.model\" is \"t5\", expected gpt2 (BPE), llama (SentencePiece's BPE) or "
            "bert (WordPiece)");
}

// How GGUF's byte-level tokenizers split text, on words for which their rules differ.

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
