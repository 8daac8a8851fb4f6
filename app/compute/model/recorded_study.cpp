#include <fmt/core.h>

#include "app/compute/layer/mask_inputs.h"
#include "app/compute/model/passes.h"
#include "app/scene/text/number_text.h"
#include "attention/core/parallel.h"

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::RecordedAttention;
using attention::Result;
using attention::Stack;

namespace {

/// Returns the mask that the file's weights suggest: causal or full.
std::shared_ptr<const attention::MaskFormula> maskOf(const attention::ModelConfig& shape, Index queries,
                                                     Index keys) {
  attention::MaskGeometry geometry;
  geometry.queries = queries;
  geometry.keys = geometry.keyLength = keys;
  geometry.cacheLength = std::max<Index>(0, keys - queries);  // fewer queries than keys are the last tokens
  geometry.heads = geometry.kvHeads = shape.heads;
  const std::string text = shape.causal ? "causal" : "full";
  return *attention::compileMask(attention::parseMask(text).layers, geometry);
}

/// Reads one array of a layer, [heads, n, headDim]; empty if the file has none, or none that can be used,
/// which `why` then says.
Stack arrayOf(const RecordedAttention& file, const std::optional<attention::RecordedArray>& array,
              std::string& why) {
  if (!array) return Stack{};
  Stack all(array->heads, array->rows, array->cols);
  for (Index head = 0; head < array->heads; ++head) {
    Result<Matrix> one = file.readArray(*array, head);
    if (!one) {
      why = one.error().message + ": not used.";
      return Stack{};
    }
    all[head] = *one;
  }
  return all;
}

Index kvHeadOf(const Stack& shared, Index heads, Index head) {
  return head * shared.count() / heads;
}

/// Returns q·k of one row with all keys, in double.
Eigen::VectorXd dots(const LayerSummary& layer, Index head, Index row) {
  const Index kv = kvHeadOf(layer.k, layer.q.count(), head);
  return layer.k[kv].cast<double>() * layer.q[head].row(row).cast<double>().transpose();
}

/// The first rows of a head, of which a rule is to explain the weights.
struct RuledRows {
  const LayerSummary& layer;  ///< its q and k
  attention::MatrixView weights;
  Index head, rows;
  const std::stop_token& stop;
};

/// Calls each(q·k, weights, keys with weight) for every row that has any.
template <typename Each>
void forRows(const RuledRows& of, const Each& each) {
  std::vector<Index> keys;
  for (Index row = 0; row < std::min(of.rows, of.weights.rows()) && !of.stop.stop_requested(); ++row) {
    const auto weights = of.weights.row(row);
    keys.clear();
    for (Index j = 0; j < weights.size(); ++j)
      if (weights[j] > 0) keys.push_back(j);
    if (!keys.empty()) each(dots(of.layer, of.head, row), weights, keys);
  }
}

/// `sink`: the softmax is of what each row's sum leaves to its keys.
double largestDifference(const RuledRows& of, double scale, bool sink) {
  double apart = 0;
  forRows(of, [&](const Eigen::VectorXd& dot, const auto& weights, const auto& keys) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0, share = 0;
    for (const Index j : keys) most = std::max(most, scale * dot[j]);
    for (const Index j : keys) sum += std::exp(scale * dot[j] - most);
    for (const Index j : keys) share += static_cast<double>(weights[j]);
    if (!sink) share = 1;
    for (const Index j : keys)
      apart = std::max(
          apart, std::abs(share * std::exp(scale * dot[j] - most) / sum - static_cast<double>(weights[j])));
  });
  return apart;
}

/// Returns the least-squares s in log A_ij = s·q_i·k_j + c_i, leaving out weights too small for half
/// precision.
double fittedScale(const RuledRows& of) {
  constexpr float kLeast = 1e-3f;
  double products = 0, squares = 0;
  forRows(of, [&](const Eigen::VectorXd& dot, const auto& weights, const auto& keys) {
    double meanDot = 0, meanLog = 0, count = 0;
    for (const Index j : keys)
      if (weights[j] >= kLeast) {
        meanDot += dot[j];
        meanLog += std::log(static_cast<double>(weights[j]));
        ++count;
      }
    if (count < 2) return;
    for (const Index j : keys)
      if (weights[j] >= kLeast) {
        const double x = dot[j] - meanDot / count;
        products += x * (std::log(static_cast<double>(weights[j])) - meanLog / count);
        squares += x * x;
      }
  });
  return squares > 0 ? products / squares : 0;
}

