#pragma once

#include <stdexcept>
#include <string>

#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "tests/attention/models/golden_models.h"

namespace headscope::test {

/// A scene with a golden model open on a text.
inline app::Scene goldenScene(const std::string& family, const std::string& text) {
  app::Scene scene = app::openingScene();
  const std::string folder = attention::test::goldenModel(family).string();
  auto opened = app::openModel(folder);
  if (!opened) throw std::runtime_error(opened.error().message);
  scene.setup.input.text = text;
  app::adoptModel(scene, folder, *opened);
  return scene;
}

}  // namespace headscope::test
