#pragma once

#include "app/compute/figures/answer_figures.h"
#include "app/pages/model/model_state.h"
#include "app/widgets/caption.h"

namespace headscope::app::model_page {

// What makes the model answer: the views beside the overview of all heads.

/// Units that the row of views takes at the top of the page's middle; 0 where there is nothing to choose.
float viewsHeight(const Scene& scene, const ShownModel& model, bool presents);
/// The row of views with the answers and their logit difference.
void viewsRow(Scene& scene, State& page, const ImRect& area, bool presents);
/// Says how large a view that is drawn as a figure by itself should be, in units of its drawing.
void fitView(View& view, const ImRect& area, const std::string& title, double width, double height);
/// The view that is chosen, besides the heads.
void answerView(Scene& scene, State& page, const ImRect& area, bool presents);
void patchView(Scene& scene, State& page, const ImRect& area, bool presents);
/// What many texts say of every head.
void studyView(Scene& scene, State& page, const ImRect& area, bool presents);
std::vector<CaptionPart> studyCaption(const Scene& scene, const View& view, const StudyState& texts);
/// At the left: text B, and pairs of texts to begin with.
void pairSection(Scene& scene, View& view, const ShownModel& model, PairState& pairs);

/// What is seen in these views: how far apart the answers are, and what brings most back.
std::vector<CaptionPart> pairCaption(const Scene& scene, const View& view, const PairState& pairs);
/// The tokens' words, as figures ask for them.
WordOf wordsOf(State& page);
/// "+3.21".
std::string logitText(double value);
/// Where a figure is painted: larger than the window's units where it is presented and there is room.
struct FigurePlace {
  const View& view;
  ImRect area;
  float zoom = 1;

  FigurePlace(const View& view, const ImRect& area, bool presents);
  double width() const;   ///< of the area, in the figure's units
  double height() const;  ///< the same
  /// The pointer in the figure's units.
  std::pair<double, double> pointer() const;
  /// A frame of the figure on the screen.
  ImRect rect(const Frame& frame) const;
  void paint(const Drawing& drawing) const;
};

}  // namespace headscope::app::model_page
