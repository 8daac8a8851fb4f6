#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "attention/core/attention.h"
#include "attention/core/saturating.h"
#include "attention/formats/layers/attention_file.h"

namespace headscope::attention {
namespace {

/// One array of a result, without the batch axis.
struct ArrayView {
  std::vector<std::uint64_t> shape;
  const float* data;
  std::size_t size;
};

ArrayView viewOf(const Stack& stack) {
  return {{static_cast<std::uint64_t>(stack.count()), static_cast<std::uint64_t>(stack.rows()),
           static_cast<std::uint64_t>(stack.cols())},
          stack.data(),
          static_cast<std::size_t>(stack.size())};
}

ArrayView viewOf(const Matrix& matrix) {
  return {{static_cast<std::uint64_t>(matrix.rows()), static_cast<std::uint64_t>(matrix.cols())},
          matrix.data(),
          static_cast<std::size_t>(matrix.size())};
}

constexpr std::string_view kScores = "scores", kLogSumExp = "lse";

struct ResultArray {
  std::string_view name;
  ArrayView (*view)(const AttentionResult&);
};

const std::array<ResultArray, 8> kArrays{{
    {"q", [](const AttentionResult& r) { return viewOf(r.q); }},
    {"k", [](const AttentionResult& r) { return viewOf(r.k); }},
    {"v", [](const AttentionResult& r) { return viewOf(r.v); }},
    {kScores, [](const AttentionResult& r) { return viewOf(r.scores); }},
    {"weights", [](const AttentionResult& r) { return viewOf(r.weights); }},
    {kLogSumExp, [](const AttentionResult& r) { return viewOf(r.lse); }},
    {"head_output", [](const AttentionResult& r) { return viewOf(r.headOutput); }},
    {"output", [](const AttentionResult& r) { return viewOf(r.output); }},
}};

/// Whether the score at index `flat` of scores [heads, n, m] of sequence `i` belongs to a visible key.
bool seesKey(const AttentionProblem& problem, std::size_t i, const std::vector<std::uint64_t>& shape,
             std::size_t flat) {
  const auto key = static_cast<Index>(flat % shape[2]), row = static_cast<Index>(flat / shape[2] % shape[1]);
  const auto head = static_cast<Index>(flat / shape[2] / shape[1]);
  return visible(problem.masks[i], head, row, key);
}

}  // namespace

Status checkBudget(const AttentionProblem& problem, std::uint64_t bytes) {
  std::uint64_t needed = 0;
  for (std::size_t i = 0; i < problem.x.size(); ++i) {
    const Index queries = problem.x[i].rows();
    const Index keys = problem.context.empty() ? queries : problem.context[i].rows();
    needed = saturatingSum({needed, attentionResultBytes(problem.config, queries, keys)});
  }
  if (needed <= bytes) return success();
  constexpr double kMebibyte = 1 << 20;
  const auto mebibytes = [&](std::uint64_t size) {
    return fmt::format("{} MiB",
                       static_cast<std::uint64_t>(std::ceil(static_cast<double>(size) / kMebibyte)));
  };
  return Error{"the result needs " + mebibytes(needed) + ", more than the budget of " + mebibytes(bytes)};
}

std::vector<AttentionResult> solve(const AttentionProblem& problem) {
  require(problem.masks.size() == problem.x.size() &&
              (problem.context.empty() || problem.context.size() == problem.x.size()),
          fmt::format("{} sequences with {} contexts and {} masks", problem.x.size(), problem.context.size(),
                      problem.masks.size()));
  std::vector<AttentionResult> results;
  results.reserve(problem.x.size());
  for (std::size_t i = 0; i < problem.x.size(); ++i) {
    const Matrix& context = problem.context.empty() ? problem.x[i] : problem.context[i];
    AttentionConfig config = problem.config;
    config.dropout.sequence = i;
    results.push_back(attend(config, problem.projections, problem.x[i], context, problem.masks[i]));
  }
  return results;
}

Status checkFinite(const AttentionProblem& problem, const std::vector<AttentionResult>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const auto& array : kArrays) {
      const auto view = array.view(results[i]);
      const bool scores = array.name == kScores;
      for (std::size_t flat = 0; flat < view.size; ++flat) {
        const float value = view.data[flat];
        if (std::isfinite(value)) continue;
        const bool minusInfinity = std::isinf(value) && value < 0;
        if (minusInfinity && (scores ? !seesKey(problem, i, view.shape, flat) : array.name == kLogSumExp))
          continue;
        return Error{"the numbers overflow: " + std::string(array.name) + " is " +
                     (std::isnan(value) ? "NaN" : "infinite") +
                     " from finite inputs, expected smaller inputs"};
      }
    }
  }
  return success();
}

std::vector<std::string_view> resultNames() {
  std::vector<std::string_view> names;
  for (const auto& array : kArrays) names.push_back(array.name);
  return names;
}

SafetensorsFile resultFile(const std::vector<const AttentionResult*>& results, bool batched) {
  require(batched ? !results.empty() : results.size() == 1,
          fmt::format("{} results, expected {}", results.size(), batched ? "at least one" : "one"));
  SafetensorsFile file;
  for (const auto& array : kArrays) {
    const auto first = array.view(*results[0]);
    NamedTensor tensor;
    tensor.shape = first.shape;
    if (batched) tensor.shape.insert(tensor.shape.begin(), results.size());
    tensor.bytes.resize(results.size() * first.size * sizeof(float));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto view = array.view(*results[i]);
      require(view.shape == first.shape, std::string(array.name) + " is " + shapeText(view.shape) +
                                             " in one result, " + shapeText(first.shape) + " in another");
      std::memcpy(tensor.bytes.data() + i * view.size * sizeof(float), view.data, view.size * sizeof(float));
    }
    file.tensors.emplace(array.name, std::move(tensor));
  }
  return file;
}

SafetensorsFile resultFile(const std::vector<AttentionResult>& results, bool batched) {
  std::vector<const AttentionResult*> all;
  for (const AttentionResult& result : results) all.push_back(&result);
  return resultFile(all, batched);
}

}  // namespace headscope::attention
