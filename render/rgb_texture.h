#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace headscope::render {

/// A picture on the GPU, top row first, smoothed when drawn at another size. Move-only. The context that was
/// current in set() must be current when it is destroyed.
class RgbTexture {
 public:
  RgbTexture();
  ~RgbTexture();
  RgbTexture(RgbTexture&&) noexcept;
  RgbTexture& operator=(RgbTexture&&) noexcept;

  /// rgb is [height, width, 3]. Throws std::invalid_argument if its size differs.
  void set(int width, int height, std::span<const std::uint8_t> rgb);
  void reset();
  bool empty() const { return width_ == 0; }
  unsigned texture() const;  ///< the OpenGL name; 0 if empty
  std::size_t bytes() const { return std::size_t{4} * width_ * height_; }

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
  unsigned width_ = 0, height_ = 0;
};

}  // namespace headscope::render
