#include <cmath>

#include "attention/core/tensor.h"
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

/// Finds the weights of one recurrence.
class RecurrenceReader {
 public:
  RecurrenceReader(TensorFinder& finder, const std::string& name, const RecurrentNames& names,
                   const ModelConfig& config)
      : finder_(finder), prefix_(name), names_(names), config_(config), how_(config.recurrence) {}

  RecurrentWeights read(Index layer) {
    using Kind = Recurrence::Kind;
    const Index d = config_.modelDim, inner = how_.heads * how_.headDim;
    weights_.out = map(names_.out, d, inner, how_.outBias);
    switch (how_.kind) {
      case Kind::none:
        break;
      case Kind::convolution:
        weights_.in = map(names_.in, 3 * d, d, how_.bias);
        addKernel(d);
        break;
      case Kind::mamba:
        mamba();
        break;
      case Kind::mamba2:
        mamba2();
        break;
      case Kind::delta:
        delta();
        break;
      case Kind::lightning:
        lightning(layer);
        break;
      case Kind::gatedLinear:
        gatedLinear();
        break;
    }
    return std::move(weights_);
  }

 private:
  std::string full(std::string_view name) const { return prefix_ + std::string(name); }
  MappedLinear map(std::string_view name, Index out, Index in, bool bias) {
    return finder_.linear(full(name), out, in, bias, false);
  }
  NormWeights norm(std::string_view name, Index size) {
    return finder_.norm(full(name), size, NormKind::rms);
  }

  void addKernel(Index channels) {
    weights_.kernel = finder_.convolution(full(names_.kernel), channels, how_.kernel);
    if (how_.kernelBias) weights_.kernelBias = finder_.vector(full(names_.kernel) + ".bias", channels);
  }

  /// A is stored as ln(−A).
  void addDecay(Index rows, Index cols) {
    const MappedRows decay = finder_.table(full(names_.decay), rows, cols);
    weights_.decay.resize(decay.rows, decay.cols);
    for (Index i = 0; i < decay.rows; ++i) weights_.decay.row(i) = decay.row(i);
    if (!names_.readyDecay) weights_.decay = -weights_.decay.array().exp();
  }
  /// One number per head.
  void addHeadDecay() {
    const Vector decay = finder_.vector(full(names_.decay), how_.heads);
    weights_.decay = names_.readyDecay ? Matrix(decay) : Matrix(-decay.array().exp());
  }

  void mamba() {
    const Index inner = how_.heads * how_.headDim, s = how_.state;
    weights_.in = map(names_.in, 2 * inner, config_.modelDim, how_.bias);
    addKernel(inner);
    addDecay(inner, s);
    weights_.select = map(names_.select, how_.rank + 2 * s, inner, false);
    weights_.step = map(names_.step, inner, how_.rank, false);
    weights_.stepBias = finder_.vector(full(names_.step) + ".bias", inner);
    weights_.skip = finder_.vector(full(names_.skip), inner);
    weights_.stepNorm = norm(names_.stepNorm, how_.rank);
    weights_.keyNorm = norm(names_.keyNorm, s);
    weights_.queryNorm = norm(names_.queryNorm, s);
  }

  void mamba2() {
    const Index inner = how_.heads * how_.headDim, channels = inner + 2 * how_.groups * how_.state;
    weights_.in = map(names_.in, inner + channels + how_.heads, config_.modelDim, how_.bias);
    addKernel(channels);
    addHeadDecay();
    weights_.stepBias = finder_.vector(full(names_.stepBias), how_.heads);
    weights_.skip = finder_.vector(full(names_.skip), how_.heads);
    if (how_.normed) weights_.norm = norm(names_.norm, inner);
  }

  void delta() {
    const Index keys = how_.groups * how_.state, values = how_.heads * how_.headDim,
                steps = how_.perChannel ? how_.heads * how_.state : how_.heads;
    if (names_.query.empty())
      deltaMaps();
    else
      deltaMapsApart();
    if (names_.queryKernel.empty()) {
      addKernel(2 * keys + values);
    } else {
      weights_.kernel.resize(2 * keys + values, how_.kernel);
      Index first = 0;
      for (const auto& [name, channels] :
           {std::pair(names_.queryKernel, keys), std::pair(names_.keyKernel, keys),
            std::pair(names_.valueKernel, values)}) {
        const Matrix part = finder_.convolution(full(name), channels, how_.kernel);
        if (part.size() > 0) weights_.kernel.middleRows(first, channels) = part;
        first += channels;
      }
    }
    if (how_.perChannel)
      addDecay(how_.heads, 1);
    else
      addHeadDecay();
    weights_.stepBias = finder_.vector(full(names_.stepBias), steps);
    weights_.norm = norm(names_.norm, how_.headDim);
  }

