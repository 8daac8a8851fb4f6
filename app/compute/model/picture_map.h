#pragma once

#include "app/compute/model/layer_summary.h"
#include "app/scene/compare_setup.h"
#include "app/scene/models/open_model.h"
#include "render/colormap.h"

namespace headscope::app {

// The map drawn over a picture whose patches are the tokens.

struct PictureMapChoice {
  PictureMap map = PictureMap::query;
  Index query = 0;
  bool operator==(const PictureMapChoice&) const = default;
};

/// Returns a head's value for every token, [n]: a row of its weights, or of (½·W + ½·I)·R with the rollout R
/// of the layers below (attention::Rollout; null for the first layer). If a row sees no key, W is I there.
attention::Vector pictureMap(const LayerSummary& layer, Index head, const attention::Matrix* below,
                             const PictureMapChoice& choice);

/// Returns the upper end of the colours: the largest value over the patches, at least 0.
float pictureMapTop(const OpenPicture& picture, const attention::Vector& map);

/// Returns the picture in grey with the map over it, its longer side `side` pixels. Each patch has the
/// colormap's colour at v / top, more opaque for larger values.
attention::RgbImage overlaidPicture(const OpenPicture& picture, const attention::Vector& map, float top,
                                    render::Colormap colormap, Index side);

}  // namespace headscope::app
