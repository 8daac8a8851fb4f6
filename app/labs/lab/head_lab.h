#pragma once

#include "app/compute/cursor_fit.h"
#include "app/labs/common/lab.h"
#include "app/labs/lab/lab_page.h"

namespace headscope::app {

/// One head of a layer taken apart, step by step.
class HeadLab : public Lab {
 public:
  explicit HeadLab(LabServices& services);

  std::vector<Action> actions() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void reset() override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  LabStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;

  const LabPage& page() const { return page_; }

 private:
  void advancePlay();
  float tabs(Scene& scene, const Layout& layout);
  void pipeline(Scene& scene, const ImRect& area, const Layout& layout);
  void controls(const ImRect& area);

  LabServices& services_;
  LabPage page_;
  CursorFit fit_;
  Answer<PartsQuestion, std::shared_ptr<const LayerParts>> layer_;
  Answer<HeadPartsQuestion, std::shared_ptr<const HeadParts>> head_;
};

}  // namespace headscope::app
