#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attention/formats/base64.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/tokenizer/sentence_pieces.h"
#include "attention/models/tokenizer/tokenizer_parts.h"
#include "attention/text/tokenizer.h"

// Tokenizers in the files that came before tokenizer.json: vocab.txt (WordPiece), vocab.json with merges.txt
// (BPE) and SentencePiece's .model (BPE or Unigram), each rewritten as a tokenizer.json.

namespace headscope::attention {
namespace {

using Json = nlohmann::json;
using Path = std::filesystem::path;

constexpr std::uint64_t kLargestOldFile = std::uint64_t{16} << 20;

/// What a tokenizer class of transformers adds to its files.
struct TokenizerClass {
  std::string_view names;  ///< values of tokenizer_class, without "Tokenizer" or "TokenizerFast"
  std::string_view types;  ///< values of config.json's model_type, for files that name no class
  /// Members of its tokenizer.json.
  std::string_view parts = "{}";
  /// Special tokens: fields of tokenizer_config.json and their usual texts.
  std::string_view special = {};
  std::string_view first = {}, last = {};  ///< the fields of those put around a text
};

constexpr std::string_view kBert =
    R"({"pre_tokenizer":{"type":"BertPreTokenizer"},"decoder":{"type":"WordPiece"}})";
constexpr std::string_view kBertTokens =
    R"({"unk_token":"[UNK]","sep_token":"[SEP]","pad_token":"[PAD]","cls_token":"[CLS]","mask_token":"[MASK]"})";
constexpr std::string_view kBytes =
    R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"}})";
constexpr std::string_view kRobertaTokens =
    R"({"bos_token":"<s>","eos_token":"</s>","sep_token":"</s>","cls_token":"<s>","unk_token":"<unk>",
        "pad_token":"<pad>","mask_token":"<mask>"})";
constexpr std::string_view kQwen = R"_({"normalizer":{"type":"NFC"},"decoder":{"type":"ByteLevel"},
  "pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","behavior":"Isolated","pattern":{"Regex":
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
  {"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]}})_";
constexpr std::string_view kClip = R"_({"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},
  {"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "},{"type":"Lowercase"}]},
  "pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","behavior":"Removed","invert":true,"pattern":{"Regex":
  "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"}},
  {"type":"ByteLevel","add_prefix_space":false}]},
  "decoder":{"type":"Sequence","decoders":[{"type":"ByteLevel"},
  {"type":"Replace","pattern":{"String":"</w>"},"content":" "},{"type":"Strip","content":" ","start":0,"stop":1}]},
  "model":{"end_of_word_suffix":"</w>","unk_token":"<|endoftext|>"}})_";
constexpr std::string_view kGpt1 = R"({"normalizer":{"type":"BertNormalizer","lowercase":true},
  "pre_tokenizer":{"type":"BertPreTokenizer"},"decoder":{"type":"BPEDecoder","suffix":"</w>"},
  "model":{"end_of_word_suffix":"</w>","unk_token":"<unk>"}})";
constexpr std::string_view kEndOfText =
    R"({"unk_token":"<|endoftext|>","bos_token":"<|endoftext|>","eos_token":"<|endoftext|>"})";

constexpr TokenizerClass kWordPieces[] = {
    {"Bert DistilBert Electra MobileBert ConvBert SqueezeBert Lxmert LayoutLM DPRQuestionEncoder "
     "DPRContextEncoder DPRReader",
     "bert distilbert electra mobilebert convbert squeezebert lxmert layoutlm visual_bert megatron-bert "
     "ernie dpr nomic_bert",
     kBert, kBertTokens, "cls_token", "sep_token"},
    {"MPNet", "mpnet", kBert,
     R"({"unk_token":"[UNK]","cls_token":"<s>","sep_token":"</s>","pad_token":"<pad>","mask_token":"<mask>"})",
     "cls_token", "sep_token"},
};
constexpr TokenizerClass kBytePairs[] = {
    {"GPT2 CodeGen", "gpt2 gpt_neo gptj opt codegen", kBytes, kEndOfText},
    {"Roberta Bart", "roberta bart", kBytes, kRobertaTokens, "cls_token", "sep_token"},
    {"Qwen2", "qwen2 qwen3 qwen2_moe qwen3_moe", kQwen,
     R"({"unk_token":"<|endoftext|>","eos_token":"<|endoftext|>"})"},
    {"CLIP", "clip clip_text_model", kClip,
     R"({"unk_token":"<|endoftext|>","bos_token":"<|startoftext|>","eos_token":"<|endoftext|>"})",
     "bos_token", "eos_token"},
    {"OpenAIGPT", "openai-gpt", kGpt1, R"({"unk_token":"<unk>"})"},
};
constexpr TokenizerClass kSentencePieces[] = {
    {"Llama", "llama mistral mixtral gemma", "{}",
     R"({"unk_token":"<unk>","bos_token":"<s>","eos_token":"</s>"})", "bos_token"},
    {"T5", "t5 mt5 umt5", "{}", R"({"unk_token":"<unk>","eos_token":"</s>","pad_token":"<pad>"})", "",
     "eos_token"},
    {"XLMRoberta", "xlm-roberta", "{}", kRobertaTokens, "bos_token", "eos_token"},
};