/// The rule that explains the rows best. A sink's share is tried last, for rows that sum to less than 1.
RecordedRule ruleOf(const RuledRows& of) {
  const double usual = 1 / std::sqrt(static_cast<double>(of.layer.q.cols()));
  RecordedRule rule{usual, true, false, largestDifference(of, usual, false)};
  if (rule.explains()) return rule;
  const double fitted = fittedScale(of);
  if (const double apart = largestDifference(of, fitted, false); apart < rule.apart)
    rule = {fitted, false, false, apart};
  const attention::WeightFaults faults = attention::faultsOf(of.weights);
  if (rule.explains() || faults.rows == 0 || faults.negative > 0 || attention::isAboveOne(faults.maxSum))
    return rule;
  for (const double scale : {usual, fitted})
    if (const RecordedRule sink{scale, scale == usual, true, largestDifference(of, scale, true)};
        sink.explains())
      return sink;
  return rule;
}

/// What q and k show about rows that don't sum to 1: "" unless a sink takes the rest.
std::string sinkNote(const LayerSummary& layer, const attention::MatrixView& weights, Index head,
                     const std::stop_token& stop) {
  constexpr Index kRows = 64;
  return ruleOf({layer, weights, head, kRows, stop}).sink
             ? "softmax(q · k) times each row's sum gives the weights: the rest of each row goes to an "
               "attention sink, which q and k leave out."
             : "";
}

/// What is wrong with a layer's weights.
struct LayerFaults {
  attention::WeightFaults all;
  Index unsummed = -1;  ///< the first head with a row that doesn't sum to 1; -1: none
};

/// A layer, and what is wrong with it.
struct ReadLayer {
  std::shared_ptr<LayerSummary> summary = std::make_shared<LayerSummary>();
  LayerFaults faults;
  std::string notUsed;  ///< why an array isn't used; "" = all are
};

/// Reads a layer's heads on all threads, and calls `take` with each. Returns what is wrong with their
/// weights.
Result<LayerFaults> readHeads(const RecordedAttention& file, Index at, const std::stop_token& stop,
                              const std::function<void(Index, const attention::Matrix&)>& take) {
  const Index heads = file.layers()[static_cast<std::size_t>(at)].attention.heads;
  std::vector<Result<attention::WeightFaults>> found(static_cast<std::size_t>(heads),
                                                     attention::WeightFaults{});
  attention::forEach(heads, stop, [&](Index head) {
    const auto weights = file.readWeights(at, head);
    auto& faults = found[static_cast<std::size_t>(head)];
    if (!weights) {
      faults = weights.error();
      return;
    }
    take(head, weights->weights);
    faults = weights->faults;
  });
  LayerFaults faults;
  for (Index head = 0; head < heads; ++head) {
    const auto& each = found[static_cast<std::size_t>(head)];
    if (!each) return each.error();
    faults.all.add(*each);
    if (faults.unsummed < 0 && each->rows > 0) faults.unsummed = head;
  }
  return faults;
}

Result<ReadLayer> readLayer(const RecordedAttention& file, Index at,
                            const std::shared_ptr<const attention::MaskFormula>& mask,
                            const attention::HeadText& text, std::stop_token stop) {
  const attention::RecordedLayer& layer = file.layers()[static_cast<std::size_t>(at)];
  ReadLayer read;
  const auto& summary = read.summary;
  summary->recorded = true;
  summary->mask = mask;
  summary->keysFrom = layer.keysFrom;
  summary->weights = Stack(layer.attention.heads, file.queries(), file.keys());
  const auto faults = readHeads(file, at, stop, [&](Index head, const attention::Matrix& weights) {
    summary->weights[head] = weights;
  });
  if (!faults) return faults.error();
  read.faults = *faults;
  summary->aroundZero = read.faults.all.aroundZero();
  summary->q = arrayOf(file, layer.q, read.notUsed);
  summary->k = arrayOf(file, layer.k, read.notUsed);
  summary->v = arrayOf(file, layer.v, read.notUsed);
  summariseHeads(*summary, text, stop);
  return read;
}

}  // namespace

