#include "attention/text/ascii.h"

#include <algorithm>
#include <cstddef>

namespace headscope::attention {
namespace {

/// Returns the number of letters to insert, delete, change or swap with a neighbour to turn one word into the
/// other.
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string_view>& names) {
  constexpr std::size_t kLongest = 32;
  if (word.size() > kLongest) return "";
  const std::string lower = lowerCase(word);
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = editDistance(lower, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best.empty() ? "" : "; did you mean " + std::string(best) + "?";
}

}  // namespace headscope::attention
