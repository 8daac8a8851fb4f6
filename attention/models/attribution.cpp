#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "attention/models/block.h"
#include "attention/models/value_biases.h"

// Direct logit attribution: attributeLogit() of circuits.h.

namespace headscope::attention {
namespace {

/// Doubles, because parts cancel and must sum to the logit.
using Direction = Eigen::RowVectorXd;

Direction wide(const Eigen::Ref<const Matrix>& row) {
  return row.row(0).cast<double>();
}

/// A norm of one row, which is a linear map once its scale is held.
class HeldNorm {
 public:
  HeldNorm(const ModelConfig& config, const NormWeights& weights, const Direction& x)
      : weights_(weights), centred_(config.norm == NormKind::layer) {
    if (weights.weight.size() == 0) return;  // there is no norm
    const double mean = centred_ ? x.mean() : 0;
    scale_ = 1 / std::sqrt((x.array() - mean).square().mean() + config.epsilon);
  }
  /// g·norm(x) = pulled(g)·x + bias(g).
  double bias(const Direction& g) const {
    return weights_.bias.size() ? g.dot(weights_.bias.cast<double>().transpose()) : 0;
  }
  Direction pulled(const Direction& g) const {
    if (weights_.weight.size() == 0) return g;
    Direction y = scale_ * g.cwiseProduct(weights_.weight.cast<double>().transpose());
    if (centred_) y.array() -= y.mean();
    return y;
  }

 private:
  const NormWeights& weights_;
  const bool centred_;
  double scale_ = 1;
};

/// How the head computes an answer's logit: a direction whose product with the normed stream gives the logit,
/// the bias to add, and the resulting logit.
struct Reading {
  Direction direction;
  double bias = 0, total = 0;
};

Reading readingOf(const Model& model, const Direction& normed, Index id) {
  Reading reading;
  const MappedLinear& head = *model.weights().head;
  reading.direction = weightRows(head, id, 1).row(0).cast<double>();
  if (const auto& map = model.weights().headMap)
    reading.direction *= weightRows(*map, 0, map->out).cast<double>();
  reading.bias = double{biasRows(head, id, 1)[0]};
  const double scale = double{model.config().logitScale};
  reading.direction *= scale;
  reading.bias *= scale;
  const double logit = reading.direction.dot(normed) + reading.bias;
  reading.total = logit;
  if (const auto cap = model.config().finalSoftcap; cap && logit != 0) {
    reading.total = double{*cap} * std::tanh(logit / double{*cap});
    const double slope = reading.total / logit;
    reading.direction *= slope;
    reading.bias *= slope;
  }
  return reading;
}

Status checkRun(const Model& model, const PassResult& run, Index row, const Answers& answers) {
  const ModelConfig& config = model.config();
  if (!model.predictsTokens()) return Error{model.whyNoPredictions()};
  if (model.weights().headTransform)
    return Error{
        "This model has an extra layer before its vocabulary, so its logits aren't a sum of pieces."};
  if (config.order == BlockOrder::normed && config.recurrence.kind != Recurrence::Kind::none)
    return Error{
        "This model norms the stream itself before each part, those that carry a state included, so its "
        "logits aren't a sum of pieces."};
  for (const Index id : {answers.id, answers.other.value_or(answers.id)})
    if (id < 0 || id >= config.vocabulary)
      return Error{fmt::format("token id {} is not one of this model's 0 to {}", id, config.vocabulary - 1)};
  const auto kept = [&](const std::shared_ptr<const LayerResult>& layer) {
    return !layer->headOutput.empty() && (!config.reads() || !layer->otherOutput.empty()) &&
           layer->hidden.size() > 0 && (!config.feeds(layer->layer) || layer->mlpAdded.size() > 0) &&
           ((config.order != BlockOrder::after && config.order != BlockOrder::normed) ||
            layer->between.size() > 0);
  };
  if (std::ssize(run.layers) != config.layerCount() || run.embedded.size() == 0 ||
      !std::ranges::all_of(run.layers, kept))
    return Error{"the run didn't keep the output of every piece"};
  if (row < 0 || row >= run.stream.rows())
    return Error{fmt::format("row {} was requested of a run of {}", row, run.stream.rows())};
  return success();
}

/// Walks down the stream of one row, carrying the direction along which anything written there adds to the
/// answer.
class Descent {
 public:
  Descent(const Model& model, const PassResult& run, Index row, ValueBiases biases, Attribution& result)
      : model_(model), config_(model.config()), run_(run), row_(row), biases_(biases), result_(result) {
    const LayerResult& first = *run.layers.front();
    if (!first.weights.empty() && first.v.rows() == first.weights.cols())
      result.byKey = Stack(config_.layerCount(), config_.heads, first.weights.cols());
  }

