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
  const auto take = [&](std::string_view name, std::string_view value) -> Status {
    if (name == "merges" || name == "vocab") {
      (name == "vocab" ? model.vocabulary : model.merges) = value;
      return success();
    }
    auto small = parseJson(value);
    if (!small) return Error{fmt::format("{}.{}: {}", where, quotedText(name), small.error().message)};
    model.small.members.push_back({std::string(name), std::move(*small)});
    return success();
  };
  if (const Status read = eachMember(json, where, take); !read) return read.error();
  return model;
}

/// The model's type. The earliest files lack it; there it follows from the other members.
std::string typeOf(const ModelText& model, FieldReader& fields) {
  if (fields.has("type")) return fields.text("type");
  if (!model.merges.empty()) return "BPE";
  if (model.vocabulary.starts_with('[')) return "Unigram";
  return fields.has("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

/// Calls read(i) for each item of the list or members of the object that `cursor` enters, until it returns an
/// Error or the cursor fails. Returns that Error, what is wrong with the JSON, prefixed by `where`, or
/// "stopped".
template <class Read>
Status eachEntry(JsonCursor& cursor, char open, const std::string& where, const std::stop_token& stop,
                 const Read& read) {
  if (cursor.enter(open))
    for (std::size_t i = 0; cursor.next(); ++i) {
      if (i % 4096 == 0 && stop.stop_requested()) return stopped();
      if (const Status status = read(i); !status) return status;
    }
  return cursor.finish() ? success() : Error{where + ": " + cursor.fault()};
}

template <class T>
Result<T> inside(const std::string& where, Result<T> result) {
  if (result) return result;
  return Error{where + ": " + result.error().message};
}

/// Reads {"text": id, …}. An Error names the text and begins with `where`.
Status readVocabulary(std::string_view json, const std::string& where, Vocabulary& vocabulary,
                      const std::stop_token& stop) {
  constexpr std::size_t kMinEntry = 24;  // bytes per token in an indented file
  vocabulary.reserve(json.size() / kMinEntry, json.size() / 2);
  JsonCursor cursor(json);
  std::string buffer;
  std::string_view text;
  std::int64_t id = 0;
  const Status read = eachEntry(cursor, '{', where, stop, [&](std::size_t) {
    if (!cursor.key(text, buffer) || !cursor.integer(id)) return success();
    return inside(where, vocabulary.add(text, id));
  });
  return read ? inside(where, vocabulary.index()) : read;
}

/// Reads ["a b", …] or [["a", "b"], …].
Result<MergeTable> readMerges(std::string_view json, const std::string& where, const Vocabulary& vocabulary,
                              std::size_t prefix, const std::stop_token& stop) {
  MergeReader merges(where, vocabulary, prefix);
  JsonCursor cursor(json);
  std::string buffer, rightBuffer;
  std::string_view left, right;
  const Status read = eachEntry(cursor, '[', where, stop, [&](std::size_t) -> Status {
    if (cursor.peek() == '"') return cursor.string(left, buffer) ? merges.add(left) : success();
    if (!cursor.enter('[')) return success();
    for (const bool first : {true, false}) {
      if (!cursor.next())
        return cursor.failed() ? success() : Status(merges.failure("has fewer than two parts"));
      if (!(first ? cursor.string(left, buffer) : cursor.string(right, rightBuffer))) return success();
    }
    if (cursor.next()) return merges.failure("has more than two parts");
    return cursor.failed() ? success() : merges.add(left, right);
  });
  return read ? merges.finish() : read.error();
}

/// Reads [["text", score], …]; the position of an entry is its id.
Status readScores(std::string_view json, const std::string& where, Vocabulary& vocabulary,
                  std::vector<double>& scores, const std::stop_token& stop) {
  JsonCursor cursor(json);
  std::string buffer;
  std::string_view text, number;
  const auto noPair = [&] {
    return cursor.failed() ? success() : Status(Error{where + ": a token is not a pair of text and score"});
  };
  const Status read = eachEntry(cursor, '[', where, stop, [&](std::size_t i) -> Status {
    if (!cursor.enter('[') || !cursor.next() || !cursor.string(text, buffer) || !cursor.next() ||
        !cursor.word(number) || cursor.next() || cursor.failed())
      return noPair();
    double score = 0;
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), score);
    if (fault != std::errc() || end != number.data() + number.size() || !std::isfinite(score))
      return Error{fmt::format("{}: the score of {} is {}, expected a number", where, quotedText(text),
                               quotedText(number))};
    scores.push_back(score);
    return inside(where, vocabulary.add(text, static_cast<std::int64_t>(i)));
  });
  return read ? inside(where, vocabulary.index()) : read;
}

