#include "app/compute/heads/map_scores.h"

#include "attention/heads/detectors.h"
#include "attention/models/copying.h"

namespace headscope::app {

using attention::asSize;
using attention::Matrix;

attention::Result<double> headVoEigenvalues(const CopyingQuestion& question, std::stop_token stop) {
  const attention::Model& model = *question.opened->model;
  const attention::ModelConfig& config = model.config();
  if (const attention::Status status = config.checkHeadMaps(); !status) return status.error();
  if (config.cross())
    return attention::Error{
        "Cross heads read the encoder's stream and write to the decoder's: nothing is copied."};
  const auto& weights = model.weights().layers[static_cast<std::size_t>(question.layer)];
  const Index size = config.headDim, kv = question.head * config.kvHeads / config.heads;
  const attention::Matrix v = attention::weightRows(weights.v, kv * size, size).transpose();
  attention::Matrix o = attention::weightColumns(weights.o, question.head * size, size);
  if (weights.attentionScale.size() > 0) o.array().colwise() *= weights.attentionScale.array();
  if (const attention::Status status = model.checkpoint().intact(); !status) return status.error();
  if (stop.stop_requested()) return attention::Error{"stopped"};
  return attention::copyingScore(v, o);
}

MapScores mapScores(const std::shared_ptr<const OpenModel>& opened, const std::stop_token& stop) {
  const attention::ModelConfig& config = opened->config();
  const auto detectors = attention::allDetectors();
  MapScores all(detectors.size());
  const auto of = [&](std::string_view name) -> Matrix& {
    return all[asSize(std::ranges::find(detectors, name, &attention::Detector::name) - detectors.begin())];
  };
  std::vector<attention::HeadPlace> places;
  Matrix lines(config.layerCount(), config.heads);
  for (Index cell = 0; cell < lines.size(); ++cell) {
    places.push_back({config.group, cell / config.heads, cell % config.heads});
    const auto own = headVoEigenvalues({opened, places.back().layer, places.back().head}, stop);
    if (!own) return all;
    lines.data()[cell] = static_cast<float>(*own);
  }
  of("vo_eigenvalues") = lines;
  if (const auto copying = attention::copyingScores(*opened->model, places, stop))
    of("copying") = Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(
                        copying->data(), config.layerCount(), config.heads)
                        .cast<float>();
  return all;
}

bool isOfDetectHead(const attention::Detector& detector) {
  constexpr std::array<std::string_view, 3> kNames{"previous", "same_token", "induction"};
  return std::ranges::find(kNames, detector.name) != kNames.end();
}

float overAllRows(const attention::DetectorScore& score, Index all) {
  return all > 0 ? score.raw * static_cast<float>(score.rows) / static_cast<float>(all) : 0;
}

}  // namespace headscope::app
