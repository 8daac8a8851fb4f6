#include <fmt/core.h>

#include <cmath>

#include "attention/formats/quote.h"
#include "attention/models/gguf/gguf_source.h"
#include "attention/models/tokenizer/tokenizer_parts.h"
#include "attention/text/ascii.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

/// The values of tokenizer.ggml.token_type.
enum class GgufTokenType { normal = 1, unknown, control, userDefined, unused, byte };

constexpr std::string_view kMarkedSpace = "▁";

/// The ids in BERT's own vocabulary, for files that don't name them.
constexpr TokenId kUsualUnknown = 100, kUsualFirst = 101, kUsualLast = 102;

/// Reads the tokenizer of one source.
class GgufTokenizerReader {
 public:
  GgufTokenizerReader(const GgufSource& source, const std::stop_token& stop)
      : metadata_(source), stop_(stop) {}

  Result<std::unique_ptr<const TokenizerParts>> read() {
    readTokens();
    const std::string kind(metadata_.text("tokenizer.ggml.model").value_or(""));
    if (const Status status = metadata_.status(); !status) return status.error();
    if (kind == "gpt2")
      readBytePairs();
    else if (kind == "llama")
      readSentencePieces();
    else if (kind == "bert")
      readWordPieces();
    else
      metadata_.fail("\"tokenizer.ggml.model\" is " + quotedText(kind) +
                     ", expected gpt2 (BPE), llama (SentencePiece's BPE) or bert (WordPiece)");
    if (metadata_.status()) readAdded();
    if (stop_.stop_requested()) return stopped();
    if (const Status status = metadata_.status(); !status) return status.error();
    return std::unique_ptr<const TokenizerParts>(std::move(parts_));
  }

 private:
  GgufTokenType typeOf(TokenId id) const {
    return types_.empty() ? GgufTokenType::normal : static_cast<GgufTokenType>(types_[at(id)]);
  }
  bool isControl(TokenId id) const {
    return typeOf(id) == GgufTokenType::control || typeOf(id) == GgufTokenType::unknown;
  }
  static std::size_t at(TokenId id) { return static_cast<std::size_t>(id); }
  TokenId count() const { return static_cast<TokenId>(tokens_.size()); }

  /// Whether to stop before the entry `i` of a long list.
  bool stopsAt(std::size_t i) const { return i % 256 == 0 && stop_.stop_requested(); }

  /// Returns whether a part could be read, and records why not.
  template <class Part>
  bool took(const Result<Part>& part) {
    if (!part) metadata_.fail(part.error().message);
    return part.ok();
  }

  void readTokens() {
    if (!metadata_.has("tokenizer.ggml.tokens"))
      return metadata_.fail("has no tokenizer: the metadata \"tokenizer.ggml.tokens\" is missing");
    for (const std::string_view text :
         metadata_.texts("tokenizer.ggml.tokens").value_or(std::vector<std::string_view>()))
      // llama.cpp's name for a token without a text, of which there may be several.
      tokens_.push_back(text.empty() ? fmt::format("[EMPTY_{}]", tokens_.size()) : std::string(text));
    types_ = metadata_.integers("tokenizer.ggml.token_type").value_or(std::vector<std::int64_t>());
    if (tokens_.size() > at(kMaxTokens))
      return metadata_.fail(fmt::format("has {} tokens, expected at most {}", tokens_.size(), kMaxTokens));
    if (!types_.empty() && types_.size() != tokens_.size())
      metadata_.fail(fmt::format("has {} tokens and {} of their types", tokens_.size(), types_.size()));
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (!validateUtf8(tokens_[i]))
        return metadata_.fail(fmt::format("token {} is not UTF-8: {}", i, quotedText(tokens_[i])));
  }

  /// The token id that the metadata give; if they give none, `usual`, or nothing if there is no such token.
  std::optional<TokenId> idOf(const char* key, std::optional<TokenId> usual = std::nullopt) {
    const auto id = metadata_.integer(std::string("tokenizer.ggml.") + key);
    if (!id) return usual && *usual < count() ? usual : std::nullopt;
    if (*id >= 0 && *id < count()) return static_cast<TokenId>(*id);
    metadata_.fail(fmt::format("\"tokenizer.ggml.{}\" is {}, expected 0 to {}", key, *id, count() - 1));
    return std::nullopt;
  }

  Vocabulary vocabulary() {
    Vocabulary all;
    for (TokenId id = 0; id < count() && !stopsAt(at(id)) && took(all.add(tokens_[at(id)], id));) ++id;
    took(all.index());
    return all;
  }

