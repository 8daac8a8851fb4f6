#pragma once

#include "app/labs/common/lab.h"
#include "app/labs/map/map_page.h"

namespace headscope::app {

/// One long head, panned and zoomed like a map.
class MapLab : public Lab {
 public:
  static constexpr std::uint64_t kTileBudget = std::uint64_t{256} << 20;

  explicit MapLab(LabServices& services);

  std::vector<Action> actions() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  Index heads(const Scene& scene) const override;
  std::vector<CaptionPart> caption(const Scene&) const override { return mapCaption(page_); }
  LabStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override { return textures_.bytes(); }
  bool open(const NamedFile& file, const Asker& asker, const Outcome& outcome) override;

  const MapPage& page() const { return page_; }
  MapPage& page() { return page_; }

 private:
  void copyPlace(const Scene& scene);
  void openFile(const std::filesystem::path& path, Scene& scene) const;

  LabServices& services_;
  TileCache cache_;
  MapTextures textures_;
  MapPage page_;
  MapJob job_;  // last: it ends before anything it touches goes
};

}  // namespace headscope::app
