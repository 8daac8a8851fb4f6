#include "app/compute/model_study.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "app/compute/recorded_study.h"
#include "app/scene/number_text.h"
#include "attention/core/parallel.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::Error;
using attention::LayerResult;
using attention::Matrix;
using attention::PassRequest;
using attention::Result;
using attention::Stack;

namespace {

constexpr Index kThumbnail = 64, kBands = 16;

/// Which cells are visible, as detectors and pictures are told: 0, or −inf where a key is masked.
Matrix marksOf(const attention::MaskFormula& mask, Index variant) {
  Matrix cells = Matrix::Constant(mask.queries(), mask.keys(), render::kMaskedCell);
  attention::KeyRuns runs;
  for (Index row = 0; row < cells.rows(); ++row) {
    mask.visibleRuns(variant, row, runs);
    for (const attention::KeyRun& run : runs)
      cells.row(row).segment(run.begin, run.end - run.begin).setZero();
  }
  return cells;
}

/// A mask over the whole text with its cells, one matrix a variant. Layers often share one.
struct MarkedMask {
  std::shared_ptr<const attention::MaskFormula> formula;
  std::vector<Matrix> marks;

  explicit MarkedMask(std::shared_ptr<const attention::MaskFormula> mask) : formula(std::move(mask)) {
    for (Index variant = 0; variant < formula->variants(); ++variant)
      marks.push_back(marksOf(*formula, variant));
  }
  const Matrix& of(Index head) const { return marks[static_cast<std::size_t>(formula->variantOf(head))]; }
};

/// Weights where the key is visible, masked or dead where not.
void markCells(const attention::MatrixView& weights, const Matrix& marks, Matrix& out) {
  out = weights;
  for (Index row = 0; row < out.rows(); ++row) {
    const auto cells = marks.row(row).array();
    if ((cells != 0).all())
      out.row(row).setConstant(render::kDeadCell);
    else
      out.row(row) = (cells != 0).select(render::kMaskedCell, out.row(row).array());
  }
}

/// The first column masked, rows summing to 1 without it where anything is left of them.
void leaveFirstOut(Matrix& marked) {
  for (Index row = 0; row < marked.rows(); ++row) {
    float& first = marked(row, 0);
    if (first == render::kDeadCell) continue;
    if (const float rest = 1 - first; first >= 0 && rest > 1e-6f)
      for (Index col = 1; col < marked.cols(); ++col)
        if (marked(row, col) > 0) marked(row, col) /= rest;
    first = render::kMaskedCell;
  }
}

Matrix pooled(const Matrix& cells, int factor) {
  if (factor == 1) return cells;
  Matrix out((cells.rows() + factor - 1) / factor, (cells.cols() + factor - 1) / factor);
  render::maxPool(cells.data(), static_cast<int>(cells.rows()), static_cast<int>(cells.cols()), factor,
                  out.data());
  return out;
}

float entropyOf(const attention::MatrixView& weights, const Matrix& marks) {
  double sum = 0;
  Index rows = 0;
  for (Index row = 0; row < weights.rows(); ++row) {
    const auto visible = (marks.row(row).array() == 0).count();
    if (visible < 2) continue;
    double entropy = 0;
    for (Index col = 0; col < weights.cols(); ++col)
      if (const double p = weights(row, col); p > 0) entropy -= p * std::log(p);
    sum += entropy / std::log(static_cast<double>(visible));
    ++rows;
  }
  return rows ? static_cast<float>(sum / static_cast<double>(rows)) : 0;
}

/// Mean over the rows of ‖after − before‖ / ‖before‖.
float meanAdded(const Matrix& before, const Matrix& after) {
  const Eigen::VectorXf added = (after - before).rowwise().norm(), was = before.rowwise().norm();
  return added.cwiseQuotient(was.cwiseMax(1e-20f)).mean();
}

/// Old rows above new ones.
Matrix joined(const Matrix* old, Index kept, const Matrix& rows) {
  if (kept == 0) return rows;
  Matrix all(kept + rows.rows(), rows.cols());
  all << old->topRows(kept), rows;
  return all;
}
Stack joinedWeights(const Stack* old, Index kept, const Stack& rows) {
  if (kept == 0) return rows;
  const Index n = kept + rows.rows();
  Stack all(rows.count(), n, n);
  for (Index head = 0; head < rows.count(); ++head) {
    all[head].topLeftCorner(kept, kept) = (*old)[head].topLeftCorner(kept, kept);
    all[head].bottomRows(rows.rows()) = rows[head];
  }
  return all;
}
Stack joinedRows(const Stack* old, Index kept, const Stack& rows) {
  if (kept == 0) return rows;
  Stack all = Stack::uninitialized(rows.count(), kept + rows.rows(), rows.cols());
  for (Index head = 0; head < rows.count(); ++head) {
    all[head].topRows(kept) = (*old)[head].topRows(kept);
    all[head].bottomRows(rows.rows()) = rows[head];
  }
  return all;
}

/// What the new rows of a layer came to, with those before them.
struct LayerRows {
  const LayerResult& now;
  const LayerSummary* before;  ///< of the first `kept` tokens, or null
  Index kept;
  const Matrix& in;  ///< the stream before the layer, of all tokens
};

void summariseHeads(LayerSummary& summary, const MarkedMask& mask, const attention::HeadText& text,
                    const std::stop_token& stop) {
  const Index heads = summary.weights.count(), n = summary.weights.rows();
  const int factor = thumbnailFactor(n);
  const Index small = (n + factor - 1) / factor;
  summary.heads.resize(static_cast<std::size_t>(heads));
  summary.thumbnails = Stack(heads, small, small);
  summary.thumbnailsFirstOut = Stack(heads, small, small);
  attention::forEach(heads, stop, [&](Index head) {
    const Matrix& cells = mask.of(head);
    HeadSummary& one = summary.heads[static_cast<std::size_t>(head)];
    const attention::MatrixView weights = std::as_const(summary.weights)[head];
    one.profile = attention::profileHead({weights, {cells.data(), n, n}, text});
    one.label = attention::labelHead(one.profile);
    one.entropy = entropyOf(weights, cells);
    Matrix marked;
    markCells(weights, cells, marked);
    summary.thumbnails[head] = pooled(marked, factor);
    leaveFirstOut(marked);
    summary.thumbnailsFirstOut[head] = pooled(marked, factor);
  });
  float sum = 0;
  for (const HeadSummary& one : summary.heads) sum += one.entropy;
  summary.entropy = sum / static_cast<float>(heads);
}

std::shared_ptr<LayerSummary> summarise(const LayerRows& rows, const MarkedMask& mask,
                                        const attention::HeadText& text, std::stop_token stop) {
  auto summary = std::make_shared<LayerSummary>();
  summary->mask = mask.formula;
  summary->weights =
      joinedWeights(rows.before ? &rows.before->weights : nullptr, rows.kept, rows.now.weights);
  summary->hidden = joined(rows.before ? &rows.before->hidden : nullptr, rows.kept, rows.now.hidden);
  summary->headOutput =
      joinedRows(rows.before ? &rows.before->headOutput : nullptr, rows.kept, rows.now.headOutput);
  summariseHeads(*summary, mask, text, stop);
  const Matrix in = rows.in.bottomRows(rows.now.hidden.rows());
  summary->attentionAdds = meanAdded(in, rows.now.between);
  summary->mlpAdds = meanAdded(rows.now.between, rows.now.hidden);
  return summary;
}

/// What one head keeps of a token: the strongest of the dimensions that share a band, with its sign.
Stack drawCache(const attention::ModelSession& session, Index bands) {
  const attention::ModelConfig& config = session.model().config();
  const Index n = session.length();
  Stack picture(2, config.layerCount() * config.kvHeads, n * bands);
  picture[0].setZero();
  picture[1].setZero();
  for (Index layer = 0; layer < config.layerCount(); ++layer)
    for (Index g = 0; g < config.kvHeads; ++g)
      for (Index part = 0; part < 2; ++part) {
        const attention::KvCache& cache = session.cache(layer);
        const Matrix values = part == 0 ? cache.keys(g) : cache.values(g);
        auto row = picture[part].row(layer * config.kvHeads + g);
        for (Index token = 0; token < n; ++token)
          for (Index d = 0; d < values.cols(); ++d) {
            float& cell = row(token * bands + d * bands / values.cols());
            if (std::abs(values(token, d)) > std::abs(cell)) cell = values(token, d);
          }
        if (const float most = row.cwiseAbs().maxCoeff(); most > 0) row /= most;
      }
  return picture;
}

std::uint64_t bytesOf(const ModelStudy& study) {
  Index floats = study.embedded.size() + study.lastLogits.size() + study.cache.size();
  for (const auto& layer : study.layers)
    floats += layer->weights.size() + 2 * layer->thumbnails.size() + layer->hidden.size() +
              layer->headOutput.size();
  return static_cast<std::uint64_t>(floats) * sizeof(float);
}

}  // namespace