  /// Adds the parts of one layer, top down, and turns `g` into the direction on the stream before that layer.
  void layer(Index at, Direction& g) {
    const LayerResult& made = *run_.layers[asSize(at)];
    const LayerWeights& weights = model_.weights().layers[asSize(at)];
    const std::vector<Attended> both = attentions(made, weights);
    others(at, g);
    if (config_.order == BlockOrder::after) {
      throughNorm(at, g, weights.mlpNorm, wide(made.between.row(row_)) + wide(made.mlpAdded.row(row_)));
      add(Writer::mlp, at, g.dot(wide(made.mlpAdded.row(row_))));
      // Each attention's norm acts on the stream plus that attention's output.
      std::vector<Matrix> before;
      const Matrix& in = at == 0 ? run_.embedded : run_.layers[asSize(at - 1)]->hidden;
      Matrix stream = in.row(row_);
      for (const Attended& each : both) {
        before.push_back(stream + attended(each));
        stream = normRows(before.back(), each.weights->attentionNorm, config_.norm, config_.epsilon);
      }
      for (std::size_t i = both.size(); i-- > 0;) {
        throughNorm(at, g, both[i].weights->attentionNorm, wide(before[i]));
        heads(made, both[i], g);
      }
      return;
    }
    if (config_.feeds(at)) add(Writer::mlp, at, g.dot(wide(made.mlpAdded.row(row_))));
    if (config_.order == BlockOrder::normed) {
      throughNorm(at, g, weights.mlpNorm, wide(made.between.row(row_)));
      heads(made, both[0], g);
      const Matrix& in = at == 0 ? run_.embedded : run_.layers[asSize(at - 1)]->hidden;
      return throughNorm(at, g, weights.attentionNorm, wide(in.row(row_)));
    }
    if (config_.order == BlockOrder::around)
      return heads(made, both[0],
                   HeldNorm(config_, weights.afterAttentionNorm, wide(attended(both[0])))
                       .pulled(double{config_.residualScale} * g));
    for (std::size_t i = both.size(); i-- > 0;)
      heads(made, both[i], throughScale(double{config_.residualScale} * g, weights.attentionScale));
  }

  /// Adds what a hybrid's recurrences and other layers write. Its norms are before the parts, so `g` stays.
  void others(Index at, const Direction& g) {
    const LayerResult& made = *run_.layers[asSize(at)];
    if (made.entered.size() == 0) return;
    const Matrix& in = at == 0 ? run_.embedded : run_.layers[asSize(at - 1)]->hidden;
    Direction added = wide(made.hidden.row(row_)) - wide(made.left.row(row_)) + wide(made.entered.row(row_)) -
                      wide(in.row(row_));
    if (made.recurred.size() > 0) added += wide(made.recurred.row(row_));
    add(Writer::others, at, g.dot(added));
  }

  void throughNorm(Index at, Direction& g, const NormWeights& weights, const Direction& x) {
    const HeldNorm norm(config_, weights, x);
    if (weights.bias.size() > 0) add(Writer::normBias, at, norm.bias(g));
    g = norm.pulled(g);
  }

  void add(Writer by, Index layer, double value) {
    result_.parts.push_back({by, layer, -1, HeadGroup::only, value});
  }

 private:
  static Direction throughScale(const Direction& g, const Vector& factors) {
    return factors.size() > 0 ? Direction(g.cwiseProduct(factors.cast<double>().transpose())) : g;
  }

  struct Attended {
    const Stack* output;
    const AttentionWeights* weights;
    bool shown;
    HeadGroup group;
  };
  /// In the order of the stream: a decoder that reads an encoder runs self-attention first.
  std::vector<Attended> attentions(const LayerResult& made, const LayerWeights& weights) const {
    const Attended shown{&made.headOutput, &weights, true, config_.reads() ? config_.group : HeadGroup::only};
    if (!config_.reads()) return {shown};
    const Attended other{&made.otherOutput, &*weights.other, false, config_.withOtherHeads().group};
    return config_.cross() ? std::vector{other, shown} : std::vector{shown, other};
  }

  /// What an attention adds to the row, before any norm of its output.
  Matrix attended(const Attended& each) const {
    Matrix side(1, config_.heads * config_.valueDim());
    for (Index head = 0; head < config_.heads; ++head)
      side.middleCols(head * config_.valueDim(), config_.valueDim()) = (*each.output)[head].row(row_);
    return each.weights->o.apply(side, {});
  }

  void heads(const LayerResult& made, const Attended& each, const Direction& g) {
    const MappedLinear& o = each.weights->o;
    const auto biasOf = [&](Index head) {
      const LayerWeights& layer = model_.weights().layers[asSize(made.layer)];
      return biases_ == ValueBiases::folded ? wholeValueBias(config_, layer, *each.weights, head) : Vector();
    };
    const std::size_t bias = result_.parts.size();
    if (o.bias.size() > 0 || biasOf(0).size() > 0)
      result_.parts.push_back({Writer::attentionBias, made.layer, -1, each.group,
                               o.bias.size() > 0 ? g.dot(o.bias.cast<double>().transpose()) : 0});
    for (Index head = config_.heads - 1; head >= 0; --head) {
      const Matrix columns = weightColumns(o, head * config_.valueDim(), config_.valueDim());
      Direction inHead = Direction::Zero(config_.valueDim());
      for (Index i = 0; i < columns.rows(); ++i) inHead += g[i] * columns.row(i).cast<double>();
      const double value = inHead.dot(wide((*each.output)[head].row(row_)));
      // A gate on the head's output acts on its values.
      if (each.shown && !made.gates.empty())
        inHead = inHead.cwiseProduct(wide(made.gates[head].row(row_))).eval();
      const bool whole = !each.shown || byKey(made, head, inHead, value);
      // A head that was switched off or replaced has written no bias of its own.
      double folded = 0;
      if (const Vector own = biasOf(head); own.size() > 0 && whole && value != 0) {
        folded = inHead.dot(own.cast<double>().transpose());
        result_.parts[bias].value += folded;
        if (each.shown) foldByKey(made, head, folded);
      }
      result_.parts.push_back(
          {each.shown ? Writer::head : Writer::otherHead, made.layer, head, each.group, value - folded});
    }
  }

