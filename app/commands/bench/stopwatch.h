#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace headscope::app {

/// Returns the seconds that `work` takes.
template <typename Work>
double secondsOf(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median; for an even count, the mean of the middle two. 0 if `values` is empty.
inline double medianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The median time of as many runs as fit into `budget` seconds, but at least one.
template <typename Work>
double medianSeconds(double budget, const Work& work) {
  std::vector<double> seconds;
  for (double spent = 0; seconds.empty() || spent < budget; spent += seconds.back())
    seconds.push_back(secondsOf(work));
  return medianOf(std::move(seconds));
}

}  // namespace headscope::app
