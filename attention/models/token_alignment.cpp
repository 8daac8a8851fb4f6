#include "attention/models/token_alignment.h"

namespace headscope::attention {
namespace {

/// Most cells of the table of common lengths; longer texts aren't searched for equal tokens.
constexpr Index kMaxCells = Index{1} << 24;

/// Pairs of equal tokens, in order, as many as possible.
std::vector<std::pair<Index, Index>> commonTokens(std::span<const Index> a, std::span<const Index> b) {
  const Index n = std::ssize(a), m = std::ssize(b);
  std::vector<std::pair<Index, Index>> pairs;
  if (n == 0 || m == 0 || n > kMaxCells / m) return pairs;
  // length(i, j): of the longest common subsequence of the tokens from i and j on.
  Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> length;
  length.setZero(n + 1, m + 1);
  for (Index i = n - 1; i >= 0; --i)
    for (Index j = m - 1; j >= 0; --j)
      length(i, j) = a[asSize(i)] == b[asSize(j)] ? length(i + 1, j + 1) + 1
                                                  : std::max(length(i + 1, j), length(i, j + 1));
  for (Index i = 0, j = 0; i < n && j < m;) {
    if (a[asSize(i)] == b[asSize(j)])
      pairs.emplace_back(i++, j++);
    else if (length(i + 1, j) >= length(i, j + 1))
      ++i;
    else
      ++j;
  }
  return pairs;
}

}  // namespace

std::vector<Index> alignTokens(std::span<const Index> text, std::span<const Index> other) {
  std::vector<Index> rows(text.size(), -1);
  // Texts of equal length that differ in a few words match position by position, whatever else could match.
  if (text.size() == other.size()) {
    Index same = 0;
    for (std::size_t i = 0; i < text.size(); ++i) same += text[i] == other[i];
    if (2 * same >= std::ssize(text)) {
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Index>(i);
      return rows;
    }
  }
  Index i = 0, j = 0;
  const auto until = [&](Index endOfText, Index endOfOther) {
    if (endOfText - i == endOfOther - j)
      while (i < endOfText) rows[asSize(i++)] = j++;
    i = endOfText, j = endOfOther;
  };
  for (const auto& [a, b] : commonTokens(text, other)) {
    until(a, b);
    rows[asSize(i++)] = j++;
  }
  until(std::ssize(text), std::ssize(other));
  return rows;
}

TokenAlignment alignTokens(std::span<const Index> text, std::span<const Index> other,
                           std::span<const TokenTie> ties) {
  TokenAlignment both{alignTokens(text, other), std::vector<Index>(other.size(), -1)};
  for (std::size_t i = 0; i < text.size(); ++i)
    if (const Index with = both.otherOfText[i]; with >= 0)
      both.textOfOther[asSize(with)] = static_cast<Index>(i);
  const auto release = [](std::vector<Index>& own, std::vector<Index>& theirs, Index at) {
    if (at < 0) return;
    if (const Index with = std::exchange(own[asSize(at)], -1); with >= 0) theirs[asSize(with)] = -1;
  };
  for (const TokenTie& tie : ties) {
    if (tie.a >= std::ssize(text) || tie.b >= std::ssize(other)) continue;
    release(both.otherOfText, both.textOfOther, tie.a);
    release(both.textOfOther, both.otherOfText, tie.b);
    if (tie.a < 0 || tie.b < 0) continue;
    both.otherOfText[asSize(tie.a)] = tie.b;
    both.textOfOther[asSize(tie.b)] = tie.a;
  }
  return both;
}

}  // namespace headscope::attention
