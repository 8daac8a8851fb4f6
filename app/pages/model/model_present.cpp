// Presenting the model page, and its caption.

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "app/pages/model/answer_views.h"
#include "app/pages/model/model_page.h"
#include "app/pages/model/model_parts.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/panel.h"

namespace headscope::app::model_page {

namespace {
constexpr float kPresentedGuesses = 117;  // units, for three lines
}

void lookAtStrongest(Cursor& cursor, const State& page) {
  const LayerSummary* layer = page.layer(cursor.model.layer);
  if (!page.view.present || !layer || layer->weights.rows() != page.queries() ||
      cursor.cell.query >= page.queries() || cursor.cell.head >= layer->weights.count())
    return;
  layer->weights[cursor.cell.head].row(cursor.cell.query).maxCoeff(&cursor.cell.key);
}

/// Lays out the thumbnails above the predictions, the large head next to them, and the text along the bottom.
void drawPresented(Scene& scene, State& page, Layout layout) {
  View& view = page.view;
  if (view.figure && view.figure->alone) return overviewPanel(scene, page, layout.center, true);
  const float strip = std::round(layout.center.Max.y - stripHeight(page, layout));
  const float right = layout.showRight ? layout.right.Max.x : layout.center.Max.x;
  const ImRect text(layout.center.Min.x, strip, right, layout.center.Max.y);
  // Grids and bars cover all heads, so they also take the large head's space.
  if (scene.cursor.model.view != ModelView::heads && viewsHeight(scene, page.model, true) > 0) {
    layout.center.Max.x = right;
    layout.showRight = false;
  }
  const bool guesses = page.ready() && scene.cursor.model.view == ModelView::heads &&
                       scene.compare.other.empty() && !page.model.isSynthetic() && page.model.opened &&
                       page.model.opened->model && (!page.model.readsPictures() || page.model.classifies());
  ImRect above = layout.center, below = layout.center;
  above.Max.y = below.Min.y = std::round(strip - (guesses ? view.px(kPresentedGuesses) : 0));
  below.Max.y = layout.right.Max.y = strip;
  overviewPanel(scene, page, above, true);
  if (guesses) {
    if (beginPanel(view, "model.guesses", below, 20, 2, ImGuiWindowFlags_NoScrollWithMouse))
      predictionSection(scene, page, ImGui::GetContentRegionAvail().x);
    endPanel();
  }
  if (!page.model.readsPictures()) stripPanel(scene, page, text, true);
  headPanel(scene, page, layout);
}

std::vector<CaptionPart> Page::caption(const Scene& scene) const {
  const bool model = page_.model.opened && page_.model.opened->model;
  if (model && scene.cursor.model.view == ModelView::study)
    return studyCaption(scene, page_.view, page_.texts);
  if (model && scene.cursor.model.view != ModelView::heads && page_.pair.pair &&
      page_.pair.pair->opened == page_.model.opened)
    return pairCaption(scene, page_.view, page_.pair);
  if (!page_.ready() || scene.cursor.cell.query >= page_.queries()) return {};
  const Theme& theme = *services_.view.theme;
  const Cell& cell = scene.cursor.cell;
  const bool points = services_.view.hover.query >= 0;
  if (std::vector<CaptionPart> did = points ? std::vector<CaptionPart>() : changeCaption(scene, page_);
      !did.empty())
    return did;
  const LayerSummary* layer = page_.layer(scene.cursor.model.layer);
  if (!layer || layer->weights.rows() != page_.queries() || layer->weights.cols() != page_.keys()) return {};
  // Unless the user is pointing, the caption is about the row's strongest key, not the cursor's.
  Index key = cell.key;
  if (!points) layer->weights[cell.head].row(cell.query).maxCoeff(&key);
  return {{fmt::format("Layer {}, head {}: ", scene.cursor.model.layer, cell.head), theme.text},
          {"“" + page_.queryToken(cell.query) + "”", theme.query},
          {points ? " looks at " : " looks most at ", theme.text},
          {"“" + page_.keyToken(key) + "”", theme.key},
          {": " + weightText(layer->weights.at(cell.head, cell.query, key)) + ".", theme.text}};
}

}  // namespace headscope::app::model_page
