#pragma once

// The only place that depends on the version of Dear ImGui. Debian 12 has 1.86; newer versions also work,
// except 1.92.0. Everything else includes this header instead of imgui.h.

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>
#include <imgui_freetype.h>
#include <imgui_internal.h>

#include <cmath>

#include "app/platform/input_queue.h"

namespace headscope::app {
void noteTabStop();  // from keyboard_focus.h, which includes this header
}

namespace headscope::app::compat {

/// A safe ImGui::InvisibleButton, at least one pixel each way: Dear ImGui ends the program at a size of 0 and
/// keeps a size of NaN. Tab reaches the button.
inline bool invisibleButton(const char* id, ImVec2 size, ImGuiButtonFlags flags = 0) {
  const bool pressed =
      ImGui::InvisibleButton(id, ImVec2(size.x >= 1 ? size.x : 1, size.y >= 1 ? size.y : 1), flags);
  noteTabStop();
  return pressed;
}
/// Scrolls the window and its parents so that the area is visible.
inline void scrollTo(ImGuiWindow* window, const ImRect& area) {
  ImGui::ScrollToRect(window, area, ImGuiScrollFlags_KeepVisibleCenterY | ImGuiScrollFlags_KeepVisibleEdgeX);
}

/// Returns ImGui's name for one of our keys; -1 if ImGui has no use for it.
inline int imguiKey(Key key) {
  switch (key) {
    case Key::tab:
      return ImGuiKey_Tab;
    case Key::left:
      return ImGuiKey_LeftArrow;
    case Key::right:
      return ImGuiKey_RightArrow;
    case Key::up:
      return ImGuiKey_UpArrow;
    case Key::down:
      return ImGuiKey_DownArrow;
    case Key::pageUp:
      return ImGuiKey_PageUp;
    case Key::pageDown:
      return ImGuiKey_PageDown;
    case Key::home:
      return ImGuiKey_Home;
    case Key::end:
      return ImGuiKey_End;
    case Key::insert:
      return ImGuiKey_Insert;
    case Key::del:
      return ImGuiKey_Delete;
    case Key::backspace:
      return ImGuiKey_Backspace;
    case Key::space:
      return ImGuiKey_Space;
    case Key::enter:
      return ImGuiKey_Enter;
    case Key::escape:
      return ImGuiKey_Escape;
    case Key::a:
      return ImGuiKey_A;
    case Key::c:
      return ImGuiKey_C;
    case Key::v:
      return ImGuiKey_V;
    case Key::x:
      return ImGuiKey_X;
    case Key::y:
      return ImGuiKey_Y;
    case Key::z:
      return ImGuiKey_Z;
    default:
      return -1;
  }
}

/// Call before a window ends. Newer versions extend the window to a cursor position only if an item follows
/// it.
inline void settleCursor() {
#if IMGUI_VERSION_NUM >= 18900
  if (ImGui::GetCurrentWindow()->DC.IsSetPos) ImGui::Dummy(ImVec2(0, 0));
#endif
}
inline void endChild() {
  settleCursor();
  ImGui::EndChild();
}
inline void endPopup() {
  settleCursor();
  ImGui::EndPopup();
}
inline void end() {
  settleCursor();
  ImGui::End();
}

#if IMGUI_VERSION_NUM < 18900
inline void setUpKeys(ImGuiIO& io) {
  for (int code = 0; code < kKeyCount; ++code)
    if (const int key = imguiKey(static_cast<Key>(code)); key >= 0) io.KeyMap[key] = code;
}
inline void feedMouse(ImGuiIO& io, float x, float y) {
  io.MousePos = ImVec2(x, y);
}
inline void feedButton(ImGuiIO& io, int button, bool down) {
  io.MouseDown[button] = down;
}
inline void feedWheel(ImGuiIO& io, float x, float y) {
  io.MouseWheelH += x;
  io.MouseWheel += y;
}
inline void feedMods(ImGuiIO& io, Mods mods) {
  io.KeyCtrl = mods.ctrl;
  io.KeyShift = mods.shift;
  io.KeyAlt = mods.alt;
  io.KeySuper = mods.super;
}
inline void feedKey(ImGuiIO& io, Key key, bool down) {
  io.KeysDown[static_cast<int>(key)] = down;
}
inline void releaseAll(ImGuiIO& io) {
  for (bool& down : io.KeysDown) down = false;
  for (bool& down : io.MouseDown) down = false;
  feedMods(io, {});
}
#else
inline void setUpKeys(ImGuiIO& io) {
  io.ConfigInputTrickleEventQueue = false;
}
inline void feedMouse(ImGuiIO& io, float x, float y) {
  io.AddMousePosEvent(x, y);
}
inline void feedButton(ImGuiIO& io, int button, bool down) {
  io.AddMouseButtonEvent(button, down);
}
inline void feedWheel(ImGuiIO& io, float x, float y) {
  io.AddMouseWheelEvent(x, y);
}
inline void feedMods(ImGuiIO& io, Mods mods) {
  io.AddKeyEvent(ImGuiMod_Ctrl, mods.ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, mods.shift);
  io.AddKeyEvent(ImGuiMod_Alt, mods.alt);
  io.AddKeyEvent(ImGuiMod_Super, mods.super);
}
inline void feedKey(ImGuiIO& io, Key key, bool down) {
  if (const int named = imguiKey(key); named > 0) io.AddKeyEvent(static_cast<ImGuiKey>(named), down);
}
inline void releaseAll(ImGuiIO& io) {
  io.ClearInputKeys();
#if IMGUI_VERSION_NUM >= 19090
  io.ClearInputMouse();
#endif
}
#endif

inline void useFreeType(ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM < 19200
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
#else
  atlas.SetFontLoader(ImGuiFreeType::GetFontLoader());
#endif
}

/// Adds a font to the atlas, which then points into `bytes`. By default, ImGui would copy them for every
/// size.
inline ImFont* addFont(ImFontAtlas& atlas, const void* bytes, std::size_t size, float pixels,
                       ImFontConfig config, const ImWchar* ranges) {
  config.FontDataOwnedByAtlas = true;
  ImFont* const font =
      atlas.AddFontFromMemoryTTF(const_cast<void*>(bytes), static_cast<int>(size), pixels, &config, ranges);
#if IMGUI_VERSION_NUM < 19200
  atlas.ConfigData.back().FontDataOwnedByAtlas = false;  // so that the atlas doesn't free it
#else
  atlas.Sources.back()->FontDataOwnedByAtlas = false;
#endif
  return font;
}

/// Whether an atlas can be built on another thread while a context is created with it.
inline constexpr bool kBuildsAtlasAhead = IMGUI_VERSION_NUM < 19200;
/// Before 1.92, builds the whole atlas; newer versions render glyphs when they are first drawn.
inline void buildAtlas(ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM < 19200
  atlas.Build();
#else
  (void)atlas;
#endif
}

/// Uploads the rebuilt atlas to the GPU; newer versions do so themselves.
inline void refreshFontTexture() {
#if IMGUI_VERSION_NUM < 19200
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

/// Whether the atlas has glyphs of any size. Before 1.92, one of more than 65,536 pixels ends the program,
/// and all have to fit into one texture.
inline constexpr bool kAtlasTakesAnySize = IMGUI_VERSION_NUM >= 19200;
/// Draws the font that many times as large as it is in the atlas.
inline void enlarge(ImFont* font, float factor) {
#if IMGUI_VERSION_NUM < 19200
  font->Scale = factor;
#else
  (void)font;
  (void)factor;
#endif
}
/// Returns the height of the atlas in pixels; 0 if it grows by itself.
inline int atlasHeight(const ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM < 19200
  return atlas.TexHeight;
#else
  (void)atlas;
  return 0;
#endif
}

inline float sizeOf(const ImFont* font) {
#if IMGUI_VERSION_NUM < 19200
  return font->FontSize * font->Scale;
#else
  return font->LegacySize;
#endif
}

/// Whether the atlas has the character. Also true for Latin characters that no font has; they are drawn as a
/// replacement.
inline bool hasGlyph(const ImFont* font, std::uint32_t code) {
  if (code < 0x180) return true;
  if (code > 0xFFFF) return false;
#if IMGUI_VERSION_NUM < 19200
  return font->FindGlyphNoFallback(static_cast<ImWchar>(code)) != nullptr;
#else
  return const_cast<ImFont*>(font)->IsGlyphInFont(static_cast<ImWchar>(code));
#endif
}

/// Returns the distance from the top of the line to the baseline.
inline float ascentOf(const ImFont* font) {
#if IMGUI_VERSION_NUM < 19200
  return font->Ascent * font->Scale;
#else
  return const_cast<ImFont*>(font)->GetFontBaked(font->LegacySize)->Ascent;
#endif
}

inline ImTextureID textureId(unsigned texture) {
#if IMGUI_VERSION_NUM < 19140
  return reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(texture));
#else
  return static_cast<ImTextureID>(texture);
#endif
}

/// Returns the OpenGL name of the texture.
inline unsigned textureName(ImTextureID texture) {
#if IMGUI_VERSION_NUM < 19140
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(texture));
#else
  return static_cast<unsigned>(texture);
#endif
}

