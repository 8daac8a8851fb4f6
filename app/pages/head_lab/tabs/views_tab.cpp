#include <fmt/core.h>

#include "app/pages/head_lab/map_view.h"
#include "app/pages/head_lab/tabs/head_tabs.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

namespace {

/// A picture's texts.
struct PictureWords {
  const char *name, *shortName;  ///< shortName: for pictures narrower than the name
  const char* formula;
  const char* sentence;
  const char* caption;  ///< one-line version of `sentence`, for presenting
};
constexpr std::array<PictureWords, kHeadPictureNames.size()> kWords{{
    {"Weights", "Weights", "A[i][j]", "The softmax output: how a row divides its attention.",
     "The softmax output: how a row divides its attention"},
    {"Value-weighted", "By value", "A[i][j]·‖v_j W_O‖ ÷ Σ",
     "Each weight times the length of its value after W_O: what reaches the output. A bright cell over a "
     "near-zero value contributes nothing.",
     "Each weight times the length of its projected value: what reaches the output"},
    {"Without the first token", "Without first", "A[i][j] ÷ (1 − A[i][0])",
     "Many heads put surplus weight on the first token. This view removes its column and renormalises the "
     "rows.",
     "Attention apart from the first token, the usual sink"},
    {"Mean over heads", "Mean", "Σ_h A_h[i][j] ÷ H",
     "The mean over all heads of the layer. It dilutes what a single head does.",
     "The mean over all heads of the layer; it dilutes what a single head does"},
    {"Max over heads", "Max", "max_h A_h[i][j]",
     "The largest weight any head puts on a cell. It keeps what a single head does; rows need not sum to 1.",
     "The largest weight any head puts on a cell; rows need not sum to 1"},
    {"Difference of two heads", "Difference", "A_h[i][j] − A_g[i][j]",
     "Weights of one head minus those of another. Rows sum to 0.",
     "Weights of one head minus those of another"},
    {"Rollout", "Rollout", "R_l = (½·mean A_h + ½·I) · R_{l−1}",
     "How much of each token reaches this layer, assuming half of it stays in the residual stream and all "
     "heads count equally (Abnar & Zuidema 2020). Values, norms and MLPs are ignored.",
     "How much of each token reaches this layer"},
}};

const PictureWords& wordsOf(HeadPicture picture) {
  return kWords[static_cast<std::size_t>(picture)];
}

/// Names the layers that the rollout covers.
std::string rolloutTitle(const ViewQuestion& asked) {
  const Index last = shownLayer(asked.layer->question.snapshot->setup);
  return last == 0 ? "Rollout through layer 0" : fmt::format("Rollout through layers 0 to {}", last);
}

/// "Mean over 8 heads".
std::string overHeads(HeadPicture picture, Index heads) {
  return std::string(picture == HeadPicture::mean ? "Mean" : "Max") + " over " + countedText(heads, "head");
}

render::Colormap colormapOf(const Look& look, HeadPicture picture) {
  return picture == HeadPicture::difference ? look.scoreColormap : look.colormap;
}

/// The ends of a picture's colour scale.
BarLabels endsOf(HeadPicture picture, float high) {
  if (picture != HeadPicture::difference) return {"0", "", "1"};
  const std::string most = cellText(static_cast<double>(high));
  return {"−" + most, "0", most};
}

std::string valueText(HeadPicture picture, float value) {
  if (value == -INFINITY && picture == HeadPicture::rollout) return "nothing gets through";
  if (value == -INFINITY) return picture == HeadPicture::firstOut ? "removed or masked" : "masked";
  return cellText(static_cast<double>(value));
}

}  // namespace

ViewsTab::ViewsTab(PageServices& services, State& page)
    : Tab(services, page), study_(page.shown, studyViews) {}

void ViewsTab::ask(const Scene& scene) {
  if (!page_.layer) return;
  const Index last = page_.layer->config().heads - 1;
  study_.ask({page_.layer, std::clamp<Index>(scene.cursor.cell.head, 0, last),
              std::clamp<Index>(scene.cursor.lab.otherHead, 0, last)},
             Lane::front);
}

void ViewsTab::move(Scene& scene, int by) {
  const int last = static_cast<int>(kWords.size()) - 1;
  HeadPicture& picture = scene.cursor.lab.picture;
  picture = static_cast<HeadPicture>(std::clamp(static_cast<int>(picture) + by, 0, last));
}

std::vector<CaptionPart> ViewsTab::caption(const Scene& scene) const {
  return {{wordsOf(scene.cursor.lab.picture).caption, page_.view.theme->secondary}};
}

