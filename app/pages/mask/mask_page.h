#pragma once

#include "app/compute/layer/cursor_fit.h"
#include "app/pages/common/page.h"
#include "app/pages/mask/mask_state.h"
#include "attention/masks/code.h"

namespace headscope::app::mask_page {

/// The mask studio: composes, paints, compares and explains masks.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void reset() override;
  /// Hidden while presenting, which shows the masks only.
  bool showsSide(const Scene&) const override { return !services_.view.present; }
  std::vector<CaptionPart> caption(const Scene& scene) const override { return captionOf(scene, page_); }
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }
  State& state() { return page_; }

 private:
  void showMasks(const Scene& scene);
  void showPair();
  void show(Surface surface, const attention::Matrix& values);
  void walk(Scene& scene);
  void toggleCell(Scene& scene);
  std::vector<Action> copyActions();
  std::vector<Action> fileActions();
  void copy(const std::string& text, const std::string& what, ImVec2 asked);
  void copyCode(const Scene& scene, attention::MaskCode language, const std::string& what);
  void inspectFile(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  void loadFile(const std::filesystem::path& path, const Requester& requester,
                attention::MaskConvention convention);
  void saveFile(const Scene& scene, const std::filesystem::path& path, const Outcome& outcome);

  PageServices& services_;
  State page_;
  CursorFit fit_;
  Answer<MaskQuestion, MaskStudy> study_;
  Answer<HeadQuestion, HeadStudy> headStudy_;
  Answer<ReachQuestion, ReachStudy> reach_;
  /// What the panels and the textures show; keeps these answers alive.
  struct Shown {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const Answered<MaskQuestion, MaskStudy>> study;
    std::shared_ptr<const Answered<HeadQuestion, HeadStudy>> headStudy;
    std::shared_ptr<const Answered<ReachQuestion, ReachStudy>> reach;
    Index sequence = -1, head = -1;
    float pixels = 0;
    bool editsOther = false, compareWeights = true;
    bool operator==(const Shown&) const = default;
  } shown_, taken_;
};

}  // namespace headscope::app::mask_page
