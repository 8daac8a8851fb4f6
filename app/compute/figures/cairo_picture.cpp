#include <cairo-pdf.h>

#include <new>
#include <numbers>

#include "app/compute/figures/picture_fonts.h"
#include "app/compute/figures/picture_formats.h"

namespace headscope::app {

using attention::Error;
using attention::Index;
using attention::Result;
using render::Color;
using render::HeatmapStyle;
using render::Image;

namespace {

attention::Status checked(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return attention::success();
  return Error{std::string("the picture can't be drawn: ") + cairo_status_to_string(status)};
}

/// Paints the shapes of a drawing in order, to fill width × height units of the surface.
class CairoPainter {
 public:
  /// `dotsPerUnit`: resolution of large matrices. `vector`: the surface keeps lines and text.
  CairoPainter(cairo_t* cairo, PictureFonts& fonts, const Drawing& drawing, double dotsPerUnit, bool vector)
      : cairo_(cairo),
        fonts_(fonts),
        dotsPerUnit_(dotsPerUnit),
        vector_(vector),
        rectangles_(drawsRectangles(drawing)) {
    const CairoOwned<cairo_font_options_t> options(cairo_font_options_create());
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cairo_, options.get());
    cairo_set_miter_limit(cairo_, 4);
    fill({0, 0, drawing.width, drawing.height}, drawing.background);
    for (const Shape& shape : drawing.shapes) std::visit([this](const auto& each) { paint(each); }, shape);
    paint(Clip{});
  }

 private:
  /// In 255ths, as in the other formats.
  void color(const Color& color) {
    const auto part = [](float value) { return std::round(value * 255) / 255; };
    cairo_set_source_rgba(cairo_, part(color.r), part(color.g), part(color.b), color.a);
  }
  void stroke(const Color& with, double width) {
    color(with);
    cairo_set_line_width(cairo_, width);
    cairo_stroke(cairo_);
  }
  void rectangle(const Frame& frame) {
    if (frame.width > 0 && frame.height > 0)
      cairo_rectangle(cairo_, frame.x, frame.y, frame.width, frame.height);
  }
  void fill(const Frame& frame, const Color& with) {
    rectangle(frame);
    color(with);
    cairo_fill(cairo_);
  }
  void lines(const std::vector<Polyline::Point>& points) {
    cairo_new_sub_path(cairo_);
    for (const Polyline::Point& point : points) cairo_line_to(cairo_, point.x, point.y);
  }

  void paint(const TextRun& text) {
    if (text.text.empty() || !(text.size > 0)) return;
    ShapedLine line = fonts_.shaped(text);
    // Moves letters apart, then all by the anchor; in ems of the shaped line.
    const double scale = text.size / PictureFonts::kEm;
    const auto spacing = static_cast<float>(text.spacing / scale);
    float apart = 0;
    for (TextPiece& piece : line.pieces)
      for (std::size_t i = 0; i < piece.glyphs.size(); ++i) {
        const bool ends = i + 1 == piece.glyphs.size() || piece.glyphs[i + 1].byte != piece.glyphs[i].byte;
        piece.glyphs[i].x += apart;
        if (ends) apart += spacing;
      }
    const double width = line.width + apart, begin = text.anchor == Anchor::start    ? 0
                                                     : text.anchor == Anchor::middle ? -width / 2
                                                                                     : -width;
    constexpr double kHalfCapital = 0.36;  // in ems, from a line's middle to its baseline
    cairo_save(cairo_);
    cairo_translate(cairo_, text.x, text.y);
    cairo_rotate(cairo_, text.degrees * std::numbers::pi / 180);
    cairo_translate(cairo_, begin * scale, kHalfCapital * text.size);
    cairo_set_font_size(cairo_, text.size);
    color(text.color);
    for (const TextPiece& piece : line.pieces) show(piece, line.text, scale);
    cairo_restore(cairo_);
  }