void summariseHeads(LayerSummary& summary, const attention::HeadText& text, std::stop_token stop) {
  summariseHeads(summary, MarkedMask(summary.mask), text, stop);
}

ModelQuestion modelQuestion(const Setup& setup) {
  ModelQuestion question{setup};
  Setup& asked = question.setup;
  asked.prefill = 1;
  asked.mask.compare = false;
  asked.mask.other.clear();
  asked.weights = {};
  asked.weights.seed = setup.weights.seed;  // of dropout
  asked.input.contextText = {};
  asked.input.table = {};
  if (asked.subject.scope == EditScope::all || !changesModel(setup)) asked.subject.layer = 0;
  return question;
}

ModelQuestion unchangedQuestion(const Setup& setup) {
  Setup plain;
  plain.subject = setup.subject;
  plain.subject.layer = 0;
  plain.subject.switchedOff.clear();
  plain.input.text = setup.input.text;
  plain.mask = {};
  plain.model.position = PositionKind::none;
  return {std::move(plain)};
}

int thumbnailFactor(Index tokens) {
  int factor = 1;
  while ((tokens + factor - 1) / factor > kThumbnail) factor *= 2;
  return factor;
}

Index ModelRunner::keptTokens(const ModelQuestion& question, const ModelText& text) const {
  if (!question_ || !session_) return 0;
  // Masks that follow sentences, means and dropout make earlier rows depend on later tokens.
  const Setup& setup = question.setup;
  const bool local = setup.mask.layers.empty() && setup.model.dropout == 0 &&
                     setup.mask.additive->values.size() == 0 && setup.subject.opened->config().causal &&
                     std::none_of(setup.subject.switchedOff.begin(), setup.subject.switchedOff.end(),
                                  [](const SwitchedHead& off) { return off.by == HeadOff::mean; });
  ModelQuestion before = *question_;
  before.setup.input.text = setup.input.text;
  before.setup.subject.written = setup.subject.written;
  if (!local || !(before == question)) return 0;
  const std::vector<Index>& old = session_->tokens();
  const auto same = std::mismatch(old.begin(), old.end(), text.ids.begin(), text.ids.end()).first;
  // The last token is computed again, for its logits.
  return std::min<Index>(same - old.begin(), std::ssize(text.ids) - 1);
}

