#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {

void splitGates(const ModelConfig& config, LayerWeights& layer) {
  std::vector<RowRange> queries, gates;
  for (Index head = 0; head < config.heads; ++head) {
    queries.push_back({2 * head * config.headDim, config.headDim});
    gates.push_back({(2 * head + 1) * config.headDim, config.headDim});
  }
  layer.gate = outputsOf(layer.q, gates);
  layer.q = outputsOf(layer.q, queries);
}

XieluWeights xieluWeights(TensorFinder& finder, const std::string& name) {
  const auto number = [&](const char* of) {
    const Vector found = finder.vector(name + of, 1);
    return found.size() > 0 ? found[0] : 0;
  };
  return {number(".alpha_p"), number(".alpha_n"), number(".beta"), number(".eps")};
}

namespace {

/// The delta rule's maps from the stream. A file has q, k and v in turn and the others apart, or for each
/// group its q, k, v and z, and its β and Δ.
void deltaMaps(TensorFinder& finder, const std::string& name, const ModelConfig& config,
               RecurrentWeights& weights) {
  const Recurrence& how = config.recurrence;
  const Index d = config.modelDim, keys = how.groups * how.state, values = how.heads * how.headDim;
  const auto map = [&](const char* of, Index out) {
    return finder.linear(name + of, out, d, how.bias, false);
  };
  if (finder.has(name + "in_proj_qkv.weight")) {
    const MappedLinear all = map("in_proj_qkv", 2 * keys + values);
    weights.query = outputsOf(all, 0, keys);
    weights.key = outputsOf(all, keys, keys);
    weights.in = outputsOf(all, 2 * keys, values);
    weights.gate = map("in_proj_z", values);
    weights.rate = map("in_proj_b", how.heads);
    weights.step = map("in_proj_a", how.heads);
    return;
  }
  const MappedLinear all = map("in_proj_qkvz", 2 * keys + 2 * values),
                     rates = map("in_proj_ba", 2 * how.heads);
  const auto part = [&](const MappedLinear& of, Index first, Index count) {
    std::vector<RowRange> rows;
    for (Index group = 0; group < how.groups; ++group)
      rows.push_back({group * (of.out / how.groups) + first, count});
    return outputsOf(of, rows);
  };
  const Index heads = how.heads / how.groups, each = values / how.groups, s = how.state;
  weights.query = part(all, 0, s);
  weights.key = part(all, s, s);
  weights.in = part(all, 2 * s, each);
  weights.gate = part(all, 2 * s + each, each);
  weights.rate = part(rates, 0, heads);
  weights.step = part(rates, heads, heads);
}

}  // namespace

RecurrentWeights recurrentWeights(TensorFinder& finder, const std::string& name, const ModelConfig& config) {
  using Kind = Recurrence::Kind;
  const Recurrence& how = config.recurrence;
  const Index d = config.modelDim, inner = how.heads * how.headDim, s = how.state;
  const bool second = how.kind == Kind::mamba2, convolution = how.kind == Kind::convolution;
  const bool delta = how.kind == Kind::delta;
  const Index channels = second || delta ? inner + 2 * how.groups * s : inner;
  const auto map = [&](const char* of, Index out, Index in, bool bias) {
    return finder.linear(name + of, out, in, bias, false);
  };
  const auto normOf = [&](const char* of, Index size) { return finder.norm(name + of, size, NormKind::rms); };
  RecurrentWeights weights;
  if (delta)
    deltaMaps(finder, name, config, weights);
  else
    weights.in = map("in_proj",
                     convolution ? 3 * d
                     : second    ? inner + channels + how.heads
                                 : 2 * inner,
                     d, how.bias);
  weights.out = map("out_proj", d, inner, how.bias);
  const std::string kernel = name + (convolution ? "conv" : "conv1d");
  weights.kernel = finder.convolution(kernel, channels, how.kernel);
  if (how.kernelBias) weights.kernelBias = finder.vector(kernel + ".bias", channels);
  if (convolution) return weights;
  if (second || delta) {
    weights.decay = finder.vector(name + "A_log", how.heads);
    weights.stepBias = finder.vector(name + "dt_bias", how.heads);
    if (second) weights.skip = finder.vector(name + "D", how.heads);
    weights.norm = normOf("norm", delta ? how.headDim : inner);
  } else {
    const MappedRows decay = finder.table(name + "A_log", inner, s);
    weights.decay.resize(decay.rows, decay.cols);
    for (Index i = 0; i < decay.rows; ++i) weights.decay.row(i) = decay.row(i);
    weights.select = map("x_proj", how.rank + 2 * s, inner, false);
    weights.step = map("dt_proj", inner, how.rank, false);
    weights.stepBias = finder.vector(name + "dt_proj.bias", inner);
    weights.skip = finder.vector(name + "D", inner);
    weights.stepNorm = normOf("dt_layernorm", how.rank);
    weights.keyNorm = normOf("b_layernorm", s);
    weights.queryNorm = normOf("c_layernorm", s);
  }
  weights.decay = -weights.decay.array().exp();
  return weights;
}

}  // namespace headscope::attention
