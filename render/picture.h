#pragma once

#include <memory>

#include "render/image.h"

namespace headscope::render {

/// A picture on the GPU that is drawn into, or copied from what was drawn, and shown as a texture whose first
/// row is the lowest. The context that made it must be current when it is used and when it goes; contexts
/// that share objects with that one may show it.
class Picture {
 public:
  /// Empty: 0 × 0 pixels.
  Picture();
  /// Throws std::runtime_error where the device has no such framebuffer.
  Picture(int width, int height);
  ~Picture();
  Picture(Picture&& other) noexcept;
  Picture& operator=(Picture&& other) noexcept;

  int width() const { return width_; }
  int height() const { return height_; }
  bool empty() const { return objects_ == nullptr; }
  /// OpenGL's name of it; 0 where it is empty.
  unsigned texture() const;

  /// Whatever is drawn goes into it as long as this lives; then the framebuffer before is bound again.
  class Bound {
   public:
    explicit Bound(const Picture& picture);
    ~Bound();
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;

   private:
    int before_ = 0;
  };

  /// Copies the bound framebuffer of width × height pixels, smoothed where the sizes differ.
  void copyBound(int width, int height);
  /// Copies it into the bound framebuffer, which has its size.
  void copyToBound() const;
  Image read() const;

 private:
  /// Each pixel is the mean of those that it takes the place of.
  void shrinkBound(int width, int height);

  int width_ = 0, height_ = 0;
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace headscope::render
