#include "attention/models/tokenizer/token_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"

namespace headscope::attention {
namespace {

/// The members of the model; for the two large ones only their text.
struct ModelText {
  std::string_view vocabulary, merges;
  JsonValue small;
};

Result<ModelText> divide(std::string_view json, const std::string& where) {
  ModelText model;
  model.small.kind = JsonValue::Kind::object;
  JsonCursor cursor(json);
  std::string buffer;
  if (cursor.enter('{')) {
    while (cursor.next()) {
      std::string_view name, value;
      if (!cursor.key(name, buffer)) break;
      const std::string key(name);
      if (!cursor.skip(value)) break;
      if (key == "merges" || key == "vocab") {
        (key == "vocab" ? model.vocabulary : model.merges) = value;
        continue;
      }
      auto small = parseJson(value);
      if (!small) return Error{fmt::format("{}.{}: {}", where, quotedText(key), small.error().message)};
      model.small.members.push_back({std::string(key), std::move(*small)});
    }
  }
  if (!cursor.finish()) return Error{where + ": " + cursor.fault()};
  return model;
}

/// The model's type. The earliest files lack it; there it follows from the other members.
std::string typeOf(const ModelText& model, FieldReader& fields) {
  if (model.small.find("type")) return fields.text("type");
  if (!model.merges.empty()) return "BPE";
  if (model.vocabulary.starts_with('[')) return "Unigram";
  return model.small.find("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

Result<std::unique_ptr<const TokenModel>> inside(const std::string& where,
                                                 Result<std::unique_ptr<const TokenModel>> model) {
  if (model) return model;
  return Error{where + ": " + model.error().message};
}

Result<std::unique_ptr<const TokenModel>> readBytePairs(const ModelText& text, FieldReader& fields,
                                                        Vocabulary vocabulary, const std::stop_token& stop) {
  if (const JsonValue* dropout = text.small.find("dropout");
      dropout && dropout->text.find_first_not_of("0.") != std::string::npos)
    fields.fail("\"dropout\" is " + dropout->described() + ", expected none: it makes tokens random");
  BytePairOptions options;
  options.unknown = fields.text("unk_token", "");
  options.fuseUnknown = fields.flag("fuse_unk", false);
  options.byteFallback = fields.flag("byte_fallback", false);
  options.prefix = fields.text("continuing_subword_prefix", "");
  options.suffix = fields.text("end_of_word_suffix", "");
  options.ignoreMerges = fields.flag("ignore_merges", false);
  if (text.merges.empty()) fields.fail("\"merges\" is missing, expected a list");
  if (fields.error()) return *fields.error();
  auto merges = readMerges(text.merges, fields.where() + ".merges", vocabulary, options.prefix.size(), stop);
  if (!merges) return merges.error();
  return inside(fields.where(), bytePairModel(std::move(vocabulary), std::move(*merges), options));
}

Result<std::unique_ptr<const TokenModel>> readWordPieces(FieldReader& fields, Vocabulary vocabulary) {
  WordPieceOptions options;
  options.unknown = fields.text("unk_token", options.unknown);
  options.prefix = fields.text("continuing_subword_prefix", options.prefix);
  const auto longest =
      fields.integer("max_input_chars_per_word", static_cast<std::int64_t>(options.longestWord));
  options.longestWord = longest < 0 ? 0 : static_cast<std::size_t>(longest);
  if (fields.error()) return *fields.error();
  return inside(fields.where(), wordPieceModel(std::move(vocabulary), options));
}

/// Reads [["text", score], …]; the position of an entry is its id.
Status readScores(std::string_view json, const std::string& where, Vocabulary& vocabulary,
                  std::vector<double>& scores, const std::stop_token& stop) {
  JsonCursor cursor(json);
  std::string buffer;
  std::string_view text, number;
  if (cursor.enter('[')) {
    while (cursor.next()) {
      if (scores.size() % 4096 == 0 && stop.stop_requested()) return stopped();
      if (!cursor.enter('[') || !cursor.next() || !cursor.string(text, buffer) || !cursor.next()) break;
      const std::string token(text);
      if (!cursor.word(number) || cursor.next()) break;
      double score = 0;
      const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), score);
      if (fault != std::errc() || end != number.data() + number.size() || !std::isfinite(score))
        return Error{fmt::format("{}: the score of {} is {}, expected a number", where, quotedText(token),
                                 quotedText(std::string(number)))};
      if (const auto status = vocabulary.add(token, std::ssize(scores)); !status)
        return Error{where + ": " + status.error().message};
      scores.push_back(score);
    }
  }
  const bool broken = cursor.failed();
  if (!cursor.finish())
    return Error{where + ": " + (broken ? cursor.fault() : "a token is not a pair of text and score")};
  const auto status = vocabulary.index();
  return status ? status : Error{where + ": " + status.error().message};
}

Result<std::unique_ptr<const TokenModel>> readUnigram(const ModelText& text, FieldReader& fields,
                                                      const std::stop_token& stop) {
  UnigramOptions options;
  if (text.small.find("unk_id")) {
    const auto unknown = fields.integer("unk_id");
    options.unknown = static_cast<TokenId>(std::clamp<std::int64_t>(unknown, -1, kMaxTokens));
  }
  options.byteFallback = fields.flag("byte_fallback", false);
  if (fields.error()) return *fields.error();
  if (!text.vocabulary.starts_with('['))
    return Error{fields.where() + ": \"vocab\" is missing, expected a list"};
  Vocabulary vocabulary;
  std::vector<double> scores;
  const auto status = readScores(text.vocabulary, fields.where() + ".vocab", vocabulary, scores, stop);
  if (!status) return status.error();
  return inside(fields.where(), unigramModel(std::move(vocabulary), std::move(scores), options));
}

}  // namespace

Result<std::unique_ptr<const TokenModel>> readTokenModel(std::string_view json, const std::string& where,
                                                         const std::stop_token& stop) {
  const auto text = divide(json, where);
  if (!text) return text.error();
  FieldReader fields(text->small, where);
  const std::string type = typeOf(*text, fields);
  if (fields.error()) return *fields.error();
  if (type == "Unigram") return readUnigram(*text, fields, stop);
  if (type != "BPE" && type != "WordPiece" && type != "WordLevel")
    return unsupportedType(where, type, "BPE, WordPiece, WordLevel, Unigram");
  if (!text->vocabulary.starts_with('{')) return Error{where + ": \"vocab\" is missing, expected an object"};
  Vocabulary vocabulary;
  if (const auto status = readVocabulary(text->vocabulary, where + ".vocab", vocabulary, stop); !status)
    return status.error();
  if (type == "WordLevel") {
    const std::string unknown = fields.text("unk_token");
    if (fields.error()) return *fields.error();
    return inside(where, wordLevelModel(std::move(vocabulary), unknown));
  }
  return type == "BPE" ? readBytePairs(*text, fields, std::move(vocabulary), stop)
                       : readWordPieces(fields, std::move(vocabulary));
}

namespace {

constexpr std::size_t kLongestWord = 1000;

class WordPieceModel final : public TokenModel {
 public:
  WordPieceModel(Vocabulary vocabulary, const WordPieceOptions& options, TokenId unknown)
      : TokenModel(std::move(vocabulary)), options_(options), unknown_(unknown) {}

