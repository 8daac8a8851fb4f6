#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {

namespace {

/// Number of merges in flight, while their data is being prefetched.
constexpr std::size_t kAhead = 16;

std::uint64_t pairOf(TokenId left, TokenId right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) | static_cast<std::uint32_t>(right);
}

}  // namespace

MergeTable::MergeTable(std::span<const Entry> entries)
    : seed_(randomHashSeed() | 1), slots_(std::bit_ceil(2 * entries.size() + 1)) {
  for (std::size_t i = 0; i < entries.size() + kAhead; ++i) {
    if (i < entries.size()) __builtin_prefetch(&slots_[hashOf(pairOf(entries[i].left, entries[i].right))]);
    if (i < kAhead) continue;
    const Entry& entry = entries[i - kAhead];
    const std::uint64_t pair = pairOf(entry.left, entry.right);
    slots_[slotOf(pair)] = {pair, entry.merge};
  }
}

std::size_t MergeTable::hashOf(std::uint64_t pair) const {
  std::uint64_t hash = (pair ^ (pair >> 31) ^ seed_) * 0x9E3779B97F4A7C15;
  hash ^= hash >> 32;
  return (hash * seed_ >> 20) & (slots_.size() - 1);
}

std::size_t MergeTable::slotOf(std::uint64_t pair) const {
  for (std::size_t slot = hashOf(pair);; slot = (slot + 1) & (slots_.size() - 1))
    if (slots_[slot].pair == pair || slots_[slot].pair == kFree) return slot;
}

const Merge* MergeTable::find(TokenId left, TokenId right) const {
  const Slot& slot = slots_[slotOf(pairOf(left, right))];
  return slot.pair == kFree ? nullptr : &slot.merge;
}

namespace {

/// One merge in the list: the two parts it names.
struct Line {
  std::string_view left, right;
  std::string leftBuffer, rightBuffer;  ///< for parts with escapes
  Vocabulary::Question leftQuestion, rightQuestion;
};

/// Parses merges from front to back and looks up their tokens some merges later.
class MergeReader {
 public:
  MergeReader(std::string_view json, const std::string& where, const Vocabulary& vocabulary,
              std::size_t prefix)
      : cursor_(json), where_(where), vocabulary_(vocabulary), prefix_(prefix) {
    entries_.reserve(2 * vocabulary.count());
  }

  Status read(const std::stop_token& stop) {
    std::size_t count = 0;
    if (cursor_.enter('[')) {
      for (; cursor_.next(); ++count) {
        if (count % 4096 == 0 && stop.stop_requested()) return stopped();
        if (count >= kAhead && !resolve(count - kAhead)) return Error{problem_};
        if (!parse(count)) break;
      }
    }
    if (!problem_.empty()) return Error{problem_};
    if (!cursor_.finish()) return Error{where_ + ": " + cursor_.fault()};
    for (std::size_t i = count - std::min(count, kAhead); i < count; ++i)
      if (!resolve(i)) return Error{problem_};
    return success();
  }

  const std::vector<MergeTable::Entry>& entries() const { return entries_; }

 private:
  /// Returns false if the cursor failed, or if problem_ describes an error.
  bool parse(std::size_t number) {
    Line& line = lines_[number % kAhead];
    line.left = line.right = {};
    if (!(cursor_.peek() == '"' ? parseText(line, number) : parsePair(line, number))) return false;
    line.leftQuestion = vocabulary_.ask(line.left);
    line.rightQuestion = vocabulary_.ask(line.right);
    return true;
  }

  bool parsePair(Line& line, std::size_t number) {
    if (!cursor_.enter('[')) return false;
    for (const bool left : {true, false}) {
      if (!cursor_.next()) return cursor_.failed() ? false : fail(number, "has fewer than two parts");
      if (!cursor_.string(left ? line.left : line.right, left ? line.leftBuffer : line.rightBuffer))
        return false;
    }
    if (cursor_.next()) return fail(number, "has more than two parts");
    return !cursor_.failed();
  }

  /// Reads the form in older files, "a b".
  bool parseText(Line& line, std::size_t number) {
    std::string_view text;
    if (!cursor_.string(text, line.leftBuffer)) return false;
    const std::size_t space = text.find(' ');
    line.left = text.substr(0, space);
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
      return fail(number, "is not two tokens with one space between them");
    line.right = text.substr(space + 1);
    return true;
  }

  bool resolve(std::size_t number) {
    const Line& line = lines_[number % kAhead];
    if (line.left.empty() || line.right.empty()) return fail(number, "joins an empty token");
    const auto left = vocabulary_.find(line.leftQuestion), right = vocabulary_.find(line.rightQuestion);
    if (!left || !right)
      return fail(number, fmt::format("joins {}, which is not in the vocabulary",
                                      quotedText(left ? line.right : line.left)));
    if (!findResult(line))
      return fail(number, fmt::format("makes {}, which is not in the vocabulary", quotedText(joined_)));
    entries_.push_back({*left, *right, {static_cast<std::uint32_t>(number), result_}});
    return true;
  }

  /// Finds the joined token. It is nearly always the previous merge's result or the id after it, which is far
  /// cheaper to check than a search.
  bool findResult(const Line& line) {
    joined_.assign(line.left).append(line.right.substr(std::min(prefix_, line.right.size())));
    for (const TokenId likely : {result_, result_ + 1}) {
      if (vocabulary_.text(likely) != joined_) continue;
      result_ = likely;
      return true;
    }
    const auto found = vocabulary_.find(joined_);
    result_ = found.value_or(0);
    return found.has_value();
  }

  bool fail(std::size_t number, const std::string& what) {
    const Line& line = lines_[number % kAhead];
    const std::string parts =
        line.right.empty() ? "" : fmt::format(" ({}, {})", quotedText(line.left), quotedText(line.right));
    problem_ = fmt::format("{}[{}]{} {}", where_, number, parts, what);
    return false;
  }

  JsonCursor cursor_;
  const std::string& where_;
  const Vocabulary& vocabulary_;
  std::size_t prefix_;
  std::array<Line, kAhead> lines_;
  std::vector<MergeTable::Entry> entries_;
  std::string joined_, problem_;
  TokenId result_ = 0;
};

}  // namespace

Result<MergeTable> readMerges(std::string_view json, const std::string& where, const Vocabulary& vocabulary,
                              std::size_t prefix, const std::stop_token& stop) {
  MergeReader reader(json, where, vocabulary, prefix);
  if (const auto status = reader.read(stop); !status) return status.error();
  return MergeTable(reader.entries());
}

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
