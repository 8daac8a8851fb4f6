#include <fmt/core.h>

#include "app/compute/plots/plot_data.h"
#include "app/pages/head_lab/map_view.h"
#include "app/pages/head_lab/pipeline/pipeline.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

namespace {

/// How a film of a height is drawn, in layout units.
struct FilmLook {
  float top, high;            ///< of the pictures
  float number, title, made;  ///< from the top to frames' numbers, from pictures to titles and values
  float pad, labels, margin;
  float scale;     ///< of the pictures' widths, at most
  bool explained;  ///< with shapes and hints
};
constexpr FilmLook kHighFilm{76, 144, 20, 34, 24, 10, 110, 24, 1, true};
constexpr FilmLook kLowFilm{47, 66, 14, 14, 17, 6, 70, 14, 0.5f, false};

/// The share of `cells` that one of `count` rows takes, at least a few pixels high.
ImRect rowAt(const View& view, const ImRect& cells, Index row, Index count) {
  const float each = cells.GetHeight() / static_cast<float>(std::max<Index>(count, 1));
  const float half = std::max(each, view.px(5)) / 2;
  const float middle = cells.Min.y + (static_cast<float>(row) + 0.5f) * each;
  return {cells.Min.x - 1, middle - half, cells.Max.x + 1, middle + half};
}

/// A column, at least as wide.
ImRect columnAt(const View& view, const ImRect& cells, Index col, Index count) {
  const auto flipped = [](const ImRect& box) { return ImRect(box.Min.y, box.Min.x, box.Max.y, box.Max.x); };
  return flipped(rowAt(view, flipped(cells), col, count));
}

/// Draws the frames of a film side by side.
class FilmPainter {
 public:
  FilmPainter(Scene& scene, State& page, const FilmReel& reel, const ImRect& area)
      : scene_(scene),
        page_(page),
        view_(page.view),
        theme_(*page.view.theme),
        fonts_(*page.view.fonts),
        list_(*ImGui::GetWindowDrawList()),
        reel_(reel),
        area_(area),
        look_(area.GetHeight() < view_.px(200) ? kLowFilm : kHighFilm),
        top_(area.Min.y + view_.px(look_.top)),
        bottom_(top_ + view_.px(look_.high)),
        scale_(look_.scale),
        title_(look_.explained ? fonts_.title : fonts_.text),
        number_(look_.explained ? fonts_.monoTitle : fonts_.mono) {}

  void paint() {
    const std::vector<FilmFrame>& frames = reel_.frames;
    const auto gaps = static_cast<float>(std::max<std::size_t>(frames.size() - 1, 1));
    list_.AddRectFilled(ImVec2(area_.Min.x, area_.Max.y - 1), area_.Max, theme_.line);
    perforation();
    const float room = area_.GetWidth() / view_.unit - look_.labels - 2 * look_.margin;
    while (scale_ > 0.2f && total() + 18 * gaps > room) scale_ *= 0.94f;
    const float space = std::max(6.0f, (room - total()) / gaps);
    rowLabels();
    float x = area_.Min.x + view_.px(look_.labels + look_.margin);
    bool later = false;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const float wide = view_.px(widthOf(frames[i]));
      frame(i, x, wide, later);
      later = later || (reel_.cell && frames[i].step == scene_.cursor.lab.step);
      x += wide + view_.px(space);
      if (i + 1 < frames.size() && space > 22)
        centred(fonts_.small, x - view_.px(space / 2), (top_ + bottom_) / 2, theme_.faint, "→");
    }
  }

 private:
  Scene& scene_;
  State& page_;
  View& view_;
  const Theme& theme_;
  const Fonts& fonts_;
  Canvas list_;
  const FilmReel& reel_;
  const ImRect area_;
  const FilmLook look_;
  const float top_, bottom_;  ///< of the pictures
  float scale_;               ///< of their widths
  ImFont *title_, *number_;

  void fill(float left, float right, float y, float units, std::uint32_t color) const {
    list_.AddRectFilled(ImVec2(left, y), ImVec2(right, y + view_.px(units)), color);
  }
  void centred(ImFont* font, float x, float y, std::uint32_t color, const std::string& text) const {
    paintText(list_, font, ImVec2(x, y), color, text, Align::center);
  }
  void formula(ImFont* font, float x, float y, std::uint32_t color, const std::string& text,
               float room) const {
    paintScripted(view_, list_, font, ImVec2(x, y), color, text, Align::center, room);
  }