Result<std::string> textOf(const Path& file) {
  const auto bytes = readFile(file, kLargestOldFile);
  if (!bytes) return bytes.error();
  std::string text(bytes->begin(), bytes->end());
  if (const Status status = validateUtf8(text); !status) return fileError(file, status.error().message);
  return text;
}

Result<Json> jsonOf(const Path& file) {
  if (!fileExists(file)) return Json::object();
  const auto text = textOf(file);
  if (!text) return text.error();
  auto json = parseJsonTree(*text, shownPath(file));
  if (json && !json->is_object()) return fileError(file, "is not a JSON object");
  return json;
}

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

/// A special token's text: "<s>" or {"content": "<s>", …}.
std::string contentOf(const Json& token) {
  if (token.is_object() && token.contains("content")) return contentOf(token["content"]);
  return token.is_string() ? token.get<std::string>() : "";
}

/// A token's id in a vocab.json; −1 if it has none.
std::int64_t idIn(const Json& vocabulary, const std::string& token) {
  const auto id = vocabulary.find(token);
  return id != vocabulary.end() && id->is_number_integer() ? id->get<std::int64_t>() : -1;
}

/// The files of one folder.
class OlderFiles {
 public:
  explicit OlderFiles(Path folder) : folder_(std::move(folder)) {}

  Result<std::string> wordPieces(const Path& file) {
    if (const Status status = begin(kWordPieces, &kWordPieces[0]); !status) return status.error();
    const auto text = textOf(file);
    if (!text) return text.error();
    Json& vocabulary =
        (json_["model"] = {{"type", "WordPiece"}, {"unk_token", special("unk_token")}})["vocab"];
    std::size_t id = 0;
    for (const std::string& line : linesOf(*text)) vocabulary[line] = id++;
    Json& normalizer = json_["normalizer"] = {{"type", "BertNormalizer"}};
    for (const auto& [theirs, ours] : {std::pair("do_lower_case", "lowercase"),
                                       {"strip_accents", "strip_accents"},
                                       {"tokenize_chinese_chars", "handle_chinese_chars"}})
      if (config_.contains(theirs) && config_[theirs].is_boolean()) normalizer[ours] = config_[theirs];
    return finish([&](const std::string& token) { return idIn(vocabulary, token); });
  }

  Result<std::string> bytePairs(const Path& file) {
    if (const Status status = begin(kBytePairs); !status) return status.error();
    auto vocabulary = jsonOf(file);
    if (!vocabulary) return vocabulary.error();
    const auto merges = textOf(folder_ / "merges.txt");
    if (!merges) return merges.error();
    Json& model = json_["model"];
    model["type"] = "BPE";
    Json& list = model["merges"] = Json::array();
    for (std::string& line : linesOf(*merges))
      if (!line.empty() && !(list.empty() && line.starts_with("#version"))) list.push_back(std::move(line));
    model["vocab"] = *std::move(vocabulary);
    if (flag("add_prefix_space", false) && json_["pre_tokenizer"]["type"] == "ByteLevel")
      json_["pre_tokenizer"]["add_prefix_space"] = true;
    return finish([&](const std::string& token) { return idIn(model["vocab"], token); });
  }

  Result<std::string> sentencePieces(const Path& file);