  void show(const TextPiece& piece, const std::string& text, double scale) {
    if (piece.glyphs.empty()) return;
    cairo_set_font_face(cairo_, fonts_.face(piece.typeface));
    std::vector<cairo_glyph_t> glyphs;
    for (const ShapedGlyph& glyph : piece.glyphs)
      glyphs.push_back({glyph.glyph, glyph.x * scale, glyph.y * scale});
    const auto count = static_cast<int>(glyphs.size());
    if (!vector_) {
      // As outlines, glyphs stand between pixels, too.
      cairo_glyph_path(cairo_, glyphs.data(), count);
      return cairo_fill(cairo_);
    }
    // From left to right, as readers expect text of all scripts.
    const std::vector<ShapedGlyph>& shaped = piece.glyphs;
    const bool backwards = shaped.front().byte > shaped.back().byte;
    std::string said;
    std::vector<cairo_text_cluster_t> clusters;
    for (std::size_t first = 0, end = 0; first < shaped.size(); first = end) {
      const std::size_t from = shaped[first].byte;
      while (end < shaped.size() && shaped[end].byte == from) ++end;
      const std::size_t after = backwards ? first - 1 : end,  // where the text goes on
          to = after < shaped.size() ? shaped[after].byte : piece.to;
      said += text.substr(from, to - from);
      clusters.push_back({static_cast<int>(to - from), static_cast<int>(end - first)});
    }
    cairo_show_text_glyphs(cairo_, said.data(), static_cast<int>(said.size()), glyphs.data(), count,
                           clusters.data(), static_cast<int>(clusters.size()), {});
  }

  void paint(const Box& box) {
    const Frame& frame = box.frame;
    const double radius = std::min({box.radius, frame.width / 2, frame.height / 2});
    if (radius > 0) {
      cairo_new_sub_path(cairo_);
      constexpr double kQuarter = std::numbers::pi / 2;
      const auto corner = [&](double x, double y, int turn) {
        cairo_arc(cairo_, x, y, radius, turn * kQuarter, (turn + 1) * kQuarter);
      };
      corner(frame.right() - radius, frame.bottom() - radius, 0);
      corner(frame.x + radius, frame.bottom() - radius, 1);
      corner(frame.x + radius, frame.y + radius, 2);
      corner(frame.right() - radius, frame.y + radius, 3);
      cairo_close_path(cairo_);
    } else {
      rectangle(frame);
    }
    if (box.outline > 0) return stroke(box.color, box.outline);
    color(box.color);
    cairo_fill(cairo_);
  }

  void paint(const Line& line) {
    lines({{line.x0, line.y0}, {line.x1, line.y1}});
    stroke(line.color, line.width);
  }

  void paint(const Polyline& line) {
    if (line.points.size() < 2) return;
    lines(line.points);
    cairo_set_dash(cairo_, line.dashes.data(), static_cast<int>(line.dashes.size()), 0);
    stroke(line.color, line.width);
    cairo_set_dash(cairo_, nullptr, 0, 0);
  }

  void paint(const Area& area) {
    for (const auto& ring : area.rings) {
      lines(ring);
      cairo_close_path(cairo_);
    }
    color(area.color);
    cairo_fill(cairo_);
  }

  void paint(const Clip& clip) {
    if (std::exchange(clipped_, clip.frame.has_value())) cairo_restore(cairo_);
    if (!clip.frame) return;
    cairo_save(cairo_);
    rectangle(*clip.frame);
    cairo_clip(cairo_);
  }

  /// Fills the path as cells without a value, under a hatch of lines six units apart.
  void hatch(const HeatmapStyle& style, float mark) {
    constexpr double kStep = 6;
    double left = 0, top = 0, right = 0, bottom = 0;
    cairo_path_extents(cairo_, &left, &top, &right, &bottom);
    if (left >= right) return;
    cairo_save(cairo_);
    color(cellColor(style, mark));
    cairo_clip(cairo_);
    cairo_paint(cairo_);
    cairo_set_antialias(cairo_, CAIRO_ANTIALIAS_DEFAULT);
    const bool dead = mark == render::kDeadCell;
    for (double sum = std::floor((left + top) / kStep) * kStep; sum < right + bottom; sum += kStep)
      lines({{sum - top, top}, {sum - bottom, bottom}});
    if (dead)
      for (double rest = std::floor((left - bottom) / kStep) * kStep; rest < right - top; rest += kStep)
        lines({{rest + top, top}, {rest + bottom, bottom}});
    stroke(dead ? style.deadHatch : style.maskedHatch, 0.8);
    cairo_restore(cairo_);
  }

