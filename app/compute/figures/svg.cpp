#include <fmt/core.h>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/picture_formats.h"
#include "attention/formats/base64.h"

namespace headscope::app {

using attention::Index;
using attention::Matrix;
using render::Color;
using render::HeatmapStyle;

namespace {

constexpr const char* kSans = "Inter, 'Helvetica Neue', Arial, sans-serif";
constexpr const char* kMono = "'JetBrains Mono', 'DejaVu Sans Mono', monospace";

/// Formats at most two decimals.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string hex(const Color& color) {
  const auto byte = [](float v) { return static_cast<int>(std::lround(std::clamp(v, 0.0f, 1.0f) * 255)); };
  return fmt::format("{:02x}{:02x}{:02x}", byte(color.r), byte(color.g), byte(color.b));
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : legibleText(text)) {
    constexpr std::string_view kMarks = "<>&\"";
    constexpr std::array kNames{"&lt;", "&gt;", "&amp;", "&quot;"};
    const std::size_t mark = kMarks.find(letter);
    mark == std::string_view::npos ? out += letter : out += kNames[mark];
  }
  return out;
}

std::string rectangle(const Frame& frame, const std::string& paint) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n", number(frame.x),
                     number(frame.y), number(frame.width), number(frame.height), paint);
}

/// Writes the shapes in order; patterns and gradients are defined before their first use.
class SvgWriter {
 public:
  SvgWriter(const Drawing& drawing, const SvgOptions& options) : rectangles_(drawsRectangles(drawing)) {
    out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    out_ += fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
        "width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" font-family=\"{}\">\n",
        options.width.empty() ? number(drawing.width) : options.width,
        options.height.empty() ? number(drawing.height) : options.height, number(drawing.width),
        number(drawing.height), kSans);
    out_ += fmt::format("<title>{}</title>\n", escaped(drawing.title));
    out_ += rectangle({0, 0, drawing.width, drawing.height}, fill(drawing.background));
    for (const Shape& shape : drawing.shapes) std::visit([this](const auto& each) { write(each); }, shape);
    write(Clip{});
    out_ += "</svg>\n";
  }

  std::string take() { return std::move(out_); }

 private:
  /// `of`: "fill" or "stroke".
  static std::string paintOf(const char* of, const Color& color) {
    std::string paint = fmt::format("{}=\"#{}\"", of, hex(color));
    if (color.a < 1) paint += fmt::format(" {}-opacity=\"{:.3f}\"", of, std::max(color.a, 0.0f));
    return paint;
  }
  static std::string fill(const Color& color) { return paintOf("fill", color); }
  static std::string stroke(const Color& color) { return paintOf("stroke", color); }
  static std::string listed(const std::vector<Polyline::Point>& points) {
    std::string list;
    for (const Polyline::Point& point : points)
      list += (list.empty() ? "" : " ") + number(point.x) + "," + number(point.y);
    return list;
  }

  /// Returns the paint of a cell: a colour, or a hatch if it has no value.
  std::string paint(const HeatmapStyle& style, float value) {
    const bool dead = value == render::kDeadCell;
    if (!dead && value != render::kMaskedCell) return fill(cellColor(style, value));
    const std::string under = hex(cellColor(style, value)),
                      line = hex(dead ? style.deadHatch : style.maskedHatch);
    const std::string id = (dead ? "dead-" : "masked-") + under + "-" + line;
    if (defined_.insert(id).second) {
      const char* path = dead ? "M0 0L6 6M0 6L6 0" : "M-1 1L1 -1M0 6L6 0M5 7L7 5";
      out_ += fmt::format(
          "<defs><pattern id=\"{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
          "<rect width=\"6\" height=\"6\" fill=\"#{}\"/><path d=\"{}\" stroke=\"#{}\" "
          "stroke-width=\"0.8\" fill=\"none\"/></pattern></defs>\n",
          id, under, path, line);
    }
    return "fill=\"url(#" + id + ")\"";
  }

  void write(const TextRun& text) {
    if (text.text.empty()) return;
    constexpr std::array kAnchors{"start", "middle", "end"};
    const double baseline = 0.36 * text.size;  // half the height of a capital
    out_ += "<text ";
    if (text.degrees != 0)
      out_ += fmt::format("transform=\"translate({} {}) rotate({})\" y=\"{}\"", number(text.x),
                          number(text.y), number(text.degrees), number(baseline));
    else
      out_ += fmt::format("x=\"{}\" y=\"{}\"", number(text.x), number(text.y + baseline));
    out_ += fmt::format(" font-size=\"{}\" {}", number(text.size), fill(text.color));
    if (text.anchor != Anchor::start)
      out_ += fmt::format(" text-anchor=\"{}\"", kAnchors[static_cast<std::size_t>(text.anchor)]);
    if (text.mono) out_ += fmt::format(" font-family=\"{}\"", kMono);
    if (text.bold) out_ += " font-weight=\"600\"";
    if (text.spacing != 0) out_ += fmt::format(" letter-spacing=\"{:.3f}\"", text.spacing);
    if (text.text.find("  ") != std::string::npos || text.text.front() == ' ')
      out_ += " xml:space=\"preserve\"";
    out_ += ">" + escaped(text.text) + "</text>\n";
  }

  void write(const Box& box) {
    std::string paint = box.outline > 0 ? fmt::format("fill=\"none\" {} stroke-width=\"{}\"",
                                                      stroke(box.color), number(box.outline))
                                        : fill(box.color);
    if (box.radius > 0) paint += fmt::format(" rx=\"{}\"", number(box.radius));
    out_ += rectangle(box.frame, paint);
  }

  void write(const Line& line) {
    out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {} stroke-width=\"{}\"/>\n",
                        number(line.x0), number(line.y0), number(line.x1), number(line.y1),
                        stroke(line.color), number(line.width));
  }

  void write(const Polyline& line) {
    if (line.points.size() < 2) return;
    std::string dashes;
    for (const double dash : line.dashes) dashes += (dashes.empty() ? "" : " ") + number(dash);
    out_ += fmt::format("<polyline points=\"{}\" fill=\"none\" {} stroke-width=\"{}\"{}/>\n",
                        listed(line.points), stroke(line.color), number(line.width),
                        dashes.empty() ? "" : " stroke-dasharray=\"" + dashes + "\"");
  }

  void write(const Area& area) {
    out_ += "<path d=\"";
    for (const auto& ring : area.rings) out_ += "M" + listed(ring) + "z";
    out_ += "\" " + fill(area.color) + "/>\n";
  }

  void write(const Clip& clip) {
    if (std::exchange(clipped_, clip.frame.has_value())) out_ += "</g>\n";
    if (!clip.frame) return;
    const std::string id = fmt::format("clip-{}", clips_++);
    out_ += "<clipPath id=\"" + id + "\">" + rectangle(*clip.frame, "") + "</clipPath><g clip-path=\"url(#" +
            id + ")\">\n";
  }

  void write(const Cells& cells) {
    if (cells.values.size() == 0) return;
    rectangles_ ? writeRectangles(cells) : writeImage(cells);
  }

  void writeRectangles(const Cells& cells) {
    const double width = cells.frame.width / static_cast<double>(cells.values.cols()),
                 height = cells.frame.height / static_cast<double>(cells.values.rows());
    const double gap = cells.style.gap;
    // Without a gap, smoothed edges would let the background through.
    out_ += gap > 0 ? "<g class=\"cells\">\n" : "<g class=\"cells\" shape-rendering=\"crispEdges\">\n";
    // Uses the rounded positions as written, so that each cell ends where the next one starts.
    const auto edge = [](double at) { return std::round(at * 100) / 100; };
    for (Index row = 0; row < cells.values.rows(); ++row)
      for (Index col = 0; col < cells.values.cols(); ++col) {
        const std::string colour = paint(cells.style, cells.values(row, col));
        const double x = edge(cells.frame.x + static_cast<double>(col) * width),
                     y = edge(cells.frame.y + static_cast<double>(row) * height);
        out_ += rectangle({x, y, edge(cells.frame.x + static_cast<double>(col + 1) * width) - x - gap,
                           edge(cells.frame.y + static_cast<double>(row + 1) * height) - y - gap},
                          colour);
      }
    out_ += "</g>\n";
  }

  /// Draws one image. Masked cells are holes through which a hatch shows; dead rows are drawn on top.
  void writeImage(const Cells& cells) {
    const CellImage shown = cellImage(cells, 0);
    const Matrix& values = shown.values;
    if (anyIs(values, render::kMaskedCell)) {
      const std::string hatch = paint(cells.style, render::kMaskedCell);
      out_ += rectangle(cells.frame, hatch);
    }
    out_ += fmt::format(
        "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
        "image-rendering=\"optimizeSpeed\" xlink:href=\"data:image/png;base64,{}\"/>\n",
        number(cells.frame.x), number(cells.frame.y), number(cells.frame.width), number(cells.frame.height),
        attention::toBase64(render::encodePng(shown.image), attention::Base64::standard));
    const double row = cells.frame.height / static_cast<double>(values.rows());
    for (Index i = 0; i < values.rows(); ++i)
      if (values(i, 0) == render::kDeadCell) {
        const std::string hatch = paint(cells.style, render::kDeadCell);
        out_ += rectangle(
            {cells.frame.x, cells.frame.y + static_cast<double>(i) * row, cells.frame.width, row}, hatch);
      }
  }

  void write(const Ramp& ramp) {
    const int stops = ramp.style.tint && !ramp.style.tint->middle ? 1 : 32;
    const std::string id = fmt::format("ramp-{}", defined_.size());
    defined_.insert(id);
    out_ += fmt::format(
        "<defs><linearGradient id=\"{}\" {}>", id,
        ramp.upwards ? "x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\"" : "x1=\"0\" y1=\"0\" x2=\"1\" y2=\"0\"");
    const std::vector<Color> colors = rampColors(ramp.style, stops + 1);
    for (int i = 0; i <= stops; ++i) {
      const Color& color = colors[static_cast<std::size_t>(i)];
      out_ += fmt::format("<stop offset=\"{:.4f}\" stop-color=\"#{}\"{}/>", static_cast<double>(i) / stops,
                          hex(color), color.a < 1 ? fmt::format(" stop-opacity=\"{:.3f}\"", color.a) : "");
    }
    out_ += "</linearGradient></defs>\n" + rectangle(ramp.frame, "fill=\"url(#" + id + ")\"");
  }

  const bool rectangles_;
  std::string out_;
  std::set<std::string> defined_;  ///< ids of patterns and gradients
  int clips_ = 0;
  bool clipped_ = false;
};

}  // namespace

std::string svgText(const Drawing& drawing, const SvgOptions& options) {
  return SvgWriter(drawing, options).take();
}

}  // namespace headscope::app
