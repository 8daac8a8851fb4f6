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

/// Adds entries by the ids of their three tokens.
class MergeAdder {
 public:
  MergeAdder(const Vocabulary& vocabulary, MergeTable& merges) : vocabulary_(vocabulary), merges_(merges) {}

  bool add(MergeReader& entry, std::uint32_t rank) {
    if (entry.left.empty() || entry.right.empty()) return entry.fail("joins an empty token");
    const auto left = vocabulary_.find(entry.left), right = vocabulary_.find(entry.right);
    if (!left || !right)
      return entry.fail(fmt::format("joins {}, which is not in the vocabulary",
                                    quotedText(left ? entry.right : entry.left)));
    if (!findResult(entry))
      return entry.fail(fmt::format("makes {}, which is not in the vocabulary", quotedText(joined_)));
    merges_.add(*left, *right, {rank, result_});
    return true;
  }

 private:
  /// Nearly always that of the merge before or the one after it: a look there is far cheaper than a search.
  bool findResult(const MergeReader& entry) {
    joined_.assign(entry.left).append(entry.right);
    for (const TokenId likely : {result_, result_ + 1}) {
      if (vocabulary_.text(likely) != joined_) continue;
      result_ = likely;
      return true;
    }
    const auto found = vocabulary_.find(joined_);
    result_ = found.value_or(0);
    return found.has_value();
  }

  const Vocabulary& vocabulary_;
  MergeTable& merges_;
  std::string joined_;
  TokenId result_ = 0;
};

}  // namespace

Status readMerges(std::string_view json, const std::string& where, const Vocabulary& vocabulary,
                  MergeTable& merges, const std::stop_token& stop) {
  // Most files have one merge for a token, some one for each way to make it.
  merges.reserve(2 * vocabulary.count());
  JsonCursor cursor(json);
  MergeReader entry(cursor, where);
  MergeAdder adder(vocabulary, merges);
  if (cursor.enter('[')) {
    for (std::uint32_t rank = 0; cursor.next(); ++rank) {
      if (rank % 4096 == 0 && stop.stop_requested()) return stopped();
      if (!entry.read(rank) || !adder.add(entry, rank)) break;
    }
  }
  if (!entry.problem().empty()) return Error{entry.problem()};
  if (!cursor.finish()) return Error{where + ": " + cursor.fault()};
  return success();
}

}  // namespace headscope::attention