/// Whether the texture is the font atlas, unchanged since the last frame. Newer versions add glyphs as they
/// run.
inline bool isSettledAtlas(ImTextureID texture) {
#if IMGUI_VERSION_NUM < 19200
  return texture == ImGui::GetIO().Fonts->TexID;
#else
  const ImTextureData* const atlas = ImGui::GetIO().Fonts->TexData;
  return atlas && texture == atlas->TexID && atlas->Status == ImTextureStatus_OK;
#endif
}

inline void pushFont(ImFont* font) {
#if IMGUI_VERSION_NUM < 19200
  ImGui::PushFont(font);
#else
  ImGui::PushFont(font, font->LegacySize);
#endif
}

inline bool itemHoverable(const ImRect& area, ImGuiID id) {
#if IMGUI_VERSION_NUM < 18970
  return ImGui::ItemHoverable(area, id);
#else
  return ImGui::ItemHoverable(area, id, ImGui::GetItemFlags());
#endif
}

/// Directs the text typed in this frame and the next to the active item.
inline void wantTextInput() {
  ImGuiContext& context = *ImGui::GetCurrentContext();
  context.WantTextInputNextFrame = 1;
  context.ActiveIdAllowOverlap = !ImGui::GetIO().MouseDown[0];
}

/// Makes the last item take the mouse wheel while hovered, instead of scrolling its window.
inline void claimWheel() {
#if IMGUI_VERSION_NUM < 18900
  ImGui::SetItemUsingMouseWheel();
#else
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
#endif
}

