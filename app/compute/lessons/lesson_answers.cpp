// Values about why a model prefers one answer to another, for lessons.

#include "app/compute/lessons/lesson_values.h"
#include "app/compute/model/lens_map.h"
#include "app/compute/model/patch_grid.h"

namespace headscope::app {

using attention::Array;
using attention::Error;
using attention::Result;

Result<std::shared_ptr<const PairStudy>> StepValues::pair() {
  if (pair_) return pair_;
  auto study = studyPair(pairQuestion(scene_), resources_, stop_);
  if (!study) return study.error();
  pair_ = std::make_shared<const PairStudy>(*std::move(study));
  return pair_;
}

Result<Array> StepValues::ofAnswer(const std::string& name) {
  const auto pair = this->pair();
  if (!pair) return pair.error();
  if (name == "difference") return Array((*pair)->a.difference);
  const auto matrix = [&](const attention::Matrix& values) {
    ArrayBuilder builder({values.rows(), values.cols()}, resources_);
    builder.add(values.data(), values.size());
    return std::move(builder).take();
  };
  if (name == "attribution" || name == "sum") {
    const auto study = studyAttribution({*pair}, stop_);
    if (!study) return study.error();
    const attention::ModelConfig& config = (*pair)->opened->config();
    attention::Matrix heads = attention::Matrix::Zero(config.layerCount(), config.heads);
    double sum = 0;
    for (const attention::Contribution& part : study->a.parts) {
      sum += part.value;
      if (part.by == attention::Writer::head) heads(part.layer, part.head) = static_cast<float>(part.value);
    }
    return name == "sum" ? Array(sum) : matrix(heads);
  }
  if (!(*pair)->b) return Error{"answer." + name + " needs a second text, compare.text"};
  if (name == "other_difference") return Array((*pair)->b->difference);
  const PatchSides sides{*pair, scene_.compare.intoA};
  if (name == "together") {
    const auto sum = sumPatches({sides, scene_.compare.patches}, stop_);
    if (!sum) return sum.error();
    return Array(sides.recovered(sum->together));
  }
  const auto grid = computePatchGrid(
      {sides, attention::Piece::head}, [] { return Index{0}; }, [](const PatchGrid&) {}, stop_);
  if (!grid) return grid.error();
  return matrix(grid->recovered);
}

}  // namespace headscope::app
