#include "app/compute/heads/head_studies.h"
#include "app/compute/layer/layer_stack.h"
#include "app/scene/text/number_text.h"
#include "attention/core/activations.h"
#include "attention/core/extremes.h"
#include "attention/core/parallel.h"
#include "attention/heads/head_views.h"
#include "attention/heads/vector_geometry.h"

namespace headscope::app {

using attention::HeadText;
using attention::Matrix;
using attention::MatrixView;

namespace {

HeadText textOf(const LayerParts& layer) {
  return judgedText(layer.question.snapshot->setup, layer.sequence(), layer.question.sequence);
}

attention::ObservedHead observed(const LayerParts& layer, const Matrix& weights, Index head,
                                 const HeadText& text) {
  const MatrixView scores = layer.sequence().attention.scores[head];
  return {MatrixView(weights.data(), text.queries(), weights.cols()),
          MatrixView(scores.data(), text.queries(), scores.cols()), text};
}

}  // namespace

Matrix readWeights(const LayerParts& layer, Index head, HeadPicture reads) {
  const SequenceSnapshot& sequence = layer.sequence();
  const MatrixView weights = sequence.probabilities()[head];
  if (reads == HeadPicture::firstOut) return attention::withoutFirst(weights);
  if (reads != HeadPicture::valueWeighted) return weights;
  const MatrixView v = sequence.attention.v[layer.config().kvHeadOf(head)];
  return attention::valueWeighted(weights, attention::writtenNorms(v, headMaps(layer, head).o));
}

void hideMasked(const LayerParts& layer, Index head, Matrix& values) {
  const MatrixView scores = layer.sequence().attention.scores[head];
  values = (scores.array() == -INFINITY).select(-INFINITY, values.array());
}

DetectorStudy studyDetectors(const DetectorQuestion& question, std::stop_token stop) {
  DetectorStudy study;
  study.question = question;
  const LayerParts& layer = *question.layer;
  const HeadText text = textOf(layer);
  const auto heads = static_cast<std::size_t>(layer.config().heads);
  study.profiles.resize(heads);
  std::vector<Matrix> compared(heads);
  const bool finished = attention::forEach(layer.config().heads, stop, [&](Index head) {
    const auto at = static_cast<std::size_t>(head);
    const Matrix weights = readWeights(layer, head, question.reads);
    const attention::HeadMaps maps = headMaps(layer, head);
    study.profiles[at] = attention::profileHead(observed(layer, weights, head, text), &maps);
    compared[at] =
        attention::evenlySpacedRows({weights.data(), text.queries(), weights.cols()}, kComparedRows);
  });
  if (!finished) return study;
  study.comparedRows = compared.empty() ? 0 : compared.front().rows();
  study.likeness = question.likeness == Similarity::cosine
                       ? attention::cosineSimilarity(compared, stop)
                       : attention::jensenShannonSimilarity(compared, stop);
  study.order = attention::similarityOrder(study.likeness);
  return study;
}

TargetStudy studyTargets(const TargetQuestion& question, std::stop_token stop) {
  TargetStudy study;
  study.question = question;
  const DetectorQuestion& asked = question.study->question;
  const LayerParts& layer = *asked.layer;
  study.values = readWeights(layer, question.head, asked.reads);
  study.counted.resize(static_cast<std::size_t>(study.values.rows()));
  if (question.detector) {
    const HeadText text = textOf(layer);
    const attention::ObservedHead head = observed(layer, study.values, question.head, text);
    const auto& profile = question.study->profiles[static_cast<std::size_t>(question.head)];
    const attention::DetectorScore& score = profile[question.detector->name];
    for (Index row = 0; row < text.queries() && !stop.stop_requested(); ++row)
      study.counted[static_cast<std::size_t>(row)] =
          attention::countedKeys(*question.detector, score, head, row);
  }
  hideMasked(layer, question.head, study.values);
  return study;
}

namespace {

constexpr Index kSmall = 144;

Matrix valuesOf(const ViewQuestion& question, HeadPicture picture) {
  const LayerParts& layer = *question.layer;
  const attention::Stack& weights = layer.sequence().probabilities();
  switch (picture) {
    case HeadPicture::weights:
    case HeadPicture::valueWeighted:
    case HeadPicture::firstOut:
      return readWeights(layer, question.head, picture);
    case HeadPicture::mean:
      return attention::meanOverHeads(weights);
    case HeadPicture::max:
      return attention::maxOverHeads(weights);
    case HeadPicture::difference:
      return weights[question.head] - weights[question.other];
    case HeadPicture::rollout:
      break;  // needs other layers
  }
  return {};
}

/// Returns the attention rollout through all layers up to the shown one.
attention::Result<Matrix> rolloutOf(const LayerParts& layer, Resources& resources, std::stop_token stop) {
  const Setup& setup = layer.question.snapshot->setup;
  attention::Rollout rollout;
  if (const Index below = shownLayer(setup); below > 0) {
    auto run = prepareRun(setup, layer.question.sequence, resources, stop);
    if (!run) return run.error();
    run->request.depth = below;
    run->request.layers = std::vector<Index>();
    for (Index at = 0; at < below; ++at) run->request.layers->push_back(at);
    run->request.logits = attention::LogitRows::none;
    const std::uint64_t needed =
        attention::passBytes(run->opened->config(), std::ssize(run->text.ids), run->request);
    const MemoryShare share = resources.memory.reserve(needed, stop);
    if (!share)
      return attention::Error{"rollout through " + std::to_string(below) + " layers below would need " +
                              bytesText(static_cast<double>(needed)) + " more than the budget has left"};
    attention::ModelSession session(run->opened->model);
    const auto pass = session.append(run->text.ids, run->request, stop);
    if (!pass) return pass.error();
    for (const auto& one : pass->layers) rollout.add(one->weights);
  }
  rollout.add(layer.sequence().probabilities());
  return rollout.matrix();
}

/// Sets to −inf the values at keys that none of the heads involved can see.
void hide(const ViewQuestion& question, HeadPicture picture, Matrix& values) {
  const LayerParts& layer = *question.layer;
  const attention::Stack& scores = layer.sequence().attention.scores;
  if (picture == HeadPicture::rollout) {  // it combines several masks
    values = (values.array() == 0).select(-INFINITY, values);
    return;
  }
  const bool all = picture == HeadPicture::mean || picture == HeadPicture::max;
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col) {
      bool seen = false;
      if (all)
        for (Index head = 0; head < scores.count() && !seen; ++head)
          seen = scores.at(head, row, col) > -INFINITY;
      else
        seen = scores.at(question.head, row, col) > -INFINITY ||
               (picture == HeadPicture::difference && scores.at(question.other, row, col) > -INFINITY);
      if (!seen || (picture == HeadPicture::firstOut && col == 0)) values(row, col) = -INFINITY;
    }
}

}  // namespace