  std::unique_ptr<PieceEncoder> encoder() const override;
  const WordPieceOptions& options() const { return options_; }
  TokenId unknown() const { return unknown_; }

 private:
  WordPieceOptions options_;
  TokenId unknown_;
};

bool continuesCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

class WordPieceEncoder final : public PieceEncoder {
 public:
  explicit WordPieceEncoder(const WordPieceModel& model) : model_(model) {}

  Status encode(std::string_view word, std::size_t offset, std::vector<PlacedToken>& tokens,
                const std::stop_token& stop) override {
    if (stop.stop_requested()) return stopped();
    enter(word);
    const std::size_t before = tokens.size();
    const auto continued = std::count_if(word.begin(), word.end(), continuesCharacter);
    bool known = word.size() - static_cast<std::size_t>(continued) <= model_.options().longestWord;
    for (std::size_t begin = 0; known && begin < word.size();) {
      const auto part = longestPart(word, begin);
      if (exhausted_) return tooManySteps();
      known = part.has_value();
      if (!known) break;
      tokens.push_back({part->id, {offset + part->range.begin, offset + part->range.end}});
      begin = part->range.end;
    }
    if (!known) {
      tokens.resize(before);
      tokens.push_back({model_.unknown(), {offset, offset + word.size()}});
    }
    return success();
  }

