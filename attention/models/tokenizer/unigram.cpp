#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "attention/core/stopped.h"
#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {
namespace {

constexpr TokenId kNoToken = -1;

class UnigramModel final : public TokenModel {
 public:
  UnigramModel(Vocabulary vocabulary, std::vector<double> scores, const UnigramOptions& options)
      : TokenModel(std::move(vocabulary)), scores_(std::move(scores)), options_(options) {
    // SentencePiece's penalty.
    constexpr double kPenalty = 10;
    unknownScore_ = *std::min_element(scores_.begin(), scores_.end()) - kPenalty;
    if (options_.byteFallback)
      for (unsigned byte = 0; byte < byteTokens_.size(); ++byte)
        byteTokens_[byte] = this->vocabulary().find(fmt::format("<0x{:02X}>", byte)).value_or(kNoToken);
  }

  std::unique_ptr<PieceEncoder> encoder() const override;
  double score(TokenId id) const { return scores_[static_cast<std::size_t>(id)]; }
  double unknownScore() const { return unknownScore_; }
  const UnigramOptions& options() const { return options_; }
  /// Whether a place reached with this token is an unknown character: so is the unknown token's own spelling.
  bool isUnknown(TokenId id) const { return id == kNoToken || id == options_.unknown; }
  TokenId byteToken(char byte) const { return byteTokens_[static_cast<unsigned char>(byte)]; }

 private:
  std::vector<double> scores_;  // by id
  UnigramOptions options_;
  double unknownScore_ = 0;
  std::array<TokenId, 256> byteTokens_{};  // with byteFallback
};

/// Viterbi's algorithm over the places between characters: keeps, for each place, the path with the largest
/// sum of scores.
class UnigramEncoder final : public PieceEncoder {
 public:
  explicit UnigramEncoder(const UnigramModel& model) : model_(model) {}

  Status encode(std::string_view piece, std::size_t offset, std::vector<PlacedToken>& tokens,
                const std::stop_token& stop) override {
    looked_ = steps_;
    places_.assign(piece.size() + 1, {});
    places_[0].score = 0;
    for (std::size_t begin = 0; begin < piece.size();) {
      if (steps_ - looked_ > 4096) {
        if (stop.stop_requested()) return stopped();
        looked_ = steps_;
      }
      begin = leave(piece, begin);
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

  /// Tries every token that begins at `begin`. Returns the end of the character there.
  std::size_t leave(std::string_view piece, std::size_t begin) {
    const double here = places_[begin].score;
    const std::size_t most = std::min(piece.size(), begin + model_.vocabulary().longest());
    const std::size_t first = begin + decodeUtf8(piece, begin).length;
    bool single = false;
    for (std::size_t end = first; end <= most; end += decodeUtf8(piece, end).length) {
      ++steps_;
      if (const auto id = model_.vocabulary().find(piece.substr(begin, end - begin))) {
        reach(end, begin, here + model_.score(*id), *id);
        single |= end == first;
      }
      if (end == piece.size()) break;
    }
    if (!single) reach(first, begin, here + model_.unknownScore(), kNoToken);
    return first;
  }

  /// Collects the parts of the best path, joining neighbouring unknown characters.
  void walkBack(std::string_view piece) {
    parts_.clear();
    bool unknown = false;
    for (std::size_t end = piece.size(); end > 0; end = places_[end].from) {
      const Place& place = places_[end];
      const bool before = std::exchange(unknown, model_.isUnknown(place.id));
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
    if (const auto id = model_.vocabulary().find(text)) return add(*id, part.begin, part.end);
    const auto has = [this](char byte) { return model_.byteToken(byte) != kNoToken; };
    if (model_.options().byteFallback && std::all_of(text.begin(), text.end(), has)) {
      for (std::size_t at = part.begin; at < part.end; ++at) add(model_.byteToken(piece[at]), at, at + 1);
      return true;
    }
    return model_.options().unknown && add(*model_.options().unknown, part.begin, part.end);
  }

  const UnigramModel& model_;
  std::size_t looked_ = 0;
  std::vector<Place> places_;
  std::vector<ByteRange> parts_;
};

std::unique_ptr<PieceEncoder> UnigramModel::encoder() const {
  return std::make_unique<UnigramEncoder>(*this);
}

}  // namespace

Result<std::unique_ptr<const TokenModel>> unigramModel(Vocabulary vocabulary, std::vector<double> scores,
                                                       const UnigramOptions& options) {
  if (scores.empty()) return Error{"\"vocab\" is empty, expected a list of tokens"};
  if (options.unknown && !vocabulary.has(*options.unknown))
    return Error{
        fmt::format("\"unk_id\" is {}, expected one of the {} tokens", *options.unknown, vocabulary.count())};
  return std::unique_ptr<const TokenModel>(
      std::make_unique<UnigramModel>(std::move(vocabulary), std::move(scores), options));
}

}  // namespace headscope::attention
