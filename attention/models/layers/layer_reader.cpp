#include "attention/models/layers/layer_reader.h"

#include <fmt/core.h>

#include <tuple>

namespace headscope::attention {
namespace {

/// The number of rows of q and k, and the tensors they come from, for messages.
struct LayerRows {
  Index q = 0, k = 0, modelDim = 0;
  std::string qTensor, kTensor;
};

/// Tensors beside a layer's projections that don't change its attention, by the end of their names.
constexpr std::string_view kHarmless[] = {
    ".attn.bias",       ".attention.bias",
    "masked_bias",  // the causal masks of GPT-2 and GPT-NeoX, saved as buffers
    "inv_freq",         "cos_cached",
    "sin_cached",  // inv_freq is compared with rope_theta
    "LayerNorm.weight", "LayerNorm.bias",  "LayerNorm.gamma", "LayerNorm.beta"};  // before or after attention

/// Words in the names of tensors that are part of attention, for files whose layer has no module of its own.
constexpr std::string_view kAttentionWords[] = {
    "q_norm", "k_norm", "query_norm", "key_norm", "q_layernorm", "k_layernorm",
    "q_ln",   "k_ln",   "sink",       "lambda",   "lora_",       "relative",
    "subln",  "bias_k", "bias_v",     "inv_freq", "logit_scale"};

/// Concatenates ranges of a projection's rows.
Linear partOf(const Linear& whole, const std::vector<RowRange>& rows) {
  const Index size = rows[0].count, count = static_cast<Index>(rows.size()) * size;
  Linear part{Matrix(count, whole.weight.cols()), {}};
  if (whole.bias.size() > 0) part.bias.resize(count);
  for (Index i = 0; i < static_cast<Index>(rows.size()); ++i) {
    const Index from = rows[static_cast<std::size_t>(i)].first;
    part.weight.middleRows(i * size, size) = whole.weight.middleRows(from, size);
    if (whole.bias.size() > 0) part.bias.segment(i * size, size) = whole.bias.segment(from, size);
  }
  return part;
}

/// Reads one layer's tensors by its spelling.
class LayerReader {
 public:
  LayerReader(TensorReader& reader, const LayerPlace& place) : reader_(reader), place_(place) {}

  Result<LayerRows> rows() {
    if (!names().qkv.empty()) return fusedRows();
    LayerRows rows{.qTensor = weightOf(names().q), .kTensor = weightOf(names().k)};
    const auto q = reader_.get(rows.qTensor, 2, 2, "[heads * head_dim, model_dim]");
    if (!q) return q.error();
    const auto k = reader_.get(rows.kTensor, 2, 2, "[kv_heads * head_dim, model_dim]");
    if (!k) return k.error();
    rows.q = asIndex((*q)->shape[0]);
    rows.k = asIndex((*k)->shape[0]);
    rows.modelDim = asIndex((*q)->shape[1]);
    return rows;
  }

  /// Reads the maps, of which multi-head latent attention (`latent`) only has the output's.
  Result<Projections> projections(const AttentionConfig& config, bool latent) {
    Projections projections;
    const Index qRows = config.heads * config.headDim, kvRows = config.kvHeads * config.headDim;
    std::vector<std::tuple<std::string_view, Linear*, Index, Index>> parts;
    if (latent)
      parts = {};
    else if (names().qkv.empty())
      parts = {{names().q, &projections.q, qRows, config.modelDim},
               {names().k, &projections.k, kvRows, config.modelDim},
               {names().v, &projections.v, kvRows, config.modelDim}};
    else if (const auto fused = readFused(config, projections); !fused)
      return fused.error();
    parts.push_back({names().o, &projections.o, config.modelDim, config.heads * config.valueSize()});
    for (const auto& [map, target, rows, cols] : parts) {
      auto linear = readLinear(map, rows, cols);
      if (!linear) return linear.error();
      *target = *std::move(linear);
    }
    return projections;
  }

  /// Refuses tensors of the layer that it doesn't read, and a rotation that differs from `ropeTheta`'s.
  Status checkUnread(const AttentionProblem& problem) {
    const std::string inside = module();
    for (const auto& entry : reader_.all()) {
      const std::string& tensor = entry.first;
      if (!tensor.starts_with(inside.empty() ? place_.prefix : inside) || reader_.wasRequested(tensor))
        continue;
      const auto endsIt = [&](std::string_view end) { return tensor.ends_with(end); };
      const auto hasIt = [&](std::string_view word) { return tensor.find(word) != std::string::npos; };
      // An MLP comes after attention, wherever a program stores it.
      if (std::ranges::any_of(kHarmless, endsIt) || hasIt(".mlp.")) continue;
      if (inside.empty() &&
          (tensor.starts_with(kSnapshotPrefix) || !std::ranges::any_of(kAttentionWords, hasIt)))
        continue;
      return Error{
          reader_.at(tensor) +
          " belongs to the layer's attention, but isn't applied here, and the weights would be wrong; open "
          "the model's folder instead, or leave the tensor out"};
    }
    return problem.config.ropeTheta || problem.extras.rotation ? checkRotation(problem) : success();
  }

