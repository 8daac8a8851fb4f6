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

/// A hash of everything added to it, in order.
class Fingerprint {
 public:
  explicit Fingerprint(std::uint64_t seed = 0) : value_(seed) {}
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15u;
    value_ ^= value_ >> 29;
  }
  /// Adds the bytes of numbers and enumerations, which have no padding.
  template <typename... Values>
  void addAll(const Values&... values) {
    (addBytes(&values, sizeof values), ...);
  }
  std::uint64_t value() const { return value_; }

 private:
  void addBytes(const void* bytes, std::size_t size);
  std::uint64_t value_;
};

/// The content of a draw callback. It can tell whether its pixels changed without drawing them.
class CallbackPart {
 public:
  virtual ~CallbackPart() = default;
  /// Draws the part inside the box, in framebuffer pixels.
  virtual void draw(const render::PixelBox& box) = 0;
  /// Calls `part` with each rectangle it draws in, and a number that changes whenever the picture there does.
  virtual void describe(const std::function<void(const ImRect&, std::uint64_t)>& part) const = 0;

  /// Dear ImGui's callback; the user data is a CallbackPart.
  static void callback(const ImDrawList* list, const ImDrawCmd* command);
};

/// The parts of the screen to redraw. Keeps a fingerprint, for each square of the frame, of all triangles
/// that touch it.
class Damage {
 public:
  struct Frame {
    int width = 0, height = 0;  ///< pixels
    std::array<float, 3> clear{};
    /// Returns a number that changes whenever existing texels change; nullopt if they may change at any time.
    std::function<std::optional<std::uint64_t>(ImTextureID)> textureVersion;
  };
  /// Returns disjoint boxes that contain all pixels in which this frame may differ from that of the previous
  /// call. Returns the whole frame on the first call or if the size changed.
  std::vector<render::PixelBox> compare(const ImDrawData& drawn, const Frame& frame);
  /// Marks the whole next frame as changed.
  void forget() { squares_.clear(); }

 private:
  int width_ = 0, height_ = 0;
  std::vector<std::uint64_t> squares_;  ///< row by row
  std::uint64_t changes_ = 0;           ///< a fresh number for each texture that can't be compared
};

/// Calls `render` with the commands of `drawn` cut to the boxes, so that nothing outside them is drawn.
void withinBoxes(ImDrawData& drawn, std::span<const render::PixelBox> boxes,
                 const std::function<void()>& render);

}  // namespace headscope::app