using GetClipboard = const char* (*)(void* user);
using SetClipboard = void (*)(void* user, const char* text);

/// Connects the window system's clipboard. Both functions are called with `user`. Newer versions keep them in
/// the platform interface and pass the ImGui context instead.
template <GetClipboard get, SetClipboard set>
void useClipboard(void* user) {
#if IMGUI_VERSION_NUM < 19110
  ImGuiIO& io = ImGui::GetIO();
  io.GetClipboardTextFn = get;
  io.SetClipboardTextFn = set;
  io.ClipboardUserData = user;
#else
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_GetClipboardTextFn = [](ImGuiContext*) {
    return get(ImGui::GetPlatformIO().Platform_ClipboardUserData);
  };
  platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) {
    set(ImGui::GetPlatformIO().Platform_ClipboardUserData, text);
  };
  platform.Platform_ClipboardUserData = user;
#endif
}

/// Makes ImGui's renderer restore its state after a draw callback.
inline void addResetRenderState(ImDrawList& list) {
#if IMGUI_VERSION_NUM < 19280
  list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
#else
  list.AddCallback(ImGui::GetPlatformIO().DrawCallback_ResetRenderState, nullptr);
#endif
}

/// Whether the point is usable as a position on or near the screen: not NaN, infinite or so far away that it
/// overflows Dear ImGui's integers.
inline bool isPlace(ImVec2 at) {
  constexpr float kFarthest = 1e7f;
  return std::abs(at.x) <= kFarthest && std::abs(at.y) <= kFarthest;
}

/// Newer versions swapped the last two arguments of AddRect, which compiles without a warning.
inline void addRect(ImDrawList& list, ImVec2 from, ImVec2 to, ImU32 color, float rounding, float thickness) {
#if IMGUI_VERSION_NUM < 19280
  list.AddRect(from, to, color, rounding, 0, thickness);
#else
  list.AddRect(from, to, color, rounding, thickness, 0);
#endif
}

/// Returns the end of the first line when text is wrapped at `wrap` pixels.
inline const char* lineEnd(ImFont* font, const char* begin, const char* end, float wrap) {
#if IMGUI_VERSION_NUM < 19200
  return font->CalcWordWrapPositionA(font->Scale, begin, end, wrap);
#else
  return font->CalcWordWrapPosition(font->LegacySize, begin, end, wrap);
#endif
}

}  // namespace headscope::app::compat
