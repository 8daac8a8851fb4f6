#pragma once

#include "app/compute/figures/answer_figures.h"
#include "app/pages/model/model_state.h"
#include "app/widgets/caption.h"

namespace headscope::app::model_page {

// The views that take the place of the overview of all heads and explain the model's answer: patching,
// attribution, the lens, and the study of many texts.

/// Height in units of the row of views, at the top of the page's centre; 0 if there is nothing to choose.
float viewsHeight(const Scene& scene, const ShownModel& model, bool presents);
/// Draws the row of views, with the answers and their logit difference.
void viewsRow(Scene& scene, State& page, const ImRect& area, bool presents);
/// Sets the figure's size, in units of the drawing, and its title if a view is drawn alone as a figure. An
/// empty title leaves the old one.
void fitView(View& view, const ImRect& area, const std::string& title, double width, double height);
/// Draws the chosen view; nothing for ModelView::heads.
void answerView(Scene& scene, State& page, const ImRect& area, bool presents);
void patchView(Scene& scene, State& page, const ImRect& area, bool presents);
/// Measurements of every head on many texts.
void studyView(Scene& scene, State& page, const ImRect& area, bool presents);
std::vector<CaptionPart> studyCaption(const Scene& scene, const View& view, const StudyState& texts);
/// Left panel: text B, and example pairs of texts.
void pairSection(Scene& scene, View& view, const ShownModel& model, PairState& pairs);

/// A caption for these views: the logit differences, and the head whose patch recovers most.
std::vector<CaptionPart> pairCaption(const Scene& scene, const View& view, const PairState& pairs);
/// Returns the function through which figures look up token texts.
WordOf wordsOf(State& page);
/// "+3.21".
std::string logitText(double value);
/// Where a figure is painted. While presenting, it is enlarged if there is space.
struct FigurePlace {
  const View& view;
  ImRect area;
  float zoom = 1;

  FigurePlace(const View& view, const ImRect& area, bool presents);
  double width() const;   ///< of the area, in the figure's units
  double height() const;  ///< in the figure's units
  /// The pointer in the figure's units.
  std::pair<double, double> pointer() const;
  /// A frame of the figure, in screen coordinates.
  ImRect rect(const Frame& frame) const;
  void paint(const Drawing& drawing) const;
};

}  // namespace headscope::app::model_page
