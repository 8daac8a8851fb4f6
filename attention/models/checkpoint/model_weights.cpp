#include "attention/models/checkpoint/model_weights.h"

#include <fmt/core.h>

namespace headscope::attention {

std::string layerName(std::string_view pattern, Index layer, std::string_view rest) {
  std::string name(pattern);
  if (const std::size_t mark = name.find('N'); mark != name.npos)
    name.replace(mark, 1, std::to_string(layer));
  return name + std::string(rest);
}

namespace {

/// Reads all weights of one model; tensors that the family doesn't name are absent.
class WeightsReader {
 public:
  WeightsReader(const Checkpoint& checkpoint, const ModelConfig& config, const TensorNaming& naming)
      : config_(config),
        naming_(naming),
        names_(naming.names),
        checkpoint_(checkpoint),
        finder_(checkpoint, naming.prefixes, naming.sizes),
        headFinder_(checkpoint, naming.headPrefixes, naming.sizes) {}

  Result<ModelWeights> read() {
    ModelWeights weights;
    const Index d = config_.modelDim, e = config_.embeddingSize();
    if (config_.picture)
      weights.picture = picture();
    else
      weights.embedding = embeddingTable(finder_, headFinder_, config_, names_, weights.notes);
    if (config_.positionRows > 0)
      weights.positions =
          finder_.rows(std::string(names_.positions), config_.positionRows, names_.headMap.empty() ? e : d);
    if (config_.tokenTypes > 0 && !names_.tokenTypes.empty())
      weights.tokenTypes = finder_.rows(std::string(names_.tokenTypes), config_.tokenTypes, e);
    if (config_.taskTypes > 0)
      weights.taskTypes = finder_.rows(std::string(names_.taskTypes), config_.taskTypes, e);
    if (!names_.embeddingNorm.empty() && config_.embeddingNormed)
      weights.embeddingNorm = norm(names_.embeddingNorm, e);
    if (config_.embeddingDim > 0) {
      const std::string back(names_.headMap);
      weights.embeddingMap = finder_.linear(std::string(names_.embeddingMap), d, e, back.empty(), false);
      if (!back.empty()) weights.headMap = finder_.linear(back, e, d, false, false);
    }
    const bool ownBuckets = names_.bucketBias.find('N') != names_.bucketBias.npos;
    for (Index i = 0; config_.bucketBias && i < (ownBuckets ? config_.layerCount() : 1); ++i)
      weights.bucketBias.push_back(
          finder_.rows(layerName(names_.bucketBias, i, ""), config_.bucketBias->buckets, config_.heads));
    for (Index i = 0; i < config_.layerCount() && finder_.status(); ++i) weights.layers.push_back(layer(i));
    if (!names_.finalNorm.empty() && config_.finalNorm) weights.finalNorm = norm(names_.finalNorm, d);
    readHead(weights);
    for (const TensorFinder* finder : {&finder_, &headFinder_})
      if (const Status status = finder->status(); !status) return status.error();
    const auto read = [&](const TensorView& tensor) {
      return finder_.read(tensor) || headFinder_.read(tensor);
    };
    auto unread = checkUnread(checkpoint_, config_, naming_, weights.headless.empty(), read);
    if (!unread) return unread.error();
    weights.notes.insert(weights.notes.end(), unread->begin(), unread->end());
    return weights;
  }

 private:
  /// The name, or the one after a | that it ends in instead, if the file has that.
  std::string present(std::string_view name) const {
    const std::size_t mark = name.find('|');
    if (mark == name.npos) return std::string(name);
    const std::string first(name.substr(0, mark)),
        other = first.substr(0, first.rfind('.') + 1) + std::string(name.substr(mark + 1));
    return finder_.has(other + ".weight") ? other : first;
  }

  NormWeights norm(std::string_view name, Index size) {
    if (!config_.normWeight) return {Vector::Ones(size), Vector::Zero(size)};
    NormWeights norm = finder_.norm(present(name), size, config_.norm, config_.normBias);
    if (config_.normPlusOne) norm.weight.array() += 1;
    return norm;
  }

  NormWeights qkNorm(Index layer, std::string_view name, Index heads) {
    if (config_.qkNorm == QkNorm::none) return {};
    if (config_.qkNorm == QkNorm::plain) return {Vector::Ones(config_.headDim), {}};
    const Index dh = config_.headDim, size = config_.qkNorm == QkNorm::head ? dh : heads * dh;
    const std::string all = layerName(names_.layer, layer, name);
    if (config_.qkNorm != QkNorm::perHead) return norm(all, size);
    NormWeights norms{Vector::Zero(size), Vector::Zero(size)};
    const std::size_t mark = all.find('H');
    const MappedRows table = mark == all.npos ? finder_.rows(all, heads, dh) : MappedRows();
    for (Index head = 0; head < heads && finder_.status(); ++head) {
      std::string one = all;
      if (mark != one.npos) one.replace(mark, 1, std::to_string(head));
      norms.weight.segment(head * dh, dh) =
          mark == one.npos ? Vector(table.row(head)) : finder_.vector(one + ".weight", dh);
    }
    return norms;
  }

