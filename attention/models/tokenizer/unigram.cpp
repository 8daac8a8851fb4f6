#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {
namespace {

constexpr TokenId kNoToken = -1;

struct UnigramTables {
  UnigramTables(Vocabulary texts, std::vector<double> numbers, const UnigramOptions& given)
      : vocabulary(std::move(texts)), scores(std::move(numbers)), options(given) {
    // SentencePiece's penalty.
    constexpr double kPenalty = 10;
    unknownScore = *std::min_element(scores.begin(), scores.end()) - kPenalty;
    if (options.byteFallback) bytes.emplace(vocabulary);
    std::vector<SortedTexts::Entry> entries;
    entries.reserve(scores.size());
    for (TokenId id = 0; id < vocabulary.limit(); ++id)
      if (const std::string_view text = vocabulary.text(id); !text.empty()) entries.push_back({text, id});
    sorted = SortedTexts(std::move(entries));
  }
  /// Whether a place reached with this token is an unknown character: so is the unknown token's own spelling.
  bool isUnknown(TokenId id) const { return id == kNoToken || id == options.unknown; }

  Vocabulary vocabulary;
  std::vector<double> scores;  ///< by id
  UnigramOptions options;
  double unknownScore = 0;
  std::optional<ByteTokens> bytes;
  SortedTexts sorted;  ///< by id
};

/// Viterbi's algorithm over the places between characters: keeps, for each place, the path with the largest
/// sum of scores.
class UnigramEncoder final : public PieceEncoder {
 public:
  explicit UnigramEncoder(const UnigramTables& tables) : tables_(tables) {}

  Status encode(std::string_view piece, std::size_t offset, std::vector<PlacedToken>& tokens,
                const std::stop_token& stop) override {
    looked_ = steps_;
    enter(piece);
    places_.assign(piece.size() + 1, {});
    places_[0].score = 0;
    for (std::size_t begin = 0; begin < piece.size();) {
      if (steps_ - looked_ > 4096) {
        if (stop.stop_requested()) return stopped();
        looked_ = steps_;
      }
      const auto next = leave(piece, begin);
      if (!next) return tooManySteps();
      begin = *next;
    }
    walkBack(piece);
    for (const ByteRange& part : parts_)
      if (!addPart(piece, part, offset, tokens))
        return Error{fmt::format("{} has no token, and the tokenizer has no \"unk_id\" for unknown text",
                                 quotedText(piece.substr(part.begin, part.end - part.begin)))};
    return success();
  }

 private:
  struct Place {
    double score = -std::numeric_limits<double>::infinity();
    std::size_t from = 0;
    TokenId id = kNoToken;  // of the token that ends here; kNoToken: an unknown character
  };

  void reach(std::size_t end, std::size_t from, double score, TokenId id) {
    // The first of equals is kept.
    if (score > places_[end].score) places_[end] = {score, from, id};
  }

  /// Tries every token that begins at `begin`. Returns the end of the character there; nothing if that takes
  /// too many steps.
  std::optional<std::size_t> leave(std::string_view piece, std::size_t begin) {
    const double here = places_[begin].score;
    const std::size_t first = begin + decodeUtf8(piece, begin).length;
    bool single = false;
    const auto take = [&](TokenId id, std::size_t length) {
      if (id != kNoToken)
        reach(begin + length, begin, here + tables_.scores[static_cast<std::size_t>(id)], id);
      single |= id != kNoToken && begin + length == first;
      return look(id == kNoToken ? 8 : length);
    };
    if (!tables_.sorted.eachAtFront(piece.substr(begin), take)) return std::nullopt;
    if (!single) reach(first, begin, here + tables_.unknownScore, kNoToken);
    return first;
  }

  /// Collects the parts of the best path, joining neighbouring unknown characters.
  void walkBack(std::string_view piece) {
    parts_.clear();
    bool unknown = false;
    for (std::size_t end = piece.size(); end > 0; end = places_[end].from) {
      const Place& place = places_[end];
      const bool before = std::exchange(unknown, tables_.isUnknown(place.id));
      if (before && unknown)
        parts_.back().begin = place.from;
      else
        parts_.push_back({place.from, end});
    }
    std::reverse(parts_.begin(), parts_.end());
  }

  /// Returns false if the part has no token.
  bool addPart(std::string_view piece, ByteRange part, std::size_t offset, std::vector<PlacedToken>& tokens) {
    const std::string_view text = piece.substr(part.begin, part.end - part.begin);
    const auto add = [&](TokenId id, std::size_t begin, std::size_t end) {
      tokens.push_back({id, {offset + begin, offset + end}});
      return true;
    };
    if (const auto id = tables_.vocabulary.find(text)) return add(*id, part.begin, part.end);
    const auto addByte = [&](TokenId byte, std::size_t at) {
      add(byte, part.begin + at, part.begin + at + 1);
    };
    if (tables_.bytes && tables_.bytes->spell(text, addByte)) return true;
    return tables_.options.unknown && add(*tables_.options.unknown, part.begin, part.end);
  }

  const UnigramTables& tables_;
  std::size_t looked_ = 0;
  std::vector<Place> places_;
  std::vector<ByteRange> parts_;
};

}  // namespace

Result<AnyTokenModel> unigramModel(Vocabulary vocabulary, std::vector<double> scores,
                                   const UnigramOptions& options) {
  if (scores.empty()) return Error{"\"vocab\" is empty, expected a list of tokens"};
  if (options.unknown && !vocabulary.has(*options.unknown))
    return Error{
        fmt::format("\"unk_id\" is {}, expected one of the {} tokens", *options.unknown, vocabulary.count())};
  return tokenModel<UnigramEncoder, UnigramTables>(std::move(vocabulary), std::move(scores), options);
}

}  // namespace headscope::attention
