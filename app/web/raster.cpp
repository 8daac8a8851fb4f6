// Rasterises pictures in a browser, which draws the SVG itself.

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

#include "app/compute/figures/picture_formats.h"
#include "app/platform/web/page.h"
#include "attention/core/threads.h"

namespace headscope::app {

namespace {

using attention::Error;
using attention::Result;
using render::Image;

bool drawn(const std::string& svg, Image& image) {
  if (attention::kHasThreads) {
    std::atomic<int> outcome = -1;
    headscopePageBeginDraw(svg.c_str(), image.width, image.height, image.rgba.data(), &outcome);
    while (outcome < 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return outcome == 1;
  }
  // This stack waits for the browser, so no other work may suspend on top of it.
  auto check = std::exchange(stand_in::atStopCheck, nullptr);
  const bool done = headscopePageDraw(svg.c_str(), image.width, image.height, image.rgba.data()) != 0;
  stand_in::atStopCheck = std::move(check);
  return done;
}

}  // namespace

Result<Image> rasterise(const std::string& svg, int width, int height) {
  if (!attention::kHasThreads && !headscopePageRests())
    return Error{
        "this browser saves pictures only as SVG or PDF: give the file a name that ends in .svg or .pdf"};
  Image image{width, height, {}};
  image.rgba.resize(4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (!drawn(svg, image)) return Error{"the browser can't draw the picture"};
  return image;
}

}  // namespace headscope::app
