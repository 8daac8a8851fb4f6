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
    {"Value-weighted", "Value-weighted", "A[i][j]·‖v_j W_O‖ ÷ Σ",
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

bool ViewsTab::move(Scene& scene, int by) {
  const int last = static_cast<int>(kWords.size()) - 1;
  HeadPicture& picture = scene.cursor.lab.picture;
  picture = static_cast<HeadPicture>(std::clamp(static_cast<int>(picture) + by, 0, last));
  return true;
}

std::vector<CaptionPart> ViewsTab::caption(const Scene& scene) const {
  return {{wordsOf(scene.cursor.lab.picture).caption, page_.view.theme->secondary}};
}

/// A choice of the head to subtract.
void ViewsTab::otherHead(Scene& scene, ImVec2 at) {
  View& view = page_.view;
  std::vector<Choice> heads;
  for (Index head = 0; head < page_.layer->config().heads; ++head)
    heads.push_back({fmt::format("minus head {}", head), "", std::to_string(head)});
  int chosen =
      static_cast<int>(std::clamp<Index>(scene.cursor.lab.otherHead, 0, page_.layer->config().heads - 1));
  ImGui::SetCursorScreenPos(at);
  if (dropdown(view, "views.other", heads, chosen, 0, "The head whose weights are subtracted."))
    scene.cursor.lab.otherHead = chosen;
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

void ViewsTab::large(Scene& scene, const ImRect& area) {
  View& view = page_.view;
  const Theme& theme = *view.theme;
  const ViewQuestion& asked = study_->question;
  const SequenceSnapshot& sequence = asked.layer->sequence();
  const HeadPicture picture = scene.cursor.lab.picture;
  const HeadView& shown = (*study_)[picture];
  const PictureWords& words = wordsOf(picture);
  Canvas list = *ImGui::GetWindowDrawList();
  const std::string title = titleOf(asked, picture);
  float x = area.Min.x;
  x += paintText(list, view.fonts->hero, ImVec2(x, area.Min.y + view.px(14)), theme.text,
                 fitted(view.fonts->hero, title, area.GetWidth())) +
       view.px(24);
  if (x + scriptedWidth(view, view.fonts->mono, words.formula) < area.Max.x)
    paintScripted(view, list, view.fonts->mono, ImVec2(x, area.Min.y + view.px(16)), theme.secondary,
                  words.formula);
  // The colour bar goes between the sentence and the map. While presenting, the caption has the sentence.
  float top = area.Min.y + view.px(68);
  if (!page_.presents) {
    const float sentence =
        paintParagraph(list, view.fonts->text, ImVec2(area.Min.x, area.Min.y + view.px(34)), area.GetWidth(),
                       theme.secondary, words.sentence);
    const float room = view.px(44);  // for the longest sentence, so that nothing moves
    top = area.Min.y + view.px(62) + std::max(sentence, room);
  }
  const float labels = view.px(page_.small ? 72 : 104), below = view.px(92);
  const float wide = area.GetWidth() - labels, high = area.Max.y - top - below;
  if (wide < view.px(60) || high < view.px(60)) return;
  const Index n = shown.values.rows(), m = shown.values.cols();
  if (n == 0) {
    paintParagraph(list, view.fonts->text, ImVec2(area.Min.x, top), area.GetWidth(), theme.secondary,
                   study_->noRollout);
    return;
  }
  MapView map = tokenMap(scene, page_, "views.map",
                         ImRect(area.Min.x + labels, top, area.Max.x, area.Max.y - below), n, m, {10, 60});
  map.low = shown.low;
  map.high = shown.high;
  map.weights = picture != HeadPicture::difference;
  map.colormap = colormapOf(scene.look, picture);
  paintTokenMap(scene, page_, map, shown.values, sequence, labels);
  const std::string low =
      picture == HeadPicture::difference ? "−" + cellText(static_cast<double>(shown.high)) : "0";
  paintColourBar(view, *map.colormap,
                 {low, picture == HeadPicture::difference ? "0" : "",
                  picture == HeadPicture::difference ? cellText(static_cast<double>(shown.high)) : "1"},
                 ImVec2(map.cells.Max.x, map.cells.Min.y - view.px(26)), view.px(140));
  const MapHit hit = hitMap(map);
  if (hit.row < 0) return;
  chooseCell(scene, page_, hit);
  tooltip(view, fmt::format("{} → {}  {}", sequence.queries[static_cast<std::size_t>(hit.row)].text,
                            sequence.keys[static_cast<std::size_t>(hit.col)].text,
                            valueText(picture, shown.values(hit.row, hit.col))));
}

void ViewsTab::thumbnail(Scene& scene, const ImRect& area, HeadPicture picture) {
  View& view = page_.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const bool chosen = scene.cursor.lab.picture == picture;
  const std::string name(kHeadPictureNames[static_cast<std::size_t>(picture)]);
  if (hitArea("views." + name, area)) scene.cursor.lab.picture = picture;
  if (chosen || ImGui::IsItemHovered())
    list.AddRectFilled(area.Min, area.Max, chosen ? theme.raised : theme.panel, view.px(4));
  if (chosen) list.AddRectFilled(area.Min, ImVec2(area.Min.x + view.px(3), area.Max.y), theme.text);
  const PictureWords& words = wordsOf(picture);
  ImFont* font = page_.small ? view.fonts->small : view.fonts->text;
  const float width = area.GetWidth() - view.px(20);
  const char* title = textWidth(font, words.name) <= width ? words.name : words.shortName;
  paintText(list, font, ImVec2(area.Min.x + view.px(14), area.Min.y + view.px(16)),
            chosen ? theme.text : theme.secondary, fitted(font, title, width));
  const HeadView& shown = (*study_)[picture];
  const float top = area.Min.y + view.px(32), room = area.Max.y - view.px(10) - top;
  const float wide = area.GetWidth() - view.px(28);
  const auto rows = static_cast<float>(shown.small.values.rows()),
             cols = static_cast<float>(shown.small.values.cols());
  if (rows < 1 || cols < 1 || room < 8) return;
  const float each = std::min(room / rows, wide / cols);
  Picture look{"views.small." + name, Ink::map, shown.low, shown.high};
  look.gap = each >= view.px(8) ? 1.0f : 0;
  Look colours = scene.look;
  colours.colormap = colormapOf(scene.look, picture);
  const ImVec2 from(std::round(area.Min.x + view.px(14)), std::round(top));
  paintPicture(page_, look, shown.small.values,
               ImRect(from.x, from.y, from.x + each * cols, from.y + each * rows), colours);
}

void ViewsTab::draw(Scene& scene, const ImRect& area, const Layout&) {
  if (!study_) return;
  View& view = page_.view;
  const float margin = page_.margin();
  const ImRect inner = page_.inset(area);
  const float space = view.px(page_.small ? 8 : 16);
  const float split =
      std::round(inner.Min.x + std::clamp(largeWidth(inner.GetHeight()) + 2 * margin,
                                          inner.GetWidth() * 0.42f, inner.GetWidth() * 0.56f));
  large(scene, ImRect(inner.Min.x, inner.Min.y, split - margin, inner.Max.y));
  if (scene.cursor.lab.picture == HeadPicture::difference)
    otherHead(scene, ImVec2(inner.Min.x, inner.Max.y - view.px(30)));
  const attention::Matrix& weights = (*study_)[HeadPicture::weights].values;
  const float gap = space / view.unit;
  const MapGrid grid =
      mapGrid(view, ImVec2(inner.Max.x - split, inner.GetHeight()), std::ssize(kWords),
              std::max<Index>(weights.rows(), 1), std::max<Index>(weights.cols(), 1), {gap + 28, gap, 42});
  const auto columns = static_cast<std::size_t>(grid.columns), rows = static_cast<std::size_t>(grid.rows);
  const float wide = (inner.Max.x - split + space) / static_cast<float>(columns) - space,
              high = (inner.GetHeight() + space) / static_cast<float>(rows) - space;
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    const float x = split + (wide + space) * static_cast<float>(i % columns),
                y = inner.Min.y + (high + space) * static_cast<float>(i / columns);
    thumbnail(scene, ImRect(x, y, x + wide, y + high), static_cast<HeadPicture>(i));
  }
}

/// The width of the large map at that height, with its names; the small maps get the rest.
float ViewsTab::largeWidth(float height) const {
  const View& view = page_.view;
  const HeadView& shown = (*study_)[HeadPicture::weights];
  if (shown.values.rows() == 0) return 0;
  const float aspect =
      static_cast<float>(shown.values.cols()) / static_cast<float>(std::max<Index>(shown.values.rows(), 1));
  return view.px(page_.small ? 72 : 104) + (height - view.px(page_.presents ? 160 : 198)) * aspect;
}

std::unique_ptr<Tab> makeViewsTab(PageServices& services, State& page) {
  return std::make_unique<ViewsTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
