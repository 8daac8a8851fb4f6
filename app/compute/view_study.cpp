#include "app/compute/view_study.h"

#include <algorithm>
#include <cmath>

#include "attention/heads/head_views.h"

namespace headscope::app {

using attention::Matrix;

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
  }
  return {};
}

/// −inf where no head that takes part sees the key.
void hide(const ViewQuestion& question, HeadPicture picture, Matrix& values) {
  const LayerParts& layer = *question.layer;
  const attention::Stack& scores = layer.sequence().attention.scores;
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

ViewStudy studyViews(const ViewQuestion& question, std::stop_token stop) {
  ViewStudy study;
  study.question = question;
  for (std::size_t i = 0; i < study.views.size() && !stop.stop_requested(); ++i) {
    const auto picture = static_cast<HeadPicture>(i);
    HeadView& view = study.views[i];
    view.values = valuesOf(question, picture);
    if (picture == HeadPicture::difference) {
      view.high = std::max(view.values.cwiseAbs().maxCoeff(), 0.01f);
      view.low = -view.high;
    }
    hide(question, picture, view.values);
    view.small.values = attention::poolFarthest(view.values, kSmall, kSmall);
    view.small.low = view.low;
    view.small.high = view.high;
  }
  return study;
}

}  // namespace headscope::app
