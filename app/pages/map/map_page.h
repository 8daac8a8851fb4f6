#pragma once

#include "app/pages/common/page.h"
#include "app/pages/map/map_state.h"

namespace headscope::app::map_page {

/// One long head that can be panned and zoomed like a map.
class Page : public app::Page {
 public:
  static constexpr std::uint64_t kTileBudget = std::uint64_t{256} << 20;

  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  Index heads(const Scene& scene) const override;
  std::vector<CaptionPart> caption(const Scene&) const override { return captionOf(page_); }
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override { return textures_.bytes(); }
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }
  State& state() { return page_; }

 private:
  void copyPlace(const Scene& scene);
  void openFile(const std::filesystem::path& path, Scene& scene) const;

  PageServices& services_;
  TileCache cache_;
  Textures textures_;
  State page_;
  Job job_;  // last member: destroyed first, so its work ends before the data it uses
};

}  // namespace headscope::app::map_page