  /// Draws marks above the heads' slices in their kv head's hue, and dims all slices but the selected head's.
  void slices(const FilmBlock& block, const ImRect& cells) {
    const float each = cells.GetWidth() / static_cast<float>(block.slices);
    const float inset = each > view_.px(6) ? view_.px(1) : 0;
    const float high = cells.GetHeight() / view_.unit;
    const bool empty = !reel_.picture(block.stage), ofQueries = block.slices == reel_.config.heads;
    for (Index slice = 0; slice < block.slices; ++slice) {
      const float from = cells.Min.x + each * static_cast<float>(slice) + inset, to = from + each - 2 * inset;
      fill(from, to, cells.Min.y - view_.px(6), 3,
           groupColor(theme_, ofQueries ? reel_.config.kvHeadOf(slice) : slice));
      if (empty) continue;
      if (slice != block.lit) fill(from, to, cells.Min.y, high, faded(theme_.background, 0.6f));
      if (inset > 0) fill(to, to + 2 * inset, cells.Min.y, high, theme_.background);
    }
  }

  /// Draws a block's numbers, or an empty frame if there are none.
  void values(const FilmFrame& frame, const FilmBlock& block, const ImRect& cells, float fade) {
    const StagePicture* picture = reel_.picture(block.stage);
    if (!picture) {
      list_.AddRectFilled(cells.Min, cells.Max, mixed(theme_.background, theme_.panel, 0.7f));
      return compat::rectOutline(list_, cells.Min, cells.Max, theme_.line, 0, 1);
    }
    const float most = largestOf(*picture);
    const bool map = block.ink == Ink::map;
    MatrixPicture look;
    look.name = fmt::format("film.{}.{}", static_cast<int>(frame.step), static_cast<int>(block.stage));
    look.ink = block.ink;
    look.low = map ? picture->low : -most;
    look.high = map ? picture->high : most;
    look.fade = fade;
    look.gap = map && cells.GetHeight() / static_cast<float>(picture->values.rows()) >= 8 ? 1.0f : 0;
    paintPicture(page_.view, page_.pictures, look, picture->values, cells, scene_.look);
  }

  /// Outlines the rows of the query and the key, and the key's column in a map of scores: those of the
  /// selected cell, and of the hovered one dashed.
  void marks(const FilmFrame& frame, const FilmBlock& block, const ImRect& cells) {
    const Marked query{reel_.cell->query, view_.hover.query}, key{reel_.cell->key, view_.hover.key};
    const auto mark = [&](auto placeAt, const ImRect& within, const Marked& marked, Index count,
                          std::uint32_t color) {
      if (marked.hovered >= 0 && marked.hovered < count && marked.hovered != marked.selected)
        paintGhost(view_, list_, "ghost", placeAt(view_, within, marked.hovered, count), color);
      const ImRect box = placeAt(view_, within, marked.selected, count);
      compat::rectOutline(list_, box.Min, box.Max, color, 0, std::max(1.0f, view_.px(1.2f)));
    };
    if (block.ink == Ink::map) {
      mark(rowAt, cells, query, reel_.queries, theme_.query);
      return mark(columnAt, cells, key, reel_.keys, theme_.key);
    }
    ImRect row = cells;
    if (frame.step == Step::split && block.lit >= 0) {
      const float wide = cells.GetWidth() / static_cast<float>(block.slices);
      row.Min.x += wide * static_cast<float>(block.lit);
      row.Max.x = row.Min.x + wide;
    }
    const bool ofValues = block.ink == Ink::value;
    if (block.ofQueries) mark(rowAt, row, query, reel_.queries, ofValues ? theme_.value : theme_.query);
    if (block.ofKeys) mark(rowAt, row, key, reel_.keys, ofValues ? theme_.value : theme_.key);
  }

