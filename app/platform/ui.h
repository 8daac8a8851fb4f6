#pragma once

#include "app/platform/canvas.h"
#include "app/platform/fonts.h"
#include "app/platform/input_queue.h"
#include "app/platform/ui_state.h"

namespace headscope::render {
class Magnifier;
class Picture;
}  // namespace headscope::render

namespace headscope::app {

/// Dear ImGui with its renderer, fonts and input, shared by the window, headless rendering and tests. Needs a
/// current OpenGL context for its whole life. The most recently created Ui is current.
class Ui {
 public:
  /// To load fonts while the window opens, create `fonts` first. Without `draws`, frames are only recorded.
  /// Throws std::runtime_error if ImGui's renderer can't start.
  explicit Ui(std::unique_ptr<FontBook> fonts = std::make_unique<FontBook>(), bool draws = true)
      : Ui(std::shared_ptr<FontBook>(std::move(fonts)), draws) {}
  /// Creates a Ui that may record frames but never draws them, with the fonts and scale of `like`. Must be
  /// destroyed before `like`.
  static std::unique_ptr<Ui> undrawn(const Ui& like) {
    return std::unique_ptr<Ui>(new Ui(like.fonts_, false));
  }
  ~Ui();
  Ui(const Ui&) = delete;
  Ui& operator=(const Ui&) = delete;

  /// Makes this Dear ImGui's current context, if the program has several.
  void makeCurrent() { ImGui::SetCurrentContext(context_); }
  /// A scope in which a Ui is current.
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

  /// Sets the pixels per layout unit: monitor scale × text size. Fonts follow at the next frame.
  void setScale(float scale);
  /// Pretends that the pointer left the window until the next mouse event.
  void hidePointer();
  /// Undoes hidePointer(): the pointer is back where it rests.
  void showPointer();
  bool pointerHidden() const { return pointerHidden_; }
  /// Lets the pointer point at nothing until it moves or presses, although it stays visible: what comes up
  /// under a resting pointer wasn't pointed at.
  void restPointer();
  /// Magnifies the picture by `factor` around that point from now on; 1 = off.
  void magnify(ImVec2 about, float factor) {
    magnified_.about = about;
    magnified_.factor = factor;
  }
  /// Where the last frame is kept, so that only changes need to be drawn.
  enum class Keep {
    nowhere,
    framebuffer,  ///< the bound one, which nobody else draws into
    picture,      ///< a picture of this Ui, from which each frame is copied
    undrawn,      ///< frames run but aren't drawn: those before the last of several
  };
  void keep(Keep where) { keep_ = where; }
  /// Draws the whole next frame.
  void forgetFrame() { damage_.forget(); }
  /// While frozen, frames run as usual but aren't drawn, so the framebuffer keeps its picture.
  void freeze(bool frozen) { frozen_ = frozen; }
  /// Starts or stops recording frames.
  void record(bool records) { state_.recorder = records ? &recorder_ : nullptr; }
  /// Returns the last frame, which must have been recorded.
  std::vector<FramePiece> recorded() const { return recorder_.pieces(*ImGui::GetDrawData()); }
  /// The typesetter for text that isn't in Dear ImGui's atlas.
  Typesetter& typesetter() { return state_.typesetter; }

  /// Runs `draw` once per waiting key or button event, then renders the last of these frames into the bound
  /// framebuffer (width × height pixels, cleared to `clear`). `elapsed` is the time in seconds since the last
  /// call.
  void frame(int width, int height, double elapsed, const std::array<float, 3>& clear,
             const std::function<void(const FrameInput&)>& draw);

 private:
  Ui(std::shared_ptr<FontBook> fonts, bool draws);
  void feed(const FrameInput& frame);
  bool hasPicture(int width, int height);
  void drawChanges(int width, int height, const std::array<float, 3>& clear, bool kept);

  std::shared_ptr<FontBook> fonts_;  ///< owns the context's atlas
  const bool draws_;
  ImGuiContext* context_;
  UiState state_;
  FrameRecorder recorder_;
  InputQueue input_;
  float fontsAt_ = 0;                   ///< scale of the fonts in use
  ImVec2 pointer_{-FLT_MAX, -FLT_MAX};  ///< the mouse's position, even if hidden
  bool pointerHidden_ = false, pointerRests_ = false;
  bool wasFocused_ = false;  ///< a control had the keyboard, and with it the pointer
  struct Magnified {
    ImVec2 about;
    float factor = 1;
    std::unique_ptr<render::Magnifier> painter;  ///< created when first needed
  } magnified_;
  bool frozen_ = false;
  Keep keep_ = Keep::nowhere;
  Damage damage_;
  std::unique_ptr<render::Picture> picture_;  ///< null if the device refuses one of pictureSize_
  std::pair<int, int> pictureSize_;
};

}  // namespace headscope::app
