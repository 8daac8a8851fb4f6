#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "app/platform/imgui_compat.h"
#include "render/heatmap_layout.h"

namespace headscope::app {

/// A number that changes with everything that was added to it, in its order.
class Fingerprint {
 public:
  explicit Fingerprint(std::uint64_t seed = 0) : value_(seed) {}
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15u;
    value_ ^= value_ >> 29;
  }
  /// Each of the bytes of numbers and enumerations, which have no padding.
  template <typename... Values>
  void addAll(const Values&... values) {
    (addBytes(&values, sizeof values), ...);
  }
  std::uint64_t value() const { return value_; }

 private:
  void addBytes(const void* bytes, std::size_t size);
  std::uint64_t value_;
};

/// What a draw callback draws. It can tell whether its pixels have changed without drawing them.
class CallbackPart {
 public:
  virtual ~CallbackPart() = default;
  /// Draws what lies in the box, in pixels of the framebuffer.
  virtual void draw(const render::PixelBox& box) = 0;
  /// Calls `part` with each rectangle that it draws in, and with a number that changes with what is seen
  /// there.
  virtual void describe(const std::function<void(const ImRect&, std::uint64_t)>& part) const = 0;

  /// Dear ImGui's callback, whose user data is a CallbackPart.
  static void callback(const ImDrawList* list, const ImDrawCmd* command);
};

/// Finds what of the screen has to be drawn again: the frame is divided into squares, of each of which a
/// fingerprint of all triangles that touch it is kept.
class Damage {
 public:
  struct Frame {
    int width = 0, height = 0;  ///< pixels
    std::array<float, 3> clear{};
    /// Another number whenever the texels that were there change; nullopt: they may change at any time.
    std::function<std::optional<std::uint64_t>(ImTextureID)> textureVersion;
  };
  /// Disjoint boxes that hold all pixels in which this frame may differ from the one of the last call; the
  /// whole frame where there was none or its size was another.
  std::vector<render::PixelBox> compare(const ImDrawData& drawn, const Frame& frame);
  /// The next frame is all changed.
  void forget() { squares_.clear(); }

 private:
  int width_ = 0, height_ = 0;
  std::vector<std::uint64_t> squares_;  ///< row by row
  std::uint64_t changes_ = 0;           ///< counts what can't be compared
};

/// Calls `render` while the commands of `drawn` are cut to the boxes: nothing outside of them is drawn.
void withinBoxes(ImDrawData& drawn, std::span<const render::PixelBox> boxes,
                 const std::function<void()>& render);

}  // namespace headscope::app
