#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {
namespace {

/// Finds the weights of one layer's mixture.
class MixtureReader {
 public:
  MixtureReader(TensorFinder& finder, const ModelConfig& config, const TensorNames& names, Index layer)
      : finder_(finder), config_(config), mixture_(config.mixture), names_(names), layer_(layer) {}

  MixtureWeights read() {
    const Index d = config_.modelDim;
    MixtureWeights weights;
    weights.router = linear(names_.router, mixture_.experts, d, mixture_.biased);
    if (mixture_.corrected)
      weights.correction = finder_.vector(full(names_.routerCorrection), mixture_.experts);
    weights.experts = experts();
    if (const Index latent = mixture_.latentDim; latent > 0) {
      weights.in = linear(names_.expertsIn, latent, d, config_.mlpBias);
      weights.out = linear(names_.expertsOut, d, latent, config_.mlpBias);
    }
    if (mixture_.sharedDim > 0) addShared(weights);
    return weights;
  }

 private:
  std::string full(std::string_view name) const { return layerName(names_.layer, layer_, name); }

  MappedLinear linear(std::string_view name, Index out, Index in, bool bias) {
    return finder_.linear(full(name), out, in, bias, names_.inFirst);
  }

  /// One map per expert.
  std::vector<MappedLinear> maps(std::string_view name, Index out, Index in) {
    const std::size_t mark = name.find('E');
    if (mark == name.npos) {
      const std::string all = full(name);
      if (!finder_.has(all + ".weight") && finder_.has(all))
        return finder_.linears(all, "", mixture_.experts, out, in);
      return finder_.linears(all + ".weight", mixture_.biased ? all + ".bias" : "", mixture_.experts, out,
                             in);
    }
    std::vector<MappedLinear> maps;
    for (Index e = 0; e < mixture_.experts && finder_.status(); ++e) {
      std::string one(name);
      one.replace(mark, 1, std::to_string(e));
      maps.push_back(linear(one, out, in, false));
    }
    return maps;
  }

  /// The same for one tensor of all experts with its inputs first.
  std::vector<MappedLinear> turnedMaps(std::string_view name, Index out, Index in) {
    const std::string tensor = full(name);
    return finder_.linears(tensor, mixture_.biased ? tensor + "_bias" : "", mixture_.experts, out, in, true);
  }

  std::vector<MlpWeights> experts() {
    const Index d = mixture_.latentDim > 0 ? mixture_.latentDim : config_.modelDim, f = mixture_.innerDim;
    std::vector<MlpWeights> all;
    if (!names_.expertGateUp.empty()) {
      auto both = turnedMaps(names_.expertGateUp, 2 * f, d), down = turnedMaps(names_.expertDown, d, f);
      for (std::size_t e = 0; e < both.size() && finder_.status(); ++e)
        all.push_back({{}, std::move(down[e]), {}, std::move(both[e])});
      return all;
    }
    const bool turned = !names_.expertGateBeforeUp.empty();
    auto down = turned ? turnedMaps(names_.expertDown, d, f) : maps(names_.expertDown, d, f);
    const std::string_view both = names_.expertGateThenUp;
    if (turned || (!both.empty() && (finder_.has(full(both) + ".weight") || finder_.has(full(both))))) {
      const auto pairs = turned ? turnedMaps(names_.expertGateBeforeUp, 2 * f, d) : maps(both, 2 * f, d);
      for (std::size_t e = 0; e < pairs.size() && finder_.status(); ++e)
        all.push_back({outputsOf(pairs[e], f, f), std::move(down[e]), outputsOf(pairs[e], 0, f), {}});
      return all;
    }
    auto up = maps(names_.expertUp, f, d);
    auto gate =
        names_.expertGate.empty() ? std::vector<MappedLinear>(up.size()) : maps(names_.expertGate, f, d);
    for (std::size_t e = 0; e < up.size() && finder_.status(); ++e)
      all.push_back({std::move(up[e]), std::move(down[e]), std::move(gate[e]), {}});
    return all;
  }

  void addShared(MixtureWeights& weights) {
    const Index d = config_.modelDim, shared = mixture_.sharedDim;
    weights.shared.down = linear(names_.sharedDown, d, shared, false);
    if (names_.sharedGateUp.empty()) {
      weights.shared.up = linear(names_.sharedUp, shared, d, false);
      if (!names_.sharedGate.empty()) weights.shared.gate = linear(names_.sharedGate, shared, d, false);
    } else {
      const MappedLinear both = linear(names_.sharedGateUp, 2 * shared, d, false);
      weights.shared.gate = outputsOf(both, 0, shared);
      weights.shared.up = outputsOf(both, shared, shared);
    }
    if (!names_.sharedRouter.empty()) weights.sharedRouter = finder_.row(full(names_.sharedRouter), d);
  }

  TensorFinder& finder_;
  const ModelConfig& config_;
  const Mixture& mixture_;
  const TensorNames& names_;
  const Index layer_;
};

}  // namespace

MixtureWeights mixtureWeights(TensorFinder& finder, const ModelConfig& config, const TensorNames& names,
                              Index layer) {
  return MixtureReader(finder, config, names, layer).read();
}

}  // namespace headscope::attention