 private:
  /// Reads the two configurations and finds the class; `usual`, if they say nothing of it.
  Status begin(std::span<const TokenizerClass> classes, const TokenizerClass* usual = nullptr) {
    auto config = jsonOf(folder_ / "tokenizer_config.json"), model = jsonOf(folder_ / "config.json");
    if (!config) return config.error();
    if (!model) return model.error();
    config_ = *std::move(config);
    std::string name = contentOf(config_.value("tokenizer_class", Json()));
    const std::string type = contentOf(model->value("model_type", Json()));
    name = name.substr(0, name.find("Tokenizer"));
    const bool unsaid = name.empty() && type.empty();
    class_ = unsaid ? usual : nullptr;
    std::string known;
    for (const TokenizerClass& each : classes) {
      if (name.empty() ? isListed(each.types, type) : isListed(each.names, name)) class_ = &each;
      known += (known.empty() ? "" : " ") + std::string(each.names);
    }
    if (!class_ && !(unsaid && config_.empty()))
      return fileError(
          folder_, fmt::format("has no tokenizer.json, and its older files are for {}, expected one of {}",
                               name.empty() ? type.empty() ? "no class" : type : name + "Tokenizer", known));
    if (class_) json_ = Json::parse(class_->parts), usual_ = Json::parse(class_->special);
    return success();
  }

  /// A field of tokenizer_config.json; `usual` if it is absent or null.
  bool flag(const char* field, bool usual) const {
    const Json value = config_.value(field, Json());
    return value.is_boolean() ? value.get<bool>() : usual;
  }

  /// The text of a special token, such as "unk_token".
  std::string special(std::string_view field) const {
    const std::string name(field), own = contentOf(config_.value(name, Json()));
    return own.empty() ? contentOf(usual_.value(name, Json())) : own;
  }

  /// Adds the special tokens and those around a text. idOf(text): −1 if it has no id.
  template <class IdOf>
  std::string finish(const IdOf& idOf) {
    std::map<std::int64_t, Json> added;
    const auto add = [&](const std::string& token, std::int64_t id, const Json& more) {
      if (token.empty() || id < 0 || added.contains(id)) return;
      Json& entry =
          added[id] = {{"id", id},        {"content", token}, {"special", true},     {"normalized", false},
                       {"lstrip", false}, {"rstrip", false},  {"single_word", false}};
      for (const char* flag : {"special", "normalized", "lstrip", "rstrip", "single_word"})
        if (more.is_object() && more.contains(flag)) entry[flag] = more[flag];
    };
    if (config_.contains("added_tokens_decoder") && config_["added_tokens_decoder"].is_object())
      for (const auto& [id, token] : config_["added_tokens_decoder"].items())
        add(contentOf(token), std::atoll(id.c_str()), token);
    for (const auto& [field, text] : usual_.items()) {
      const std::string token = special(field);
      add(token, idOf(token), config_.value(field, Json()));
    }
    for (auto& [id, token] : added) json_["added_tokens"].push_back(token);
    if (!class_) return json_.dump();
    Json around = {{"type", "TemplateProcessing"},
                   {"single", Json::array()},
                   {"pair", Json::array()},
                   {"special_tokens", Json::object()}};
    const auto put = [&](const char* list, const std::string& token) {
      if (token.empty() || idOf(token) < 0) return;
      around[list].push_back({{"SpecialToken", {{"id", token}, {"type_id", 0}}}});
      around["special_tokens"][token] = {{"id", token}, {"ids", {idOf(token)}}, {"tokens", {token}}};
    };
    const auto text = [&](const char* list, const char* id, int type) {
      around[list].push_back({{"Sequence", {{"id", id}, {"type_id", type}}}});
    };
    const std::string first = flag("add_bos_token", true) ? special(class_->first) : "";
    const std::string last = special(flag("add_eos_token", false) ? "eos_token" : class_->last);
    const bool typed = class_ == &kWordPieces[0];
    for (const char* list : {"single", "pair"}) {
      put(list, first);
      text(list, "A", 0);
      put(list, last);
    }
    // RoBERTa and its relatives put two tokens between texts.
    if (!typed && !first.empty()) put("pair", last);
    text("pair", "B", typed ? 1 : 0);
    put("pair", last);
    if (around["single"].size() > 1) json_["post_processor"] = around;
    return json_.dump();
  }

  Path folder_;
  const TokenizerClass* class_ = nullptr;
  Json config_, json_ = Json::object(), usual_ = Json::object();
};