 private:
  const LayerSpelling& names() const { return *place_.spelling; }
  std::string weightOf(std::string_view map) const { return place_.prefix + names().weight(map); }
  std::string biasOf(std::string_view map) const { return place_.prefix + names().bias(map); }

  /// The module that holds the layer and nothing else, "layers.3.self_attn."; empty if the tensors have none.
  std::string module() const {
    const std::string_view first = names().first();
    const std::size_t dot = first.find('.');
    const std::vector<std::string_view> parts = splitName(place_.prefix);
    // "layers.3." holds a whole block, whose attention is in "layers.3.attention.".
    const bool inBlock = parts.size() < 2 || numberInName(parts[parts.size() - 2]);
    if (!inBlock) return place_.prefix;
    return dot == std::string_view::npos ? "" : place_.prefix + std::string(first.substr(0, dot + 1));
  }

  /// Checks that rope_theta, which turns all numbers of each head in halves and without scaling, is the
  /// rotation of the model that saved the layer, as far as its names tell.
  Status checkRotation(const AttentionProblem& problem) {
    const auto& rotation = problem.extras.rotation;
    const std::vector<double> frequencies =
        rotation ? rotation->frequencies : ropeFrequencies(problem.config.headDim, *problem.config.ropeTheta);
    const auto& tensors = reader_.all();
    const auto found = std::ranges::find_if(tensors, [&](const auto& tensor) {
      return tensor.first.starts_with(place_.prefix) && tensor.first.ends_with("inv_freq");
    });
    if (found != tensors.end()) {
      const auto values = reader_.floats(found->first, found->second);
      if (!values) return values.error();
      bool same = values->size() == frequencies.size();
      for (std::size_t i = 0; same && i < frequencies.size(); ++i)
        same = std::abs(double{(*values)[i]} - frequencies[i]) <= 5e-3 * frequencies[i];
      return same ? success()
                  : Error{fmt::format("{} holds other frequencies than {} gives for heads of {}: the model "
                                      "rotates a part of "
                                      "each head (rotary_dim), or scales its rotation (rope_scaling)",
                                      reader_.at(found->first),
                                      rotation ? "the rotation of the options"
                                               : fmt::format("rope_theta {:g}", *problem.config.ropeTheta),
                                      problem.config.headDim)};
    }
    const std::string first = weightOf(names().first());
    // GPT-J's projections are named as OPT's, which has no rotation.
    const bool neox = names().fused == FusedRows::heads,
               gptJ = names().q == "q_proj" && names().o == "out_proj";
    const bool told = rotation && (!gptJ || rotation->interleaved);
    if (told || (!neox && (!gptJ || place_.prefix.empty()))) return success();
    return Error{fmt::format(
        "{} is named as in {}; leave rope_theta out, or open the model's folder", reader_.at(first),
        neox ? "GPT-NeoX, which rotates a part of each head (rotary_pct): headscope attend takes rotary_dim"
             : "GPT-J, which rotates a part of each head, in interleaved pairs: headscope attend takes "
               "rotary_dim and rope_interleaved")};
  }

  /// Reads the sizes of a fused projection. The output projection has as many inputs as there are query rows.
  Result<LayerRows> fusedRows() {
    const std::string tensor = weightOf(names().qkv);
    const auto whole = reader_.get(tensor, 2, 2, "[(heads + 2 * kv_heads) * head_dim, model_dim]");
    if (!whole) return whole.error();
    const auto o = reader_.get(weightOf(names().o), 2, 2, "[model_dim, heads * head_dim]");
    if (!o) return o.error();
    const Shape& shape = (*whole)->shape;
    // A fused projection has more outputs than inputs, so a shorter first axis means [in, out].
    inFirst_ = names().mayBeConv1D && shape[0] < shape[1];
    const Index outputs = asIndex(shape[inFirst_ ? 1 : 0]);
    LayerRows rows{.q = asIndex((*o)->shape[inFirst_ ? 0 : 1]),
                   .modelDim = asIndex(shape[inFirst_ ? 0 : 1]),
                   .qTensor = tensor,
                   .kTensor = tensor};
    rows.k = (outputs - rows.q) / 2;
    const bool even = outputs > rows.q && (outputs - rows.q) % 2 == 0;
    if (!even || (names().fused == FusedRows::heads && rows.k != rows.q))
      return Error{fmt::format("{} has {} outputs, expected {}, as {} reads {}", reader_.at(tensor), outputs,
                               names().fused == FusedRows::heads
                                   ? std::to_string(3 * rows.q)
                                   : fmt::format("{} and two equal parts", rows.q),
                               weightOf(names().o), rows.q)};
    return rows;
  }

