#pragma once

#include <optional>
#include <string>

#include "app/compute/figures/scene_picture.h"

namespace headscope::app {

/// A figure without the window around it, as `headscope render --what` draws it.
struct PictureOptions {
  PictureKind what = PictureKind::heads;
  std::string output;
  std::optional<std::string> width, height;  ///< lengths for parseLength()
  std::optional<double> dpi, scale;
  bool dark = false;
};

/// Draws the picture of a scene; returns the exit code.
int renderPicture(const Scene& scene, const PictureOptions& options);

}  // namespace headscope::app
