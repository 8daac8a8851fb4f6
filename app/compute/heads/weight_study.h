#pragma once

#include "app/compute/layer/layer_parts.h"
#include "attention/heads/spectrum.h"

namespace headscope::app {

/// A map of a head, or the product of two, as a small picture.
struct WeightPicture {
  attention::Matrix values;  ///< pooled by the value farthest from 0
  float most = 1;            ///< the largest |value|
  float colours = 1;         ///< the colour range: `most`, or less if a few values far exceed all others
};

/// One head's weights, independent of the text.
struct WeightStudy {
  std::shared_ptr<const HeadParts> question;
  WeightPicture q, k, v, o;    ///< [headDim, modelDim]; W_O transposed
  WeightPicture match, write;  ///< W_Q·W_Kᵀ and W_V·W_O, [modelDim, modelDim]
  attention::Spectrum matchSpectrum, writeSpectrum;
  double copying = 0;  ///< attention::copyingScore()
};

/// Pure. The result is incomplete if `stop` is requested.
WeightStudy studyWeights(const std::shared_ptr<const HeadParts>& head, std::stop_token stop = {});

}  // namespace headscope::app
