#include "app/platform/ui.h"

#include <algorithm>

#include "app/platform/assets.h"
#include "app/platform/imgui_compat.h"
#include "render/gl.h"
#include "render/magnify.h"
#include "render/picture.h"
#include "render/viewport.h"

namespace headscope::app {

namespace {

/// Drops triangles outside their clip rectangle. A software rasteriser would still transform and bin them,
/// and a long list of tokens has ten times as many as are visible.
void dropUnseen(ImDrawData& data) {
  for (int i = 0; i < data.CmdListsCount; ++i) {
    ImDrawList& list = *data.CmdLists[i];
    for (ImDrawCmd& command : list.CmdBuffer) {
      const ImVec4& clip = command.ClipRect;
      const ImDrawVert* const vertices = list.VtxBuffer.Data + command.VtxOffset;
      ImDrawIdx* const indices = list.IdxBuffer.Data + command.IdxOffset;
      unsigned kept = 0;
      for (unsigned at = 0; at + 2 < command.ElemCount; at += 3) {
        const ImVec2 a = vertices[indices[at]].pos, b = vertices[indices[at + 1]].pos,
                     c = vertices[indices[at + 2]].pos;
        if (std::max({a.x, b.x, c.x}) <= clip.x || std::min({a.x, b.x, c.x}) >= clip.z ||
            std::max({a.y, b.y, c.y}) <= clip.y || std::min({a.y, b.y, c.y}) >= clip.w)
          continue;
        std::copy_n(indices + at, 3, indices + kept);
        kept += 3;
      }
      command.ElemCount = kept;
    }
  }
}

}  // namespace

Ui::Ui(std::shared_ptr<FontBook> fonts, bool draws)
    : fonts_(std::move(fonts)), draws_(draws), context_(ImGui::CreateContext(&fonts_->atlas())) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.UserData = &state_;
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigInputTextCursorBlink = false;  // a blinking cursor would keep the loop busy
  compat::setUpKeys(io);
  if (!draws_) {
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    return;
  }
  if (!ImGui_ImplOpenGL3_Init(render::isDesktopGl() ? "#version 330" : "#version 300 es")) {
    ImGui::DestroyContext(context_);
    throw std::runtime_error(
        "Dear ImGui could not load the OpenGL functions it needs (libGL is missing or too old)");
  }
}

Ui::~Ui() {
  ImGuiContext* const other = ImGui::GetCurrentContext() == context_ ? nullptr : ImGui::GetCurrentContext();
  makeCurrent();
  magnified_.painter.reset();
  picture_.reset();
  if (draws_) ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
  ImGui::SetCurrentContext(other);
}

void Ui::setScale(float scale) {
  fonts_->setScale(scale);
}

void Ui::hidePointer() {
  if (std::exchange(pointerHidden_, true)) return;
  compat::feedMouse(ImGui::GetIO(), -FLT_MAX, -FLT_MAX);
}

void Ui::showPointer() {
  if (std::exchange(pointerHidden_, false)) compat::feedMouse(ImGui::GetIO(), pointer_.x, pointer_.y);
}

void Ui::restPointer() {
  if (pointerHidden_ || std::exchange(pointerRests_, true)) return;
  compat::feedMouse(ImGui::GetIO(), -FLT_MAX, -FLT_MAX);
}

void Ui::feed(const FrameInput& frame) {
  ImGuiIO& io = ImGui::GetIO();
  KeyboardFocus& focus = state_.focus;
  const bool focused = focus.on();
  for (const InputEvent& event : frame.events) {
    const bool ofMouse = event.kind == InputEvent::Kind::mouseMove ||
                         event.kind == InputEvent::Kind::mouseButton || event.kind == InputEvent::Kind::wheel;
    const bool moves =
        event.kind == InputEvent::Kind::mouseMove && (event.x != pointer_.x || event.y != pointer_.y);
    const bool presses = event.kind == InputEvent::Kind::mouseButton && event.down;
    if (event.kind == InputEvent::Kind::mouseMove) pointer_ = ImVec2(event.x, event.y);
    if (ofMouse && focus.on()) focus.release();
    const bool shows = ofMouse && std::exchange(pointerHidden_, false);
    const bool wakes = pointerRests_ && (moves || presses || event.kind == InputEvent::Kind::wheel);
    if (wakes) pointerRests_ = false;
    if (shows || wakes) compat::feedMouse(io, pointer_.x, pointer_.y);
    switch (event.kind) {
      case InputEvent::Kind::mouseMove:
        if (!pointerRests_) compat::feedMouse(io, event.x, event.y);
        break;
      case InputEvent::Kind::wheel:
        compat::feedMods(io, event.mods);
        compat::feedWheel(io, event.x, event.y);
        break;
      case InputEvent::Kind::mouseButton:
        compat::feedMods(io, event.mods);
        compat::feedButton(io, event.button, event.down);
        break;
      case InputEvent::Kind::key:
        compat::feedMods(io, event.mods);
        compat::feedKey(io, event.key, event.down);
        break;
      case InputEvent::Kind::text:
        io.AddInputCharacter(event.codepoint);
        break;
      case InputEvent::Kind::focusLost:
        compat::releaseAll(io);
        break;
      case InputEvent::Kind::drop:
        break;
    }
  }
  if (focus.on()) {
    compat::feedMouse(io, focus.place().x, focus.place().y);
    if (const KeyboardFocus::Edge* edge = focus.takeEdge()) compat::feedButton(io, edge->button, edge->down);
  } else if (focused || std::exchange(wasFocused_, false)) {
    compat::feedMouse(io, pointer_.x, pointer_.y);
    for (int button = 0; focused && button < 2; ++button) compat::feedButton(io, button, false);
  }
  wasFocused_ = focus.on();
}

