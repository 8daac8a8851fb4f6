#include "app/widgets/drawing_paint.h"

#include "app/platform/ui_state.h"
#include "app/widgets/paint.h"
#include "app/widgets/view.h"

namespace headscope::app {

namespace {

std::uint32_t colorOf(const render::Color& color) {
  return ImGui::ColorConvertFloat4ToU32(ImVec4(color.r, color.g, color.b, color.a));
}

ImFont* fontOf(const Fonts& fonts, const TextRun& text) {
  const double size = text.size;
  if (text.mono)
    return size >= 21     ? fonts.monoHero
           : size >= 16.5 ? fonts.monoTitle
           : size >= 14   ? fonts.mono
                          : fonts.monoSmall;
  if (size >= 20) return fonts.hero;
  if (size >= 16.5) return text.bold ? fonts.title : fonts.reading;
  if (size >= 14) return text.bold ? fonts.bold : fonts.text;
  return text.bold ? fonts.smallBold : fonts.small;
}

/// Paints one shape at a time.
struct Painter {
  const View& view;
  Canvas list;
  ImVec2 origin;

  ImVec2 place(double x, double y) const {
    return {origin.x + view.px(static_cast<float>(x)), origin.y + view.px(static_cast<float>(y))};
  }

  void operator()(const TextRun& text) const {
    ImFont* const font = fontOf(*view.fonts, text);
    const ImVec2 at = place(text.x, text.y);
    if (text.degrees != 0)  // turned labels end at their position
      return paintRotated(list, font, at, static_cast<float>(-text.degrees), colorOf(text.color), text.text);
    const Align align = text.anchor == Anchor::start    ? Align::left
                        : text.anchor == Anchor::middle ? Align::center
                                                        : Align::right;
    paintText(list, font, at, colorOf(text.color), text.text, align);
  }
  void operator()(const Box& box) const {
    const ImVec2 from = place(box.frame.x, box.frame.y), to = place(box.frame.right(), box.frame.bottom());
    if (box.outline > 0)
      compat::rectOutline(list, from, to, colorOf(box.color), view.px(static_cast<float>(box.radius)),
                          std::max(1.0f, view.px(static_cast<float>(box.outline))));
    else
      list.AddRectFilled(from, to, colorOf(box.color), view.px(static_cast<float>(box.radius)));
  }
  void operator()(const Line& line) const {
    list.AddLine(place(line.x0, line.y0), place(line.x1, line.y1), colorOf(line.color),
                 std::max(1.0f, view.px(static_cast<float>(line.width))));
  }
  void operator()(const Polyline& line) const {
    for (std::size_t i = 1; i < line.points.size(); ++i)
      list.AddLine(place(line.points[i - 1].x, line.points[i - 1].y),
                   place(line.points[i].x, line.points[i].y), colorOf(line.color),
                   std::max(1.0f, view.px(static_cast<float>(line.width))));
  }
  void operator()(const Ramp& ramp) const {
    constexpr int kSteps = 48;
    for (int i = 0; i < kSteps; ++i) {
      const auto share = (static_cast<float>(i) + 0.5f) / kSteps;
      const double from = ramp.upwards ? ramp.frame.bottom() - ramp.frame.height * (i + 1) / kSteps
                                       : ramp.frame.x + ramp.frame.width * i / kSteps;
      const render::Color color =
          cellColor(ramp.style, ramp.style.low + share * (ramp.style.high - ramp.style.low));
      const Frame part = ramp.upwards
                             ? Frame{ramp.frame.x, from, ramp.frame.width, ramp.frame.height / kSteps + 0.5}
                             : Frame{from, ramp.frame.y, ramp.frame.width / kSteps + 0.5, ramp.frame.height};
      (*this)(Box{part, color});
    }
  }
  void operator()(const Area&) const {}
  void operator()(const Clip&) const {}
  void operator()(const Cells&) const {}
};

}  // namespace

void paintDrawing(const View& view, Canvas list, const Drawing& drawing, ImVec2 at) {
  const Painter painter{view, list, at};
  for (const Shape& shape : drawing.shapes) std::visit(painter, shape);
}

DrawingColors drawingColors(const Theme& theme) {
  return {unpacked(theme.background), unpacked(theme.panel), unpacked(theme.raised),
          unpacked(theme.line),       unpacked(theme.text),  unpacked(theme.secondary),
          unpacked(theme.faint),      unpacked(theme.query), unpacked(theme.key),
          unpacked(theme.value)};
}

namespace {

Frame frameOf(const ImRect& area) {
  return {area.Min.x, area.Min.y, area.GetWidth(), area.GetHeight()};
}

ImRect rectOf(const Frame& frame) {
  return ImRect(static_cast<float>(frame.x), static_cast<float>(frame.y), static_cast<float>(frame.right()),
                static_cast<float>(frame.bottom()));
}

ImRect around(const std::vector<ImVec2>& points, float margin) {
  ImRect area(FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX);
  for (const ImVec2 point : points) area.Add(point);
  area.Expand(margin);
  return area;
}

std::vector<Polyline::Point> pointsOf(const std::vector<ImVec2>& points) {
  std::vector<Polyline::Point> out;
  for (const ImVec2 point : points) out.push_back({point.x, point.y});
  return out;
}

/// Converts the pieces one by one.
class FrameWriter {
 public:
  FrameWriter(const View& view, const HeatmapLayer& heatmaps, Drawing& drawing)
      : view_(view), heatmaps_(heatmaps), drawing_(drawing) {}

