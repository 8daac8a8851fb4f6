#include "app/kit/sentence_line.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace headscope::app {

namespace {

float widthOf(std::span<const float> widths, Index from, Index to, float gap) {
  const auto part = widths.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
  return std::accumulate(part.begin(), part.end(), 0.0f) + gap * static_cast<float>(to - from - 1);
}

/// Calls `piece` with each kept word, and each run between two of them.
template <typename Piece>
void eachPiece(const std::set<Index>& kept, Index count, Piece piece) {
  Index next = 0;
  for (const Index word : kept) {
    if (word > next) piece(next, word, true);
    piece(word, word + 1, false);
    next = word + 1;
  }
  if (next < count) piece(next, count, true);
}

/// The pieces with these words kept, from the left, without regard for the room.
std::vector<LinePiece> piecesWith(const std::set<Index>& kept, std::span<const float> widths,
                                  const LineSizes& sizes) {
  std::vector<LinePiece> pieces;
  float x = 0;
  const auto add = [&](Index from, Index to, bool folded, float width) {
    pieces.push_back({from, to, x, width, folded});
    x += width + sizes.gap;
  };
  eachPiece(kept, static_cast<Index>(widths.size()), [&](Index from, Index to, bool between) {
    if (between && (to - from > 3 || widthOf(widths, from, to, sizes.gap) > sizes.folded))
      return add(from, to, true, sizes.folded);
    for (Index word = from; word < to; ++word)
      add(word, word + 1, false, widths[static_cast<std::size_t>(word)]);
  });
  return pieces;
}

float lineWidth(const std::vector<LinePiece>& pieces) {
  return pieces.empty() ? 0 : pieces.back().x + pieces.back().width;
}

}  // namespace

std::vector<LinePiece> layLine(std::span<const float> widths, std::span<const Index> byImportance,
                               const LineSizes& sizes) {
  std::set<Index> kept;
  if (widthOf(widths, 0, static_cast<Index>(widths.size()), sizes.gap) <= sizes.room) {
    for (Index word = 0; word < static_cast<Index>(widths.size()); ++word) kept.insert(kept.end(), word);
    return piecesWith(kept, widths, sizes);
  }
  std::vector<LinePiece> pieces = piecesWith(kept, widths, sizes);
  int failed = 0;
  for (const Index word : byImportance) {
    if (!kept.insert(word).second) continue;
    std::vector<LinePiece> more = piecesWith(kept, widths, sizes);
    if (lineWidth(more) <= sizes.room || kept.size() == 1) {
      pieces = std::move(more);
    } else {
      kept.erase(word);
      if (++failed == 32) break;  // a narrower word may still fit, but there is hardly room for any
    }
  }
  return pieces;
}

std::vector<Index> wordsByImportance(Index count, Index query, std::span<const float> weights, float least,
                                     Index opened) {
  std::vector<Index> order;
  const auto add = [&](Index word) {
    if (word >= 0 && word < count) order.push_back(word);
  };
  add(query);
  std::vector<Index> keys;
  for (Index key = 0; key < static_cast<Index>(weights.size()); ++key)
    if (weights[static_cast<std::size_t>(key)] >= least) keys.push_back(key);
  std::ranges::stable_sort(keys, std::greater<>(),
                           [&](Index key) { return weights[static_cast<std::size_t>(key)]; });
  if (!keys.empty()) add(keys.front());
  if (opened >= 0)
    for (Index away = 0; away < 40; ++away) {
      add(opened + away);
      add(opened - away);
    }
  for (const Index key : keys) add(key);
  add(query - 1);
  add(query + 1);
  add(0);
  for (Index away = 1; away < 8; ++away)
    for (const Index key : keys) {
      add(key - away);
      add(key + away);
    }
  for (Index away = 2; away < 64; ++away) {
    add(query - away);
    add(query + away);
  }
  return order;
}

const LinePiece* pieceOf(const std::vector<LinePiece>& pieces, Index word) {
  const auto after = std::ranges::upper_bound(pieces, word, {}, &LinePiece::from);
  if (after == pieces.begin()) return nullptr;
  const LinePiece& piece = *std::prev(after);
  return word < piece.to ? &piece : nullptr;
}

}  // namespace headscope::app