  MappedLinear linear(Index layer, std::string_view name, Index out, Index in, bool bias) {
    return finder_.linear(layerName(names_.layer, layer, name), out, in, bias, names_.inFirst);
  }

  VisionWeights picture() {
    const VisionConfig& tokens = *config_.picture;
    const Index d = config_.modelDim;
    const auto table = [&](std::string_view name, Index rows) {
      return finder_.table(std::string(name), rows, d);
    };
    VisionWeights weights;
    weights.patches = finder_.patches(std::string(names_.patches), d, 3, tokens.patch, tokens.patchBias);
    for (Index i = 0; i < tokens.leading; ++i)
      weights.leading.push_back(table(names_.leadingTokens[asSize(i)], 1));
    if (tokens.registers > 0) weights.registers = table(names_.registerTokens, tokens.registers);
    weights.positions = table(names_.picturePositions, tokens.leading + tokens.grid() * tokens.grid());
    weights.classifiers = classifiers();
    return weights;
  }

  std::vector<MappedLinear> classifiers() {
    const VisionConfig& tokens = *config_.picture;
    const auto map = [&](std::string_view name) {
      return headFinder_.linear(std::string(name), std::ssize(tokens.classes),
                                config_.modelDim * (tokens.classifiesMean ? 2 : 1), true, false);
    };
    const auto has = [&](std::string_view name) {
      return !name.empty() && headFinder_.has(std::string(name) + ".weight");
    };
    for (const std::string_view one : {names_.classifier, names_.patchClassifier})
      if (has(one)) return {map(one)};
    if (!has(names_.classifiers[0])) return {};
    return {map(names_.classifiers[0]), map(names_.classifiers[1])};
  }

  /// Adds the attention to an encoder's output next to the self-attention, or in its place if the cross heads
  /// are inspected. Its keys and values are as wide as the model.
  void addCrossAttention(Index i, LayerWeights& layer) {
    const Index d = config_.modelDim, h = config_.heads * config_.headDim;
    AttentionWeights cross{linear(i, names_.crossQ, h, d, config_.qkvBias),
                           linear(i, names_.crossK, h, d, config_.qkvBias && names_.keyBias),
                           linear(i, names_.crossV, h, d, config_.qkvBias),
                           linear(i, names_.crossO, d, h, config_.outputBias),
                           norm(layerName(names_.layer, i, names_.crossNorm), d)};
    if (config_.cross()) std::swap<AttentionWeights>(layer, cross);
    layer.other = std::move(cross);
  }

  MlpWeights mlp(Index i) {
    MlpWeights mlp;
    const Index d = config_.modelDim, f = config_.innerDim;
    const bool apart = !config_.gated && !names_.ungatedUp.empty();
    if (!names_.gateUp.empty() && !apart) {
      const MappedLinear both = linear(i, names_.gateUp, 2 * f, d, config_.mlpBias);
      mlp.gate = outputsOf(both, 0, f);
      mlp.up = outputsOf(both, f, f);
    } else {
      if (config_.gated) mlp.gate = linear(i, names_.gate, f, d, config_.mlpBias);
      mlp.up = linear(i, apart ? names_.ungatedUp : names_.up, f, d, config_.mlpBias);
    }
    mlp.down = linear(i, apart && !names_.ungatedDown.empty() ? names_.ungatedDown : names_.down, d, f,
                      config_.mlpBias);
    if (config_.activation == Activation::xielu)
      mlp.curve = xieluWeights(finder_, layerName(names_.layer, i, names_.curve));
    return mlp;
  }

  MixtureWeights mixture(Index i) {
    MixtureWeights weights = mixtureWeights(finder_, config_, names_, i);
    if (!names_.afterExpertsNorm.empty())
      weights.after = norm(layerName(names_.layer, i, names_.afterExpertsNorm), config_.modelDim);
    return weights;
  }

