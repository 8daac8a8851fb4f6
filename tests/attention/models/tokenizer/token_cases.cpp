#include "tests/attention/models/tokenizer/token_cases.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "test_paths.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

using Json = nlohmann::json;

std::string goldenPath(const std::string& file) {
  return std::string(HEADSCOPE_TEST_DIR) + "/golden/tokens/" + file;
}

std::vector<ByteRange> ranges(const Json& list) {
  std::vector<ByteRange> ranges;
  for (const Json& range : list) ranges.push_back({range.at(0), range.at(1)});
  return ranges;
}

std::string shown(const std::vector<ByteRange>& ranges) {
  std::string text;
  for (const ByteRange& range : ranges)
    text += "[" + std::to_string(range.begin) + "," + std::to_string(range.end) + ")";
  return text;
}

/// Whether a token's span overlaps or touches the reference's offsets. They may differ for the second and
/// later tokens of a character, and for white space, which the offsets leave out.
bool agrees(const ByteRange& span, const ByteRange& offset) {
  return span.begin <= offset.end && offset.begin <= span.end;
}

}  // namespace

std::vector<TokenCase> tokenCases(const std::string& name) {
  std::ifstream file(goldenPath(name + ".json"));
  if (!file) throw std::runtime_error("no golden tokens of " + name);
  const Json golden = Json::parse(file);
  std::vector<TokenCase> cases;
  for (const Json& entry : golden.at("cases")) {
    TokenCase one;
    one.text = entry.at("text");
    one.decoded = entry.at("decoded");
    one.ids = entry.at("ids").get<std::vector<TokenId>>();
    one.tokens = entry.at("tokens").get<std::vector<std::string>>();
    one.offsets = ranges(entry.at("offsets"));
    one.hasSpans = entry.contains("spans");
    if (one.hasSpans) one.spans = ranges(entry.at("spans"));
    cases.push_back(std::move(one));
  }
  return cases;
}

std::string smallTokenizer(const std::string& name) {
  return headscope::test::fileText(goldenPath(name + ".tokenizer.json"));
}

std::string bertTokenizer(const std::string& wordList) {
  const std::string mark = "▁";
  Json file = Json::parse(smallTokenizer("small-wordpiece"));
  Json vocabulary = Json::object();
  const auto words = Json::parse(wordList).get<std::vector<std::string>>();
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (i == 1)
      word = "[unused0]";
    else if (word.starts_with(mark))
      word.erase(0, mark.size());
    else if (!(word.starts_with('[') && word.ends_with(']') && word.size() > 2))
      word.insert(0, "##");
    vocabulary[word] = i;
  }
  file["model"]["max_input_chars_per_word"] = 100;
  for (Json& token : file["added_tokens"]) {
    token["id"] = vocabulary.at(token.at("content").get<std::string>());
    token["lstrip"] = false;
  }
  for (auto& [name, token] : file["post_processor"]["special_tokens"].items())
    token["ids"] = Json::array({vocabulary.at(name)});
  file["model"]["vocab"] = std::move(vocabulary);
  return file.dump();
}

std::string difference(const TextTokenizer& tokenizer, const TokenCase& expected) {
  const auto encoded = tokenizer.encode(expected.text);
  if (!encoded) return encoded.error().message;
  if (encoded->ids != expected.ids) return "ids " + testing::PrintToString(encoded->ids);
  const auto tokens = tokenizer.spellings(*encoded);
  if (tokens != expected.tokens) return "tokens " + testing::PrintToString(tokens);
  if (expected.hasSpans && encoded->spans != expected.spans) return "spans " + shown(encoded->spans);
  for (std::size_t i = 0; i < encoded->spans.size(); ++i)
    if (encoded->sources[i] != TokenSource::around && !agrees(encoded->spans[i], expected.offsets[i]))
      return "span " + std::to_string(i) + " of " + shown(encoded->spans);
  const auto decoded = tokenizer.decode(expected.ids);
  if (!decoded || *decoded != expected.decoded)
    return "decoded " + (decoded ? *decoded : decoded.error().message);
  return spanFault(*encoded, expected.text);
}

std::string spanFault(const EncodedText& encoded, const std::string& text) {
  if (encoded.spans.size() != encoded.ids.size() || encoded.sources.size() != encoded.ids.size())
    return "lists of different lengths";
  const bool typed = std::any_of(encoded.sources.begin(), encoded.sources.end(),
                                 [](TokenSource source) { return source != TokenSource::around; });
  std::size_t at = 0;
  for (std::size_t i = 0; i < encoded.spans.size(); ++i) {
    const ByteRange span = encoded.spans[i];
    const bool nobodys = encoded.sources[i] == TokenSource::around && (typed || i > 0);
    if (nobodys && span.begin != span.end)
      return "token " + std::to_string(i) + " has bytes that nobody typed";
    if (span.begin != at || span.end < at) return "no tiling: " + shown(encoded.spans);
    at = span.end;
  }
  return !encoded.ids.empty() && at != text.size() ? "no tiling: " + shown(encoded.spans) : "";
}

}  // namespace headscope::attention::test
