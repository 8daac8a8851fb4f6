#pragma once

#include <memory>

#include "render/image.h"

namespace headscope::render {

/// An offscreen picture on the GPU: draw into it or copy a framebuffer to it, then show it as a texture whose
/// first row is the bottom one. Its context must be current when it is used and destroyed; contexts that
/// share objects with that one may show it.
class Picture {
 public:
  /// Empty: 0 × 0 pixels.
  Picture();
  /// Throws std::runtime_error if the device doesn't support such a framebuffer.
  Picture(int width, int height);
  ~Picture();
  Picture(Picture&& other) noexcept;
  Picture& operator=(Picture&& other) noexcept;

  int width() const { return width_; }
  int height() const { return height_; }
  bool empty() const { return objects_ == nullptr; }
  /// Returns the OpenGL texture name; 0 if empty.
  unsigned texture() const;

  /// A scope in which drawing goes into the picture. Binds the previous framebuffer again at the end.
  class Bound {
   public:
    explicit Bound(const Picture& picture);
    ~Bound();
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;

   private:
    int before_ = 0;
  };

  /// Copies the bound framebuffer of width × height pixels, smoothing if the sizes differ.
  void copyBound(int width, int height);
  /// Copies the picture into the bound framebuffer, which must have the same size.
  void copyToBound() const;
  Image read() const;

 private:
  /// Sets each pixel to the mean of the pixels it replaces.
  void shrinkBound(int width, int height);

  int width_ = 0, height_ = 0;
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace headscope::render
