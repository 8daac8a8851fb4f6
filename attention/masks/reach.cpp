#include <fmt/core.h>

#include <bit>
#include <numeric>

#include "attention/masks/statistics.h"

namespace headscope::attention {
namespace {

using Word = std::uint64_t;
constexpr Index kWordBits = 64;
constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 28;

void requireSquare(const MaskFormula& mask) {
  require(mask.queries() == mask.keys(),
          "mask is " + shapeText(mask.queries(), mask.keys()) + ", expected as many queries as keys");
}

/// One set of tokens per token, in a segment tree with the unions of neighbouring sets: the union over any
/// run of tokens takes two sets per level instead of one per token.
class TokenSets {
 public:
  explicit TokenSets(Index tokens)
      : tokens_(tokens),
        words_((tokens + kWordBits - 1) / kWordBits),
        sets_(static_cast<std::size_t>(2 * tokens * words_)) {}

  Index words() const { return words_; }
  Word* of(Index token) { return node(tokens_ + token); }

  /// Updates the unions after the tokens' sets changed.
  void rebuild() {
    for (Index at = tokens_ - 1; at >= 1; --at) {
      Word* out = node(at);
      std::copy_n(node(2 * at), words_, out);
      addTo(out, node(2 * at + 1));
    }
  }

  /// Adds the sets of tokens begin … end−1 to `out`.
  void addRun(const KeyRun& run, Word* out) {
    for (Index left = run.begin + tokens_, right = run.end + tokens_; left < right; left /= 2, right /= 2) {
      if (left % 2 == 1) addTo(out, node(left++));
      if (right % 2 == 1) addTo(out, node(--right));
    }
  }

 private:
  Word* node(Index at) { return sets_.data() + at * words_; }
  void addTo(Word* out, const Word* set) const {
    for (Index w = 0; w < words_; ++w) out[w] |= set[w];
  }

  Index tokens_, words_;
  std::vector<Word> sets_;
};

/// Calls `found` with every element of `set` that is not in `known`.
template <typename Found>
void forEachNew(const Word* set, const Word* known, Index words, Found found) {
  for (Index w = 0; w < words; ++w)
    for (Word fresh = set[w] & ~known[w]; fresh != 0; fresh &= fresh - 1)
      found(w * kWordBits + std::countr_zero(fresh));
}

/// Computes layer by layer which tokens have reached which.
class Spreading {
 public:
  Spreading(const MaskFormula& mask, const std::vector<Index>& variants)
      : mask_(mask),
        variants_(variants),
        tokens_(mask.queries()),
        sets_(tokens_),
        next_(static_cast<std::size_t>(tokens_ * sets_.words())) {
    for (Index token = 0; token < tokens_; ++token)
      sets_.of(token)[token / kWordBits] |= Word{1} << (token % kWordBits);
    sets_.rebuild();
  }

  /// Computes the next layer. Returns false if stopped.
  bool step(bool residual, const std::stop_token& stop) {
    const Index words = sets_.words();
    for (Index token = 0; token < tokens_; ++token) {
      if (stop.stop_requested()) return false;
      Word* row = next(token);
      if (residual) {
        std::copy_n(sets_.of(token), words, row);
      } else {
        std::fill_n(row, words, 0);
      }
      for (const Index variant : variants_) {
        mask_.visibleRuns(variant, token, runs_);
        for (const KeyRun& run : runs_) sets_.addRun(run, row);
      }
    }
    return true;
  }

  /// Makes the new layer current and calls found(token, key) for new pairs. Returns false if nothing changed.
  template <typename Found>
  bool advance(Found found) {
    const Index words = sets_.words();
    bool changed = false;
    for (Index token = 0; token < tokens_; ++token) {
      Word* present = sets_.of(token);
      const Word* row = next(token);
      if (std::equal(row, row + words, present)) continue;
      changed = true;
      forEachNew(row, present, words, [&](Index key) { found(token, key); });
      std::copy_n(row, words, present);
    }
    if (changed) sets_.rebuild();
    return changed;
  }

  template <typename Found>
  void forEach(Found found) {
    const std::vector<Word> nothing(static_cast<std::size_t>(sets_.words()));
    for (Index token = 0; token < tokens_; ++token)
      forEachNew(sets_.of(token), nothing.data(), sets_.words(), [&](Index key) { found(token, key); });
  }

 private:
  Word* next(Index token) { return next_.data() + token * sets_.words(); }