Result<AnyTokenModel> readBytePairs(const ModelText& text, FieldReader& fields, Vocabulary vocabulary,
                                    const std::stop_token& stop) {
  if (const JsonValue* dropout = text.small.find("dropout");
      dropout && dropout->text.find_first_not_of("0.") != std::string::npos && dropout->text != "false")
    fields.fail("\"dropout\" is " + dropout->described() + ", expected none: it makes tokens random");
  const BytePairOptions options{.unknown = fields.text("unk_token", ""),
                                .fuseUnknown = fields.flag("fuse_unk", false),
                                .byteFallback = fields.flag("byte_fallback", false),
                                .ignoreMerges = fields.flag("ignore_merges", false),
                                .prefix = fields.text("continuing_subword_prefix", ""),
                                .suffix = fields.text("end_of_word_suffix", "")};
  if (text.merges.empty()) fields.fail("\"merges\" is missing, expected a list");
  if (const Status status = fields.status(); !status) return status.error();
  auto merges = readMerges(text.merges, fields.where() + ".merges", vocabulary, options.prefix.size(), stop);
  if (!merges) return merges.error();
  return inside(fields.where(), bytePairModel(std::move(vocabulary), std::move(*merges), options));
}

Result<AnyTokenModel> readUnigram(const ModelText& text, FieldReader& fields, const std::stop_token& stop) {
  UnigramOptions options;
  if (fields.has("unk_id")) {
    const auto unknown = fields.integer("unk_id");
    options.unknown = static_cast<TokenId>(std::clamp<std::int64_t>(unknown, -1, kMaxTokens));
  }
  options.byteFallback = fields.flag("byte_fallback", false);
  if (!text.vocabulary.starts_with('[')) fields.fail("\"vocab\" is missing, expected a list");
  if (const Status status = fields.status(); !status) return status.error();
  Vocabulary vocabulary;
  std::vector<double> scores;
  const auto status = readScores(text.vocabulary, fields.where() + ".vocab", vocabulary, scores, stop);
  if (!status) return status.error();
  return inside(fields.where(), unigramModel(std::move(vocabulary), std::move(scores), options));
}

Result<AnyTokenModel> readModel(const std::string& type, const ModelText& text, FieldReader& fields,
                                const std::stop_token& stop) {
  if (type == "Unigram") return readUnigram(text, fields, stop);
  if (!text.vocabulary.starts_with('{')) fields.fail("\"vocab\" is missing, expected an object");
  Vocabulary vocabulary;
  if (fields.status())
    fields.take(readVocabulary(text.vocabulary, fields.where() + ".vocab", vocabulary, stop));
  if (!fields.status()) return fields.status().error();
  if (type == "BPE") return readBytePairs(text, fields, std::move(vocabulary), stop);
  const WordPieceOptions usual;
  const bool whole = type == "WordLevel";
  const std::string unknown = whole ? fields.text("unk_token") : fields.text("unk_token", usual.unknown);
  if (whole && fields.status()) return inside(fields.where(), wordLevelModel(std::move(vocabulary), unknown));
  const WordPieceOptions options{
      .unknown = unknown,
      .prefix = fields.text("continuing_subword_prefix", usual.prefix),
      .longestWord = fields.integer("max_input_chars_per_word", usual.longestWord)};
  if (!fields.status()) return fields.status().error();
  return inside(fields.where(), wordPieceModel(std::move(vocabulary), options));
}

}  // namespace

