#include "app/compute/heads/weight_study.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attention/core/extremes.h"

namespace headscope::app {

using attention::Matrix;

namespace {

constexpr Index kSquare = 160;
constexpr float kTowering = 8;

/// Returns the colour range: `most`, or the 90th percentile of the nonzero |values| if `most` is far above
/// it.
float colourReach(const Matrix& values, float most) {
  std::vector<float> sizes;
  for (Index i = 0; i < values.size(); ++i)
    if (values.data()[i] != 0 && std::isfinite(values.data()[i])) sizes.push_back(std::abs(values.data()[i]));
  if (sizes.size() < 8) return most;
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() * 9 / 10);
  std::nth_element(sizes.begin(), at, sizes.end());
  return most > kTowering * *at ? *at : most;
}

WeightPicture pictureOf(Matrix pooled) {
  WeightPicture picture{std::move(pooled), 1, 1};
  const float most = attention::largestFinite(picture.values);
  if (most > 0) {
    picture.most = most;
    picture.colours = colourReach(picture.values, most);
  }
  return picture;
}

}  // namespace

WeightStudy studyWeights(const std::shared_ptr<const HeadParts>& head, std::stop_token stop) {
  WeightStudy study;
  study.question = head;
  const auto small = [](const Matrix& map) {
    return pictureOf(attention::poolByMagnitude(map, 64, kSquare));
  };
  study.q = small(head->q.weight);
  study.k = small(head->k.weight);
  study.v = small(head->v.weight);
  study.o = small(head->wo.transpose());
  const Matrix q = head->q.weight.transpose(), k = head->k.weight.transpose(), v = head->v.weight.transpose();
  study.match = pictureOf(attention::productPicture(q, k, kSquare, stop));
  if (!stop.stop_requested()) study.write = pictureOf(attention::productPicture(v, head->wo, kSquare, stop));
  if (!stop.stop_requested()) study.matchSpectrum = attention::productSpectrum(q, k);
  if (!stop.stop_requested()) study.writeSpectrum = attention::productSpectrum(v, head->wo);
  if (!stop.stop_requested()) study.copying = attention::copyingScore(v, head->wo);
  return study;
}

}  // namespace headscope::app
