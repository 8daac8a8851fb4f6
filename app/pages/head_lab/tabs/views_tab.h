#pragma once

#include "app/compute/heads/view_study.h"
#include "app/pages/head_lab/head_lab_tab.h"

namespace headscope::app::head_lab_page {

/// Common ways to view a layer's weights, side by side, with the selected one enlarged.
class ViewsTab : public Tab {
 public:
  ViewsTab(PageServices& services, State& page);

  void draw(Scene& scene, const ImRect& area, const Layout& layout) override;
  void ask(const Scene& scene) override;
  bool move(Scene& scene, int by) override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;

  const ViewStudy* study() const { return study_.get(); }

 private:
  void large(Scene& scene, const ImRect& area);
  void thumbnail(Scene& scene, const ImRect& area, HeadPicture picture);
  float largeWidth(float height) const;
  std::size_t thumbnailColumns(ImVec2 area, float space) const;
  void otherHead(Scene& scene, ImVec2 at);

  Shown<ViewQuestion, ViewStudy> study_;
};

}  // namespace headscope::app::head_lab_page
