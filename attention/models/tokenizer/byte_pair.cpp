#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "attention/core/stopped.h"
#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {
namespace {

constexpr std::int32_t kNone = -1;

class BytePairModel final : public TokenModel {
 public:
  BytePairModel(Vocabulary vocabulary, MergeTable merges, const BytePairOptions& options)
      : TokenModel(std::move(vocabulary)), merges_(std::move(merges)), options_(options) {
    if (!options_.unknown.empty()) unknown_ = this->vocabulary().find(options_.unknown);
    if (options_.byteFallback)
      for (unsigned byte = 0; byte < byteTokens_.size(); ++byte)
        byteTokens_[byte] = this->vocabulary().find(fmt::format("<0x{:02X}>", byte)).value_or(kNone);
    plain_ = options_.prefix.empty() && options_.suffix.empty();
    std::string character;
    for (char32_t c = 0; c < frequent_.size(); ++c) {
      character.clear();
      appendUtf8(c, character);
      frequent_[c] = this->vocabulary().find(character).value_or(kNone);
    }
  }

  std::unique_ptr<PieceEncoder> encoder() const override;

  const MergeTable& merges() const { return merges_; }
  const BytePairOptions& options() const { return options_; }
  std::optional<TokenId> unknown() const { return unknown_; }
  TokenId byteToken(char byte) const { return byteTokens_[static_cast<unsigned char>(byte)]; }
  /// kNone if the character has no token.
  TokenId characterToken(char32_t c, std::string_view text, bool first, bool last) const {
    if (plain_) return c < frequent_.size() ? frequent_[c] : vocabulary().find(text).value_or(kNone);
    const std::string spelled =
        (first ? "" : options_.prefix) + std::string(text) + (last ? options_.suffix : "");
    return vocabulary().find(spelled).value_or(kNone);
  }

 private:
  MergeTable merges_;
  BytePairOptions options_;
  std::optional<TokenId> unknown_;
  std::array<TokenId, 256> byteTokens_{};  // with byteFallback
  bool plain_ = true;                      // a character's token doesn't depend on its place
  std::array<TokenId, 0x180> frequent_{};  // covers all characters of byte-level pieces
};

/// A token in progress, in a linked list of those that remain.
struct Symbol {
  TokenId id;
  std::uint32_t begin, end;  // in the piece; equal once merged into the previous one
  std::int32_t previous, next;
};

/// A merge that was possible when it was found.
struct Candidate {
  std::uint64_t order;  // rank, then place
  TokenId result;
  std::size_t place() const { return order & 0xFFFF'FFFF; }
};

class BytePairEncoder final : public PieceEncoder {
 public:
  explicit BytePairEncoder(const BytePairModel& model) : model_(model) {}

  Status encode(std::string_view piece, std::size_t offset, std::vector<PlacedToken>& tokens,
                const std::stop_token& stop) override {
    if (model_.options().ignoreMerges) {
      if (const auto whole = model_.vocabulary().find(piece)) {
        tokens.push_back({*whole, {offset, offset + piece.size()}});
        return success();
      }
    }
    if (!begin(piece, stop) || !merge(stop)) return stopped();
    for (const Symbol& symbol : symbols_)
      if (symbol.begin < symbol.end)
        tokens.push_back({symbol.id, {offset + symbol.begin, offset + symbol.end}});
    return success();
  }

 private:
  void add(TokenId id, std::size_t begin, std::size_t end) {
    const auto place = static_cast<std::int32_t>(symbols_.size());
    if (place > 0) symbols_.back().next = place;
    symbols_.push_back(
        {id, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), place - 1, kNone});
  }

  /// Turns the piece's characters into tokens. Returns false if stopped.
  bool begin(std::string_view piece, const std::stop_token& stop) {
    symbols_.clear();
    std::optional<ByteRange> unknown;  // not added yet, because more may join it
    std::size_t count = 0;
    bool halted = false;
    eachCharacter(piece, [&](char32_t c, std::size_t begin, std::size_t end) {
      halted = halted || (++count % 65536 == 0 && stop.stop_requested());
      if (halted) return;
      if (const TokenId id =
              model_.characterToken(c, piece.substr(begin, end - begin), begin == 0, end == piece.size());
          id != kNone) {
        flush(unknown);
        add(id, begin, end);
      } else if (!addBytes(piece, begin, end) && model_.unknown()) {
        if (!model_.options().fuseUnknown) flush(unknown);
        unknown = {unknown ? unknown->begin : begin, end};
      }
    });
    flush(unknown);
    return !halted;
  }