  void picture(const FilmFrame& frame, const FilmBlock& block, const ImRect& cells, float fade) {
    values(frame, block, cells, fade);
    if (block.slices > 1) slices(block, cells);
    if (reel_.cell) marks(frame, block, cells);
    if (frame.broken) {
      ImRect box = cells;
      box.Expand(1);
      compat::rectOutline(list_, box.Min, box.Max, theme_.error, 0, view_.px(2.5f));
    }
    if (block.used)
      fill(cells.Min.x, cells.Max.x, cells.Max.y + view_.px(4), 3,
           block.ink == Ink::map ? theme_.secondary : inkColor(theme_, block.ink));
    if (look_.explained)
      centred(fonts_.small, cells.GetCenter().x, top_ - view_.px(16), theme_.secondary, block.shape);
  }

  void perforation() {
    const std::uint32_t color = mixed(theme_.background, theme_.line, 0.7f);
    const float hole = view_.px(8);
    for (const float x : placesBetween(area_.Min.x + view_.px(6), area_.Max.x - hole, view_.px(20)))
      for (const float y : {area_.Min.y + view_.px(4), area_.Max.y - view_.px(9)})
        list_.AddRectFilled(ImVec2(x, y), ImVec2(x + hole, y + view_.px(5)), color, view_.px(1));
  }

  /// The tokens' names left of the first picture; only the query's where rows are too low for all.
  void rowLabels() {
    ImFont* font = fonts_.monoSmall;
    const auto n = static_cast<Index>(reel_.tokens.size());
    const float each = (bottom_ - top_) / static_cast<float>(n);
    const float right = area_.Min.x + view_.px(look_.labels);
    const bool all = each >= lineHeight(font) * 0.75f, self = reel_.frames.front().blocks.size() == 1;
    for (Index i = 0; i < n; ++i) {
      const bool isQuery = reel_.cell && i == reel_.cell->query;
      const bool isKey = reel_.cell && self && i == reel_.cell->key && !isQuery;
      const bool hovered = reel_.cell && i == view_.hover.query;
      if (!all && !isQuery) continue;
      paintText(list_, font, ImVec2(right, top_ + (static_cast<float>(i) + 0.5f) * each),
                isQuery   ? theme_.query
                : isKey   ? theme_.key
                : hovered ? theme_.text
                          : theme_.secondary,
                fitted(font, reel_.tokens[static_cast<std::size_t>(i)].text, view_.px(look_.labels - 8)),
                Align::right);
    }
  }

  /// Draws a frame's matrices side by side, centred on `middle`, each with its name if there are several.
  void pictures(const FilmFrame& frame, float middle, float fade) {
    const bool several = frame.blocks.size() > 1;
    const float space = view_.px(8) * scale_;
    float content = space * static_cast<float>(frame.blocks.size() - 1);
    for (const FilmBlock& block : frame.blocks) content += view_.px(block.width * scale_);
    float left = middle - content / 2;
    for (const FilmBlock& block : frame.blocks) {
      const float wide = view_.px(block.width * scale_);
      const ImRect cells(std::round(left), top_, std::round(left + wide), bottom_);
      picture(frame, block, cells, fade);
      if (several && !block.name.empty())
        centred(title_, cells.GetCenter().x, top_ - view_.px(look_.title), inkColor(theme_, block.ink),
                block.name);
      left += wide + space;
    }
  }

