#include <cairo.h>
#include <librsvg/rsvg.h>

#include <new>

#include "app/compute/figures/picture_formats.h"

namespace headscope::app {

using attention::Error;

namespace {

struct Release {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
  void operator()(GError* error) const { g_error_free(error); }
  void operator()(GInputStream* stream) const { g_object_unref(stream); }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

Error failed(GError* error) {
  const Owned<GError> owned(error);
  return Error{std::string("the picture can't be drawn: ") + (owned ? owned->message : "unknown reason")};
}

/// The libraries used here abort if they get no memory, so check first.
bool hasRoom(std::size_t bytes) {
  const std::unique_ptr<char[]> probe(new (std::nothrow) char[bytes]);
  return probe != nullptr;
}

/// Cairo's pixels are ARGB words. The page is opaque, so premultiplication has no effect.
render::Image imageOf(cairo_surface_t* surface, int width, int height) {
  render::Image image{width, height, {}};
  image.rgba.resize(std::size_t{4} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  const unsigned char* data = cairo_image_surface_get_data(surface);
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface));
  std::uint8_t* to = image.rgba.data();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x, to += 4) {
      std::uint32_t argb = 0;
      std::memcpy(&argb, data + static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x) * 4, 4);
      to[0] = static_cast<std::uint8_t>(argb >> 16);
      to[1] = static_cast<std::uint8_t>(argb >> 8);
      to[2] = static_cast<std::uint8_t>(argb);
      to[3] = 255;
    }
  return image;
}

attention::Status checked(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return attention::success();
  return Error{std::string("the picture can't be drawn: ") + cairo_status_to_string(status)};
}

/// Draws the document over the whole surface, on white.
attention::Status render(const std::string& svg, cairo_surface_t* surface, double width, double height) {
  if (const auto status = checked(cairo_surface_status(surface)); !status) return status;
  GError* error = nullptr;
  const Owned<GInputStream> stream(
      g_memory_input_stream_new_from_data(svg.data(), static_cast<gssize>(svg.size()), nullptr));
  // Images of many cells are embedded in the document, which exceeds the XML reader's default limits.
  const Owned<RsvgHandle> handle(
      rsvg_handle_new_from_stream_sync(stream.get(), nullptr, RSVG_HANDLE_FLAG_UNLIMITED, nullptr, &error));
  if (!handle) return failed(error);
  const Owned<cairo_t> cairo(cairo_create(surface));
  cairo_set_source_rgb(cairo.get(), 1, 1, 1);
  cairo_paint(cairo.get());
  const RsvgRectangle viewport{0, 0, width, height};
  if (!rsvg_handle_render_document(handle.get(), cairo.get(), &viewport, &error)) return failed(error);
  return checked(cairo_status(cairo.get()));
}

/// Returns the memory of the libraries themselves, and of the document while it is read.
std::size_t readingBytes(const std::string& svg) {
  constexpr std::size_t kLibraries = std::size_t{160} << 20;
  return kLibraries + 4 * svg.size();
}

}  // namespace

attention::Result<render::Image> rasterise(const std::string& svg, int width, int height) {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (!hasRoom(pixels * 8 + readingBytes(svg)))
    return Error{"a picture of " + std::to_string(width) + " × " + std::to_string(height) +
                 " pixels needs more memory than is free"};
  const Owned<cairo_surface_t> surface(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height));
  if (const auto status = render(svg, surface.get(), width, height); !status) return status.error();
  cairo_surface_flush(surface.get());
  return imageOf(surface.get(), width, height);
}

}  // namespace headscope::app