  void flush(std::optional<ByteRange>& unknown) {
    if (unknown) add(*model_.unknown(), unknown->begin, unknown->end);
    unknown.reset();
  }

  /// Returns false unless every byte of the character has a token.
  bool addBytes(std::string_view piece, std::size_t begin, std::size_t end) {
    if (!model_.options().byteFallback) return false;
    const std::string_view character = piece.substr(begin, end - begin);
    const auto has = [this](char byte) { return model_.byteToken(byte) != kNone; };
    if (!std::all_of(character.begin(), character.end(), has)) return false;
    for (std::size_t at = begin; at < end; ++at) add(model_.byteToken(piece[at]), at, at + 1);
    return true;
  }

  const Merge* mergeAt(std::int32_t place) {
    ++steps_;
    const Symbol& left = symbols_[static_cast<std::size_t>(place)];
    if (left.next == kNone) return nullptr;
    return model_.merges().find(left.id, symbols_[static_cast<std::size_t>(left.next)].id);
  }

  /// Whether `a` merges after `b`; used as heap order, so that the next merge is on top.
  static bool later(const Candidate& a, const Candidate& b) { return a.order > b.order; }

  void consider(std::int32_t place, bool push) {
    const Merge* merge = mergeAt(place);
    if (!merge) return;
    candidates_.push_back(
        {(std::uint64_t{merge->rank} << 32) | static_cast<std::uint32_t>(place), merge->result});
    if (push) std::push_heap(candidates_.begin(), candidates_.end(), later);
  }

  /// Returns false if stopped.
  bool merge(const std::stop_token& stop) {
    candidates_.clear();
    for (std::size_t i = 0; i + 1 < symbols_.size(); ++i) consider(static_cast<std::int32_t>(i), false);
    std::make_heap(candidates_.begin(), candidates_.end(), later);
    for (std::size_t round = 1; !candidates_.empty(); ++round) {
      if (round % 65536 == 0 && stop.stop_requested()) return false;
      std::pop_heap(candidates_.begin(), candidates_.end(), later);
      const Candidate candidate = candidates_.back();
      candidates_.pop_back();
      join(candidate);
    }
    return true;
  }

  /// Performs the merge unless its tokens have changed since.
  void join(const Candidate& candidate) {
    Symbol& left = symbols_[candidate.place()];
    if (left.begin == left.end) return;
    const Merge* merge = mergeAt(static_cast<std::int32_t>(candidate.place()));
    if (!merge || merge->result != candidate.result) return;
    Symbol& right = symbols_[static_cast<std::size_t>(left.next)];
    left.id = candidate.result;
    left.end = right.end;
    left.next = right.next;
    right.begin = right.end;
    if (left.next != kNone)
      symbols_[static_cast<std::size_t>(left.next)].previous = static_cast<std::int32_t>(candidate.place());
    if (left.previous != kNone) consider(left.previous, true);
    consider(static_cast<std::int32_t>(candidate.place()), true);
  }

  const BytePairModel& model_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> candidates_;
};

std::unique_ptr<PieceEncoder> BytePairModel::encoder() const {
  return std::make_unique<BytePairEncoder>(*this);
}

}  // namespace

Result<std::unique_ptr<const TokenModel>> bytePairModel(Vocabulary vocabulary, MergeTable merges,
                                                        const BytePairOptions& options) {
  if (!options.unknown.empty() && !vocabulary.find(options.unknown))
    return Error{fmt::format("\"unk_token\" {} is not in the vocabulary", quotedText(options.unknown))};
  return std::unique_ptr<const TokenModel>(
      std::make_unique<BytePairModel>(std::move(vocabulary), std::move(merges), options));
}

}  // namespace headscope::attention