  const MaskFormula& mask_;
  const std::vector<Index>& variants_;
  Index tokens_;
  TokenSets sets_;
  std::vector<Word> next_;
  KeyRuns runs_;
};

/// The tokens not found yet, as a union-find structure that skips found ones.
class Unfound {
 public:
  explicit Unfound(Index tokens) : next_(static_cast<std::size_t>(tokens) + 1) {
    std::iota(next_.begin(), next_.end(), Index{0});
  }
  /// Returns the first unfound token at or after `from`; the number of tokens if there is none.
  Index firstFrom(Index from) {
    while (at(from) != from) from = at(from) = at(at(from));
    return from;
  }
  void remove(Index token) { at(token) = token + 1; }

 private:
  Index& at(Index token) { return next_[static_cast<std::size_t>(token)]; }
  std::vector<Index> next_;
};

std::vector<Index> wayTo(Index key, Index from, Index query, const std::vector<Index>& cameFrom) {
  std::vector<Index> way{key};
  for (Index at = from; at != query; at = cameFrom[static_cast<std::size_t>(at)]) way.push_back(at);
  way.push_back(query);
  std::reverse(way.begin(), way.end());
  return way;
}

}  // namespace

ReachMap reachAfter(const MaskFormula& mask, const std::vector<Index>& variants, Index layers, bool residual,
                    std::stop_token stop) {
  requireSquare(mask);
  require(layers >= 1 && layers <= 255, fmt::format("layers is {}, expected 1 to 255", layers));
  const Index tokens = mask.queries();
  require(saturatingProduct({tokens, tokens}) <= kMaxCells,
          fmt::format("mask has {} tokens, expected at most 16384", tokens));
  ReachMap map{tokens, std::vector<std::uint8_t>(static_cast<std::size_t>(tokens * tokens)), layers};
  const auto cell = [&](Index query, Index key) -> std::uint8_t& {
    return map.layer[static_cast<std::size_t>(query * tokens + key)];
  };
  Spreading spreading(mask, variants);
  if (residual)
    for (Index token = 0; token < tokens; ++token) cell(token, token) = 1;
  for (Index layer = 1; layer <= layers; ++layer) {
    if (!spreading.step(residual, stop)) return map;
    const bool changed = spreading.advance([&](Index query, Index key) {
      if (residual) cell(query, key) = static_cast<std::uint8_t>(layer);
    });
    // If one layer changes nothing, no further one does.
    if (!changed) break;
  }
  if (!residual)
    spreading.forEach([&](Index query, Index key) { cell(query, key) = static_cast<std::uint8_t>(layers); });
  return map;
}

std::vector<Index> shortestPath(const MaskFormula& mask, const std::vector<Index>& variants, Index query,
                                Index key, Index layers) {
  requireSquare(mask);
  const Index tokens = mask.queries();
  require(0 <= query && query < tokens && 0 <= key && key < tokens,
          fmt::format("query {} or key {} is beyond the {} tokens", query, key, tokens));
  std::vector<Index> cameFrom(static_cast<std::size_t>(tokens), -1), now{query}, later;
  Unfound unfound(tokens);
  unfound.remove(query);
  KeyRuns runs;
  for (Index step = 1; step <= layers && !now.empty(); ++step) {
    later.clear();
    for (const Index at : now) {
      for (const Index variant : variants) {
        mask.visibleRuns(variant, at, runs);
        for (const KeyRun& run : runs) {
          if (run.begin <= key && key < run.end) return wayTo(key, at, query, cameFrom);
          for (Index token = unfound.firstFrom(run.begin); token < run.end;
               token = unfound.firstFrom(token)) {
            unfound.remove(token);
            cameFrom[static_cast<std::size_t>(token)] = at;
            later.push_back(token);
          }
        }
      }
    }
    std::swap(now, later);
  }
  return {};
}

std::vector<Index> shortestLeak(const MaskFormula& mask, const std::vector<Index>& variants) {
  requireSquare(mask);
  KeyRuns runs;
  for (Index row = 0; row < mask.queries(); ++row) {
    Index earliest = mask.keys();
    for (const Index variant : variants) {
      mask.visibleRuns(variant, row, runs);
      const auto leak =
          std::find_if(runs.begin(), runs.end(), [&](const KeyRun& r) { return r.end > row + 1; });
      if (leak != runs.end()) earliest = std::min(earliest, std::max(leak->begin, row + 1));
    }
    if (earliest < mask.keys()) return {row, earliest};
  }
  return {};
}

}  // namespace headscope::attention
