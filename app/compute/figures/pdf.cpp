#include <fmt/core.h>
#include <zlib.h>

#include <cstdlib>
#include <new>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/pdf_fonts.h"
#include "app/compute/figures/picture_formats.h"

namespace headscope::app {

using attention::Index;
using render::Color;
using render::HeatmapStyle;

namespace {

constexpr double kPoints = 72;  ///< per inch

std::string placeText(double x, double y) {
  return pdfNumber(x) + " " + pdfNumber(y) + " ";
}
std::string frameText(const Frame& frame) {
  return placeText(frame.x, frame.y) + placeText(frame.width, frame.height) + "re ";
}
std::string partsText(const Color& color) {
  return fmt::format("{} {} {} ", pdfNumber(color.r), pdfNumber(color.g), pdfNumber(color.b));
}

/// Shared by the pages of a file.
struct PdfParts {
  PdfFile& file;
  PdfFonts& fonts;
  std::set<int> alphas = {};  ///< in thousandths
};

/// Writes the shapes of one page in order, with y pointing down.
class PdfPage {
 public:
  PdfPage(const Drawing& drawing, PdfParts& parts, double width, double height, double dpi)
      : parts_(parts),
        rectangles_(drawsRectangles(drawing)),
        dotsPerUnit_(dpi / kPoints * width / drawing.width),
        matrix_(fmt::format("{} 0 0 {} 0 {}", width / drawing.width, -height / drawing.height, height)) {
    out_ = "q " + matrix_ + " cm 4 M\n";
    fill({0, 0, drawing.width, drawing.height}, drawing.background);
    for (const Shape& shape : drawing.shapes) std::visit([this](const auto& each) { write(each); }, shape);
    write(Clip{});
    out_ += "Q\n";
  }

  const std::string& content() const { return out_; }
  std::string resources() const { return "/XObject << " + images_ + ">> /Pattern << " + patterns_ + ">>"; }

 private:
  void paintWith(const Color& color, const char* operation) {
    const int alpha = static_cast<int>(std::lround(std::clamp(color.a, 0.0f, 1.0f) * 1000));
    if (std::exchange(alpha_, alpha) != alpha) out_ += fmt::format("/A{} gs ", alpha);
    parts_.alphas.insert(alpha);
    out_ += partsText(color) + operation + " ";
  }
  void fillColor(const Color& color) { paintWith(color, "rg"); }
  void strokeColor(const Color& color, double width) {
    paintWith(color, "RG");
    out_ += pdfNumber(width) + " w ";
  }
  void fill(const Frame& frame, const Color& color) {
    fillColor(color);
    out_ += frameText(frame) + "f\n";
  }
  void move(const std::vector<Polyline::Point>& points) {
    for (std::size_t i = 0; i < points.size(); ++i)
      out_ += placeText(points[i].x, points[i].y) + (i == 0 ? "m " : "l ");
  }

  void write(const TextRun& text) {
    if (text.text.empty()) return;
    fillColor(text.color);
    out_ += parts_.fonts.show(text);
  }

  void write(const Box& box) {
    const Frame& frame = box.frame;
    if (box.outline > 0)
      strokeColor(box.color, box.outline);
    else
      fillColor(box.color);
    const double radius = std::min({box.radius, frame.width / 2, frame.height / 2});
    if (radius > 0)
      roundedPath(frame, radius);
    else
      out_ += frameText(frame);
    out_ += box.outline > 0 ? "S\n" : "f\n";
  }

  void roundedPath(const Frame& frame, double radius) {
    const double left = frame.x, top = frame.y, right = frame.right(), bottom = frame.bottom();
    const double near = radius * 0.4477;  // approximates a quarter circle by a cubic curve
    const auto corner = [this](double x0, double y0, double x1, double y1, double x, double y) {
      out_ += placeText(x0, y0) + placeText(x1, y1) + placeText(x, y) + "c ";
    };
    out_ += placeText(left + radius, top) + "m " + placeText(right - radius, top) + "l ";
    corner(right - near, top, right, top + near, right, top + radius);
    out_ += placeText(right, bottom - radius) + "l ";
    corner(right, bottom - near, right - near, bottom, right - radius, bottom);
    out_ += placeText(left + radius, bottom) + "l ";
    corner(left + near, bottom, left, bottom - near, left, bottom - radius);
    out_ += placeText(left, top + radius) + "l ";
    corner(left, top + near, left + near, top, left + radius, top);
    out_ += "h ";
  }

  void write(const Line& line) {
    strokeColor(line.color, line.width);
    out_ += placeText(line.x0, line.y0) + "m " + placeText(line.x1, line.y1) + "l S\n";
  }

  void write(const Polyline& line) {
    if (line.points.size() < 2) return;
    strokeColor(line.color, line.width);
    std::string dashes;
    for (const double dash : line.dashes) dashes += pdfNumber(dash) + " ";
    if (!dashes.empty()) out_ += "[" + dashes + "] 0 d ";
    move(line.points);
    out_ += dashes.empty() ? "S\n" : "S [] 0 d\n";
  }