  Status readFused(const AttentionConfig& config, Projections& projections) {
    const auto whole =
        readLinear(names().qkv, (config.heads + 2 * config.kvHeads) * config.headDim, config.modelDim);
    if (!whole) return whole.error();
    const auto part = [&](FusedPart which) {
      return partOf(*whole, rowsOf(which, names().fused, config.heads, config.kvHeads, config.headDim));
    };
    projections.q = part(FusedPart::q);
    projections.k = part(FusedPart::k);
    projections.v = part(FusedPart::v);
    return success();
  }

  Result<Linear> readLinear(std::string_view map, Index rows, Index cols) {
    const std::string weight = weightOf(map), bias = biasOf(map);
    const Shape expected = inFirst_ ? Shape{asSize(cols), asSize(rows)} : Shape{asSize(rows), asSize(cols)};
    const auto found = reader_.get(weight, 2, 2, shapeText(expected));
    if (!found) return found.error();
    if ((*found)->shape != expected) return reader_.wrongShape(weight, (*found)->shape, shapeText(expected));
    const auto values = reader_.floats(weight, **found);
    if (!values) return values.error();
    Linear linear;
    if (inFirst_)
      linear.weight = MatrixView(values->data(), cols, rows).transpose();
    else
      linear.weight = MatrixView(values->data(), rows, cols);
    if (const auto* offsets = reader_.find(bias)) {
      if (offsets->shape != Shape{asSize(rows)})
        return reader_.wrongShape(bias, offsets->shape, shapeText(Shape{asSize(rows)}));
      const auto numbers = reader_.floats(bias, *offsets);
      if (!numbers) return numbers.error();
      linear.bias = Eigen::Map<const Vector>(numbers->data(), rows);
    }
    return linear;
  }

  TensorReader& reader_;
  const LayerPlace& place_;
  bool inFirst_ = false;  ///< whether weights are [in, out], as in Conv1D
};

/// Infers sizes missing from the options from the rows of q and k.
Status inferSizes(const TensorReader& reader, const std::string& name, const LayerRows& rows,
                  ParsedOptions& options) {
  if (!options.headDim && !options.heads && !options.kvHeads)
    return Error{name + ": gives neither heads nor head_dim, expected one in its metadata or as an option"};
  const auto infer = [&](std::optional<Index>& size, const std::string& tensor, Index all, const char* option,
                         Index parts) -> Status {
    if (size) return success();
    size = all / parts;
    if (all % parts == 0) return success();
    return Error{
        fmt::format("{} has {} rows, expected a multiple of {} ({})", reader.at(tensor), all, option, parts)};
  };
  Status status = options.heads ? infer(options.headDim, rows.qTensor, rows.q, "heads", *options.heads)
                  : options.kvHeads
                      ? infer(options.headDim, rows.kTensor, rows.k, "kv_heads", *options.kvHeads)
                      : success();
  if (status) status = infer(options.heads, rows.qTensor, rows.q, "head_dim", *options.headDim);
  if (status) status = infer(options.kvHeads, rows.kTensor, rows.k, "head_dim", *options.headDim);
  if (!status) return status;
  options.config.heads = *options.heads;
  options.config.kvHeads = *options.kvHeads;
  options.config.headDim = *options.headDim;
  options.config.modelDim = rows.modelDim;
  return success();
}

}  // namespace

Result<AttentionProblem> readLayerTensors(TensorReader& reader, const SafetensorsHeader& header,
                                          ParsedOptions options, const std::string& name, bool extras) {
  const auto place = chooseLayer(header, options.layer, name);
  if (!place) return place.error();
  if (!extras && !options.extrasOption.empty())
    return Error{fmt::format("{}: {} isn't applied here; use headscope attend, or open the model's folder",
                             name, options.extrasOption)};
  if (!place->prefix.empty()) reader.passOverOtherParts();
  LayerReader layer(reader, *place);
  AttentionProblem problem;
  if (extras && isLatent(reader, *place)) {
    auto latent = readLatentLayer(reader, *place, options);
    if (!latent) return latent.error();
    problem.extras.latent = *std::move(latent);
  } else {
    const auto rows = layer.rows();
    if (!rows) return rows.error();
    if (const auto status = inferSizes(reader, name, *rows, options); !status) return status.error();
  }
  problem.config = options.config;
  problem.rules = options.rules;
  if (const auto status = validate(problem.config); !status)
    return Error{name + ": " + status.error().message};
  auto projections = layer.projections(problem.config, problem.extras.latent.has_value());
  if (!projections) return projections.error();
  problem.projections = *std::move(projections);
  if (extras)
    if (const auto status = readExtras(reader, *place, options, name, problem); !status)
      return status.error();
  if (const auto status = layer.checkUnread(problem); !status) return status.error();
  if (problem.config.ropeTheta && !place->prefix.empty())
    problem.notes.push_back(fmt::format(
        "{}: rope_theta rotates all {} numbers of each head, as halves and without scaling; models "
        "with partial_rotary_factor, interleaved pairs or rope_scaling differ{}",
        name, problem.config.headDim, extras ? ", see rotary_dim, rope_interleaved and rope_scaling" : ""));
  return problem;
}

}  // namespace headscope::attention