Result<AnyTokenModel> readTokenModel(std::string_view json, const std::string& where,
                                     const std::stop_token& stop) {
  const auto text = divide(json, where);
  if (!text) return text.error();
  FieldReader fields(text->small, where);
  const std::string type = typeOf(*text, fields);
  if (!fields.status()) return fields.status().error();
  if (type != "BPE" && type != "WordPiece" && type != "WordLevel" && type != "Unigram")
    return unsupportedType(where, type, "BPE, WordPiece, WordLevel, Unigram");
  return readModel(type, *text, fields, stop);
}

namespace {

struct WordLevelTables {
  Vocabulary vocabulary;
  TokenId unknown;
};

class WordLevelEncoder final : public PieceEncoder {
 public:
  explicit WordLevelEncoder(const WordLevelTables& tables) : tables_(tables) {}

  Status encode(std::string_view word, std::size_t offset, std::vector<PlacedToken>& tokens,
                const std::stop_token& stop) override {
    if (stop.stop_requested()) return stopped();
    ++steps_;
    tokens.push_back(
        {tables_.vocabulary.find(word).value_or(tables_.unknown), {offset, offset + word.size()}});
    return success();
  }

 private:
  const WordLevelTables& tables_;
};

struct WordPieceTables {
  Vocabulary vocabulary;
  TokenId unknown;
  WordPieceOptions options;
};

class WordPieceEncoder final : public PieceEncoder {
 public:
  explicit WordPieceEncoder(const WordPieceTables& tables) : tables_(tables) {}

  Status encode(std::string_view word, std::size_t offset, std::vector<PlacedToken>& tokens,
                const std::stop_token& stop) override {
    if (stop.stop_requested()) return stopped();
    enter(word);
    const std::size_t before = tokens.size();
    const auto continued = std::count_if(word.begin(), word.end(), continuesCharacter);
    bool known = std::ssize(word) - continued <= tables_.options.longestWord;
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
      tokens.push_back({tables_.unknown, {offset, offset + word.size()}});
    }
    return success();
  }

 private:
  std::optional<PlacedToken> longestPart(std::string_view word, std::size_t begin) {
    spelled_ = begin > 0 ? tables_.options.prefix : "";
    const std::size_t front = spelled_.size(), longest = tables_.vocabulary.longest();
    if (longest <= front) return std::nullopt;
    std::size_t end = std::min(word.size(), begin + longest - front);
    while (end < word.size() && end > begin && continuesCharacter(word[end])) --end;
    spelled_ += word.substr(begin, end - begin);
    while (end > begin) {
      exhausted_ = !look(spelled_.size());
      if (exhausted_) return std::nullopt;
      if (const auto id = tables_.vocabulary.find(spelled_)) return PlacedToken{*id, {begin, end}};
      // One character less.
      do {
        spelled_.pop_back();
        --end;
      } while (end > begin && continuesCharacter(word[end]));
    }
    return std::nullopt;
  }

  const WordPieceTables& tables_;
  std::string spelled_;
  bool exhausted_ = false;
};

Error withoutUnknown(const std::string& unknown) {
  return Error{fmt::format("\"unk_token\" {} is not in the vocabulary", quotedText(unknown))};
}

}  // namespace

Result<AnyTokenModel> wordLevelModel(Vocabulary vocabulary, const std::string& unknown) {
  const auto id = vocabulary.find(unknown);
  if (!id) return withoutUnknown(unknown);
  return tokenModel<WordLevelEncoder, WordLevelTables>(std::move(vocabulary), *id);
}

Result<AnyTokenModel> wordPieceModel(Vocabulary vocabulary, const WordPieceOptions& options) {
  constexpr std::int64_t kLongestWord = 1000;
  const auto unknown = vocabulary.find(options.unknown);
  if (!unknown) return withoutUnknown(options.unknown);
  if (options.longestWord < 1 || options.longestWord > kLongestWord)
    return Error{fmt::format("\"max_input_chars_per_word\" is {}, expected 1 to {}", options.longestWord,
                             kLongestWord)};
  return tokenModel<WordPieceEncoder, WordPieceTables>(std::move(vocabulary), *unknown, options);
}

}  // namespace headscope::attention
