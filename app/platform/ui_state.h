#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/platform/frame_recorder.h"
#include "app/platform/imgui_compat.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/token_places.h"
#include "app/platform/typesetter.h"

namespace headscope::app {

/// A line of text as it was drawn.
struct DrawnText {
  std::string text;
  ImRect area, clip;  ///< where it lies, and what of that is seen
  std::uint32_t color = 0;
  bool reached = false;     ///< what is cut off of it can be scrolled to
  bool foreground = false;  ///< over everything else: a tooltip
  float height = 0;         ///< of its letters' line, in pixels
};

/// What of a mark is seen, see platform/marks.h.
struct DrawnMark {
  std::string name;
  ImRect area;
};

/// What is seen of a tracked rectangle.
struct TrackClip {
  ImRect seen;
  ImRect reachable;  ///< what can be scrolled to, too
};

/// What belongs to one Dear ImGui context beside what that keeps itself. A Ui owns it; on its thread alone.
struct UiState {
  std::map<std::string, ImRect> tracks;  ///< see platform/track.h
  std::map<std::string, TokenPlaces> tokens;
  Typesetter typesetter;
  FrameRecorder* recorder = nullptr;  ///< of the frame that is drawn; null where it isn't recorded
  KeyboardFocus focus;

  // For tests:
  bool watches = false;                    ///< keeps what follows
  bool hidesTexts = false;                 ///< draws no text, so that what it stands on can be seen
  bool hidesMarks = false;                 ///< and no mark
  std::vector<DrawnText> texts;            ///< of the last frame
  std::vector<DrawnMark> marks;            ///< of the last frame
  std::map<std::string, TrackClip> clips;  ///< of what is tracked
};

/// That of the current context, which has to be a Ui's.
inline UiState& uiState() {
  return *static_cast<UiState*>(ImGui::GetIO().UserData);
}

}  // namespace headscope::app
