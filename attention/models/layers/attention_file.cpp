#include "attention/models/layers/attention_file.h"

#include <fmt/core.h>

#include "attention/models/layers/layer_reader.h"

namespace headscope::attention {
namespace {

/// Reads [tokens, modelDim] or [batch, tokens, modelDim] as one matrix per sequence.
Result<std::vector<Matrix>> readSequences(TensorReader& reader, const std::string& tensor, Index modelDim) {
  const auto dim = std::to_string(modelDim);
  const auto expected = "[tokens, " + dim + "] or [batch, tokens, " + dim + "] with at least one token";
  const auto found = reader.get(tensor, 2, 3, expected);
  if (!found) return found.error();
  const auto& shape = (*found)->shape;
  if (shape.back() != asSize(modelDim)) return reader.wrongShape(tensor, shape, expected);
  const auto values = reader.floats(tensor, **found);
  if (!values) return values.error();
  const Index batch = shape.size() == 3 ? asIndex(shape[0]) : 1;
  const Index tokens = asIndex(shape[shape.size() - 2]);
  std::vector<Matrix> sequences;
  for (Index b = 0; b < batch; ++b) {
    sequences.emplace_back(MatrixView(values->data() + b * tokens * modelDim, tokens, modelDim));
  }
  return sequences;
}

Status readContext(TensorReader& reader, AttentionProblem& problem) {
  const auto& config = problem.config;
  const Index tokens = problem.x[0].rows();
  const auto cached = fmt::format("cache_length + x's tokens ({} + {})", config.cacheLength, tokens);
  const auto* tensor = reader.find("context");
  if (!tensor) {
    if (config.cacheLength == 0) return success();
    return Error{reader.at("context") + " is missing, expected one with the cached tokens and x's, " +
                 cached};
  }
  auto context = readSequences(reader, "context", config.modelDim);
  if (!context) return context.error();
  if ((tensor->shape.size() == 3) != problem.batched || context->size() != problem.x.size()) {
    return reader.wrongShape("context", tensor->shape,
                             problem.batched ? fmt::format("the batch axis of x, {}", problem.x.size())
                                             : "no batch axis, as x has none");
  }
  problem.context = *std::move(context);
  const Index keys = problem.context[0].rows();
  if (config.cacheLength > 0 && problem.rules.causal && keys - tokens != config.cacheLength) {
    return Error{fmt::format("{} has {} tokens, expected {}", reader.at("context"), keys, cached)};
  }
  return success();
}

}  // namespace

Result<AttentionProblem> readLayer(const TensorSource& file, const AttentionOptions& options,
                                   const std::string& name, std::uint64_t budget) {
  const auto parsed = parseOptions(file.header().metadata, options, name);
  if (!parsed) return parsed.error();
  TensorReader reader(file, name, budget);
  return readLayerTensors(reader, file.header(), *parsed, name, false);
}

Result<AttentionProblem> readProblem(const TensorSource& file, const AttentionOptions& options,
                                     const std::string& name, std::uint64_t budget) {
  const auto parsed = parseOptions(file.header().metadata, options, name);
  if (!parsed) return parsed.error();
  if (!parsed->known) return parsed->known.error();
  TensorReader reader(file, name, budget);
  auto problem = readLayerTensors(reader, file.header(), *parsed, name, true);
  if (!problem) return problem.error();
  auto x = readSequences(reader, "x", problem->config.modelDim);
  if (!x) return x.error();
  problem->x = *std::move(x);
  problem->batched = file.header().tensors.at("x").shape.size() == 3;
  if (const auto status = readContext(reader, *problem); !status) return status.error();
  if (const auto status = readPositions(reader, *problem); !status) return status.error();

  const Index queries = problem->x[0].rows();
  const Index keys = problem->context.empty() ? queries : problem->context[0].rows();
  if (const auto masks = readMasks(reader, queries, keys, *problem); !masks) return masks.error();
  if (const auto names = reader.checkNames(resultNames()); !names) return names.error();
  std::string computed;
  for (const std::string_view result : resultNames())
    if (file.header().tensors.contains(std::string(result)))
      computed += (computed.empty() ? "" : ", ") + std::string(result);
  if (!computed.empty())
    problem->notes.push_back(name +
                             ": these tensors are results, which are computed instead of read: " + computed);
  if (const bool compares = problem->rules.causal || problem->rules.window > 0;
      compares && queries != keys && !parsed->cacheGiven)
    problem->notes.push_back(name + ": " + positionRule(queries, keys, 0) + " (cache_length is not given)");
  return problem;
}

namespace {

/// One array of a result, without the batch axis.
struct ArrayView {
  Shape shape;
  std::span<const float> values;
};

ArrayView viewOf(const Stack& stack) {
  return {{asSize(stack.count()), asSize(stack.rows()), asSize(stack.cols())},
          {stack.data(), asSize(stack.size())}};
}

ArrayView viewOf(const Matrix& matrix) {
  return {{asSize(matrix.rows()), asSize(matrix.cols())}, {matrix.data(), asSize(matrix.size())}};
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
    AttentionConfig config = problem.config;
    config.dropout.sequence = i;
    results.push_back(projectSequence(problem, i));
    attendProjected(config, problem.projections, problem.masks[i], results.back());
  }
  return results;
}

Status checkFinite(const AttentionProblem& problem, const std::vector<AttentionResult>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const auto& array : kArrays) {
      const auto view = array.view(results[i]);
      const bool scores = array.name == kScores;
      for (std::size_t flat = 0; flat < view.values.size(); ++flat) {
        const float value = view.values[flat];
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
    NamedTensor tensor{DType::F32, first.shape, {}};
    if (batched) tensor.shape.insert(tensor.shape.begin(), results.size());
    for (const AttentionResult* result : results) {
      const auto view = array.view(*result);
      require(view.shape == first.shape, std::string(array.name) + " is " + shapeText(view.shape) +
                                             " in one result, " + shapeText(first.shape) + " in another");
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(view.values.data());
      tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + view.values.size_bytes());
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
