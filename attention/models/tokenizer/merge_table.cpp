#include "attention/models/tokenizer/merge_table.h"

#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/json_cursor.h"
#include "attention/models/tokenizer/stopped.h"

namespace headscope::attention {

MergeTable::MergeTable() : seed_(randomHashSeed() | 1), slots_(64) {}

std::size_t MergeTable::slotOf(std::uint64_t pair) const {
  std::uint64_t hash = (pair ^ (pair >> 31) ^ seed_) * 0x9E3779B97F4A7C15;
  hash ^= hash >> 32;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = (hash * seed_ >> 20) & mask;; slot = (slot + 1) & mask)
    if (slots_[slot].pair == pair || slots_[slot].pair == kFree) return slot;
}

void MergeTable::grow(std::size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.pair != kFree) slots_[slotOf(slot.pair)] = slot;
}

void MergeTable::reserve(std::size_t merges) {
  std::size_t slots = slots_.size();
  while (slots < 2 * merges) slots *= 2;
  if (slots > slots_.size()) grow(slots);
}

namespace {

std::uint64_t pairOf(TokenId left, TokenId right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) | static_cast<std::uint32_t>(right);
}

}  // namespace

void MergeTable::add(TokenId left, TokenId right, Merge merge) {
  if (2 * (count_ + 1) > slots_.size()) grow(2 * slots_.size());
  Slot& slot = slots_[slotOf(pairOf(left, right))];
  if (slot.pair == kFree) ++count_;
  slot = {pairOf(left, right), merge};
}

const Merge* MergeTable::find(TokenId left, TokenId right) const {
  const Slot& slot = slots_[slotOf(pairOf(left, right))];
  return slot.pair == kFree ? nullptr : &slot.merge;
}

namespace {

/// One entry of the list, as the two parts it names.
class MergeReader {
 public:
  MergeReader(JsonCursor& cursor, const std::string& where) : cursor_(cursor), where_(where) {}

  /// False where the cursor has a fault, or where problem() says what is wrong.
  bool read(std::size_t number) {
    number_ = number;
    if (cursor_.peek() == '"') return readLine();
    if (!cursor_.enter('[')) return false;
    for (const bool left : {true, false}) {
      if (!cursor_.next()) return cursor_.failed() ? false : fail("has fewer than two parts");
      if (!cursor_.string(left ? this->left : this->right, left ? leftBuffer_ : rightBuffer_)) return false;
    }
    if (cursor_.next()) return fail("has more than two parts");
    return !cursor_.failed();
  }

  bool fail(const std::string& what) {
    problem_ = fmt::format("{}[{}]{} {}", where_, number_, entry(), what);
    return false;
  }
  const std::string& problem() const { return problem_; }

  std::string_view left, right;

 private:
  bool readLine() {
    std::string_view line;
    left = right = {};
    if (!cursor_.string(line, leftBuffer_)) return false;
    const std::size_t space = line.find(' ');
    left = line.substr(0, space);
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
      return fail("is not two tokens with one space between them");
    right = line.substr(space + 1);
    return true;
  }
  std::string entry() const {
    return left.empty() && right.empty() ? "" : fmt::format(" ({}, {})", quotedText(left), quotedText(right));
  }

  JsonCursor& cursor_;
  const std::string& where_;
  std::size_t number_ = 0;
  std::string leftBuffer_, rightBuffer_, problem_;
};

/// The merge's three tokens by their ids.
bool addMerge(MergeReader& entry, std::uint32_t rank, const Vocabulary& vocabulary, std::string& joined,
              MergeTable& merges) {
  if (entry.left.empty() || entry.right.empty()) return entry.fail("joins an empty token");
  const auto left = vocabulary.find(entry.left), right = vocabulary.find(entry.right);
  if (!left || !right)
    return entry.fail(
        fmt::format("joins {}, which is not in the vocabulary", quotedText(left ? entry.right : entry.left)));
  joined.assign(entry.left).append(entry.right);
  const auto result = vocabulary.find(joined);
  if (!result) return entry.fail(fmt::format("makes {}, which is not in the vocabulary", quotedText(joined)));
  merges.add(*left, *right, {rank, *result});
  return true;
}

}  // namespace

Status readMerges(std::string_view json, const std::string& where, const Vocabulary& vocabulary,
                  MergeTable& merges, const std::stop_token& stop) {
  constexpr std::size_t kLeastEntry = 24;
  merges.reserve(json.size() / kLeastEntry);
  JsonCursor cursor(json);
  MergeReader entry(cursor, where);
  std::string joined;
  if (cursor.enter('[')) {
    for (std::uint32_t rank = 0; cursor.next(); ++rank) {
      if (rank % 4096 == 0 && stop.stop_requested()) return stopped();
      if (!entry.read(rank) || !addMerge(entry, rank, vocabulary, joined, merges)) break;
    }
  }
  if (!entry.problem().empty()) return Error{entry.problem()};
  if (!cursor.finish()) return Error{where + ": " + cursor.fault()};
  return success();
}

}  // namespace headscope::attention
