#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/scene/field.h"
#include "app/widgets/view.h"

namespace headscope::app {

// The controls of the side panels. Each takes the full width of its ImGui window, is known to tests by
// `name`, and returns whether it changed its value. A disabled control has a reason, shown while hovered;
// others have help, shown when the pointer rests on the label.

/// A small spaced heading with an optional quiet word on the right.
void sectionTitle(const View& view, const std::string& title, const std::string& aside = "");
/// The same with a quiet button at the right; whether that was pressed.
bool sectionTitle(View& view, const std::string& title, const std::string& name, const std::string& label);
/// Vertical space in layout units.
void gap(const View& view, float units);
/// A quiet sentence, wrapped.
void hint(const View& view, const std::string& text);
/// A sentence beside its cause: what was found and what was expected.
void problem(const View& view, const std::string& text);

struct Choice {
  std::string label;
  std::string disabledReason;  ///< "" = can be chosen
  std::string name;            ///< for tests
};

/// Buttons side by side, one of them chosen.
bool segmented(View& view, const std::string& name, std::span<const Choice> choices, int& chosen,
               const char* help = "");
/// A quiet word with a triangle that opens a list below it; takes only the width it needs.
bool dropdown(View& view, const std::string& name, std::span<const Choice> choices, int& chosen,
              float width = 0, const char* help = "");
/// A label with a switch at the right.
bool toggle(View& view, const std::string& name, const std::string& label, bool& value,
            const std::string& disabledReason = "", const char* help = "");
/// Called while the label of a control is pointed at: shows its help, and what the glossary says of `term`,
/// once the pointer has rested there for kHelpDelay.
void restingHelp(View& view, const std::string& name, const char* help, std::string_view term = {});
/// Whether the wheel turns the last item, which is called `name`, in place of scrolling its panel: once it
/// was clicked, until the pointer leaves it, or with Ctrl.
bool wheelTurns(View& view, const std::string& name);
/// A button as wide as its label.
bool button(View& view, const std::string& name, const std::string& label,
            const std::string& disabledReason = "", bool quiet = false);

struct SliderSpec {
  std::string name, label;
  std::string disabledReason;
  std::string limits;  ///< "1 to 64", shown while its value is hovered
  const char* help = "";
  /// Of sliders over whole numbers: keeps its scale whatever the legal values are; low == high: they lie side
  /// by side.
  Track track = {};
  const char* shown = "";  ///< in place of the value
};

/// A slider over the legal values `stops` (ascending, not empty). A typed value that is not one of them and
/// for which `refuse` gives a reason is not taken; the reason is shown under the slider.
/// The arrow keys step while the pointer hovers, the wheel where wheelTurns() says so; a double click types.
bool slider(View& view, const SliderSpec& spec, std::span<const Index> stops, Index& value,
            const std::function<std::string(Index)>& refuse = {});
/// A slider over real numbers: over `track`, where low == high over all of `range`. What is typed may be
/// anything in `range`.
bool slider(View& view, const SliderSpec& spec, const Range& range, Track track, float& value);

}  // namespace headscope::app
