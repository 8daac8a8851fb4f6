// Pictures for files in a browser, which draws the SVG itself.

#include "app/compute/figures/raster.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <stop_token>
#include <thread>
#include <utility>

#include "app/platform/web/page.h"
#include "attention/core/threads.h"

namespace headscope::app {

namespace {

using attention::Error;
using attention::Result;
using render::Image;

/// The image's colours without its opacity: red, green, blue. Pictures have a background.
std::vector<std::uint8_t> coloursOf(const Image& image) {
  std::vector<std::uint8_t> colours;
  colours.reserve(image.rgba.size() / 4 * 3);
  for (std::size_t at = 0; at < image.rgba.size(); at += 4)
    colours.insert(colours.end(), image.rgba.begin() + static_cast<std::ptrdiff_t>(at),
                   image.rgba.begin() + static_cast<std::ptrdiff_t>(at + 3));
  return colours;
}

Result<std::string> deflated(const std::vector<std::uint8_t>& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, bytes.data(),
               static_cast<uLong>(bytes.size())) != Z_OK)
    return Error{"there is no memory for the picture"};
  packed.resize(size);
  return packed;
}

/// Objects of a PDF (PDF 1.7, 7.5), numbered from 1 in the order in which they are added.
class PdfFile {
 public:
  void add(const std::string& dictionary, const std::string* stream = nullptr) {
    places_.push_back(text_.size());
    text_ += fmt::format("{} 0 obj\n", places_.size());
    if (stream)
      text_ +=
          fmt::format("<< {} /Length {} >>\nstream\n{}\nendstream\n", dictionary, stream->size(), *stream);
    else
      text_ += fmt::format("<< {} >>\n", dictionary);
    text_ += "endobj\n";
  }
  /// The first object is the catalogue.
  std::vector<std::uint8_t> bytes() {
    const std::size_t table = text_.size();
    text_ += fmt::format("xref\n0 {}\n0000000000 65535 f \n", places_.size() + 1);
    for (const std::size_t place : places_) text_ += fmt::format("{:010} 00000 n \n", place);
    text_ +=
        fmt::format("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n", places_.size() + 1, table);
    return {text_.begin(), text_.end()};
  }

 private:
  std::string text_ = "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n";
  std::vector<std::size_t> places_;
};

bool drawn(const std::string& svg, Image& image) {
  if (attention::kHasThreads) {
    std::atomic<int> outcome = -1;
    headscopePageBeginDraw(svg.c_str(), image.width, image.height, image.rgba.data(), &outcome);
    while (outcome < 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return outcome == 1;
  }
  // The stack waits for the browser: no other work may wait above it.
  auto check = std::exchange(stand_in::atStopCheck, nullptr);
  const bool done = headscopePageDraw(svg.c_str(), image.width, image.height, image.rgba.data()) != 0;
  stand_in::atStopCheck = std::move(check);
  return done;
}

}  // namespace

Result<Image> rasterise(const std::string& svg, int width, int height) {
  if (!attention::kHasThreads && !headscopePageRests())
    return Error{"this browser saves pictures as SVG alone: give the file a name that ends in .svg"};
  Image image{width, height, {}};
  image.rgba.resize(4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (!drawn(svg, image)) return Error{"the browser can't draw the picture"};
  return image;
}

/// Each page is a picture here, with the pixels that a printer shows.
Result<std::vector<std::uint8_t>> pdfPages(const std::vector<std::string>& svgs, double width,
                                           double height) {
  constexpr double kDotsPerPoint = 300.0 / 72, kMostDots = 8192;
  const double dots = std::min(kDotsPerPoint, kMostDots / std::max(width, height));
  const int wide = std::max(1, static_cast<int>(std::lround(width * dots))),
            high = std::max(1, static_cast<int>(std::lround(height * dots)));
  PdfFile file;
  std::string kids;
  for (std::size_t i = 0; i < svgs.size(); ++i) kids += fmt::format("{} 0 R ", 3 + 3 * i);
  file.add("/Type /Catalog /Pages 2 0 R");
  file.add(fmt::format("/Type /Pages /Kids [{}] /Count {}", kids, svgs.size()));
  for (const std::string& svg : svgs) {
    const Result<Image> image = rasterise(svg, wide, high);
    if (!image) return image.error();
    const Result<std::string> packed = deflated(coloursOf(*image));
    if (!packed) return packed.error();
    const std::size_t page = 3 + 3 * static_cast<std::size_t>(&svg - svgs.data());
    const std::string shown = fmt::format("{:.3f} 0 0 {:.3f} 0 0 cm /P Do", width, height);
    file.add(
        fmt::format("/Type /Page /Parent 2 0 R /MediaBox [0 0 {:.3f} {:.3f}] /Contents {} 0 R "
                    "/Resources << /XObject << /P {} 0 R >> >>",
                    width, height, page + 1, page + 2));
    file.add("", &shown);
    file.add(fmt::format("/Type /XObject /Subtype /Image /Width {} /Height {} /ColorSpace /DeviceRGB "
                         "/BitsPerComponent 8 /Filter /FlateDecode",
                         wide, high),
             &*packed);
  }
  return file.bytes();
}

}  // namespace headscope::app
