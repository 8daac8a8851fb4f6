#pragma once

#include "app/pages/flow/flow_page.h"
#include "app/platform/canvas.h"

namespace headscope::app::flow_page {

/// What everything that draws a part of a shot needs.
class ShotPainter {
 protected:
  ShotPainter(State& page, const Shot& shot)
      : page_(page),
        view_(page.view),
        theme_(*page.view.theme),
        fonts_(*page.view.fonts),
        list_(*ImGui::GetWindowDrawList()),
        shot_(shot),
        query_(shot.cell.query) {}

  bool at(Step step) const { return shot_.at.stage == step; }
  bool begun(Step step) const { return shot_.at.stage >= step; }
  double into(Step step) const { return shot_.into(step); }
  ImFont* small() const { return fonts_.small; }
  ImFont* mono() const { return fonts_.monoSmall; }

  State& page_;
  View& view_;
  const Theme& theme_;
  const Fonts& fonts_;
  Canvas list_;
  const Shot& shot_;
  const Index query_;  ///< whose row is selected
};

}  // namespace headscope::app::flow_page
