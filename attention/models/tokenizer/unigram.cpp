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
    sorted_.reserve(scores_.size());
    for (TokenId id = 0; id < this->vocabulary().limit(); ++id)
      if (this->vocabulary().has(id) && !text(id).empty()) sorted_.push_back(id);
    std::ranges::sort(sorted_, {}, [this](TokenId id) { return text(id); });
    auto from = sorted_.begin();
    for (std::size_t byte = 0; byte < byFirst_.size(); ++byte) {
      const auto to = std::find_if(
          from, sorted_.end(), [&](TokenId id) { return static_cast<unsigned char>(text(id)[0]) != byte; });
      byFirst_[byte] = {from, to};
      from = to;
    }
  }

  std::unique_ptr<PieceEncoder> encoder() const override;
  double score(TokenId id) const { return scores_[static_cast<std::size_t>(id)]; }
  double unknownScore() const { return unknownScore_; }
  const UnigramOptions& options() const { return options_; }
  /// Whether a place reached with this token is an unknown character: so is the unknown token's own spelling.
  bool isUnknown(TokenId id) const { return id == kNoToken || id == options_.unknown; }
  TokenId byteToken(char byte) const { return byteTokens_[static_cast<unsigned char>(byte)]; }

  /// Calls `take(id, length)` with every token that `rest` begins with, shortest first, until it returns
  /// false.
  template <class Take>
  bool eachAtFront(std::string_view rest, const Take& take) const {
    auto [first, last] = byFirst_[static_cast<unsigned char>(rest[0])];
    // The tokens in [first, last) begin with the first `length` bytes of `rest`.
    for (std::size_t length = 1; first < last;) {
      if (std::string_view token = text(*first); token.size() == length) {
        if (!take(*first, length)) return false;
        ++first;
        continue;
      } else if (last - first == 1) {
        return !rest.starts_with(token) ? take(kNoToken, length) : take(*first, token.size());
      }
      if (!take(kNoToken, length)) return false;
      if (length == rest.size()) break;
      const auto byte = static_cast<unsigned char>(rest[length]);
      const auto at = [this, length](TokenId id) { return static_cast<unsigned char>(text(id)[length]); };
      first = std::partition_point(first, last, [&](TokenId id) { return at(id) < byte; });
      last = std::partition_point(first, last, [&](TokenId id) { return at(id) <= byte; });
      ++length;
    }
    return true;
  }

 private:
  using Ids = std::vector<TokenId>;
  std::string_view text(TokenId id) const { return vocabulary().text(id); }

  std::vector<double> scores_;  // by id
  Ids sorted_;                  // by text
  std::array<std::pair<Ids::const_iterator, Ids::const_iterator>, 256> byFirst_{};
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
      if (id != kNoToken) reach(begin + length, begin, here + model_.score(id), id);
      single |= id != kNoToken && begin + length == first;
      return look(id == kNoToken ? 8 : length);
    };
    if (!model_.eachAtFront(piece.substr(begin), take)) return std::nullopt;
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