namespace {
std::string titleOf(const ViewQuestion& asked, HeadPicture picture) {
  if (picture == HeadPicture::rollout) return rolloutTitle(asked);
  if (picture == HeadPicture::difference)
    return fmt::format("Head {} minus head {}", asked.head, asked.other);
  if (picture == HeadPicture::mean || picture == HeadPicture::max)
    return overHeads(picture, asked.layer->config().heads);
  return fmt::format("{} of head {}", wordsOf(picture).name, asked.head);
}
}  // namespace

/// Adds the selected picture, enlarged, with its formula and what it means.
void ViewsTab::large(Scene& scene, Board& board) {
  const View& view = page_.view;
  const HeadPicture picture = scene.cursor.lab.picture;
  const std::string title = titleOf(study_->question, picture);
  board.area("", {30}, [&view, title, picture](const ImRect& area) {
    const char* formula = wordsOf(picture).formula;
    Canvas list = *ImGui::GetWindowDrawList();
    ImFont* font = view.fonts->hero;
    for (ImFont* smaller : {view.fonts->title, view.fonts->bold})
      if (textWidth(font, title) > area.GetWidth()) font = smaller;
    const ImVec2 at(area.Min.x, area.GetCenter().y);
    paintFitted(view, list, font, at, area.GetWidth(), view.theme->text, title);
    const float used = textWidth(font, title) + view.px(24);
    if (used + scriptedWidth(view, view.fonts->mono, formula) < area.GetWidth())
      paintScripted(view, list, view.fonts->mono, at + ImVec2(used, view.px(2)), view.theme->secondary,
                    formula);
  });
  // As high as the longest sentence, so that nothing moves.
  float longest = 0;
  for (const PictureWords& words : kWords)
    longest = std::max(longest,
                       linesOf(view.fonts->text, words.sentence, view.px(board.width())).size.y / view.unit);
  board.area("", {longest}, [&view, picture](const ImRect& area) {
    paintParagraph(*ImGui::GetWindowDrawList(), view.fonts->text, area.Min, area.GetWidth(),
                   view.theme->secondary, wordsOf(picture).sentence);
  });
  board.apart(4).inWindow();  // on stage, the caption says it
  if ((*study_)[picture].values.size() == 0)
    board.paragraph(view.fonts->text, study_->noRollout);
  else
    board.picture("", {290, 420, 1}, [this, &scene](const ImRect& area) { map(scene, area); });
  if (picture != HeadPicture::difference) return;
  board.controls([this, &scene](ControlLine& line) {
    std::vector<Choice> heads;
    for (Index head = 0; head < page_.layer->config().heads; ++head)
      heads.push_back({fmt::format("minus head {}", head), "", std::to_string(head)});
    int chosen = static_cast<int>(std::clamp<Index>(scene.cursor.lab.otherHead, 0, std::ssize(heads) - 1));
    if (line.list("views.other", heads, chosen, "The head whose weights are subtracted."))
      scene.cursor.lab.otherHead = chosen;
  });
}

/// Draws the selected picture's map with its tokens, and the colour bar above it.
void ViewsTab::map(Scene& scene, const ImRect& area) {
  const View& view = page_.view;
  const SequenceSnapshot& sequence = study_->question.layer->sequence();
  const HeadPicture picture = scene.cursor.lab.picture;
  const HeadView& shown = (*study_)[picture];
  const float labels = rowNamesRoom(view, sequence.queries, 90);
  const ImRect space(area.Min + ImVec2(labels, view.px(34)), area.Max - ImVec2(0, view.px(72)));
  if (space.GetWidth() < view.px(40) || space.GetHeight() < view.px(40)) return;
  MapView map =
      tokenMap(scene, page_, "views.map", space, shown.values.rows(), shown.values.cols(), {10, 60});
  map.low = shown.low;
  map.high = shown.high;
  map.weights = picture != HeadPicture::difference;
  map.colormap = colormapOf(scene.look, picture);
  paintTokenMap(scene, page_, map, shown.values, sequence, labels);
  paintColourBar(view, *map.colormap, endsOf(picture, shown.high), map.cells.GetTR() - ImVec2(0, view.px(20)),
                 std::min(view.px(140), map.cells.GetWidth()));
  const MapHit hit = hitMap(map);
  if (hit.row < 0) return;
  chooseCell(scene, page_, hit);
  tooltip(view, fmt::format("{} → {}  {}", sequence.queries[static_cast<std::size_t>(hit.row)].text,
                            sequence.keys[static_cast<std::size_t>(hit.col)].text,
                            valueText(picture, shown.values(hit.row, hit.col))));
}

