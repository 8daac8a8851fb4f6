#pragma once

#include <filesystem>
#include <utility>

#include "attention/models/tokenizer/text_tokenizer.h"
#include "tests/fuzz/targets.h"
#include "tests/support/temporary_folder.h"

/// The fuzz targets for files of tokenizers.
namespace headscope::fuzz {

/// Every token has an id and a text, the spans are consecutive up to the end, and the ids decode to valid
/// UTF-8.
inline void holdEncoded(const attention::TextTokenizer& tokenizer, std::string_view text) {
  using namespace attention;
  const auto encoded = tokenizer.encode(text);
  if (!encoded) return hold(!encoded.error().message.empty());
  hold(encoded->spans.size() == encoded->ids.size() && encoded->sources.size() == encoded->ids.size());
  hold(tokenizer.spellings(*encoded).size() == encoded->ids.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < encoded->ids.size(); ++i) {
    hold(tokenizer.readable(encoded->ids[i]).has_value());
    const ByteRange span = encoded->spans[i];
    hold(span.begin == at && span.end >= at && span.end <= text.size());
    at = span.end;
  }
  hold(encoded->ids.empty() || at == text.size());
  if (const auto decoded = tokenizer.decode(encoded->ids)) hold(validateUtf8(*decoded).ok());
}

/// Reads the bytes as a tokenizer.json, or uses the beginning as text if they aren't one. Encoding takes
/// nearly all of the time, so texts are short to try many files.
inline void fuzzTokenizer(Bytes bytes) {
  using namespace attention;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto tokenizer = TextTokenizer::parse(text, "fuzz")) {
    for (const char* typed : {"", "ab aab\ne\u0301<s>a</s>\u65e5\u200D"}) holdEncoded(*tokenizer, typed);
  } else {
    hold(tokenizer.error().message.starts_with("fuzz: "));
    static const auto fixed = TextTokenizer::parse(
        R"({"added_tokens": [{"id": 4, "content": "<s>", "lstrip": true, "special": true}],
            "normalizer": {"type": "BertNormalizer"},
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true},
            "post_processor": {"type": "BertProcessing", "cls": ["<s>", 4], "sep": ["<s>", 4]},
            "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "unk_token": "<unk>",
              "vocab": {"<unk>": 0, "a": 1, "\u0120": 2, "\u0120a": 3}, "merges": ["\u0120 a"]}})",
        "fixed");
    hold(fixed.ok());
    holdEncoded(*fixed, text.substr(0, 64));
  }
}

/// A file from before tokenizer.json, which the first byte chooses, beside others that fit.
inline void fuzzOlderTokenizer(Bytes bytes) {
  using namespace attention;
  struct Folder {
    const char* file;
    std::vector<std::pair<const char*, std::string_view>> beside;
  };
  static const Folder kFolders[] = {
      {"vocab.txt", {}},
      {"merges.txt", {{"vocab.json", R"({"a": 0, "b": 1, "ab": 2})"}}},
      {"vocab.json", {{"merges.txt", "a b"}}},
      {"tokenizer.model", {}},
      {"tokenizer.model", {{"config.json", R"({"model_type": "t5"})"}}},
      {"tokenizer.model", {{"config.json", R"({"model_type": "xlm-roberta"})"}}},
      {"tokenizer_config.json", {{"vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\nb\n##b\n"}}},
      {"tokenizer_config.json", {{"vocab.json", R"({"a": 0, "b": 1, "ab": 2})"}, {"merges.txt", "a b"}}},
      {"tokenizer_config.json", {{"tokenizer.model", {"\n\x05\n\1a\x18\1\n\x07\n\3\xE2\x96\x81\x18\1", 16}}}},
  };
  static const headscope::test::TemporaryFolder folder;
  if (bytes.empty()) return;
  const Folder& chosen = kFolders[bytes[0] % std::size(kFolders)];
  std::error_code ignored;
  for (const auto& old : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::remove(old, ignored);
  for (const auto& [name, text] : chosen.beside) headscope::test::putFile(folder / name, text);
  headscope::test::putFile(folder / chosen.file, bytes.subspan(1));
  const auto tokenizer = TextTokenizer::open(folder.path());
  if (!tokenizer) return hold(tokenizer.error().message.starts_with(folder.path().string()));
  for (const char* typed : {"", "ab aab\ne\u0301<s>a</s>\u65e5\u200D"}) holdEncoded(*tokenizer, typed);
}

}  // namespace headscope::fuzz