attention::Result<std::shared_ptr<const ViewStudy>> studyViews(const ViewQuestion& question,
                                                               Resources& resources, std::stop_token stop) {
  const auto made = std::make_shared<ViewStudy>();
  ViewStudy& study = *made;
  study.question = question;
  for (std::size_t i = 0; i < study.views.size() && !stop.stop_requested(); ++i) {
    const auto picture = static_cast<HeadPicture>(i);
    HeadView& view = study.views[i];
    view.values = valuesOf(question, picture);
    if (picture == HeadPicture::rollout) {
      if (question.layer->context.size() > 0) {
        study.noRollout = "Rollout needs self-attention; cross-attention reads a second text.";
        continue;
      }
      auto values = rolloutOf(*question.layer, resources, stop);
      if (values)
        view.values = *std::move(values);
      else
        study.noRollout = values.error().message;
      if (!values) continue;
    }
    if (picture == HeadPicture::difference) {
      view.high = std::max(attention::largestFinite(view.values), 0.01f);
      view.low = -view.high;
    }
    hide(question, picture, view.values);
    view.small.values = attention::poolByMagnitude(view.values, kSmall, kSmall);
    view.small.low = view.low;
    view.small.high = view.high;
  }
  return std::shared_ptr<const ViewStudy>(made);
}