  LatentWeights latent(Index i, MappedLinear& q) {
    LatentWeights weights;
    const Latent& l = config_.latent;
    const Index d = config_.modelDim, queries = config_.heads * config_.headDim;
    const auto normOf = [&](std::string_view name, Index size) {
      return finder_.norm(layerName(names_.layer, i, name), size, NormKind::rms);
    };
    if (l.queryRank > 0) {
      weights.queryDown = linear(i, names_.queryDown, l.queryRank, d, config_.qkvBias);
      weights.queryNorm = normOf(names_.queryDownNorm, l.queryRank);
      q = linear(i, names_.queryUp, queries, l.queryRank, false);
    } else {
      q = linear(i, names_.q, queries, d, false);
    }
    weights.down = linear(i, names_.latentDown, l.rank + l.ropeDim, d, config_.qkvBias);
    weights.norm = normOf(names_.latentNorm, l.rank);
    const Index plain = config_.headDim - l.ropeDim;
    const std::string keys = layerName(names_.layer, i, names_.latentKeyUp) + ".weight";
    if (names_.latentKeyUp.empty() || !finder_.has(keys)) {
      weights.up = linear(i, names_.latentUp, config_.heads * (plain + l.valueDim), l.rank, false);
      return weights;
    }
    weights.keyUp = joined(finder_.linears(keys, "", config_.heads, plain, l.rank, true));
    weights.valueUp = joined(finder_.linears(layerName(names_.layer, i, names_.latentValueUp) + ".weight", "",
                                             config_.heads, l.valueDim, l.rank));
    return weights;
  }

  RecurrentWeights recurrence(Index i) {
    return recurrentWeights(finder_, layerName(names_.layer, i, names_.recurrent), names_.recurrence, config_,
                            i);
  }

  std::vector<OtherLayerWeights> others(const std::vector<OtherLayer>& layers) {
    std::vector<OtherLayerWeights> all;
    const auto normOf = [&](Index i, std::string_view own, std::string_view usual) {
      return norm(layerName(names_.layer, i, own.empty() ? usual : own), config_.modelDim);
    };
    for (const OtherLayer& other : layers) {
      const Index i = other.number;
      OtherLayerWeights& one = all.emplace_back();
      if (other.recurs) {
        one.recurrent = recurrence(i);
        one.norm = normOf(i, names_.otherNorm, names_.attentionNorm);
      }
      if (!other.feeds) continue;
      one.mlpNorm = normOf(i, names_.otherMlpNorm, names_.mlpNorm);
      if (other.mixture)
        one.mixture = mixture(i);
      else
        one.mlp = mlp(i);
    }
    return all;
  }

  /// The heads' gates, which have their own map or are every second head of q.
  void addGates(Index i, LayerWeights& layer) {
    if (names_.headGate.empty())
      splitGates(config_, layer);
    else
      layer.gate = linear(i, names_.headGate, config_.heads * config_.valueDim(), config_.modelDim, false);
  }

  /// Puts the config's factors where what they act on is read: in norms, and in scales of what is added.
  void addFactors(Index i, const LayerKind& kind, LayerWeights& layer) {
    const PartFactors& by = config_.factors;
    if (kind.recurs) {
      layer.beside = RecurrenceBeside{recurrence(i), layer.attentionNorm};
      layer.beside->norm.weight *= by.recurrenceIn;
    }
    if (by.attentionIn != 1) layer.attentionNorm.weight *= by.attentionIn;
    const Index d = config_.modelDim;
    if (by.attention != 1) layer.attentionScale = Vector::Constant(d, by.attention);
    if (by.mlp != 1) layer.mlpScale = Vector::Constant(d, by.mlp);
  }

  LayerWeights layer(Index at) {
    LayerWeights layer;
    const LayerKind& kind = config_.layers[asSize(at)];
    const Index i = config_.layerNumber(at);
    layer.before = others(kind.before);
    layer.after = others(kind.after);
    const Index d = config_.modelDim, dh = config_.headDim;
    const auto linear = [&](std::string_view name, Index out, Index in, bool bias) {
      return this->linear(i, name, out, in, bias);
    };
    const auto normOf = [&](std::string_view name, Index size) {
      return name.empty() ? NormWeights() : norm(layerName(names_.layer, i, name), size);
    };
    if (config_.latent.rank > 0) {
      layer.latent = latent(i, layer.q);
    } else if (names_.qkv.empty()) {
      const bool both = config_.gatedHeads && names_.headGate.empty();
      layer.q = linear(names_.q, config_.heads * dh * (both ? 2 : 1), d, config_.qkvBias);
      layer.k = linear(names_.k, config_.kvHeads * dh, d, config_.qkvBias && names_.keyBias);
      layer.v = linear(names_.v, config_.kvHeads * dh, d, config_.qkvBias);
    } else {
      split(linear(names_.qkv, (config_.heads + 2 * config_.kvHeads) * dh, d, config_.qkvBias), layer);
    }
    if (config_.gatedHeads) addGates(i, layer);
    if (naming_.paired) {
      pair(layer.q);
      pair(layer.k);
    }
    layer.o = linear(names_.o, d, config_.heads * config_.valueDim(), config_.outputBias);
    if (config_.sinks) {
      const Vector sinks = finder_.vector(layerName(names_.layer, i, names_.sinks), config_.heads);
      layer.sinks.assign(sinks.begin(), sinks.end());
    }
    if (kind.mixture)
      layer.mixture = mixture(i);
    else if (kind.feeds)
      layer.mlp = mlp(i);
    if (i > 0 || config_.firstLayerNormed) layer.attentionNorm = normOf(names_.attentionNorm, d);
    if (kind.feeds) layer.mlpNorm = normOf(names_.mlpNorm, d);
    layer.afterAttentionNorm = normOf(names_.afterAttentionNorm, d);
    layer.afterMlpNorm = normOf(names_.afterMlpNorm, d);
    if (config_.qkNorm != QkNorm::plain || kind.rotation) {
      layer.qNorm = qkNorm(i, names_.qNorm, config_.heads);
      layer.kNorm = qkNorm(i, names_.kNorm, config_.kvHeads);
    }
    for (const auto& [name, scale] : {std::pair(names_.attentionScale, &layer.attentionScale),
                                      std::pair(names_.mlpScale, &layer.mlpScale)})
      if (!name.empty()) *scale = finder_.vector(layerName(names_.layer, i, name), d);
    addFactors(i, kind, layer);
    if (config_.reads()) addCrossAttention(i, layer);
    return layer;
  }

