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
  void headChips(Scene& scene, const ImRect& line, float left);
  void subjectChoice(const ImRect& line);
  void askMistake(const Scene& scene);
  void pipeline(Scene& scene, const ImRect& area, const Layout& layout);
  void controls(const ImRect& area);

  LabServices& services_;
  LabPage page_;
  CursorFit fit_;
  bool listFolds_ = false;  ///< the list of mistakes is a choice in the line of tabs
  Answer<PartsQuestion, std::shared_ptr<const LayerParts>> layer_;
  Answer<HeadPartsQuestion, std::shared_ptr<const HeadParts>> head_;
  Answer<std::shared_ptr<const HeadParts>, std::shared_ptr<const WeightStudy>> weights_;
  Answer<MistakeQuestion, std::shared_ptr<const MistakeStudy>> mistake_;
  Answer<attention::Mistake, std::shared_ptr<const std::vector<attention::SaturationPoint>>> curve_;
};

}  // namespace headscope::app