  /// Takes the rules of each kind, in tokenizer.json's form.
  void takeRules(std::string_view normalizer, std::string_view preTokenizer, std::string_view decoder) {
    took(readText(normalizer, "normalizer", readNormalizers, parts_->normalizers));
    took(readText(preTokenizer, "pre_tokenizer", readPreTokenizers, parts_->preTokenizers));
    took(readText(decoder, "decoder", readDecoders, parts_->decoders));
  }

  void takeModel(Result<AnyTokenModel> model) {
    if (took(model)) parts_->model = *std::move(model);
  }

  void takeAround(std::optional<TokenId> before, std::optional<TokenId> after) {
    if (before) parts_->around.before = {*before};
    if (after) parts_->around.after = {*after};
  }

  void readBytePairs() {
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
    takeRules(split->normalizer, split->preTokenizer, R"({"type":"ByteLevel"})");
    Vocabulary texts = vocabulary();
    MergeReader merges("\"tokenizer.ggml.merges\"", texts, 0);
    std::size_t read = 0;
    for (const std::string_view merge :
         metadata_.texts("tokenizer.ggml.merges").value_or(std::vector<std::string_view>())) {
      if (stopsAt(read++)) return;
      if (!validateUtf8(merge)) return metadata_.fail("a merge is not UTF-8: " + quotedText(merge));
      if (!took(merges.add(merge))) return;
    }
    auto table = merges.finish();
    if (took(table))
      takeModel(bytePairModel(std::move(texts), *std::move(table), {.ignoreMerges = split->ignoreMerges}));
    const bool begins = metadata_.flag("tokenizer.ggml.add_bos_token").value_or(split->begins);
    const bool ends = metadata_.flag("tokenizer.ggml.add_eos_token").value_or(false);
    takeAround(begins ? idOf("bos_token_id") : std::nullopt, ends ? idOf("eos_token_id") : std::nullopt);
  }

  /// The merges that SentencePiece derives from scores: any two pieces that together are in the vocabulary,
  /// highest score first.
  std::vector<MergeTable::Entry> mergesByScore(const Vocabulary& texts) {
    constexpr std::size_t kLongest = 1024;
    std::vector<MergeTable::Entry> merges;
    const auto scores = metadata_.numbers("tokenizer.ggml.scores").value_or(std::vector<double>());
    if (scores.size() != tokens_.size())
      metadata_.fail(fmt::format("has {} tokens and {} of their scores", tokens_.size(), scores.size()));
    for (std::size_t i = 0; i < scores.size(); ++i)
      if (std::isnan(scores[i])) metadata_.fail(fmt::format("the score of token {} is NaN", i));
    if (!metadata_.status()) return merges;
    const auto isPiece = [&](std::optional<TokenId> id) {
      return id && !isControl(*id) && typeOf(*id) != GgufTokenType::byte;
    };
    std::vector<TokenId> order;
    for (TokenId id = 0; id < count(); ++id)
      if (isPiece(id)) order.push_back(id);
    std::stable_sort(order.begin(), order.end(),
                     [&](TokenId a, TokenId b) { return scores[at(a)] > scores[at(b)]; });
    for (std::size_t n = 0; n < order.size() && !stopsAt(n); ++n) {
      const std::string_view text = tokens_[at(order[n])];
      if (text.size() > kLongest)
        metadata_.fail(
            fmt::format("token {} has {} bytes, expected at most {}", order[n], text.size(), kLongest));
      for (std::size_t cut = 1; cut < text.size() && text.size() <= kLongest; ++cut) {
        if (continuesCharacter(text[cut])) continue;
        const auto left = texts.find(text.substr(0, cut)), right = texts.find(text.substr(cut));
        if (isPiece(left) && isPiece(right))
          merges.push_back({*left, *right, {static_cast<std::uint32_t>(merges.size()), order[n]}});
      }
    }
    return merges;
  }