  /// Marks a map whose outputs the file stores pair by pair, and reorders its bias into halves.
  void pair(MappedLinear& map) const {
    map.paired = config_.headDim;
    const Vector bias = map.bias;
    for (Index i = 0; i < bias.size(); ++i)
      map.bias[i] = bias[static_cast<Index>(kernels::rowOfOutput(asSize(i), asSize(map.paired)))];
  }

  void split(const MappedLinear& whole, LayerWeights& layer) const {
    const auto part = [&](FusedPart which) {
      return outputsOf(whole, rowsOf(which, names_.fused, config_.heads, config_.kvHeads, config_.headDim));
    };
    layer.q = part(FusedPart::q);
    layer.k = part(FusedPart::k);
    layer.v = part(FusedPart::v);
  }

  /// Reads the checkpoint's own map to the vocabulary, or uses the embedding, if either is the model's head.
  void readHead(ModelWeights& weights) {
    const std::string dense(names_.headDense), head(names_.head);
    // A masked-token head maps back to the embeddings' width.
    const Index d = config_.modelDim, e = dense.empty() && !weights.headMap ? d : config_.embeddingSize();
    weights.headless =
        whyHeadless(names_, config_, [this](const std::string& name) { return headFinder_.has(name); });
    if (!weights.headless.empty()) return;
    if (headFinder_.has(head + ".weight")) {
      weights.head = headFinder_.linear(head, config_.vocabulary, e, false, false);
      if (config_.tied && headFinder_.status() && finder_.status() &&
          differ({weights.head->pieces[0].data, weights.head->pieces[0].type, config_.vocabulary, e},
                 weights.embedding))
        weights.notes.push_back(
            fmt::format("config.json ties the head to the embedding, but the file has a different one. "
                        "Predictions use {}.weight, as in transformers 5 (version 4 used the embedding).",
                        head));
    } else {
      weights.head = weights.embedding.asLinear();
    }
    if (config_.headBias) weights.head->bias = headFinder_.vector(head + ".bias", config_.vocabulary);
    if (const std::string bias(names_.logitBias); headFinder_.has(bias))
      weights.head->bias = headFinder_.vector(bias, config_.vocabulary);
    if (dense.empty()) return;
    weights.headTransform =
        HeadTransform{headFinder_.linear(dense, e, d, config_.headDenseBias, false),
                      headFinder_.norm(std::string(names_.headNorm), e, config_.norm, config_.normBias)};
    weights.head->bias = maskedHeadBias(weights.notes);
  }

  /// The bias of a masked-token head: the map's own or, if the file has none, the one beside it.
  Vector maskedHeadBias(std::vector<std::string>& notes) {
    const std::string own = std::string(names_.head) + ".bias", beside(names_.headBias);
    if (own == beside || !headFinder_.has(own)) return headFinder_.vector(beside, config_.vocabulary);
    const Vector bias = headFinder_.vector(own, config_.vocabulary);
    if (!headFinder_.has(beside)) return bias;
    const Vector tied = headFinder_.vector(beside, config_.vocabulary);
    if (config_.tied && headFinder_.status() && bias != tied)
      notes.push_back(
          fmt::format("config.json ties the head's two biases, but the file has different ones. "
                      "Predictions use {}, as in transformers 5.",
                      own));
    return bias;
  }

  const ModelConfig& config_;
  const TensorNaming& naming_;
  const TensorNames& names_;
  const Checkpoint& checkpoint_;
  TensorFinder finder_, headFinder_;
};

}  // namespace

Result<ModelWeights> ModelWeights::find(const Checkpoint& checkpoint, const ModelConfig& config,
                                        const TensorNaming& naming) {
  return WeightsReader(checkpoint, config, naming).read();
}

}  // namespace headscope::attention
