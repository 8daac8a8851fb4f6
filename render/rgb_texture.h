#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace headscope::render {

/// A picture on the GPU, its first row the uppermost, smoothed where it is drawn at another size. Move-only;
/// the context that it was set in must be current when it goes.
class RgbTexture {
 public:
  RgbTexture();
  ~RgbTexture();
  RgbTexture(RgbTexture&&) noexcept;
  RgbTexture& operator=(RgbTexture&&) noexcept;

  /// rgb [height, width, 3]; an error of the caller where it is of another size.
  void set(int width, int height, std::span<const std::uint8_t> rgb);
  void reset();
  bool empty() const { return width_ == 0; }
  unsigned texture() const;  ///< OpenGL's name; 0 where it is empty
  std::size_t bytes() const { return std::size_t{4} * width_ * height_; }

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
  unsigned width_ = 0, height_ = 0;
};

}  // namespace headscope::render