Result<ModelStudy> studyRecorded(const ModelQuestion& question, Resources& resources,
                                 const ModelRunner::OnLayer& onLayer, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const OpenModel& opened = *question.setup.subject.opened;
  const RecordedAttention& file = *opened.recorded;
  const Index n = file.queries(), m = file.keys();
  if (std::max(n, m) > kMaxTokens)
    return Error{fmt::format("{} has {} queries and {} keys; at most {} of each are shown at once",
                             opened.name, n, m, kMaxTokens)};
  ModelStudy study;
  study.question = question;
  study.opened = question.setup.subject.opened;
  study.text.ids.assign(static_cast<std::size_t>(m), -1);
  study.text.spans.resize(static_cast<std::size_t>(m));
  study.text.typed = m;
  for (const std::string& token : file.keyTokens()) study.text.tokens.push_back({token, false});
  if (opened.isCrossAttention || file.queryTokens() != file.keyTokens())
    for (const std::string& token : file.queryTokens()) study.otherQueries.push_back({token, false});
  const auto heads = static_cast<std::uint64_t>(opened.config().heads);
  const std::uint64_t needed = static_cast<std::uint64_t>(file.layers().size()) * heads *
                               static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(m) * sizeof(float);
  study.memory = resources.memory.reserve(needed, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  if (!study.memory)
    return overBudget(fmt::format("All heads of {} need", opened.name), needed, resources.memory);
  const auto mask = maskOf(opened.config(), n, m);
  const attention::HeadText text = headTextOf(study, opened.isCrossAttention ? 0 : m - n);
  attention::WeightFaults faults;
  std::string notUsed;
  std::optional<std::string> sink;  // as the first such layer shows
  for (Index at = 0; at < std::ssize(file.layers()); ++at) {
    auto layer = readLayer(file, at, mask, text, stop);
    if (stop.stop_requested()) return Error{"stopped"};
    if (!layer) return layer.error();
    study.layers.push_back(layer->summary);
    study.aroundZero = std::max(study.aroundZero, layer->summary->aroundZero);
    faults.add(layer->faults.all);
    if (notUsed.empty()) notUsed = layer->notUsed;
    const LayerSummary& summary = *layer->summary;
    if (!sink && layer->faults.unsummed >= 0 && summary.q.size() > 0 && summary.k.size() > 0)
      sink = sinkNote(summary, summary.weights[layer->faults.unsummed], layer->faults.unsummed, stop);
    if (onLayer) onLayer(at, layer->summary);
  }
  study.unweighed = faults.notFinite > 0 || (faults.above > 0 && study.aroundZero == 0);
  study.notFinite = faults.describe();
  for (const std::string& more : {sink.value_or(""), notUsed})
    if (!more.empty()) study.notFinite += " " + more;
  study.bytes = needed;
  addRollout(study, stop);
  study.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return study;
}

std::vector<std::string> recordedNotes(const RecordedAttention& file) {
  std::vector<std::string> notes = file.notes();
  if (!file.unfitTokens().empty()) notes.push_back("tokens aren't used: " + file.unfitTokens());
  attention::WeightFaults faults;
  std::optional<std::string> sink;
  std::string notUsed;
  for (Index at = 0; at < std::ssize(file.layers()); ++at) {
    const auto found = readHeads(file, at, {}, [](Index, const attention::Matrix&) {});
    if (!found) {
      notes.push_back(found.error().message);
      continue;
    }
    faults.add(found->all);
    const attention::RecordedLayer& layer = file.layers()[static_cast<std::size_t>(at)];
    if (sink || found->unsummed < 0 || !layer.q || !layer.k) continue;
    LayerSummary read;
    read.q = arrayOf(file, layer.q, notUsed);
    read.k = arrayOf(file, layer.k, notUsed);
    const auto weights = file.readWeights(at, found->unsummed);
    if (!weights || read.q.size() == 0 || read.k.size() == 0) continue;
    const attention::Matrix& of = weights->weights;
    sink = sinkNote(read, {of.data(), of.rows(), of.cols()}, found->unsummed, {});
  }
  for (const std::string& found : {faults.describe(), sink.value_or("")})
    if (!found.empty()) notes.push_back(found);
  return notes;
}

Snapshot recordedSnapshot(const Setup& setup, Resources& resources, std::stop_token stop) {
  Snapshot snapshot;
  snapshot.setup = setup;
  snapshot.config = configOf(setup);
  const auto study = studyRecorded({setup}, resources, {}, stop);
  if (!study) {
    snapshot.error = PlacedError{Place::model, study.error().message};
    return snapshot;
  }
  const LayerSummary& layer = *study->layers[static_cast<std::size_t>(setup.subject.layer)];
  SequenceSnapshot sequence;
  sequence.queries = study->queryTokens();
  sequence.keys = study->text.tokens;
  sequence.queryLength = study->queries();
  sequence.keyLength = study->tokens();
  sequence.mask.formula = layer.mask;
  attention::AttentionResult& result = sequence.attention;
  result.q = layer.q;
  result.k = layer.k;
  result.v = layer.v;
  result.weights = layer.weights;
  const Index heads = layer.weights.count();
  result.scores = Stack(heads, study->queries(), study->tokens());
  result.lse = Matrix::Zero(heads, study->queries());
  const MarkedMask mask(layer.mask, layer.keysFrom);
  for (Index head = 0; head < heads; ++head) {
    result.scores[head] = mask.of(head);
    for (Index row = 0; row < study->queries(); ++row)
      if (layer.weights[head].row(row).isZero(0))
        result.lse(head, row) = -std::numeric_limits<float>::infinity();
    sequence.profiles.push_back(layer.heads[static_cast<std::size_t>(head)].profile);
  }
  if (layer.v.size() > 0) {
    result.headOutput = Stack(heads, study->queries(), layer.v.cols());
    for (Index head = 0; head < heads; ++head)
      result.headOutput[head] = layer.weights[head] * layer.v[head * layer.v.count() / heads];
  }
  // Pictures mark what is no weight; the result keeps it.
  std::optional<Stack> given;
  if (study->unweighed) given = result.weights;
  for (Index head = 0; given && head < heads; ++head)
    result.weights[head] = attention::markedWeights((*given)[head]);
  sequence.pictures = drawPictures(result, result.weights, stop);
  sequence.pictures.aroundZero = layer.aroundZero;
  if (given) result.weights = *std::move(given);
  snapshot.notFinite = study->notFinite;
  snapshot.causal = study->opened->config().causal;
  snapshot.empty = false;
  snapshot.sequences.push_back(std::move(sequence));
  return snapshot;
}

Result<RecordedRule> recordedRule(const RecordedQuestion& question, std::stop_token stop) {
  const LayerSummary& layer = *question.study->layers[static_cast<std::size_t>(question.layer)];
  if (layer.q.size() == 0 || layer.k.size() == 0) return Error{"The file has no q and k"};
  const RecordedRule rule =
      ruleOf({layer, layer.weights[question.head], question.head, layer.weights.rows(), stop});
  if (stop.stop_requested()) return Error{"stopped"};
  return rule;
}

RecordedReceipt recordedReceipt(const LayerSummary& layer, Index head, Index query, Index key,
                                const RecordedRule& rule) {
  RecordedReceipt receipt;
  const Index kv = kvHeadOf(layer.k, layer.q.count(), head);
  receipt.terms = layer.q[head].row(query).cwiseProduct(layer.k[kv].row(key)).transpose();
  const auto weights = std::as_const(layer.weights)[head].row(query);
  const Eigen::VectorXd dot = dots(layer, head, query);
  receipt.dot = dot[key];
  receipt.score = rule.scale * receipt.dot;
  receipt.recorded = weights[key];
  double most = -std::numeric_limits<double>::infinity(), sum = 0, share = 0;
  for (Index j = 0; j < weights.size(); ++j)
    if (weights[j] > 0) {
      most = std::max(most, rule.scale * dot[j]);
      share += static_cast<double>(weights[j]);
      ++receipt.keys;
    }
  for (Index j = 0; j < weights.size(); ++j)
    if (weights[j] > 0) sum += std::exp(rule.scale * dot[j] - most);
  if (receipt.keys > 0) receipt.logSum = most + std::log(sum);
  if (rule.sink && receipt.keys > 0) receipt.share = share;
  if (receipt.recorded > 0)
    receipt.weight = static_cast<float>(receipt.share * std::exp(receipt.score - receipt.logSum));
  if (layer.v.size() == 0) return receipt;
  const auto values = std::as_const(layer.v)[kvHeadOf(layer.v, layer.q.count(), head)];
  receipt.mixed = receipt.recorded * values.row(key).transpose();
  receipt.output = (weights * values).transpose();
  return receipt;
}

}  // namespace headscope::app