Result<ModelStudy> ModelRunner::run(const ModelQuestion& question, Resources& resources,
                                    const OnLayer& onLayer, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const Setup& setup = question.setup;
  if (!setup.subject.opened) return Error{setup.subject.problem};
  if (setup.subject.opened->recorded) return studyRecorded(question, resources, onLayer, stop);
  Result<ModelText> text = readModelText(setup, stop);
  if (!text) return text.error();
  ModelStudy study{question, *std::move(text), {}, {}, {}, {}, 0, 0, 0, {}};
  const Index n = study.tokens();
  if (n == 0) return study;
  if (n > kMaxTokens)
    return Error{
        fmt::format("The text has {} tokens; all layers at once are shown for at most {}. Look at one "
                    "head on the Map page, or shorten it.",
                    n, kMaxTokens)};
  const attention::ModelConfig& config = setup.subject.opened->config();
  Result<PassRequest> request = passRequest(setup, study.text.tokens, resources.inputs);
  if (!request) return request.error();
  request->projections = request->hidden = request->between = true;
  const std::uint64_t needed = passBytes(config, n, *request);
  study.memory = resources.memory.reserve(needed, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  if (!study.memory)
    return Error{
        fmt::format("All {} heads of {} layers on {} tokens would need {}; the budget is {}, and {} of "
                    "it are in use. Use a shorter text.",
                    config.heads, config.layerCount(), n, bytesText(static_cast<double>(needed)),
                    bytesText(static_cast<double>(resources.memory.total())),
                    bytesText(static_cast<double>(resources.memory.used())))};

  const Index kept = keptTokens(question, study.text);
  if (kept == 0) {
    session_ = std::make_unique<attention::ModelSession>(setup.subject.opened->model);
    layers_.clear();
  } else {
    session_->truncate(kept);
  }
  question_.reset();  // until this is done

  const attention::HeadText headText(study.text.tokens, study.text.tokens, false);
  std::optional<MarkedMask> mask;
  Index maskLayer = -1;
  Matrix in = setup.subject.opened->model->embed(
      std::span<const Index>(study.text.ids).subspan(static_cast<std::size_t>(kept)), kept);
  study.embedded = joined(&embedded_, kept, in);
  request->onLayer = [&](const std::shared_ptr<const LayerResult>& layer) {
    if (stop.stop_requested()) return;
    if (kept == 0 && (!mask || mask->formula != layer->mask.formula)) {
      mask.emplace(layer->mask.formula);
    } else if (kept > 0 && (!mask || config.maskText(maskLayer) != config.maskText(layer->layer))) {
      // The pass's mask is over its last rows.
      maskLayer = layer->layer;
      attention::MaskGeometry geometry;
      geometry.queries = geometry.keys = geometry.keyLength = n;
      geometry.heads = config.heads;
      geometry.kvHeads = config.kvHeads;
      mask.emplace(
          *attention::compileMask(attention::parseMask(config.maskText(maskLayer)).layers, geometry));
    }
    const auto at = static_cast<std::size_t>(layer->layer);
    const LayerSummary* before = kept > 0 ? layers_[at].get() : nullptr;
    auto summary = summarise({*layer, before, kept, in}, *mask, headText, stop);
    in = layer->hidden;
    study.layers.push_back(summary);
    if (onLayer) onLayer(layer->layer, summary);
  };
  auto pass = session_->append(std::span<const Index>(study.text.ids).subspan(static_cast<std::size_t>(kept)),
                               *request, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  if (!pass) return pass.error();
  study.lastLogits = std::move(pass->logits);
  study.bands = std::min(config.headDim, kBands);
  study.cache = drawCache(*session_, study.bands);
  study.bytes = bytesOf(study);
  study.memory = resources.memory.count(study.bytes);
  layers_ = study.layers;
  embedded_ = study.embedded;
  question_ = question;
  study.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return study;
}

Result<StreamStudy> studyStreams(const ModelQuestion& question, Resources& resources, std::stop_token stop) {
  const Setup& setup = question.setup;
  if (!setup.subject.opened) return Error{setup.subject.problem};
  Result<ModelText> text = readModelText(setup, stop);
  if (!text) return text.error();
  StreamStudy study{question, {}};
  if (text->ids.empty()) return study;
  Result<PassRequest> request = passRequest(setup, text->tokens, resources.inputs);
  if (!request) return request.error();
  request->weights = false;
  request->hidden = true;
  request->logits = attention::LogitRows::none;
  attention::ModelSession session(setup.subject.opened->model);
  auto pass = session.append(text->ids, *request, stop);
  if (!pass) return pass.error();
  study.streams.push_back(std::move(pass->embedded));
  for (const auto& layer : pass->layers) study.streams.push_back(layer->hidden);
  return study;
}

Matrix drawModelHead(const LayerSummary& layer, Index head, int factor, bool firstOut) {
  Matrix marked;
  markCells(layer.weights[head], marksOf(*layer.mask, layer.mask->variantOf(head)), marked);
  if (firstOut) leaveFirstOut(marked);
  return pooled(marked, factor);
}

}  // namespace headscope::app