  void readSentencePieces() {
    prefixed_ = metadata_.flag("tokenizer.ggml.add_space_prefix").value_or(true);
    constexpr std::string_view kReplace = R"({"type":"Replace","pattern":{"String":" "},"content":"▁"})";
    takeRules(
        prefixed_
            ? fmt::format(R"({{"type":"Sequence","normalizers":[{{"type":"Prepend","prepend":"▁"}},{}]}})",
                          kReplace)
            : std::string(kReplace),
        "",
        fmt::format(
            R"({{"type":"Sequence","decoders":[{{"type":"Replace","pattern":{{"String":"▁"}},"content":" "}},)"
            R"({{"type":"ByteFallback"}},{{"type":"Fuse"}}{}]}})",
            prefixed_ ? R"(,{"type":"Strip","content":" ","start":1,"stop":0})" : ""));
    const auto unknown = idOf("unknown_token_id", 0);
    Vocabulary texts = vocabulary();
    if (!metadata_.status()) return;
    const std::vector<MergeTable::Entry> merges = mergesByScore(texts);
    takeModel(bytePairModel(
        std::move(texts), MergeTable(merges),
        {.unknown = unknown ? tokens_[at(*unknown)] : "", .fuseUnknown = true, .byteFallback = true}));
    const bool begins = metadata_.flag("tokenizer.ggml.add_bos_token").value_or(true);
    const bool ends = metadata_.flag("tokenizer.ggml.add_eos_token").value_or(false);
    takeAround(begins ? idOf("bos_token_id", 1) : std::nullopt,
               ends ? idOf("eos_token_id", 2) : std::nullopt);
  }

  /// GGUF marks the beginnings of words instead of their continuations.
  void readWordPieces() {
    bool lower = true;
    for (TokenId id = 0; id < count(); ++id) {
      std::string& token = tokens_[at(id)];
      const bool special =
          isControl(id) || (token.starts_with('[') && token.ends_with(']') && token.size() > 2);
      if (special) continue;
      lower = lower && std::none_of(token.begin(), token.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
      token = token.starts_with(kMarkedSpace) ? token.substr(kMarkedSpace.size()) : "##" + token;
    }
    // Files from before these keys don't say; a vocabulary without capitals is for lower case.
    lower = metadata_.flag("tokenizer.ggml.normalizer.lowercase").value_or(lower);
    const bool strip = metadata_.flag("tokenizer.ggml.normalizer.strip_accents").value_or(lower);
    takeRules(fmt::format(R"({{"type":"BertNormalizer","strip_accents":{},"lowercase":{}}})", strip, lower),
              R"({"type":"BertPreTokenizer"})", R"({"type":"WordPiece"})");
    const auto unknown = idOf("unknown_token_id", kUsualUnknown);
    if (!unknown) return metadata_.fail("lacks the metadata \"tokenizer.ggml.unknown_token_id\"");
    takeModel(wordPieceModel(vocabulary(), {.unknown = tokens_[at(*unknown)]}));
    // As in llama.cpp, the flags add_bos_token and add_eos_token mean nothing here.
    takeAround(
        idOf(metadata_.has("tokenizer.ggml.cls_token_id") ? "cls_token_id" : "bos_token_id", kUsualFirst),
        idOf(metadata_.has("tokenizer.ggml.seperator_token_id") ? "seperator_token_id" : "eos_token_id",
             kUsualLast));
  }

  /// Reads the tokens that are matched verbatim in typed text.
  void readAdded() {
    // Only looked up, so its encoding doesn't matter.
    const GgufValue* const named = metadata_.find("general.name");
    const std::string name = lowerCase(named ? named->text().value_or("") : "");
    // The metadata can't say which tokens take the white space after them; llama.cpp, too, knows Phi-3's by
    // the model's name.
    const bool isPhi3 = name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
    std::vector<AddedToken> added;
    for (TokenId id = 0; id < count(); ++id) {
      const std::string& token = tokens_[at(id)];
      const bool own = typeOf(id) == GgufTokenType::userDefined;
      if (!own && !isControl(id)) continue;
      // If spaces are rewritten, so are those in the token.
      const bool marked = own && !prefixed_ && token.find(kMarkedSpace) != std::string::npos;
      const bool plain = token == "<unk>" || token == "<s>" || token == "<|endoftext|>";
      added.push_back({.id = id,
                       .content = token,
                       .wanted = {},
                       .stripsRight = isPhi3 && !plain,
                       .normalized = marked,
                       .special = !own});
    }
    auto made = AddedTokens::make(std::move(added), "added_tokens", parts_->model->vocabulary(),
                                  parts_->normalizers, stop_);
    if (took(made)) parts_->added = *std::move(made);
  }

  GgufMetadata metadata_;
  const std::stop_token& stop_;
  std::vector<std::string> tokens_;
  std::vector<std::int64_t> types_;
  bool prefixed_ = false;
  std::unique_ptr<TokenizerParts> parts_ = std::make_unique<TokenizerParts>();
};

}  // namespace

Result<std::unique_ptr<const TokenizerParts>> ggufTokenizer(const GgufSource& source,
                                                            const std::stop_token& stop) {
  return GgufTokenizerReader(source, stop).read();
}

}  // namespace headscope::attention