  void paint(const Cells& cells) {
    if (cells.values.size() > 0) rectangles_ ? paintRectangles(cells) : paintImage(cells);
  }

  void paintRectangles(const Cells& cells) {
    const Index rows = cells.values.rows(), columns = cells.values.cols();
    const double width = cells.frame.width / static_cast<double>(columns),
                 height = cells.frame.height / static_cast<double>(rows), gap = cells.style.gap;
    // Smoothed edges of touching cells would show the background. So pixels belong to one cell, and on paper,
    // where viewers smooth, each cell extends below the next ones.
    if (gap <= 0) cairo_set_antialias(cairo_, CAIRO_ANTIALIAS_NONE);
    const double under = gap > 0 || !vector_ ? 0 : std::min({width, height, 1.0}) / 2;
    const auto eachCell = [&](auto visit) {
      for (Index row = 0; row < rows; ++row)
        for (Index column = 0; column < columns; ++column)
          visit(cells.values(row, column),
                Frame{cells.frame.x + static_cast<double>(column) * width,
                      cells.frame.y + static_cast<double>(row) * height, width - gap, height - gap});
    };
    eachCell([&](float value, Frame frame) {
      if (value == render::kMaskedCell || value == render::kDeadCell) return;
      const Color with = cellColor(cells.style, value);
      if (with.a == 1 && frame.right() + width / 2 < cells.frame.right()) frame.width += under;
      if (with.a == 1 && frame.bottom() + height / 2 < cells.frame.bottom()) frame.height += under;
      fill(frame, with);
    });
    for (const float mark : {render::kMaskedCell, render::kDeadCell}) {
      eachCell([&](float value, const Frame& frame) {
        if (value == mark) rectangle(frame);
      });
      hatch(cells.style, mark);
    }
    cairo_set_antialias(cairo_, CAIRO_ANTIALIAS_DEFAULT);
  }

  /// Paints one image. Masked cells are holes through which a hatch shows; dead rows are painted on top.
  void paintImage(const Cells& cells) {
    const CellImage shown = cellImage(cells, dotsPerUnit_);
    const auto rows = static_cast<double>(shown.values.rows());
    if (anyIs(shown.values, render::kMaskedCell)) rectangle(cells.frame);
    hatch(cells.style, render::kMaskedCell);
    paint(shown.image, cells.frame);
    for (Index row = 0; row < shown.values.rows(); ++row)
      if (shown.values(row, 0) == render::kDeadCell)
        rectangle({cells.frame.x, cells.frame.y + cells.frame.height * static_cast<double>(row) / rows,
                   cells.frame.width, cells.frame.height / rows});
    hatch(cells.style, render::kDeadCell);
  }

