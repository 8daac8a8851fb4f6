#include <fmt/core.h>

#include <cmath>
#include <unordered_map>

#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/models/gguf/gguf_source.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

using Json = nlohmann::json;

/// The values of tokenizer.ggml.token_type.
enum class GgufTokenType { normal = 1, unknown, control, userDefined, unused, byte };

constexpr std::string_view kMarkedSpace = "▁";

/// The ids in BERT's own vocabulary, for files that don't name them.
constexpr std::size_t kUsualUnknown = 100, kUsualFirst = 101, kUsualLast = 102;

/// Writes the tokenizer.json for one source.
class GgufTokenizerWriter {
 public:
  GgufTokenizerWriter(const GgufSource& source, const std::stop_token& stop)
      : metadata_(source), stop_(stop) {}

  Result<std::string> write() {
    readTokens();
    const std::string kind(metadata_.text("tokenizer.ggml.model").value_or(""));
    if (const Status status = metadata_.status(); !status) return status.error();
    if (kind == "gpt2")
      writeBytePairs();
    else if (kind == "llama")
      writeSentencePieces();
    else if (kind == "bert")
      writeWordPieces();
    else
      metadata_.fail("\"tokenizer.ggml.model\" is " + quotedText(kind) +
                     ", expected gpt2 (BPE), llama (SentencePiece's BPE) or bert (WordPiece)");
    writeAround();
    writeAdded();
    if (const Status status = metadata_.status(); !status) return status.error();
    if (stop_.stop_requested()) return stopped();
    return assemble();
  }

 private:
  GgufTokenType typeOf(std::size_t id) const {
    return types_.empty() ? GgufTokenType::normal : static_cast<GgufTokenType>(types_[id]);
  }
  bool isControl(std::size_t id) const {
    return typeOf(id) == GgufTokenType::control || typeOf(id) == GgufTokenType::unknown;
  }

  void readTokens() {
    constexpr std::size_t kMaxTokens = std::size_t{1} << 24;
    if (!metadata_.has("tokenizer.ggml.tokens"))
      return metadata_.fail("has no tokenizer: the metadata \"tokenizer.ggml.tokens\" is missing");
    for (const std::string_view text :
         metadata_.texts("tokenizer.ggml.tokens").value_or(std::vector<std::string_view>()))
      // llama.cpp's name for a token without a text, of which there may be several.
      tokens_.push_back(text.empty() ? fmt::format("[EMPTY_{}]", tokens_.size()) : std::string(text));
    types_ = metadata_.integers("tokenizer.ggml.token_type").value_or(std::vector<std::int64_t>());
    if (tokens_.size() > kMaxTokens) metadata_.fail("has more than 16,777,216 tokens");
    if (!types_.empty() && types_.size() != tokens_.size())
      metadata_.fail(fmt::format("has {} tokens and {} of their types", tokens_.size(), types_.size()));
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (!validateUtf8(tokens_[i]))
        return metadata_.fail(fmt::format("token {} is not UTF-8: {}", i, quotedText(tokens_[i])));
  }

  /// The token id that the metadata give; if they give none, `usual`, or nothing if there is no such token.
  std::optional<std::size_t> idOf(const char* key, std::optional<std::size_t> usual = std::nullopt) {
    const auto id = metadata_.integer(std::string("tokenizer.ggml.") + key);
    if (!id) return usual && *usual < tokens_.size() ? usual : std::nullopt;
    if (*id < 0 || *id >= std::ssize(tokens_)) {
      metadata_.fail(
          fmt::format("\"tokenizer.ggml.{}\" is {}, expected 0 to {}", key, *id, std::ssize(tokens_) - 1));
      return std::nullopt;
    }
    return static_cast<std::size_t>(*id);
  }