  /// The delta rule's maps from the stream, each in its own tensor.
  void deltaMapsApart() {
    const Index d = config_.modelDim, keys = how_.groups * how_.state, values = how_.heads * how_.headDim,
                steps = how_.perChannel ? how_.heads * how_.state : how_.heads;
    weights_.query = map(names_.query, keys, d, how_.bias);
    weights_.key = map(names_.key, keys, d, how_.bias);
    weights_.in = map(names_.value, values, d, how_.bias);
    weights_.rate = map(names_.rate, how_.heads, d, how_.bias);
    const auto through = [&](std::string_view first, std::string_view second, Index out, MappedLinear& down) {
      const Index width = first.empty() ? d : how_.headDim;
      if (!first.empty()) down = map(first, width, d, how_.bias);
      return map(second, out, width, how_.bias);
    };
    weights_.step = through(names_.deltaDown, names_.delta, steps, weights_.stepDown);
    weights_.gate = through(names_.gateDown, names_.gate, values, weights_.gateDown);
  }

  /// The same where a file has q, k and v in turn and the others apart, or for each group its q, k, v and z,
  /// and its β and Δ.
  void deltaMaps() {
    const Index d = config_.modelDim, keys = how_.groups * how_.state, values = how_.heads * how_.headDim;
    const auto one = [&](std::string_view of, Index out) { return map(of, out, d, how_.bias); };
    const bool together = finder_.has(full(names_.joined) + ".weight");
    if (together) {
      const MappedLinear all = one(names_.joined, 2 * keys + values);
      weights_.query = outputsOf(all, 0, keys);
      weights_.key = outputsOf(all, keys, keys);
      weights_.in = outputsOf(all, 2 * keys, values);
      weights_.gate = one(names_.gate, values);
    }
    const bool apart = finder_.has(full(names_.rate) + ".weight");
    if (apart) {
      weights_.rate = one(names_.rate, how_.heads);
      weights_.step = one(names_.delta, how_.heads);
    }
    const auto part = [&](const MappedLinear& of, Index first, Index count) {
      std::vector<RowRange> rows;
      for (Index group = 0; group < how_.groups; ++group)
        rows.push_back({group * (of.out / how_.groups) + first, count});
      return outputsOf(of, rows);
    };
    const Index heads = how_.heads / how_.groups, each = values / how_.groups, s = how_.state;
    if (!together) {
      const MappedLinear all = one(names_.grouped, 2 * keys + 2 * values);
      weights_.query = part(all, 0, s);
      weights_.key = part(all, s, s);
      weights_.in = part(all, 2 * s, each);
      weights_.gate = part(all, 2 * s + each, each);
    }
    if (!apart) {
      const MappedLinear rates = one(names_.groupedRates, 2 * how_.heads);
      weights_.rate = part(rates, 0, heads);
      weights_.step = part(rates, heads, heads);
    }
  }

  /// One tensor has each head's q, k and v. Heads forget at the rates of ALiBi's slopes, later layers less.
  void lightning(Index layer) {
    const Index d = config_.modelDim, size = how_.headDim, inner = how_.heads * size;
    const MappedLinear all = map(names_.joined, 3 * inner, d, how_.bias);
    const auto part = [&](Index which) {
      std::vector<RowRange> rows;
      for (Index head = 0; head < how_.heads; ++head) rows.push_back({(3 * head + which) * size, size});
      return outputsOf(all, rows);
    };
    weights_.query = part(0);
    weights_.key = part(1);
    weights_.in = part(2);
    weights_.gate = map(names_.gate, inner, d, how_.bias);
    weights_.norm = norm(names_.norm, inner);
    const double last = static_cast<double>(config_.numberedLayers() - 1) + 1e-5,
                 share = 1 - static_cast<double>(layer) / last + 1e-5;
    weights_.decay.resize(how_.heads, 1);
    for (Index head = 0; head < how_.heads; ++head)
      weights_.decay(head, 0) = static_cast<float>(
          -share * std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(how_.heads)));
  }

  void gatedLinear() {
    const Index d = config_.modelDim, block = how_.headDim, inner = how_.heads * block;
    weights_.in = map(names_.in, inner, d, how_.bias);
    weights_.gate = map(names_.gate, inner, d, how_.bias);
    addKernel(inner);
    weights_.stepBias = finder_.vector(full(names_.decay), inner);
    for (const auto& [name, weight, bias] :
         {std::tuple(names_.inputGate, &weights_.inputGate, &weights_.inputGateBias),
          std::tuple(names_.decayGate, &weights_.decayGate, &weights_.decayGateBias)}) {
      weight->resize(inner, block);
      bias->resize(inner);
      // Empty after an error.
      const std::vector<MappedLinear> maps =
          finder_.linears(full(name) + "_weight", full(name) + "_bias", how_.heads, block, block, true);
      for (Index i = 0; i < std::ssize(maps); ++i) {
        weight->middleRows(i * block, block) = weightRows(maps[asSize(i)], 0, block);
        bias->segment(i * block, block) = maps[asSize(i)].bias;
      }
    }
  }

  TensorFinder& finder_;
  const std::string& prefix_;
  const RecurrentNames& names_;
  const ModelConfig& config_;
  const Recurrence& how_;
  RecurrentWeights weights_;
};

}  // namespace

RecurrentWeights recurrentWeights(TensorFinder& finder, const std::string& name, const RecurrentNames& names,
                                  const ModelConfig& config, Index layer) {
  return RecurrenceReader(finder, name, names, config).read(layer);
}

}  // namespace headscope::attention