  void add(const FramePiece& piece) {
    piece_ = &piece;
    std::visit([this](const auto& shape) { write(shape); }, piece.shape);
  }
  void finish() { clipTo(std::nullopt); }
  /// The bounds of everything visible.
  const ImRect& seen() const { return seen_; }

 private:
  render::Color color() const { return unpacked(piece_->color); }

  /// Adds a shape that covers `area`. Skips it if none of it is visible, and clips it if only a part is.
  void put(Shape shape, const ImRect& area) { put(std::move(shape), area, piece_->clip); }
  void put(Shape shape, const ImRect& area, const ImRect& clip) {
    if (!clip.Overlaps(area)) return;
    ImRect seen = area;
    seen.ClipWith(clip);
    if (piece_->color != view_.theme->background) seen_.Add(seen);
    constexpr float kSmoothed = 0.6f;  // pixels that a smoothed edge may extend
    ImRect wide = clip;
    wide.Expand(kSmoothed);
    clipTo(wide.Contains(area) ? std::nullopt : std::optional(frameOf(clip)));
    drawing_.shapes.push_back(std::move(shape));
  }
  void clipTo(const std::optional<Frame>& clip) {
    if (clip != std::exchange(clip_, clip)) drawing_.shapes.push_back(Clip{clip});
  }

  void write(const FrameLine& line) {
    put(Polyline{pointsOf(line.points), color(), line.thickness}, around(line.points, line.thickness / 2));
  }
  void write(const FrameFill& fill) {
    Area area{{}, color()};
    ImRect taken(FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX);
    for (const auto& ring : fill.rings) {
      area.rings.push_back(pointsOf(ring));
      taken.Add(around(ring, 0));
    }
    put(std::move(area), taken);
  }
  void write(const FrameBox& box) {
    const float rounding = std::min({box.rounding, box.area.GetWidth() / 2, box.area.GetHeight() / 2});
    ImRect taken = box.area;
    taken.Expand(box.thickness / 2);
    put(Box{frameOf(box.area), color(), box.thickness, rounding}, taken);
  }
  void write(const FrameBlend& blend) {
    const auto& [topLeft, topRight, bottomRight, bottomLeft] = blend.corners;
    const bool upwards = topLeft == topRight;
    Ramp ramp{frameOf(blend.area), {}, upwards};
    (upwards ? ramp.frame.height : ramp.frame.width) += kSeam;
    ramp.style.tint = render::Tint{unpacked(upwards ? bottomLeft : topLeft), unpacked(topRight)};
    put(std::move(ramp), blend.area);
  }
  void write(const FrameCallback& callback) {
    for (PaintedCells& painted : heatmaps_.painted(callback.data)) {
      const Frame &cells = painted.cells.frame, seen = painted.seen;
      const render::Color ground = painted.cells.style.background;
      const ImRect clip = rectOf(seen);
      put(Box{seen, ground}, clip, clip);
      if (painted.cells.values.size() == 0) continue;
      const double lit = cells.y + cells.height * painted.litShare;
      const double shade = 1 - static_cast<double>(painted.fade);
      put(std::move(painted.cells), rectOf(cells), clip);
      if (lit >= cells.bottom()) continue;
      const Frame faded{cells.x, lit, cells.width, cells.bottom() - lit};
      put(Box{faded, {ground.r, ground.g, ground.b, static_cast<float>(shade)}}, rectOf(faded), clip);
    }
  }
  void write(const FrameText& text) {
    const float size = compat::sizeOf(text.font);
    float y = text.at.y;
    const char *at = text.text.data(), *const end = at + text.text.size();
    while (at < end) {
      const char* const newline = std::find(at, end, '\n');
      const char* stop = text.wrap > 0 ? compat::lineEnd(text.font, at, newline, text.wrap) : newline;
      if (stop == at) ++stop;
      writeLine(text.font, std::string(at, std::min(stop, newline)), ImVec2(text.at.x, y), text.anchor);
      y += size;
      // After a wrap, Dear ImGui skips blanks and the newline.
      at = stop;
      while (text.wrap > 0 && stop != newline && at < newline && (*at == ' ' || *at == '\t')) ++at;
      if (at == newline) ++at;
    }
  }