  /// {"text": id, …} in order of ids.
  std::string vocabulary() {
    std::unordered_map<std::string_view, std::size_t> seen;
    std::string json = "{";
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const auto [other, fresh] = seen.emplace(tokens_[i], i);
      if (!fresh)
        metadata_.fail(fmt::format("tokens {} and {} are both {}", other->second, i, quotedText(tokens_[i])));
      json += fmt::format("{}{}:{}", i ? "," : "", Json(tokens_[i]).dump(), i);
    }
    return json + "}";
  }

  void writeBytePairs() {
    std::string pre(metadata_.text("tokenizer.ggml.pre").value_or(""));
    // The earliest files lack it; these architectures had only one at the time.
    constexpr std::pair<std::string_view, const char*> kFirst[] = {
        {"gpt2", "gpt-2"}, {"falcon", "falcon"}, {"bloom", "bloom"},          {"mpt", "mpt"},
        {"phi2", "phi-2"}, {"gptneox", "olmo"},  {"starcoder2", "starcoder"}, {"qwen2", "qwen2"}};
    for (const auto& [architecture, split] : kFirst)
      if (pre.empty() && metadata_.architecture() == architecture) pre = split;
    const GgufSplit* const split = ggufSplit(pre);
    if (!split)
      return metadata_.fail(
          pre.empty() ? std::string("lacks the metadata \"tokenizer.ggml.pre\", which says how text "
                                    "is split")
                      : "\"tokenizer.ggml.pre\" is " + quotedText(pre) + ", which Headscope doesn't know");
    normalizer_ = split->normalizer;
    preTokenizer_ = split->preTokenizer;
    decoder_ = R"({"type":"ByteLevel"})";
    std::string merges = "[";
    for (const std::string_view merge :
         metadata_.texts("tokenizer.ggml.merges").value_or(std::vector<std::string_view>())) {
      if (!validateUtf8(merge)) return metadata_.fail("a merge is not UTF-8: " + quotedText(merge));
      merges += (merges.size() > 1 ? "," : "") + Json(merge).dump();
    }
    model_ = fmt::format(R"({{"type":"BPE","ignore_merges":{},"vocab":{},"merges":{}]}})",
                         split->ignoreMerges, vocabulary(), merges);
    if (metadata_.flag("tokenizer.ggml.add_bos_token").value_or(split->begins))
      before_ = idOf("bos_token_id");
    if (metadata_.flag("tokenizer.ggml.add_eos_token").value_or(false)) after_ = idOf("eos_token_id");
  }

  /// The merges that SentencePiece derives from scores: any two pieces that together are in the vocabulary,
  /// highest score first.
  std::string mergesByScore() {
    constexpr std::size_t kLongest = 1024;
    const auto scores = metadata_.numbers("tokenizer.ggml.scores").value_or(std::vector<double>());
    if (scores.size() != tokens_.size()) {
      metadata_.fail(fmt::format("has {} tokens and {} of their scores", tokens_.size(), scores.size()));
      return "[]";
    }
    std::unordered_map<std::string_view, std::size_t> ids;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (std::isnan(scores[i])) metadata_.fail(fmt::format("the score of token {} is NaN", i));
      if (isControl(i) || typeOf(i) == GgufTokenType::byte) continue;
      ids.emplace(tokens_[i], i);
      order.push_back(i);
    }
    if (!metadata_.status()) return "[]";
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    std::string merges = "[";
    for (std::size_t n = 0; n < order.size() && !(n % 256 == 0 && stop_.stop_requested()); ++n) {
      const std::string_view text = tokens_[order[n]];
      if (text.size() > kLongest) {
        metadata_.fail(
            fmt::format("token {} has {} bytes, expected at most {}", order[n], text.size(), kLongest));
        return "[]";
      }
      for (std::size_t cut = 1; cut < text.size(); ++cut) {
        const bool inside = (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80;
        if (inside || !ids.contains(text.substr(0, cut)) || !ids.contains(text.substr(cut))) continue;
        merges += fmt::format("{}[{},{}]", merges.size() > 1 ? "," : "", Json(text.substr(0, cut)).dump(),
                              Json(text.substr(cut)).dump());
      }
    }
    return merges + "]";
  }

  void writeSentencePieces() {
    prefixed_ = metadata_.flag("tokenizer.ggml.add_space_prefix").value_or(true);
    constexpr std::string_view kReplace = R"({"type":"Replace","pattern":{"String":" "},"content":"▁"})";
    normalizer_ =
        prefixed_
            ? fmt::format(R"({{"type":"Sequence","normalizers":[{{"type":"Prepend","prepend":"▁"}},{}]}})",
                          kReplace)
            : std::string(kReplace);
    decoder_ = fmt::format(
        R"({{"type":"Sequence","decoders":[{{"type":"Replace","pattern":{{"String":"▁"}},"content":" "}},)"
        R"({{"type":"ByteFallback"}},{{"type":"Fuse"}}{}]}})",
        prefixed_ ? R"(,{"type":"Strip","content":" ","start":1,"stop":0})" : "");
    const auto unknown = idOf("unknown_token_id", 0);
    const std::string named =
        unknown ? fmt::format(R"("unk_token":{},)", Json(tokens_[*unknown]).dump()) : "";
    const std::string merges = mergesByScore();
    model_ = fmt::format(R"({{"type":"BPE",{}"fuse_unk":true,"byte_fallback":true,"vocab":{},"merges":{}}})",
                         named, vocabulary(), merges);
    if (metadata_.flag("tokenizer.ggml.add_bos_token").value_or(true)) before_ = idOf("bos_token_id", 1);
    if (metadata_.flag("tokenizer.ggml.add_eos_token").value_or(false)) after_ = idOf("eos_token_id", 2);
  }

  /// GGUF marks the beginnings of words instead of their continuations.
  void writeWordPieces() {
    bool lower = true;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      std::string& token = tokens_[i];
      const bool special =
          isControl(i) || (token.starts_with('[') && token.ends_with(']') && token.size() > 2);
      if (special) continue;
      lower = lower && std::none_of(token.begin(), token.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
      token = token.starts_with(kMarkedSpace) ? token.substr(kMarkedSpace.size()) : "##" + token;
    }
    // Files from before these keys don't say; a vocabulary without capitals is for lower case.
    lower = metadata_.flag("tokenizer.ggml.normalizer.lowercase").value_or(lower);
    const bool strip = metadata_.flag("tokenizer.ggml.normalizer.strip_accents").value_or(lower);
    normalizer_ = fmt::format(R"({{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,)"
                              R"("strip_accents":{},"lowercase":{}}})",
                              strip, lower);
    preTokenizer_ = R"({"type":"BertPreTokenizer"})";
    decoder_ = R"({"type":"WordPiece","prefix":"##","cleanup":true})";
    const auto unknown = idOf("unknown_token_id", kUsualUnknown);
    if (!unknown) return metadata_.fail("lacks the metadata \"tokenizer.ggml.unknown_token_id\"");
    model_ = fmt::format(R"({{"type":"WordPiece","unk_token":{},"continuing_subword_prefix":"##",)"
                         R"("max_input_chars_per_word":100,"vocab":{}}})",
                         Json(tokens_[*unknown]).dump(), vocabulary());
    // As in llama.cpp, the flags add_bos_token and add_eos_token mean nothing here.
    before_ =
        idOf(metadata_.has("tokenizer.ggml.cls_token_id") ? "cls_token_id" : "bos_token_id", kUsualFirst);
    after_ = idOf(metadata_.has("tokenizer.ggml.seperator_token_id") ? "seperator_token_id" : "eos_token_id",
                  kUsualLast);
  }

  /// Writes the tokens before and after a text.
  void writeAround() {
    Json single = Json::array(), special = Json::object();
    const auto add = [&](std::optional<std::size_t> id) {
      if (!id) return;
      const std::string& token = tokens_[*id];
      single.push_back({{"SpecialToken", {{"id", token}, {"type_id", 0}}}});
      special[token] = {{"id", token}, {"ids", {*id}}, {"tokens", {token}}};
    };
    add(before_);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    add(after_);
    if (special.empty()) return;
    around_ = Json{
        {"type", "TemplateProcessing"},
        {"single", single},
        {"pair", single},
        {"special_tokens",
         special}}.dump();
  }

  /// Whether a token takes the white space after it. The metadata can't say so; llama.cpp, too, knows Phi-3's
  /// by the model's name.
  bool takesSpaceAfter(std::size_t id, bool isPhi3) const {
    const std::string& token = tokens_[id];
    return isPhi3 && token != "<unk>" && token != "<s>" && token != "<|endoftext|>";
  }

  /// Writes the tokens that are matched verbatim in typed text.
  void writeAdded() {
    Json added = Json::array();
    // Only looked up, so its encoding doesn't matter.
    const GgufValue* const named = metadata_.find("general.name");
    std::string name(named ? named->text().value_or("") : "");
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const bool isPhi3 = name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const bool own = typeOf(i) == GgufTokenType::userDefined;
      if (!own && !isControl(i)) continue;
      // If spaces are rewritten, so are those in the token.
      const bool marked = own && !prefixed_ && tokens_[i].find(kMarkedSpace) != std::string::npos;
      added.push_back({{"id", i},
                       {"content", tokens_[i]},
                       {"special", !own},
                       {"normalized", marked},
                       {"rstrip", takesSpaceAfter(i, isPhi3)}});
    }
    added_ = added.dump();
  }

  std::string assemble() const {
    return fmt::format(
        R"({{"added_tokens":{},"normalizer":{},"pre_tokenizer":{},"post_processor":{},"decoder":{},)"
        R"("model":{}}})",
        added_, normalizer_, preTokenizer_, around_, decoder_, model_);
  }

  GgufMetadata metadata_;
  const std::stop_token& stop_;
  std::vector<std::string> tokens_;
  std::vector<std::int64_t> types_;
  std::optional<std::size_t> before_, after_;  // the tokens around a text
  bool prefixed_ = false;
  std::string added_ = "[]", normalizer_ = "null", preTokenizer_ = "null", around_ = "null",
              decoder_ = "null", model_;
};

}  // namespace

Result<std::string> ggufTokenizer(const GgufSource& source, const std::stop_token& stop) {
  return GgufTokenizerWriter(source, stop).write();
}

}  // namespace headscope::attention