namespace {

constexpr Index kPicture = 144, kLikenessRows = 64;

/// Returns one head's weights on the line, masked as the line's first head is.
Matrix weightsOf(const HeadCountQuestion& question, const Matrix& q, const Matrix& k, Index headDim) {
  const auto seen = question.layer->sequence().attention.scores[0];
  Matrix scores = q * k.transpose() / std::sqrt(static_cast<float>(headDim));
  scores = (seen.array() == -INFINITY).select(-INFINITY, scores.array());
  Matrix weights(scores.rows(), scores.cols());
  for (Index row = 0; row < scores.rows(); ++row)
    attention::softmaxRow(scores.row(row).data(), scores.cols(), weights.row(row).data());
  return weights;
}

StagePicture pictureOf(const HeadCountQuestion& question, const Matrix& weights) {
  const auto seen = question.layer->sequence().attention.scores[0];
  const Matrix marked = (seen.array() == -INFINITY).select(-INFINITY, weights.array());
  return {attention::poolByMagnitude(marked, kPicture, kPicture), 0, 1};
}

double meanOffDiagonal(const Matrix& likeness) {
  const Index count = likeness.rows();
  if (count < 2) return 1;
  const double all = likeness.cast<double>().sum() - static_cast<double>(count);
  return all / static_cast<double>(count * (count - 1));
}

HeadCountSide sideOf(const HeadCountQuestion& question, Index heads, const std::stop_token& stop) {
  const LayerParts& layer = *question.layer;
  attention::AttentionConfig config;
  config.modelDim = layer.config().modelDim;
  config.heads = config.kvHeads = heads;
  config.headDim = config.modelDim / heads;
  const auto draw =
      question.init == WeightInit::normal ? attention::normalProjections : attention::scaledXavier;
  const attention::Projections maps = draw(config, false, question.seed, question.gain);
  const Matrix q = maps.q.apply(layer.x, stop), k = maps.k.apply(layer.keySource(), stop);
  const Matrix visible = (layer.sequence().attention.scores[0].array() > -INFINITY).cast<float>();
  HeadCountSide side;
  side.heads = heads;
  side.headDim = config.headDim;
  const auto count = static_cast<std::size_t>(heads);
  side.weights.resize(count);
  if (config.headDim <= kMaxSpectrum) side.spectra.resize(count);
  std::vector<double> entropies(count);
  std::vector<Matrix> compared(count);
  attention::forEach(heads, stop, [&](Index head) {
    const auto at = static_cast<std::size_t>(head);
    const Index first = head * config.headDim;
    const Matrix weights = weightsOf(question, q.middleCols(first, config.headDim),
                                     k.middleCols(first, config.headDim), config.headDim);
    side.weights[at] = pictureOf(question, weights);
    entropies[at] = attention::meanEntropy(weights, visible);
    compared[at] =
        attention::evenlySpacedRows({weights.data(), weights.rows(), weights.cols()}, kLikenessRows);
    if (!side.spectra.empty())
      side.spectra[at] =
          attention::productSpectrum(maps.q.weight.middleRows(first, config.headDim).transpose(),
                                     maps.k.weight.middleRows(first, config.headDim).transpose());
  });
  if (stop.stop_requested()) return side;
  for (const double one : entropies) side.entropy += one / static_cast<double>(heads);
  side.likeness = meanOffDiagonal(attention::cosineSimilarity(compared, stop));
  return side;
}

}  // namespace

Index smallHeads(Index modelDim, Index asked) {
  Index most = 1;
  for (const Index heads : kManyHeads)
    if (heads <= asked && modelDim % heads == 0) most = heads;
  return most;
}

HeadCountStudy studyHeadCounts(const HeadCountQuestion& question, std::stop_token stop) {
  HeadCountStudy study;
  study.question = question;
  const auto dim = static_cast<std::uint64_t>(question.layer->config().modelDim);
  study.parameters = 4 * dim * dim;
  study.wide = sideOf(question, 1, stop);
  if (!stop.stop_requested()) study.small = sideOf(question, question.heads, stop);
  return study;
}

}  // namespace headscope::app
