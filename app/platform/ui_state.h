#pragma once

#include <set>

#include "app/platform/fonts.h"
#include "app/platform/frame_recorder.h"
#include "app/platform/imgui_compat.h"
#include "app/platform/keyboard_focus.h"

namespace headscope::app {

/// A line of text, as drawn.
struct DrawnText {
  std::string text;
  ImRect area, clip;  ///< the whole line, and the clip rectangle
  std::uint32_t color = 0;
  bool reached = false;     ///< the part cut off can be scrolled into view
  bool foreground = false;  ///< on top of everything else, such as a tooltip
  float height = 0;         ///< of the line, in pixels
  const ImFont* font = nullptr;
};

/// A picture, and the part of the window that shows it.
struct DrawnPicture {
  ImRect area, clip;
};

/// The visible part of a mark; see platform/canvas.h.
struct DrawnMark {
  std::string name;
  ImRect area;
};

/// The visible part of a tracked rectangle.
struct TrackClip {
  ImRect seen;
  ImRect reachable;  ///< including what can be scrolled into view
};

/// Additional state of one Dear ImGui context. Owned by a Ui; use it on that thread only.
struct UiState {
  std::map<std::string, ImRect> tracks;  ///< see platform/track.h
  std::map<std::string, TokenPlaces> tokens;
  Typesetter typesetter;
  FrameRecorder* recorder = nullptr;  ///< for the current frame; null if it isn't recorded
  KeyboardFocus focus;
  std::set<std::string> unfolded;  ///< the sections that the person opened, by title

  // For tests:
  bool unfolds = false;                    ///< opens all sections
  bool watches = false;                    ///< records the members below
  bool hidesTexts = false;                 ///< draws no text, to reveal its background
  bool hidesMarks = false;                 ///< likewise for marks
  std::vector<DrawnText> texts;            ///< of the last frame
  std::vector<DrawnMark> marks;            ///< of the last frame
  std::vector<DrawnPicture> pictures;      ///< what a page is about, as drawn in the last frame
  std::set<int> scales, legends;           ///< its colormaps in the last frame: of cells, and explained
  std::map<std::string, TrackClip> clips;  ///< by tracked name
};

/// Returns the state of the current context, which must belong to a Ui.
inline UiState& uiState() {
  return *static_cast<UiState*>(ImGui::GetIO().UserData);
}

/// Records a picture that a page is about, and the number of its cells' colormap; −1 = none.
inline void notePicture(const ImRect& area, int colormap = -1) {
  UiState& state = uiState();
  if (!state.watches) return;
  state.pictures.push_back({area, ImGui::GetCurrentWindowRead()->ClipRect});
  if (colormap >= 0) state.scales.insert(colormap);
}

}  // namespace headscope::app