 private:
  std::optional<PlacedToken> longestPart(std::string_view word, std::size_t begin) {
    spelled_ = begin > 0 ? model_.options().prefix : "";
    const std::size_t front = spelled_.size(), longest = model_.vocabulary().longest();
    if (longest <= front) return std::nullopt;
    std::size_t end = std::min(word.size(), begin + longest - front);
    while (end < word.size() && end > begin && continuesCharacter(word[end])) --end;
    spelled_ += word.substr(begin, end - begin);
    while (end > begin) {
      exhausted_ = !look(spelled_.size());
      if (exhausted_) return std::nullopt;
      if (const auto id = model_.vocabulary().find(spelled_)) return PlacedToken{*id, {begin, end}};
      // One character less.
      do {
        spelled_.pop_back();
        --end;
      } while (end > begin && continuesCharacter(word[end]));
    }
    return std::nullopt;
  }

  const WordPieceModel& model_;
  std::string spelled_;
  bool exhausted_ = false;
};

std::unique_ptr<PieceEncoder> WordPieceModel::encoder() const {
  return std::make_unique<WordPieceEncoder>(*this);
}

class WordLevelModel final : public TokenModel {
 public:
  WordLevelModel(Vocabulary vocabulary, TokenId unknown)
      : TokenModel(std::move(vocabulary)), unknown_(unknown) {}
  std::unique_ptr<PieceEncoder> encoder() const override;
  TokenId unknown() const { return unknown_; }

 private:
  TokenId unknown_;
};

class WordLevelEncoder final : public PieceEncoder {
 public:
  explicit WordLevelEncoder(const WordLevelModel& model) : model_(model) {}

  Status encode(std::string_view word, std::size_t offset, std::vector<PlacedToken>& tokens,
                const std::stop_token& stop) override {
    if (stop.stop_requested()) return stopped();
    ++steps_;
    tokens.push_back(
        {model_.vocabulary().find(word).value_or(model_.unknown()), {offset, offset + word.size()}});
    return success();
  }

 private:
  const WordLevelModel& model_;
};

std::unique_ptr<PieceEncoder> WordLevelModel::encoder() const {
  return std::make_unique<WordLevelEncoder>(*this);
}

Error withoutUnknown(const std::string& unknown) {
  return Error{fmt::format("\"unk_token\" {} is not in the vocabulary", quotedText(unknown))};
}

}  // namespace

Result<std::unique_ptr<const TokenModel>> wordLevelModel(Vocabulary vocabulary, const std::string& unknown) {
  const auto id = vocabulary.find(unknown);
  if (!id) return withoutUnknown(unknown);
  return std::unique_ptr<const TokenModel>(std::make_unique<WordLevelModel>(std::move(vocabulary), *id));
}

Result<std::unique_ptr<const TokenModel>> wordPieceModel(Vocabulary vocabulary,
                                                         const WordPieceOptions& options) {
  const auto unknown = vocabulary.find(options.unknown);
  if (!unknown) return withoutUnknown(options.unknown);
  if (options.longestWord < 1 || options.longestWord > kLongestWord)
    return Error{fmt::format("\"max_input_chars_per_word\" is {}, expected 1 to {}", options.longestWord,
                             kLongestWord)};
  return std::unique_ptr<const TokenModel>(
      std::make_unique<WordPieceModel>(std::move(vocabulary), options, *unknown));
}

}  // namespace headscope::attention
