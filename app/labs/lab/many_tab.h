#pragma once

#include "app/compute/many_study.h"
#include "app/labs/lab/inner_tab.h"

namespace headscope::app {

/// One wide head beside many small ones of as many parameters: patterns and rank.
class ManyTab : public InnerTab {
 public:
  ManyTab(LabServices& services, LabPage& page);

  bool take(const Scene& scene) override;
  void draw(Scene& scene, const ImRect& area, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void choices(Scene& scene, const ImRect& line, float left) override;
  bool move(Scene& scene, int by) override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  std::string shape() const override;

  const ManyStudy* study() const { return study_.get(); }

 private:
  void side(const Scene& scene, const ImRect& area, const ManySide& shown, const char* name);

  Answer<ManyQuestion, std::shared_ptr<const ManyStudy>> answer_;
  std::shared_ptr<const ManyStudy> study_;
};

}  // namespace headscope::app
