#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/compute/layer/snapshot.h"
#include "attention/core/tensor.h"
#include "render/heatmap.h"
#include "render/image.h"

namespace headscope::app {

// The contents of a picture for a paper or a slide, independent of windows: written as SVG,
// PDF or pixels (picture_formats.h). Lengths are layout units, y down from the top; at scale
// 1 a unit is a pixel.

struct Frame {
  double x = 0, y = 0, width = 0, height = 0;
  constexpr double right() const { return x + width; }
  constexpr double bottom() const { return y + height; }
  bool operator==(const Frame&) const = default;
};

/// The alignment of a line of text relative to its position.
enum class Anchor { start, middle, end };

/// One line of text, vertically centred at `y`, rotated clockwise about its position.
struct TextRun {
  std::string text;
  double x = 0, y = 0, size = 11;
  render::Color color;
  Anchor anchor = Anchor::start;
  bool mono = false, bold = false;
  double degrees = 0;
  double spacing = 0;  ///< units added after each letter
};

/// A rectangle, filled, or outlined if `outline` > 0.
struct Box {
  Frame frame;
  render::Color color;
  double outline = 0, radius = 0;
};

struct Line {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  render::Color color;
  double width = 1;
};

/// A line through points.
struct Polyline {
  struct Point {
    double x = 0, y = 0;
  };
  std::vector<Point> points;
  render::Color color;
  double width = 1;
  std::vector<double> dashes = {};  ///< units drawn and left out, in turn; empty = solid
};

/// The interior of polygons.
struct Area {
  std::vector<std::vector<Polyline::Point>> rings;
  render::Color color;
};

/// Clips all later shapes to the frame; null ends the clipping.
struct Clip {
  std::optional<Frame> frame = {};
};

/// A matrix as coloured cells that fill the frame. The style's hatches and marks are those of heatmaps on
/// screen; its gap is in units.
struct Cells {
  Frame frame;
  attention::Matrix values;  ///< [rows, columns], with the marks of render/heatmap.h
  render::HeatmapStyle style;
};

/// The colours of a style from its low to its high end, to the right or upwards.
struct Ramp {
  Frame frame;
  render::HeatmapStyle style;
  bool upwards = true;
};

using Shape = std::variant<TextRun, Box, Line, Polyline, Area, Clip, Cells, Ramp>;

struct Drawing {
  std::string title;  ///< for readers who can't see it
  double width = 0, height = 0;
  render::Color background;
  std::vector<Shape> shapes;  ///< later ones cover earlier ones

  /// Adds all of `other`, scaled by `scale`, with its top left corner at (x, y), and grows to hold it.
  void add(const Drawing& other, double x, double y, double scale = 1);
};

/// Stacks drawings vertically on the first one's background.
Drawing stacked(const std::vector<Drawing>& drawings);
/// Centres the drawing on the smallest page with the given width / height.
Drawing fittedTo(const Drawing& drawing, double aspect);

/// Returns the colour of a cell; for masked cells and dead rows, the colour under their hatch.
render::Color cellColor(const render::HeatmapStyle& style, float value);
/// Whether any cell has that mark: masked, or in a row that sees no key.
bool anyIs(const attention::Matrix& values, float mark);
render::Color mixedColor(const render::Color& a, const render::Color& b, float t);

/// Colours by meaning, the same as in the window.
struct DrawingColors {
  render::Color background, panel, raised, line, text, secondary, faint, query, key, value;
};
/// Returns a heatmap style with colours for masked cells and dead rows, and the gap.
render::HeatmapStyle drawnStyle(const DrawingColors& colors, double gap);
/// Returns the width of a line of text in units: exact in the monospaced font, approximate in the other.
double drawnWidth(const std::string& text, double size, bool mono);
/// Returns the text with U+FFFD for what a file can't hold: control characters, invalid UTF-8.
std::string legibleText(const std::string& text);

/// Whether each cell of a drawing is drawn as a separate rectangle. If there are too many, each matrix is one
/// image.
bool drawsRectangles(const Drawing& drawing);

/// A matrix as one image. Masked cells are holes in it.
struct CellImage {
  attention::Matrix values;  ///< max-pooled to the visible resolution
  render::Image image;       ///< with enough pixels per value to keep its edges sharp
};
/// `pixelsPerUnit`: resolution of the page; 0 = an SVG, which keeps every cell.
CellImage cellImage(const Cells& cells, double pixelsPerUnit);

/// Returns `count` colours of a style from its low to its high end.
std::vector<render::Color> rampColors(const render::HeatmapStyle& style, int count);

}  // namespace headscope::app