  /// Adds one line of text with its top left corner at `at`. Its position is its anchor's, since another font
  /// may make it wider.
  void writeLine(ImFont* font, const std::string& line, ImVec2 at, float anchor) {
    const std::size_t last = line.find_last_not_of(' ');
    if (last == std::string::npos) return;
    const std::string shown = line.substr(0, last + 1);
    const Typesetter& typesetter = uiState().typesetter;
    const float size = compat::sizeOf(font), em = typesetter.em(font);
    const float width = textWidth(font, line);
    const float middle = std::round(compat::ascentOf(font)) - kHalfCapital * em;
    ImVec2 place(std::floor(at.x) + anchor * textWidth(font, shown), std::floor(at.y) + middle);
    ImRect taken(at, ImVec2(at.x + width, at.y + size));
    TextRun run{shown, 0, 0, em, color()};
    run.anchor = anchor == 0 ? Anchor::start : anchor < 1 ? Anchor::middle : Anchor::end;
    if (const auto& turn = piece_->turn) {
      const float angle = turn->degrees * 3.14159265f / 180, c = std::cos(angle), s = std::sin(angle);
      const auto turned = [&](ImVec2 p) {
        const float x = p.x - turn->from.x, y = p.y - turn->from.y;
        return ImVec2(turn->to.x + c * x - s * y, turn->to.y + s * x + c * y);
      };
      run.degrees = turn->degrees;
      place = turned(place);
      taken = around({turned(taken.Min), turned(taken.Max), turned(taken.GetTL()), turned(taken.GetBR()),
                      turned(taken.GetTR()), turned(taken.GetBL())},
                     0);
    }
    run.x = place.x;
    run.y = place.y;
    const Fonts& fonts = *view_.fonts;
    const auto isOne = [font](std::initializer_list<const ImFont*> those) {
      return std::find(those.begin(), those.end(), font) != those.end();
    };
    run.mono = isOne({fonts.mono, fonts.monoSmall, fonts.monoTitle, fonts.monoHero});
    run.bold =
        isOne({fonts.bold, fonts.smallBold, fonts.title, fonts.hero, fonts.display, fonts.displaySmall});
    const float unhinted = typesetter.unhintedWidth(font, line);
    const auto letters = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
    if (unhinted > 0) run.spacing = static_cast<double>(width - unhinted) / static_cast<double>(letters);
    put(std::move(run), taken);
  }

  static constexpr double kSeam = 0.5;          ///< overlap of adjacent blends
  static constexpr float kHalfCapital = 0.36f;  ///< half a capital, in ems; TextRun's y is its middle
  const View& view_;
  const HeatmapLayer& heatmaps_;
  Drawing& drawing_;
  const FramePiece* piece_ = nullptr;
  ImRect seen_{FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX};
  std::optional<Frame> clip_;  ///< for the shapes being written
};

}  // namespace

Drawing frameDrawing(const View& view, const std::vector<FramePiece>& pieces, const HeatmapLayer& heatmaps,
                     int width, int height) {
  Drawing drawing;
  drawing.width = width;
  drawing.height = height;
  drawing.background = unpacked(view.theme->background);
  FrameWriter writer(view, heatmaps, drawing);
  for (const FramePiece& piece : pieces) writer.add(piece);
  writer.finish();
  if (!view.figure) return drawing;
  const double margin = view.px(16);
  const Frame seen = frameOf(writer.seen());
  Drawing figure;
  figure.title = view.figure->title;
  figure.background = drawing.background;
  figure.add(drawing, margin - seen.x, margin - seen.y);
  figure.width = std::ceil(seen.width + 2 * margin);
  figure.height = std::ceil(seen.height + 2 * margin);
  return figure;
}

}  // namespace headscope::app