  /// Draws a frame's text, its background if selected, and its click area.
  void frame(std::size_t number, float x, float width, bool later) {
    const FilmFrame& frame = reel_.frames[number];
    const bool lit = reel_.cell && frame.step == scene_.cursor.lab.step;
    const float pad = view_.px(look_.pad), middle = x + width / 2, room = width + 2 * pad - view_.px(2);
    const ImRect ground(x - pad, area_.Min.y, x + width + pad, area_.Max.y);
    ImGui::SetCursorScreenPos(ground.Min);
    ImGui::PushID(static_cast<int>(number));
    if (compat::invisibleButton("frame", ground.GetSize())) {
      scene_.cursor.lab.step = frame.step;
      page_.playing = false;
    }
    ImGui::PopID();
    trackItem(fmt::format("film.{}", number + 1));
    const bool hovered = ImGui::IsItemHovered();
    if (lit || hovered) list_.AddRectFilled(ground.Min, ground.Max, lit ? theme_.raised : theme_.panel);
    if (lit) fill(ground.Min.x, ground.Max.x, ground.Min.y, 3, theme_.text);
    if (frame.broken) track("film.broken", ground.Min, ground.Max);
    const bool used = std::ranges::any_of(frame.blocks, &FilmBlock::used);
    // Without a cell, no frame is selected, and all frames are equally bright.
    pictures(frame, middle, lit || !reel_.cell || (used && !later) ? 1 : later ? 0.5f : 0.6f);
    if (frame.step != Step::project && !(frame.blocks.size() > 1 && frame.step == Step::input))
      formula(title_, middle, top_ - view_.px(look_.title), lit ? theme_.text : theme_.secondary, frame.title,
              room);
    paintText(list_, fonts_.small, ImVec2(x, area_.Min.y + view_.px(look_.number)), theme_.faint,
              std::to_string(number + 1));
    ImFont* big = lit && look_.explained ? fonts_.monoHero : number_;
    const float below = bottom_ + view_.px(look_.made);
    centred(big, middle, below,
            frame.broken ? theme_.error
            : lit        ? theme_.text
                         : theme_.secondary,
            fitted(big, frame.number, width + 2 * pad));
    if (look_.explained)
      return formula(fonts_.small, middle, below + view_.px(19), theme_.secondary, frame.hint, room);
    if (!hovered) return;
    std::string shapes;
    for (const FilmBlock& block : frame.blocks) shapes += (shapes.empty() ? "" : ", ") + block.shape;
    tooltip(view_, fmt::format("{}: {}", frame.title, shapes));
  }

  /// The width of a frame with its text, in layout units.
  float widthOf(const FilmFrame& frame) const {
    const float words =
        frame.step == Step::project ? 0 : scriptedWidth(view_, title_, frame.title) / view_.unit;
    const float number = textWidth(number_, frame.number) / view_.unit;
    const float hint = frame.broken && look_.explained ? textWidth(fonts_.small, frame.hint) / view_.unit : 0;
    const float blocks = (frame.width + 8 * static_cast<float>(frame.blocks.size() - 1)) * scale_;
    return std::max({blocks, std::min(words, 230.0f), std::min(std::max(number, hint), 150.0f)});
  }

  /// The width of all frames.
  float total() const {
    float sum = 0;
    for (const FilmFrame& frame : reel_.frames) sum += widthOf(frame);
    return sum;
  }
};

/// Dots with the steps' names; where they are too close for all names, only the selected step's.
void paintDots(Scene& scene, const View& view, const FilmReel& reel, const ImRect& area) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::vector<FilmFrame>& frames = reel.frames;
  const float each = (area.GetWidth() - view.px(24)) / static_cast<float>(frames.size());
  const bool all = each >= view.px(50);
  const ImVec2 gap(view.px(8), 0), step(each, 0), below(0, view.px(18));
  ImVec2 dot = area.Min + ImVec2(view.px(12) + each / 2, view.px(12));
  list.AddLine(ImVec2(area.Min.x, area.Max.y - 1), ImVec2(area.Max.x, area.Max.y - 1), theme.line);
  bool later = false;
  for (std::size_t i = 0; i < frames.size(); ++i, dot.x += each) {
    const FilmFrame& frame = frames[i];
    const bool lit = reel.cell ? frame.step == scene.cursor.lab.step : frame.broken;
    const std::uint32_t words = frame.broken ? theme.error : lit ? theme.text : theme.secondary;
    if (hitArea(fmt::format("film.{}", i + 1), ImVec2(dot.x - each / 2, area.Min.y),
                ImVec2(each, area.GetHeight())))
      scene.cursor.lab.step = frame.step;
    if (i + 1 < frames.size()) list.AddLine(dot + gap, dot + step - gap, theme.line);
    list.AddCircleFilled(dot, view.px(lit ? 5 : 3), later ? theme.line : words);
    if (all || lit)
      paintScripted(view, list, lit ? view.fonts->bold : view.fonts->text, dot + below, words,
                    frame.step == Step::split ? "split" : frame.title, Align::center,
                    (all ? each : 3 * each) - view.px(3));
    later = later || lit;
  }
}

}  // namespace

void film(Scene& scene, State& page, const FilmReel& reel, const ImRect& area) {
  if (area.GetHeight() < page.view.px(100)) return paintDots(scene, page.view, reel, area);
  FilmPainter(scene, page, reel, area).paint();
}

}  // namespace headscope::app::head_lab_page
