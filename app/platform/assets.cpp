#include "app/platform/assets.h"

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "app/platform/folders.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

namespace fs = std::filesystem;

fs::path assetFolder() {
  std::vector<fs::path> places;
  if (const char* chosen = std::getenv("HEADSCOPE_ASSETS")) places.emplace_back(chosen);
  std::error_code ignored;
  const fs::path binary = programFolder();
  if (!binary.empty()) {
    places.push_back(binary / "assets");
    places.push_back(binary.parent_path() / "share" / "headscope");
  }
  places.emplace_back(HEADSCOPE_SOURCE_ASSETS);
  std::string looked;
  for (const fs::path& place : places) {
    if (fs::exists(place / "shaders" / "heatmap.frag", ignored)) return place;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw std::runtime_error("the assets (shaders) were not found; looked in " + looked);
}

fs::path miniatureFolder() {
  return assetFolder() / "models" / "miniature";
}

std::string readAssetText(const std::string& name) {
  const auto bytes = attention::readFile(assetFolder() / name);
  if (!bytes) throw std::runtime_error(bytes.error().message);
  return {bytes->begin(), bytes->end()};
}

}  // namespace headscope::app
