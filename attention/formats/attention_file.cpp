#include "attention/formats/attention_file.h"

#include <fmt/core.h>

#include <optional>

#include "attention/formats/attention_masks.h"
#include "attention/formats/attention_options.h"
#include "attention/formats/tensor_reader.h"
#include "attention/masks/compile.h"

namespace headscope::attention {
namespace {

/// rows / parts, or an error where that leaves a rest.
Result<Index> divide(const TensorReader& reader, const std::string& tensor, Index rows, const char* option,
                     Index parts) {
  if (rows % parts == 0) return rows / parts;
  return Error{
      fmt::format("{} has {} rows, expected a multiple of {} ({})", reader.at(tensor), rows, option, parts)};
}

/// Fills in the sizes that the options left out, from the rows of q_proj and k_proj.
Status inferSizes(const TensorReader& reader, const std::string& name, Index qRows, Index kRows,
                  ParsedOptions& options) {
  const std::string q = "q_proj.weight", k = "k_proj.weight";
  if (!options.headDim) {
    if (!options.heads && !options.kvHeads) {
      return Error{name +
                   ": says neither heads nor head_dim, expected one of them in its metadata or as an option"};
    }
    const auto headDim = options.heads ? divide(reader, q, qRows, "heads", *options.heads)
                                       : divide(reader, k, kRows, "kv_heads", *options.kvHeads);
    if (!headDim) return headDim.error();
    options.headDim = *headDim;
  }
  if (!options.heads) {
    const auto heads = divide(reader, q, qRows, "head_dim", *options.headDim);
    if (!heads) return heads.error();
    options.heads = *heads;
  }
  if (!options.kvHeads) {
    const auto kvHeads = divide(reader, k, kRows, "head_dim", *options.headDim);
    if (!kvHeads) return kvHeads.error();
    options.kvHeads = *kvHeads;
  }
  options.config.heads = *options.heads;
  options.config.kvHeads = *options.kvHeads;
  options.config.headDim = *options.headDim;
  return success();
}

Result<Linear> readLinear(TensorReader& reader, const std::string& tensor, Index rows, Index cols) {
  const Shape expected{asSize(rows), asSize(cols)};
  const auto weight = reader.get(tensor + ".weight", 2, 2, shapeText(expected));
  if (!weight) return weight.error();
  if ((*weight)->shape != expected) {
    return reader.wrongShape(tensor + ".weight", (*weight)->shape, shapeText(expected));
  }
  const auto values = reader.floats(tensor + ".weight", **weight);
  if (!values) return values.error();
  Linear linear{MatrixView(values->data(), rows, cols), {}};
  if (const auto* bias = reader.find(tensor + ".bias")) {
    if (bias->shape != Shape{asSize(rows)}) {
      return reader.wrongShape(tensor + ".bias", bias->shape, shapeText(Shape{asSize(rows)}));
    }
    const auto offsets = reader.floats(tensor + ".bias", *bias);
    if (!offsets) return offsets.error();
    linear.bias = Eigen::Map<const Vector>(offsets->data(), rows);
  }
  return linear;
}

Result<AttentionProblem> readLayerParts(TensorReader& reader, ParsedOptions options,
                                        const std::string& name) {
  const auto q = reader.get("q_proj.weight", 2, 2, "[heads * head_dim, model_dim]");
  if (!q) return q.error();
  const auto k = reader.get("k_proj.weight", 2, 2, "[kv_heads * head_dim, model_dim]");
  if (!k) return k.error();
  const auto sizes = inferSizes(reader, name, asIndex((*q)->shape[0]), asIndex((*k)->shape[0]), options);
  if (!sizes) return sizes.error();

  AttentionProblem problem;
  auto& config = problem.config;
  config = options.config;
  problem.rules = options.rules;
  config.modelDim = asIndex((*q)->shape[1]);
  if (const auto status = validate(config); !status) return Error{name + ": " + status.error().message};
  const Index qRows = config.heads * config.headDim, kvRows = config.kvHeads * config.headDim;
  const std::tuple<const char*, Linear*, Index, Index> parts[] = {
      {"q_proj", &problem.projections.q, qRows, config.modelDim},
      {"k_proj", &problem.projections.k, kvRows, config.modelDim},
      {"v_proj", &problem.projections.v, kvRows, config.modelDim},
      {"o_proj", &problem.projections.o, config.modelDim, qRows}};
  for (const auto& [tensor, target, rows, cols] : parts) {
    auto linear = readLinear(reader, tensor, rows, cols);
    if (!linear) return linear.error();
    *target = *std::move(linear);
  }
  return problem;
}

/// [tokens, modelDim], or [batch, tokens, modelDim]: one matrix per sequence.
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
  return readLayerParts(reader, *parsed, name);
}

Result<AttentionProblem> readProblem(const TensorSource& file, const AttentionOptions& options,
                                     const std::string& name, std::uint64_t budget) {
  const auto parsed = parseOptions(file.header().metadata, options, name);
  if (!parsed) return parsed.error();
  if (!parsed->known) return parsed->known.error();
  TensorReader reader(file, name, budget);
  auto problem = readLayerParts(reader, *parsed, name);
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
    problem->notes.push_back(name + ": tensors of a result are not read but computed: " + computed);
  if (const bool compares = problem->rules.causal || problem->rules.window > 0;
      compares && queries != keys && !parsed->cacheGiven)
    problem->notes.push_back(name + ": " + positionRule(queries, keys, 0) + " (cache_length is not given)");
  return problem;
}

}  // namespace headscope::attention
