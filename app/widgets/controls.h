#pragma once

#include "app/scene/fields.h"
#include "app/widgets/view.h"

namespace headscope::app {

// Controls of the side panels. Each spans the width of its ImGui window, is known to tests by `name`, and
// returns whether it changed its value. Hovering a disabled control shows why it is disabled; resting on an
// enabled control's label shows its help.

/// A small, letter-spaced heading with an optional faint note on the right.
void sectionTitle(const View& view, const std::string& title, const std::string& aside = "");
/// The same with a quiet button on the right. Returns whether it was pressed.
bool sectionTitle(View& view, const std::string& title, const std::string& name, const std::string& label);
/// Adds vertical space, in layout units.
void gap(const View& view, float units);
/// Shows a wrapped sentence in a secondary colour.
void hint(const View& view, const std::string& text);
/// Shows an error next to its cause: what was found and what was expected.
void problem(const View& view, const std::string& text);

struct Choice {
  std::string label;
  std::string disabledReason;  ///< "" = enabled
  std::string name;            ///< for tests
};

/// A row of buttons, exactly one of them chosen.
bool segmented(View& view, const std::string& name, std::span<const Choice> choices, int& chosen,
               const char* help = "");
/// A quiet label with a triangle that opens a list below it. Width 0 = as wide as needed.
bool dropdown(View& view, const std::string& name, std::span<const Choice> choices, int& chosen,
              float width = 0, const char* help = "");
/// A label with a switch on the right.
bool toggle(View& view, const std::string& name, const std::string& label, bool& value,
            const std::string& disabledReason = "", const char* help = "");
/// Paints only the switch of a toggle.
void paintSwitch(const View& view, const ImRect& area, bool on, std::uint32_t fill);
/// Call while a control's label is hovered. After kHelpDelay, shows its help and the glossary entry for
/// `term`.
void hoverHelp(View& view, const std::string& name, const char* help, std::string_view term = {});
/// Whether the wheel changes the last item, called `name`, instead of scrolling its panel: with Ctrl, or from
/// a click on the item until the pointer leaves it.
bool wheelTurns(View& view, const std::string& name);
/// A button as wide as its label.
bool button(View& view, const std::string& name, const std::string& label,
            const std::string& disabledReason = "", bool quiet = false);

struct SliderSpec {
  std::string name, label;
  std::string disabledReason;
  std::string limits;  ///< "1 to 64", shown while the value is hovered
  const char* help = "";
  /// For sliders over whole numbers: the scale, whatever values are legal; low == high spaces them evenly.
  Track track = {};
  const char* shown = "";      ///< replaces the value
  std::string limitedBy = {};  ///< why values within the limits are left out, shown while hovered; "" = none
};

/// A slider over the legal values `stops` (ascending, not empty). A typed number outside them is rejected if
/// there is no `refuse` or it returns a reason, which is shown below the slider. Arrow keys step while the
/// pointer hovers, the wheel when wheelTurns() allows it; a double click lets the user type.
bool slider(View& view, const SliderSpec& spec, std::span<const Index> stops, Index& value,
            const std::function<std::string(Index)>& refuse = {});
/// A slider over real numbers in `track`, or in all of `range` if the track is empty (low == high). Any
/// number in `range` may be typed.
bool slider(View& view, const SliderSpec& spec, const Range& range, Track track, float& value);

}  // namespace headscope::app
