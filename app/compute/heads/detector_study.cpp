#include "app/compute/heads/detector_study.h"

#include <cmath>

#include "app/compute/layer/judged_text.h"
#include "attention/core/parallel.h"
#include "attention/heads/head_views.h"
#include "attention/heads/similarity.h"

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

}  // namespace headscope::app