void ViewsTab::thumbnail(Scene& scene, const ImRect& area, HeadPicture picture) {
  const View& view = page_.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const bool chosen = scene.cursor.lab.picture == picture;
  const std::string name(kHeadPictureNames[static_cast<std::size_t>(picture)]);
  if (hitArea("views." + name, area)) scene.cursor.lab.picture = picture;
  if (chosen || ImGui::IsItemHovered())
    list.AddRectFilled(area.Min, area.Max, chosen ? theme.raised : theme.panel, view.px(4));
  if (chosen) list.AddRectFilled(area.Min, area.GetBL() + ImVec2(view.px(3), 0), theme.text);
  const PictureWords& words = wordsOf(picture);
  const ImRect inner(area.Min + ImVec2(view.px(14), view.px(32)),
                     area.Max - ImVec2(view.px(10), view.px(10)));
  ImFont* font =
      textWidth(view.fonts->text, words.shortName) <= inner.GetWidth() ? view.fonts->text : view.fonts->small;
  paintText(
      list, font, inner.Min - ImVec2(0, view.px(16)), chosen ? theme.text : theme.secondary,
      fitted(font, firstFitting(font, {words.name, words.shortName}, inner.GetWidth()), inner.GetWidth()));
  const HeadView& shown = (*study_)[picture];
  const attention::Matrix& values = shown.small.values;
  if (values.size() == 0 || inner.GetHeight() < 8) return;
  const ImVec2 cells(static_cast<float>(values.cols()), static_cast<float>(values.rows()));
  const float each = std::min(inner.GetHeight() / cells.y, inner.GetWidth() / cells.x);
  MatrixPicture look{"views.thumbnail." + name, Ink::map, shown.low, shown.high};
  look.gap = each >= view.px(8) ? 1.0f : 0;
  Look colours = scene.look;
  colours.colormap = colormapOf(scene.look, picture);
  const ImVec2 from = ImFloor(inner.Min);
  paintPicture(page_.view, page_.pictures, look, values, ImRect(from, from + cells * each), colours);
}

/// Draws all pictures in a grid; a click selects one.
void ViewsTab::thumbnails(Scene& scene, const ImRect& area) {
  const View& view = page_.view;
  if (area.GetHeight() < view.px(60)) return;
  constexpr float kGap = 10, kTitle = 42;
  const attention::Matrix& weights = (*study_)[HeadPicture::weights].values;
  const MapGrid grid = mapGrid(view, area.GetSize(), std::ssize(kWords), std::max<Index>(weights.rows(), 1),
                               std::max<Index>(weights.cols(), 1), {kGap + 24, kGap, kTitle});
  const ImVec2 gap(view.px(kGap), view.px(kGap)),
      count(static_cast<float>(grid.columns), static_cast<float>(grid.rows)),
      step = (area.GetSize() + gap) / count;
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    const auto columns = static_cast<std::size_t>(grid.columns);
    const ImVec2 from =
        area.Min + step * ImVec2(static_cast<float>(i % columns), static_cast<float>(i / columns));
    const ImVec2 size(step.x - gap.x, std::min(step.y - gap.y, grid.height + view.px(kTitle)));
    thumbnail(scene, ImRect(from, from + size), static_cast<HeadPicture>(i));
  }
}

void ViewsTab::draw(Scene& scene, const ImRect& area, const Layout&) {
  if (!study_) return;
  Board board(page_.view, page_.inset(area));
  constexpr PartWidth kWidths[] = {{240, 0.44f}, {200, 0.56f}};
  board.columns(kWidths, 24, [&](std::size_t i, Board& column) {
    if (i == 0) return large(scene, column);
    column.picture("", {90, 400, 1}, [this, &scene](const ImRect& rest) { thumbnails(scene, rest); })
        .leaves(2);
    // The scale that the large picture doesn't have.
    const bool weights = scene.cursor.lab.picture == HeadPicture::difference;
    const HeadPicture other = weights ? HeadPicture::weights : HeadPicture::difference;
    const BarLabels ends = endsOf(other, (*study_)[other].high);
    column.legend({weights ? "weight" : "difference", colormapOf(scene.look, other), ends}).leaves(2);
  });
  board.show();
}

std::unique_ptr<Tab> makeViewsTab(PageServices& services, State& page) {
  return std::make_unique<ViewsTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