/// Whether picture_ has this size. A device may refuse one that is too large; frames are then drawn directly.
bool Ui::hasPicture(int width, int height) {
  if (std::exchange(pictureSize_, {width, height}) == std::pair(width, height)) return picture_ != nullptr;
  picture_.reset();
  damage_.forget();
  try {
    picture_ = std::make_unique<render::Picture>(width, height);
  } catch (const std::runtime_error&) {
    return false;
  }
  return true;
}

void Ui::drawChanges(int width, int height, const std::array<float, 3>& clear, bool kept) {
  ImDrawData& drawn = *ImGui::GetDrawData();
  const GlyphSheet& sheet = state_.typesetter.sheet();
  std::vector<render::PixelBox> boxes{{0, 0, width, height}};
  if (kept)
    boxes = damage_.compare(drawn,
                            {width, height, clear, [&](ImTextureID texture) -> std::optional<std::uint64_t> {
                               if (compat::isSettledAtlas(texture)) return 0;
                               if (sheet.holds(compat::textureName(texture))) return sheet.starts();
                               return std::nullopt;
                             }});
  if (boxes.empty()) return;
  render::clearViewport(width, height, boxes, clear);
  withinBoxes(drawn, boxes, [&] { ImGui_ImplOpenGL3_RenderDrawData(&drawn); });
}

void Ui::frame(int width, int height, double elapsed, const std::array<float, 3>& clear,
               const std::function<void(const FrameInput&)>& draw) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
  io.DeltaTime = elapsed > 0 ? static_cast<float>(elapsed) : 1.0f / 60;
  if (const float before = std::exchange(fontsAt_, fonts_->scale()); before != fontsAt_) {
    fonts_->build();
    if (draws_ && before > 0) compat::refreshFontTexture();  // the renderer uploads the first one itself
    damage_.forget();
    state_.typesetter.setAtlas(fonts_->sources());
  }
  state_.typesetter.beginFrame();
  while (true) {
    const FrameInput input = input_.takeFrame();
    feed(input);
    if (draws_) ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    state_.tracks.clear();
    state_.tokens.clear();
    state_.texts.clear();
    state_.marks.clear();
    state_.pictures.clear();
    state_.scales.clear();
    state_.legends.clear();
    state_.clips.clear();
    recorder_.clear();
    state_.focus.beginFrame();
    draw(input);
    if (input_.empty()) break;
    ImGui::EndFrame();
    io.DeltaTime = 1e-4f;  // the same moment; only the next event
  }
  ImGui::Render();
  if (frozen_ || !draws_ || keep_ == Keep::undrawn) return;
  dropUnseen(*ImGui::GetDrawData());
  if (keep_ == Keep::picture && hasPicture(width, height)) {
    {
      const render::Picture::Bound bound(*picture_);
      drawChanges(width, height, clear, true);
    }
    picture_->copyToBound();
  } else {
    drawChanges(width, height, clear, keep_ == Keep::framebuffer);
  }
  if (!(magnified_.factor > 1)) return;
  if (keep_ == Keep::framebuffer) damage_.forget();
  if (!magnified_.painter)
    magnified_.painter = std::make_unique<render::Magnifier>(readAssetText("shaders/heatmap.vert"),
                                                             readAssetText("shaders/magnify.frag"));
  magnified_.painter->draw(width, height, magnified_.about.x, magnified_.about.y, magnified_.factor);
}

}  // namespace headscope::app