  void write(const Area& area) {
    fillColor(area.color);
    for (const auto& ring : area.rings) {
      move(ring);
      out_ += "h ";
    }
    out_ += "f\n";
  }

  void write(const Clip& clip) {
    if (std::exchange(clipped_, clip.frame.has_value())) {
      out_ += "Q\n";
      alpha_ = -1;  // unknown after Q
    }
    if (clip.frame) out_ += "q " + frameText(*clip.frame) + "W n\n";
  }

  /// Sets the paint of a cell: a colour, or a hatch if it has no value.
  void cellPaint(const HeatmapStyle& style, float value) {
    const Color under = cellColor(style, value);
    if (value != render::kDeadCell && value != render::kMaskedCell) return fillColor(under);
    const bool dead = value == render::kDeadCell;
    const std::string hatch =
        partsText(under) + "rg 0 0 6 6 re f " + partsText(dead ? style.deadHatch : style.maskedHatch) +
        "RG 0.8 w " + (dead ? "0 0 m 6 6 l 0 6 m 6 0 l S" : "-1 1 m 1 -1 l 0 6 m 6 0 l 5 7 m 7 5 l S");
    const auto [found, added] = hatches_.try_emplace(hatch, hatches_.size());
    if (added)
      patterns_ += fmt::format(
          "/H{} {} 0 R ", found->second,
          parts_.file.addStream(
              fmt::format("/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 6 6] "
                          "/XStep 6 /YStep 6 /Resources << >> /Matrix [{}]",
                          matrix_),
              hatch));
    fillColor(under);  // sets the opacity
    out_ += fmt::format("/Pattern cs /H{} scn ", found->second);
  }

  void write(const Cells& cells) {
    if (cells.values.size() == 0) return;
    rectangles_ ? writeRectangles(cells) : writeImage(cells);
  }

  void writeRectangles(const Cells& cells) {
    const Index rows = cells.values.rows(), columns = cells.values.cols();
    const double width = cells.frame.width / static_cast<double>(columns),
                 height = cells.frame.height / static_cast<double>(rows), gap = cells.style.gap;
    // Smoothed edges of touching cells would show the background, so each cell extends below the next ones.
    const double under = gap > 0 ? 0 : std::min({width, height, 1.0}) / 2;
    for (Index row = 0; row < rows; ++row)
      for (Index column = 0; column < columns; ++column) {
        const float value = cells.values(row, column);
        const double more = cellColor(cells.style, value).a < 1 ? 0 : under;
        cellPaint(cells.style, value);
        out_ += frameText({cells.frame.x + static_cast<double>(column) * width,
                           cells.frame.y + static_cast<double>(row) * height,
                           width - gap + (column + 1 < columns ? more : 0),
                           height - gap + (row + 1 < rows ? more : 0)}) +
                "f\n";
      }
  }

  /// Draws one image. Masked cells are holes through which a hatch shows; dead rows are drawn on top.
  void writeImage(const Cells& cells) {
    const CellImage shown = cellImage(cells, dotsPerUnit_);
    if (anyIs(shown.values, render::kMaskedCell)) hatched(cells.frame, cells.style, render::kMaskedCell);
    write(shown.image, cells.frame);
    const double height = cells.frame.height / static_cast<double>(shown.values.rows());
    for (Index row = 0; row < shown.values.rows(); ++row)
      if (shown.values(row, 0) == render::kDeadCell)
        hatched({cells.frame.x, cells.frame.y + static_cast<double>(row) * height, cells.frame.width, height},
                cells.style, render::kDeadCell);
  }
  void hatched(const Frame& frame, const HeatmapStyle& style, float value) {
    cellPaint(style, value);
    out_ += frameText(frame) + "f\n";
  }

  /// Adds a mask with the image's opacity unless all of it is opaque.
  void write(const render::Image& image, const Frame& frame) {
    std::string colours, alphas;
    for (std::size_t at = 0; at < image.rgba.size(); at += 4) {
      colours.append(reinterpret_cast<const char*>(&image.rgba[at]), 3);
      alphas += static_cast<char>(image.rgba[at + 3]);
    }
    const auto entries = [&](const char* space) {
      return fmt::format(
          "/Type /XObject /Subtype /Image /Width {} /Height {} /BitsPerComponent 8 /ColorSpace /{}",
          image.width, image.height, space);
    };
    std::string mask;
    if (alphas.find_first_not_of('\xFF') != std::string::npos)
      mask = fmt::format(" /SMask {} 0 R", parts_.file.addStream(entries("DeviceGray"), alphas));
    const int number = parts_.file.addStream(entries("DeviceRGB") + mask, colours);
    images_ += fmt::format("/I{} {} 0 R ", number, number);
    fillColor({0, 0, 0, 1});  // sets the opacity
    out_ += fmt::format("q {} 0 0 {} {}cm /I{} Do Q\n", pdfNumber(frame.width), pdfNumber(-frame.height),
                        placeText(frame.x, frame.bottom()), number);
  }

