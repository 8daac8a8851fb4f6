#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attention/models/tokenizer/text_tokenizer.h"
#include "tests/support/matchers.h"

/// Small tokenizers, each built for one test.
namespace headscope::attention::test {

using Json = nlohmann::json;

/// Byte-pair encoding over single characters and `merges`, whose results get the next ids; id 0 is "<unk>".
inline Json bytePairJson(const std::vector<std::string>& characters,
                         const std::vector<std::pair<std::string, std::string>>& merges = {}) {
  Json vocabulary = {{"<unk>", 0}}, list = Json::array();
  for (const std::string& character : characters) vocabulary[character] = vocabulary.size();
  for (const auto& [left, right] : merges) {
    if (!vocabulary.contains(left + right)) vocabulary[left + right] = vocabulary.size();
    list.push_back({left, right});
  }
  return {{"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"vocab", std::move(vocabulary)},
            {"merges", std::move(list)}}}};
}

inline Json addedToken(const std::string& content, TokenId id) {
  return {{"id", id}, {"content", content}, {"special", true}, {"normalized", false}};
}

inline TextTokenizer made(const Json& json) {
  return *checked(TextTokenizer::parse(json.dump(), "test"));
}

/// A small tokenizer with `value` at the place `pointer`.
inline Json tokenizerWith(const std::string& pointer, const Json& value) {
  Json json = bytePairJson({"a", "b"}, {{"a", "b"}});
  json["added_tokens"] = Json::array();
  json[Json::json_pointer(pointer)] = value;
  return json;
}

/// The error message for a file that can't be read; "no error" if it can.
inline std::string refusal(const Json& json) {
  return messageOf(TextTokenizer::parse(json.dump(), "test"));
}

/// The tokens of `text` as spelled in the vocabulary, each preceded by a bar: "|▁a|b".
inline std::string spelled(const TextTokenizer& tokenizer, const std::string& text) {
  const auto encoded = tokenizer.encode(text);
  if (!encoded) return encoded.error().message;
  std::string line;
  for (const std::string& token : tokenizer.spellings(*encoded)) line += "|" + token;
  return line;
}

}  // namespace headscope::attention::test
