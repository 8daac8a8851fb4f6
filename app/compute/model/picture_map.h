#pragma once

#include "app/compute/model/layer_summary.h"
#include "app/scene/compare_setup.h"
#include "app/scene/models/open_model.h"
#include "render/colormap.h"

namespace headscope::app {

// What is laid over a picture whose patches are the tokens.

struct PictureMapChoice {
  PictureMap map = PictureMap::query;
  Index query = 0;
  bool operator==(const PictureMapChoice&) const = default;
};

/// What a head says of every token [n]: a row of its weights, or of (½·W + ½·I)·R, with the rollout R
/// of the layers below (attention::Rollout), null for the first layer. Of a row that sees no key W is I.
attention::Vector pictureMap(const LayerSummary& layer, Index head, const attention::Matrix* below,
                             const PictureMapChoice& choice);

/// The largest number over the patches; 0 where none is above that. The colours' upper end.
float pictureMapTop(const OpenPicture& picture, const attention::Vector& map);

/// The picture with the map over it, its longer side `side` pixels: in greys, and on each patch the
/// colormap's colour at v / top, the denser the larger that is.
attention::RgbPicture overlaidPicture(const OpenPicture& picture, const attention::Vector& map, float top,
                                      render::Colormap colormap, Index side);

}  // namespace headscope::app
