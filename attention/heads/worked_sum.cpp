#include "attention/heads/worked_sum.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "attention/core/extremes.h"

namespace headscope::attention {

WorkedSum workedSum(std::span<const float> a, std::span<const float> b, std::size_t most) {
  if (a.size() != b.size())
    throw std::invalid_argument("a sum of products of " + std::to_string(a.size()) + " and " +
                                std::to_string(b.size()) + " numbers");
  WorkedSum sum;
  sum.terms.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double product = static_cast<double>(a[i]) * static_cast<double>(b[i]);
    sum.terms.push_back({static_cast<Index>(i), a[i], b[i], product, 0});
    sum.total += product;
  }
  if (sum.terms.size() > most) {
    const auto middle = sum.terms.begin() + static_cast<std::ptrdiff_t>(most);
    std::partial_sort(sum.terms.begin(), middle, sum.terms.end(), [](const SumTerm& x, const SumTerm& y) {
      const double left = std::abs(x.product), right = std::abs(y.product);
      return descends(left, right) || (!descends(right, left) && x.at < y.at);
    });
    sum.omitted = static_cast<Index>(sum.terms.size() - most);
    for (auto term = middle; term != sum.terms.end(); ++term) sum.rest += term->product;
    sum.nothingOmitted =
        std::all_of(middle, sum.terms.end(), [](const SumTerm& term) { return term.product == 0; });
    sum.terms.resize(most);
    // Products of 0, frequent with planted weights, are not worth listing.
    sum.omitted +=
        static_cast<Index>(std::erase_if(sum.terms, [](const SumTerm& term) { return term.product == 0; }));
    std::sort(sum.terms.begin(), sum.terms.end(),
              [](const SumTerm& x, const SumTerm& y) { return x.at < y.at; });
  }
  double running = 0;
  for (SumTerm& term : sum.terms) term.running = running += term.product;
  return sum;
}

}  // namespace headscope::attention