  void paint(const Image& image, const Frame& frame) {
    if (!(frame.width > 0 && frame.height > 0)) return;
    const CairoOwned<cairo_surface_t> surface(
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, image.width, image.height));
    if (unsigned char* const data = cairo_image_surface_get_data(surface.get())) {
      for (std::size_t at = 0; at < image.rgba.size(); at += 4) {
        const std::uint32_t alpha = image.rgba[at + 3];
        std::uint32_t argb = alpha << 24;
        for (std::size_t part = 0; part < 3; ++part)
          argb |= (image.rgba[at + part] * alpha + 127) / 255 << (16 - 8 * part);
        std::memcpy(data + at, &argb, 4);
      }
      cairo_surface_mark_dirty(surface.get());
    }
    cairo_save(cairo_);
    cairo_translate(cairo_, frame.x, frame.y);
    cairo_scale(cairo_, frame.width / image.width, frame.height / image.height);
    cairo_set_source_surface(cairo_, surface.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo_), CAIRO_FILTER_NEAREST);
    cairo_paint(cairo_);
    cairo_restore(cairo_);
  }

  void paint(const Ramp& ramp) {
    constexpr int kColors = 256;
    Image image{ramp.upwards ? 1 : kColors, ramp.upwards ? kColors : 1, {}};
    std::vector<Color> colors = rampColors(ramp.style, kColors);
    if (ramp.upwards) std::ranges::reverse(colors);
    for (const Color& color : colors)
      for (const float part : {color.r, color.g, color.b, color.a})
        image.rgba.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(part, 0.0f, 1.0f) * 255)));
    paint(image, ramp.frame);
  }

  cairo_t* const cairo_;
  PictureFonts& fonts_;
  const double dotsPerUnit_;
  const bool vector_, rectangles_;
  bool clipped_ = false;
};

/// Without threads, work pauses wherever it checks a stop token (see app/web/). Nothing stops a write.
void pauseWithoutThreads() {
  (void)std::stop_token().stop_requested();
}

}  // namespace

Result<std::string> pdfFile(const std::vector<Drawing>& pages, double width, double height, double dpi,
                            const std::shared_ptr<PictureFonts>& fonts) {
  constexpr double kPointsPerInch = 72;
  std::string file;
  const auto append = [](void* to, const unsigned char* bytes, unsigned count) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
  };
  const CairoOwned<cairo_surface_t> surface(
      cairo_pdf_surface_create_for_stream(append, &file, width, height));
  cairo_pdf_surface_restrict_to_version(surface.get(), CAIRO_PDF_VERSION_1_5);
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE,
                                 legibleText(pages.front().title).c_str());
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, "Headscope");
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, nullptr);
  for (const Drawing& drawing : pages) {
    const CairoOwned<cairo_t> cairo(cairo_create(surface.get()));
    cairo_scale(cairo.get(), width / drawing.width, height / drawing.height);
    CairoPainter(cairo.get(), *fonts, drawing, dpi / kPointsPerInch * width / drawing.width, true);
    cairo_show_page(cairo.get());
    if (const auto status = checked(cairo_status(cairo.get())); !status) return status.error();
    pauseWithoutThreads();  // pages with many cells take long
  }
  cairo_surface_finish(surface.get());
  if (const auto status = checked(cairo_surface_status(surface.get())); !status) return status.error();
  return file;
}

Result<Image> pixelImage(const Drawing& drawing, int width, int height,
                         const std::shared_ptr<PictureFonts>& fonts) try {
  Image image{width, height, {}};
  image.rgba.resize(std::size_t{4} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 255);
  const CairoOwned<cairo_surface_t> surface(
      cairo_image_surface_create_for_data(image.rgba.data(), CAIRO_FORMAT_RGB24, width, height, 4 * width));
  {
    const CairoOwned<cairo_t> cairo(cairo_create(surface.get()));
    cairo_scale(cairo.get(), width / drawing.width, height / drawing.height);
    CairoPainter(cairo.get(), *fonts, drawing, width / drawing.width, false);
    if (const auto status = checked(cairo_status(cairo.get())); !status) return status.error();
  }
  cairo_surface_finish(surface.get());
  // Cairo's pixels are words of red, green and blue.
  for (std::size_t at = 0; at < image.rgba.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &image.rgba[at], 4);
    for (const int shift : {16, 8, 0})
      image.rgba[at + static_cast<std::size_t>(2 - shift / 8)] = static_cast<std::uint8_t>(word >> shift);
    image.rgba[at + 3] = 255;
  }
  return image;
} catch (const std::bad_alloc&) {
  return Error{"a picture of " + std::to_string(width) + " × " + std::to_string(height) +
               " pixels needs more memory than is free"};
}

}  // namespace headscope::app
