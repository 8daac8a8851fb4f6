#include <fmt/core.h>

#include <algorithm>

#include "attention/core/stopped.h"
#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {
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
