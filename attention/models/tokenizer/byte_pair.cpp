#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {

namespace {

std::uint64_t pairOf(TokenId left, TokenId right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) | static_cast<std::uint32_t>(right);
}

}  // namespace

MergeTable::MergeTable(std::span<const Entry> entries)
    : seed_(randomHashSeed() | 1), slots_(std::bit_ceil(2 * entries.size() + 1)) {
  constexpr std::size_t kAhead = 16;  // slots in flight, while they are being prefetched
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

MergeReader::MergeReader(std::string where, const Vocabulary& vocabulary, std::size_t prefix)
    : where_(std::move(where)), vocabulary_(vocabulary), prefix_(prefix) {
  entries_.reserve(2 * vocabulary.count());
}

Status MergeReader::add(std::string_view left, std::string_view right) {
  if (count_ >= kAhead)
    if (const Status status = resolve(count_ - kAhead); !status) return status;
  Line& line = lines_[count_++ % kAhead];
  line.left = left;
  line.right = right;
  line.leftQuestion = vocabulary_.ask(line.left);
  line.rightQuestion = vocabulary_.ask(line.right);
  return success();
}

Status MergeReader::add(std::string_view both) {
  const std::size_t space = both.find(' ');
  if (space == both.npos || both.find(' ', space + 1) != both.npos)
    return failure("is not two tokens with one space between them");
  return add(both.substr(0, space), both.substr(space + 1));
}

Result<MergeTable> MergeReader::finish() {
  for (std::size_t i = count_ - std::min(count_, kAhead); i < count_; ++i)
    if (const Status status = resolve(i); !status) return status.error();
  return MergeTable(entries_);
}

Status MergeReader::resolve(std::size_t number) {
  const Line& line = lines_[number % kAhead];
  if (line.left.empty() || line.right.empty()) return failure(number, &line, "joins an empty token");
  const auto left = vocabulary_.find(line.leftQuestion), right = vocabulary_.find(line.rightQuestion);
  if (!left || !right)
    return failure(
        number, &line,
        fmt::format("joins {}, which is not in the vocabulary", quotedText(left ? line.right : line.left)));
  if (!findResult(line))
    return failure(number, &line,
                   fmt::format("makes {}, which is not in the vocabulary", quotedText(joined_)));
  entries_.push_back({*left, *right, {static_cast<std::uint32_t>(number), result_}});
  return success();
}

/// Finds the joined token. It is nearly always the previous merge's result or the id after it, which is far
/// cheaper to check than a search.
bool MergeReader::findResult(const Line& line) {
  joined_.assign(line.left).append(line.right, std::min(prefix_, line.right.size()));
  for (const TokenId likely : {result_, result_ + 1}) {
    if (vocabulary_.text(likely) != joined_) continue;
    result_ = likely;
    return true;
  }
  const auto found = vocabulary_.find(joined_);
  result_ = found.value_or(0);
  return found.has_value();
}

Error MergeReader::failure(std::size_t number, const Line* line, const std::string& what) const {
  const std::string parts =
      line ? fmt::format(" ({}, {})", quotedText(line->left), quotedText(line->right)) : "";
  return {fmt::format("{}[{}]{} {}", where_, number, parts, what)};
}

namespace {

constexpr std::int32_t kNone = -1;

struct BytePairTables {
  BytePairTables(Vocabulary texts, MergeTable table, const BytePairOptions& given)
      : vocabulary(std::move(texts)), merges(std::move(table)), options(given) {
    if (!options.unknown.empty()) unknown = vocabulary.find(options.unknown);
    if (options.byteFallback) bytes.emplace(vocabulary);
    std::string character;
    for (char32_t c = 0; c < frequent.size(); ++c) {
      character.clear();
      appendUtf8(c, character);
      frequent[c] = vocabulary.find(character).value_or(kNone);
    }
  }
  /// kNone if the character has no token.
  TokenId characterToken(char32_t c, std::string_view text, bool first, bool last) const {
    if (plain) return c < frequent.size() ? frequent[c] : vocabulary.find(text).value_or(kNone);
    const std::string spelled =
        (first ? "" : options.prefix) + std::string(text) + (last ? options.suffix : "");
    return vocabulary.find(spelled).value_or(kNone);
  }

  Vocabulary vocabulary;
  MergeTable merges;
  BytePairOptions options;
  std::optional<TokenId> unknown;
  std::optional<ByteTokens> bytes;
  /// A character's token doesn't depend on its place.
  bool plain = options.prefix.empty() && options.suffix.empty();
  std::array<TokenId, 0x180> frequent{};  ///< covers all characters of byte-level pieces
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
  explicit BytePairEncoder(const BytePairTables& tables) : tables_(tables) {}

  Status encode(std::string_view piece, std::size_t offset, std::vector<PlacedToken>& tokens,
                const std::stop_token& stop) override {
    if (tables_.options.ignoreMerges) {
      if (const auto whole = tables_.vocabulary.find(piece)) {
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
    const auto flush = [&] {
      if (unknown) add(*tables_.unknown, unknown->begin, unknown->end);
      unknown.reset();
    };
    const auto take = [&](char32_t c, std::size_t begin, std::size_t end) {
      const std::string_view character = piece.substr(begin, end - begin);
      const TokenId id = tables_.characterToken(c, character, begin == 0, end == piece.size());
      if (id != kNone) {
        flush();
        return add(id, begin, end);
      }
      const auto addByte = [&](TokenId byte, std::size_t at) { add(byte, begin + at, begin + at + 1); };
      if ((tables_.bytes && tables_.bytes->spell(character, addByte)) || !tables_.unknown) return;
      if (!tables_.options.fuseUnknown) flush();
      unknown = {unknown ? unknown->begin : begin, end};
    };
    const bool finished = eachCharacter(piece, stop, take);
    flush();
    return finished;
  }

  const Merge* mergeAt(std::int32_t place) {
    ++steps_;
    const Symbol& left = symbols_[static_cast<std::size_t>(place)];
    if (left.next == kNone) return nullptr;
    return tables_.merges.find(left.id, symbols_[static_cast<std::size_t>(left.next)].id);
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

  const BytePairTables& tables_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Result<AnyTokenModel> bytePairModel(Vocabulary vocabulary, MergeTable merges,
                                    const BytePairOptions& options) {
  if (!options.unknown.empty() && !vocabulary.find(options.unknown))
    return Error{fmt::format("\"unk_token\" {} is not in the vocabulary", quotedText(options.unknown))};
  return tokenModel<BytePairEncoder, BytePairTables>(std::move(vocabulary), std::move(merges), options);
}

}  // namespace headscope::attention
