#include "attention/formats/layers/attention_file.h"

#include <fmt/core.h>

#include <optional>

#include "attention/formats/layers/attention_masks.h"
#include "attention/formats/layers/attention_options.h"
#include "attention/formats/layers/layer_reader.h"
#include "attention/formats/tensor_reader.h"
#include "attention/masks/compile.h"

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
  return readLayerTensors(reader, file.header(), *parsed, name);
}

Result<AttentionProblem> readProblem(const TensorSource& file, const AttentionOptions& options,
                                     const std::string& name, std::uint64_t budget) {
  const auto parsed = parseOptions(file.header().metadata, options, name);
  if (!parsed) return parsed.error();
  if (!parsed->known) return parsed->known.error();
  TensorReader reader(file, name, budget);
  auto problem = readLayerTensors(reader, file.header(), *parsed, name);
  if (!problem) return problem.error();
  auto x = readSequences(reader, "x", problem->config.modelDim);
  if (!x) return x.error();
  problem->x = *std::move(x);
  problem->batched = file.header().tensors.at("x").shape.size() == 3;
  if (const auto status = readContext(reader, *problem); !status) return status.error();

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

}  // namespace headscope::attention