Result<std::string> OlderFiles::sentencePieces(const Path& file) {
  if (const Status status = begin(kSentencePieces); !status) return status.error();
  const auto bytes = readFile(file, kLargestOldFile);
  if (!bytes) return bytes.error();
  auto model = PieceModel::read({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (!model) return fileError(file, "is not a SentencePiece model");
  if (model->type > 2)
    return fileError(file, "is a SentencePiece model of words or characters, expected BPE or Unigram");
  std::vector<PieceModel::Piece>& pieces = model->pieces;
  const std::string name(class_ ? class_->names : "");
  if (name == "XLMRoberta") {
    // fairseq's first ids; SentencePiece's are <unk>, <s> and </s>.
    pieces.erase(pieces.begin(), pieces.begin() + std::min<std::ptrdiff_t>(3, std::ssize(pieces)));
    pieces.insert(pieces.begin(), {{"<s>", 0, PieceModel::control},
                                   {"<pad>", 0, PieceModel::control},
                                   {"</s>", 0, PieceModel::control},
                                   {"<unk>", 0, PieceModel::unknown}});
    pieces.push_back({"<mask>", 0, PieceModel::userDefined});
  } else if (name == "T5") {
    constexpr std::uint64_t kMostExtra = 1024;
    const Json extra = config_.value("extra_ids", Json(100U));
    if (!extra.is_number_unsigned() || extra.get<std::uint64_t>() > kMostExtra)
      return fileError(folder_, fmt::format("has extra_ids {}, expected 0 to {}", extra.dump(), kMostExtra));
    for (std::uint64_t i = extra.get<std::uint64_t>(); i-- > 0;)
      pieces.push_back({fmt::format("<extra_id_{}>", i), 0, PieceModel::userDefined});
  }
  const bool bytePairs = model->type == 2;
  Json& to = json_["model"] = {{"type", bytePairs ? "BPE" : "Unigram"}};
  Json& decoder = config_["added_tokens_decoder"];
  if (!decoder.is_object()) decoder = Json::object();
  std::map<std::string, std::int64_t> ids;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const PieceModel::Piece& piece = pieces[i];
    if (!validateUtf8(piece.text)) return fileError(file, fmt::format("has a piece {} that isn't UTF-8", i));
    ids.emplace(piece.text, i);
    if (bytePairs)
      to["vocab"][piece.text] = i;
    else
      to["vocab"].push_back({piece.text, piece.score});
    to["byte_fallback"] = to.value("byte_fallback", false) || piece.kind == PieceModel::byte;
    if (piece.kind == PieceModel::unknown)
      to[bytePairs ? "unk_token" : "unk_id"] = bytePairs ? Json(piece.text) : Json(i);
    if (piece.kind == PieceModel::control || piece.kind == PieceModel::unknown ||
        piece.kind == PieceModel::userDefined)
      decoder.emplace(std::to_string(i), Json{{"content", piece.text},
                                              {"normalized", piece.kind == PieceModel::userDefined},
                                              {"special", piece.kind != PieceModel::userDefined}});
  }
  if (bytePairs) to["merges"] = mergesByScore(pieces), to["fuse_unk"] = true;
  Json& rules = (json_["normalizer"] = {{"type", "Sequence"}})["normalizers"] = Json::array();
  if (!model->map.empty())
    rules.push_back({{"type", "Precompiled"},
                     {"precompiled_charsmap",
                      toBase64({reinterpret_cast<const std::uint8_t*>(model->map.data()), model->map.size()},
                               Base64::standard)}});
  if (model->trims) {
    rules.push_back({{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}});
    rules.push_back({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}});
  }
  const bool prefix = flag("add_prefix_space", model->prefix);
  if (prefix) rules.push_back({{"type", "Prepend"}, {"prepend", "▁"}});
  rules.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}});
  const Json spaces = {
      {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", prefix ? "always" : "never"}};
  json_["decoder"] = {{"type", "Sequence"}, {"decoders", {{{"type", "ByteFallback"}}, spaces}}};
  return finish([&](const std::string& token) { return ids.contains(token) ? ids[token] : -1; });
}

}  // namespace

Result<std::string> olderTokenizer(const Path& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  OlderFiles files(folder ? path : path.parent_path());
  const auto isCalled = [&](const char* name) {
    return folder ? fileExists(path / name) : path.filename() == name;
  };
  const auto at = [&](const char* name) { return folder ? path / name : path; };
  if (isCalled("vocab.json") && (!folder || fileExists(path / "merges.txt")))
    return files.bytePairs(at("vocab.json"));
  for (const char* name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model"})
    if (isCalled(name)) return files.sentencePieces(at(name));
  if (!folder && path.extension() == ".model") return files.sentencePieces(path);
  if (isCalled("vocab.txt")) return files.wordPieces(at("vocab.txt"));
  return std::string();
}

}  // namespace headscope::attention
