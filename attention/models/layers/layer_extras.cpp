#include "attention/models/layers/layer_extras.h"

#include <fmt/core.h>

#include "attention/models/config/config_reader.h"
#include "attention/models/families/fields.h"
#include "attention/models/layers/layer_reader.h"

namespace headscope::attention {
namespace {

/// Names under which families save the norms of queries and keys, and whether they follow the rotation.
struct NormNames {
  std::string_view q, k;
  bool last = false;
};
constexpr NormNames kNormNames[] = {{"q_norm", "k_norm"},
                                    {"q_layernorm", "k_layernorm"},
                                    {"q_ln", "k_ln"},
                                    {"query_norm", "key_norm"},
                                    {"query_layernorm", "key_layernorm", true}};  // Hunyuan

Status readVector(TensorReader& reader, const std::string& tensor, const Shape& expected, Vector& to) {
  const auto found = reader.get(tensor, expected.size(), expected.size(), shapeText(expected));
  if (!found) return found.error();
  if ((*found)->shape != expected) return reader.wrongShape(tensor, (*found)->shape, shapeText(expected));
  const auto values = reader.floats(tensor, **found);
  if (!values) return values.error();
  to = Eigen::Map<const Vector>(values->data(), std::ssize(*values));
  return success();
}

/// Reads the norms of queries and keys. The shape of the first says whether each head is normed alone, with
/// its own weights or shared ones, or all together.
Status readNorms(TensorReader& reader, const LayerPlace& place, const NormNames& names,
                 const ParsedOptions& options, const AttentionConfig& config, LayerExtras& extras) {
  const std::string q = fmt::format("{}{}.weight", place.prefix, names.q);
  const TensorEntry* const found = reader.find(q);
  if (!found) return success();
  const Index d = config.headDim;
  const bool perHead = found->shape.size() == 2;
  extras.whole = !perHead && config.heads > 1 && found->shape == Shape{asSize(config.heads * d)};
  const auto shapeOf = [&](Index heads) {
    return perHead ? Shape{asSize(heads), asSize(d)} : Shape{asSize(extras.whole ? heads * d : d)};
  };
  bool biased = false;
  for (const bool isKey : {false, true}) {
    NormWeights& norm = isKey ? extras.kNorm : extras.qNorm;
    const std::string start = place.prefix + std::string(isKey ? names.k : names.q);
    const Shape shape = shapeOf(isKey ? config.kvHeads : config.heads);
    if (const auto status = readVector(reader, start + ".weight", shape, norm.weight); !status) return status;
    if (perHead || !reader.all().contains(start + ".bias")) continue;  // an unread bias is refused later
    biased = true;
    if (const auto status = readVector(reader, start + ".bias", shape, norm.bias); !status) return status;
  }
  extras.normsLast = names.last;
  extras.kind = options.layerNorm.value_or(biased || perHead) ? NormKind::layer : NormKind::rms;
  extras.epsilon = options.normEpsilon.value_or(extras.kind == NormKind::rms ? 1e-6 : 1e-5);
  if (extras.kind == NormKind::layer)
    for (NormWeights* const norm : {&extras.qNorm, &extras.kNorm})
      if (norm->bias.size() == 0) norm->bias = Vector::Zero(norm->weight.size());
  if (options.normPlusOne)
    for (NormWeights* const norm : {&extras.qNorm, &extras.kNorm}) norm->weight.array() += 1;
  return success();
}

Status readBuckets(TensorReader& reader, const LayerPlace& place, const ParsedOptions& options,
                   AttentionProblem& problem) {
  const std::string tensor = place.prefix + "relative_attention_bias.weight";
  if (!reader.all().contains(tensor)) return success();
  const std::string expected = fmt::format("[buckets, {}]", problem.config.heads);
  const auto found = reader.get(tensor, 2, 2, expected);
  if (!found) return found.error();
  const Shape& shape = (*found)->shape;
  if (shape[1] != asSize(problem.config.heads)) return reader.wrongShape(tensor, shape, expected);
  const auto values = reader.floats(tensor, **found);
  if (!values) return values.error();
  const Index buckets = asIndex(shape[0]);
  problem.config.t5 = {
      .buckets = buckets,
      .maxDistance = options.t5MaxDistance.value_or(128),
      .bidirectional = options.t5Bidirectional.value_or(!options.rules.causal),
      .table = std::make_shared<const Matrix>(MatrixView(values->data(), buckets, problem.config.heads))};
  if (!problem.config.scale) problem.config.scale = 1.0F;
  problem.notes.push_back(
      fmt::format("{} is added by distance, {}; scores are q·k times {:g}", reader.at(tensor),
                  problem.config.t5->bidirectional ? "with half of the buckets for keys after the query"
                                                   : "with all buckets for keys before the query",
                  *problem.config.scale));
  return success();
}

/// The rotation's table for the rows from position `first` on of a text of `tokens`, or for the given
/// positions.
Matrix tableOf(const LayerExtras& extras, std::size_t sequence, Index first, Index count, Index tokens) {
  if (extras.positions.empty()) return rotationTable(*extras.rotation, first, count, tokens);
  const std::vector<Index>& positions = extras.positions[sequence];
  tokens = *std::ranges::max_element(positions) + 1;
  Matrix table(count, extras.rotation->dims);
  for (Index row = 0; row < count; ++row)
    table.row(row) = rotationTable(*extras.rotation, positions[asSize(row)], 1, tokens);
  return table;
}

void normAll(const LayerExtras& extras, const NormWeights& norm, Stack& heads) {
  if (norm.weight.size() == 0) return;
  if (extras.whole)
    heads = splitHeads(normRows(mergeHeads(heads), norm, extras.kind, extras.epsilon), heads.count());
  else
    normHeads(heads, norm, extras.kind, extras.epsilon);
}

/// The heads of what multi-head latent attention computes from x and context.
AttentionResult projectLatent(const AttentionProblem& problem, const Matrix& x, const Matrix& context) {
  const LatentLayer& latent = *problem.extras.latent;
  const AttentionConfig& config = problem.config;
  const double epsilon = problem.extras.epsilon;
  const bool through = latent.queryDown.weight.size() > 0;
  AttentionResult result;
  result.q = splitHeads(
      latent.query.apply(
          through ? normRows(latent.queryDown.apply(x), latent.queryNorm, NormKind::rms, epsilon) : x),
      config.heads);
  const Matrix both = latent.down.apply(context);
  const Stack up =
      splitHeads(latent.up.apply(normRows(both.leftCols(latent.rank), latent.norm, NormKind::rms, epsilon)),
                 config.heads);
  const Index plain = config.headDim - latent.ropeDim;
  result.k = Stack::uninitialized(config.heads, context.rows(), config.headDim);
  result.v = Stack::uninitialized(config.heads, context.rows(), config.valueSize());
  for (Index head = 0; head < config.heads; ++head) {
    result.k[head] << up[head].leftCols(plain), both.rightCols(latent.ropeDim);
    result.v[head] = up[head].rightCols(config.valueSize());
  }
  return result;
}

/// A rotation, and the factor that its scaling sets on the scores of multi-head latent attention.
struct DescribedRotation {
  Rotation rotation;
  double sharpness = 1;
};

/// Returns the rotation of a head's `turned` numbers that the options describe. Adds notes. Requires
/// rope_theta.
Result<DescribedRotation> describedRotation(const ParsedOptions& options, Index turned,
                                            const std::string& name, std::vector<std::string>& notes) {
  const Index dims = options.rotaryDim.value_or(turned);
  if (dims > turned || dims % 2 != 0)
    return Error{fmt::format("{}: rotary_dim is {}, expected an even number up to {}", name, dims, turned)};
  const auto rope =
      ConfigReader::parse(options.ropeScaling.empty() ? "{}" : options.ropeScaling, name + ": rope_scaling");
  if (!rope) return rope.error();
  const std::string kind = rope->text(rope->has("rope_type") ? "rope_type" : "type", "default");
  if ((kind == "dynamic" || kind == "longrope") && !options.maxPositions)
    return Error{name +
                 ": max_positions is missing, expected max_position_embeddings of config.json, which "
                 "rope_scaling of kind " +
                 kind + " needs"};
  ModelConfig sizes;
  sizes.headDim = dims;
  sizes.maxPositions =
      options.maxPositions.value_or(rope->size("original_max_position_embeddings", 2048, 2, kMaxPositions));
  DescribedRotation described{families::rotationOf(*rope, *rope, *options.config.ropeTheta, {}, sizes)};
  if (kind == "yarn" && rope->differs("mscale_all_dim", "0"))
    described.sharpness =
        yarnAttentionFactor(rope->positive("factor", 1), rope->positive("mscale_all_dim", 1));
  if (const Status status = rope->status(); !status) return status.error();
  if (const auto unread = rope->unread(); !unread.empty())
    return Error{
        fmt::format("{}: rope_scaling has {}, which {} doesn't read", name, quotedText(unread[0]), kind)};
  described.rotation.interleaved = options.interleaved.value_or(false);
  for (const std::string& note : sizes.notes) notes.push_back(name + ": " + note);
  return described;
}

Status readRotation(const TensorReader& reader, const ParsedOptions& options, const std::string& name,
                    AttentionProblem& problem) {
  LayerExtras& extras = problem.extras;
  AttentionConfig& config = problem.config;
  if (!config.ropeTheta) {
    if (options.rotationOption.empty()) return success();
    return Error{
        fmt::format("{}: {} is given without rope_theta, expected both", name, options.rotationOption)};
  }
  const bool plain =
      !extras.any() && options.rotationOption.empty() && !reader.all().contains("position_ids");
  if (plain) return success();
  const Index turned = extras.latent ? extras.latent->ropeDim : config.headDim;
  auto described = describedRotation(options, turned, name, problem.notes);
  if (!described) return described.error();
  Rotation& rotation = described->rotation;
  rotation.first = config.headDim - turned;
  if (extras.latent) {
    rotation.interleaved = options.interleaved.value_or(true);
    if (!config.scale)
      config.scale = static_cast<float>(described->sharpness * described->sharpness /
                                        std::sqrt(static_cast<double>(config.headDim)));
  }
  extras.rotation = std::move(rotation);
  config.ropeTheta.reset();
  return success();
}

}  // namespace

Status readExtras(TensorReader& reader, const LayerPlace& place, const ParsedOptions& options,
                  const std::string& name, AttentionProblem& problem) {
  LayerExtras& extras = problem.extras;
  extras.epsilon = options.normEpsilon.value_or(1e-6);
  for (const NormNames& names : kNormNames)
    if (const auto status = readNorms(reader, place, names, options, problem.config, extras); !status)
      return status;
  const bool norms = extras.qNorm.weight.size() > 0;
  if (norms)
    problem.notes.push_back(fmt::format("{}: queries and keys pass {} {}, with epsilon {:g}, {} the rotation",
                                        name, extras.kind == NormKind::rms ? "an RMS norm" : "a layer norm",
                                        extras.whole ? "over all heads" : "of each head", extras.epsilon,
                                        extras.normsLast ? "after" : "before"));
  if (const std::string sinks = place.prefix + "sinks"; reader.all().contains(sinks)) {
    Vector values;
    if (const auto status = readVector(reader, sinks, {asSize(problem.config.heads)}, values); !status)
      return status;
    problem.config.sinks.assign(values.begin(), values.end());
  }
  if (const auto status = readBuckets(reader, place, options, problem); !status) return status;
  return readRotation(reader, options, name, problem);
}

Status readPositions(TensorReader& reader, AttentionProblem& problem) {
  constexpr const char* kName = "position_ids";
  const TensorEntry* const tensor = reader.find(kName);
  if (!tensor) return success();
  if (!problem.extras.rotation)
    return Error{reader.at(kName) + " turns nothing without rope_theta; leave it out, or add rope_theta"};
  if (!problem.context.empty())
    return Error{reader.at(kName) + " can't be used with context; positions then count from cache_length"};
  const std::size_t n = asSize(problem.x[0].rows()), batch = problem.x.size();
  const bool each = tensor->shape == Shape{batch, n};
  if (!each && tensor->shape != Shape{n} && tensor->shape != Shape{1, n})
    return reader.wrongShape(kName, tensor->shape, fmt::format("[{}] or [{}, {}]", n, batch, n));
  const auto values = readIndices(reader, kName, kMaxPositions);
  if (!values) return values.error();
  for (std::size_t i = 0; i < batch; ++i) {
    const auto from = values->begin() + static_cast<std::ptrdiff_t>(each ? i * n : 0);
    problem.extras.positions.emplace_back(from, from + static_cast<std::ptrdiff_t>(n));
  }
  return success();
}

AttentionResult projectSequence(const AttentionProblem& problem, std::size_t sequence) {
  const LayerExtras& extras = problem.extras;
  const Matrix& x = problem.x[sequence];
  const Matrix& context = problem.context.empty() ? x : problem.context[sequence];
  AttentionResult result = extras.latent ? projectLatent(problem, x, context)
                                         : project(problem.config, problem.projections, x, context);
  const auto norm = [&] {
    normAll(extras, extras.qNorm, result.q);
    normAll(extras, extras.kNorm, result.k);
  };
  if (!extras.normsLast) norm();
  if (const auto& turn = extras.rotation) {
    const Index first = problem.config.cacheLength, tokens = std::max(first + x.rows(), context.rows());
    rotateHeads(result.q, tableOf(extras, sequence, first, x.rows(), tokens), turn->interleaved, turn->first);
    rotateHeads(result.k, tableOf(extras, sequence, 0, context.rows(), tokens), turn->interleaved,
                turn->first);
  }
  if (extras.normsLast) norm();
  return result;
}

}  // namespace headscope::attention
