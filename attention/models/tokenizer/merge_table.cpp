#include "attention/models/tokenizer/merge_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>

#include "attention/core/stopped.h"
#include "attention/formats/json_cursor.h"
#include "attention/formats/quote.h"

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

}  // namespace headscope::attention