  void foldByKey(const LayerResult& made, Index head, double folded) {
    if (result_.byKey.empty()) return;
    for (Index key = 0; key < made.weights.cols(); ++key)
      result_.byKey[made.layer](head, key) -=
          static_cast<float>(double{made.weights[head](row_, key)} * folded);
  }

  /// Returns whether the head's output is its pattern times its values, as far as is known.
  bool byKey(const LayerResult& made, Index head, const Direction& inHead, double value) {
    if (result_.byKey.empty()) return true;
    const MatrixView weights = made.weights[head], v = made.v[head / (config_.heads / config_.kvHeads)];
    double sum = 0;
    for (Index key = 0; key < weights.cols(); ++key) {
      const double weight = double{weights(row_, key)};
      // The value of a masked key may be anything, even NaN.
      const double part = weight == 0 ? 0 : weight * inHead.dot(v.row(key).cast<double>());
      result_.byKey[made.layer](head, key) = static_cast<float>(part);
      sum += part;
    }
    const double size = made.headOutput[head].row(row_).cast<double>().norm() * inHead.norm();
    if (std::abs(sum - value) <= 1e-3 * std::max(size, 1e-30)) return true;
    // The output isn't pattern times values: the head was switched off or replaced.
    result_.byKey[made.layer].row(head).setConstant(value == 0 ? 0 : std::numeric_limits<float>::quiet_NaN());
    return false;
  }

  const Model& model_;
  const ModelConfig& config_;
  const PassResult& run_;
  const Index row_;
  const ValueBiases biases_;
  Attribution& result_;
};

}  // namespace

Vector wholeValueBias(const ModelConfig& config, const LayerWeights& layer, const AttentionWeights& weights,
                      Index head) {
  const Index dim = config.valueDim(), first = head / (config.heads / config.kvHeads) * dim;
  const Vector& norm = weights.attentionNorm.bias;
  const bool own = weights.v.bias.size() == config.kvHeads * dim,
             normed =
                 norm.size() > 0 && config.order != BlockOrder::after && !config.reads() && !layer.latent;
  if (!layer.sinks.empty() || config.gatedHeads || (!own && !normed)) return {};
  Vector bias = Vector::Zero(dim);
  if (own) bias += weights.v.bias.segment(first, dim);
  if (normed) bias += weightRows(weights.v, first, dim) * norm;
  return bias;
}

Result<Attribution> attributeLogit(const Model& model, const PassResult& run, Index row,
                                   const Answers& answers, const std::stop_token& stop) {
  return attributeLogit(model, run, row, answers, ValueBiases::folded, stop);
}

Result<Attribution> attributeLogit(const Model& model, const PassResult& run, Index row,
                                   const Answers& answers, ValueBiases biases, const std::stop_token& stop) {
  if (const Status status = checkRun(model, run, row, answers); !status) return status.error();
  const auto& final = model.weights().finalNorm;
  const Direction normed = wide(model.finalNorm(run.stream.row(row)));
  Reading reading = readingOf(model, normed, answers.id);
  if (answers.other) {
    const Reading other = readingOf(model, normed, *answers.other);
    reading.direction -= other.direction;
    reading.bias -= other.bias;
    reading.total -= other.total;
  }
  Attribution result;
  result.total = reading.total;
  Descent descent(model, run, row, biases, result);
  const bool biased = model.weights().head->bias.size() > 0;
  if (biased) descent.add(Writer::headBias, -1, reading.bias);
  Direction g = reading.direction;
  if (final) descent.throughNorm(-1, g, *final, wide(run.stream.row(row)));
  for (Index layer = model.config().layerCount() - 1; layer >= 0; --layer) {
    if (stop.stop_requested()) return stopped();
    descent.layer(layer, g);
  }
  descent.add(Writer::embedding, -1, g.dot(wide(run.embedded.row(row))));
  std::ranges::reverse(result.parts);
  double sum = 0, size = 0;
  for (const Contribution& part : result.parts) sum += part.value, size += std::abs(part.value);
  if (!(std::abs(sum - result.total) <= 1e-3 * size))
    return Error{
        fmt::format("the pieces add {:.6g} to the logit, which is {:.6g}: the stream itself was replaced in "
                    "this run, or its numbers aren't finite",
                    sum, result.total)};
  return result;
}

}  // namespace headscope::attention