  void write(const Ramp& ramp) {
    constexpr int kColours = 256;
    render::Image image{ramp.upwards ? 1 : kColours, ramp.upwards ? kColours : 1, {}};
    std::vector<Color> colors = rampColors(ramp.style, kColours);
    if (ramp.upwards) std::ranges::reverse(colors);
    for (const Color& color : colors)
      for (const float part : {color.r, color.g, color.b, color.a})
        image.rgba.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(part, 0.0f, 1.0f) * 255)));
    write(image, ramp.frame);
  }

  void write(const Swatch& swatch) { hatched(swatch.frame, swatch.style, swatch.value); }

  PdfParts& parts_;
  const bool rectangles_;
  const double dotsPerUnit_;
  const std::string matrix_;
  std::string out_, images_, patterns_;
  std::map<std::string, std::size_t> hatches_;
  int alpha_ = -1;  ///< current opacity in thousandths; −1 = unknown
  bool clipped_ = false;
};

/// Without threads, work pauses wherever it checks a stop token (see app/web/). Nothing stops a write.
void pauseWithoutThreads() {
  (void)std::stop_token().stop_requested();
}

}  // namespace

std::string pdfFile(const std::vector<Drawing>& pages, double width, double height, double dpi) {
  PdfFile file;
  const int catalogue = file.reserve(), tree = file.reserve(), shownFonts = file.reserve(),
            states = file.reserve();
  PdfFonts fonts(file);
  PdfParts parts{file, fonts};
  std::string kids, opacities;
  for (const Drawing& drawing : pages) {
    const PdfPage page(drawing, parts, width, height, dpi);
    const int content = file.addStream("", page.content());
    const int number = file.add(fmt::format(
        "<< /Type /Page /Parent {} 0 R /MediaBox [0 0 {} {}] /Contents {} 0 R "
        "/Group << /S /Transparency /CS /DeviceRGB >> "
        "/Resources << /Font {} 0 R /ExtGState {} 0 R {} >> >>",
        tree, pdfNumber(width), pdfNumber(height), content, shownFonts, states, page.resources()));
    kids += fmt::format("{} 0 R ", number);
    pauseWithoutThreads();  // pages with many cells take long
  }
  fonts.write();
  for (const int alpha : parts.alphas)
    opacities += fmt::format("/A{0} << /ca {1} /CA {1} >> ", alpha, pdfNumber(alpha / 1000.0));
  file.write(catalogue, fmt::format("<< /Type /Catalog /Pages {} 0 R >>", tree));
  file.write(tree, fmt::format("<< /Type /Pages /Kids [{}] /Count {} >>", kids, pages.size()));
  file.write(shownFonts, "<< " + fonts.resources() + ">>");
  file.write(states, "<< " + opacities + ">>");
  return file.finish(file.add("<< /Title " + pdfText(pages.front().title) + " /Producer (Headscope) >>"));
}

namespace {

std::string deflatedBytes(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), Z_BEST_COMPRESSION) != Z_OK)
    throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

}  // namespace

int PdfFile::reserve() {
  places_.push_back(0);
  return static_cast<int>(places_.size());
}

void PdfFile::write(int number, const std::string& body) {
  places_[static_cast<std::size_t>(number - 1)] = text_.size();
  text_ += fmt::format("{} 0 obj\n{}\nendobj\n", number, body);
}

void PdfFile::writeStream(int number, const std::string& entries, const std::string& bytes) {
  const std::string packed = deflatedBytes(bytes);
  write(number, fmt::format("<< {} /Filter /FlateDecode /Length {} >>\nstream\n{}\nendstream", entries,
                            packed.size(), packed));
}

int PdfFile::add(const std::string& body) {
  const int number = reserve();
  write(number, body);
  return number;
}

int PdfFile::addStream(const std::string& entries, const std::string& bytes) {
  const int number = reserve();
  writeStream(number, entries, bytes);
  return number;
}

std::string PdfFile::finish(int info) {
  const std::size_t table = text_.size();
  text_ += fmt::format("xref\n0 {}\n0000000000 65535 f \n", places_.size() + 1);
  for (const std::size_t place : places_) text_ += fmt::format("{:010} 00000 n \n", place);
  text_ += fmt::format("trailer\n<< /Size {} /Root 1 0 R /Info {} 0 R >>\nstartxref\n{}\n%%EOF\n",
                       places_.size() + 1, info, table);
  return std::move(text_);
}

std::string pdfNumber(double value) {
  const long long thousandths = std::llround(value * 1000), size = std::abs(thousandths);
  std::string text = fmt::format("{}{}.{:03}", thousandths < 0 ? "-" : "", size / 1000, size % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string pdfText(const std::string& utf8, bool marked) {
  std::string out = marked ? "<FEFF" : "<";
  for (std::size_t at = 0; at < utf8.size();) {
    const attention::DecodedCodePoint next = attention::decodeUtf8(utf8, at);
    at += next.length;
    const std::uint32_t code = next.fault ? 0xFFFD : next.value, above = code - 0x10000;
    out += code < 0x10000 ? fmt::format("{:04X}", code)
                          : fmt::format("{:04X}{:04X}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
  }
  return out + ">";
}

}  // namespace headscope::app
