#pragma once

#include <array>
#include <functional>
#include <memory>

#include "app/platform/damage.h"
#include "app/platform/fonts.h"
#include "app/platform/input_queue.h"
#include "app/platform/ui_state.h"

namespace headscope::render {
class Magnifier;
class Picture;
}  // namespace headscope::render

namespace headscope::app {

/// Dear ImGui with its renderer, fonts and input: what the window, headless rendering and tests share.
/// Needs a current OpenGL context for its whole life. What was made last is current.
class Ui {
 public:
  /// Who begins with `fonts` before there is a window needs not wait for them afterwards. Throws
  /// std::runtime_error if ImGui's renderer can't start.
  explicit Ui(std::unique_ptr<FontBook> fonts = std::make_unique<FontBook>())
      : Ui(std::shared_ptr<FontBook>(std::move(fonts)), true) {}
  /// One whose frames are recorded at most and never drawn, with the fonts of another at its scale. Goes
  /// before that one.
  static std::unique_ptr<Ui> undrawn(const Ui& like) {
    return std::unique_ptr<Ui>(new Ui(like.fonts_, false));
  }
  ~Ui();
  Ui(const Ui&) = delete;
  Ui& operator=(const Ui&) = delete;

  /// Dear ImGui speaks of this one from now on, where a program has several.
  void makeCurrent() { ImGui::SetCurrentContext(context_); }
  /// The same as long as this lives.
  class Current {
   public:
    explicit Current(Ui& ui) : before_(ImGui::GetCurrentContext()) { ui.makeCurrent(); }
    ~Current() { ImGui::SetCurrentContext(before_); }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    ImGuiContext* before_;
  };

  InputQueue& input() { return input_; }
  const Fonts& fonts() const { return fonts_->fonts(); }
  float scale() const { return fonts_->scale(); }

  /// Pixels per unit of the layout: monitor scale × text size. Fonts follow at the next frame.
  void setScale(float scale);
  /// As if the pointer had left the window, until the mouse does something.
  void hidePointer();
  /// Where it rests, as if it had come back.
  void showPointer();
  bool pointerHidden() const { return pointerHidden_; }
  /// What is drawn is enlarged by `factor` about that place from now on; 1 = it isn't.
  void magnify(ImVec2 about, float factor) {
    magnified_.about = about;
    magnified_.factor = factor;
  }
  /// Where the last frame stays: then only what differs from it is drawn.
  enum class Keep {
    nowhere,
    framebuffer,  ///< in the one that is bound, which nobody else draws into
    picture,      ///< in one of this Ui's, from which each frame is copied
    undrawn,      ///< frames are run but not drawn: those before the last of several
  };
  void keep(Keep where) { keep_ = where; }
  /// The next frame is drawn whole.
  void forgetFrame() { damage_.forget(); }
  /// While frozen, frames are run as always but not drawn: the framebuffer keeps its picture.
  void freeze(bool frozen) { frozen_ = frozen; }
  /// Records the frames from now on, or no longer.
  void record(bool records) { state_.recorder = records ? &recorder_ : nullptr; }
  /// The last frame that was recorded, which has to be the last one of all.
  std::vector<FramePiece> recorded() const { return recorder_.pieces(*ImGui::GetDrawData()); }
  /// The text that is not of Dear ImGui's atlas.
  Typesetter& typesetter() { return state_.typesetter; }

  /// Runs `draw` once per waiting edge of input, then renders the last of these frames into the bound
  /// framebuffer (width × height pixels, cleared to `clear`). `elapsed` is the time since the last call.
  void frame(int width, int height, double elapsed, const std::array<float, 3>& clear,
             const std::function<void(const FrameInput&)>& draw);

 private:
  Ui(std::shared_ptr<FontBook> fonts, bool draws);
  void feed(const FrameInput& frame);
  void drawChanges(int width, int height, const std::array<float, 3>& clear);

  std::shared_ptr<FontBook> fonts_;  ///< whose atlas is the context's
  const bool draws_;
  ImGuiContext* context_;
  UiState state_;
  FrameRecorder recorder_;
  InputQueue input_;
  float fontsAt_ = 0;                   ///< scale of the fonts that are drawn with
  ImVec2 pointer_{-FLT_MAX, -FLT_MAX};  ///< where the mouse is, hidden or not
  bool pointerHidden_ = false;
  bool wasFocused_ = false;  ///< a control had the keyboard, and with it the pointer
  struct Magnified {
    ImVec2 about;
    float factor = 1;
    std::unique_ptr<render::Magnifier> painter;  ///< once anything is enlarged
  } magnified_;
  bool frozen_ = false;
  Keep keep_ = Keep::nowhere;
  Damage damage_;
  std::unique_ptr<render::Picture> picture_;
};

}  // namespace headscope::app
