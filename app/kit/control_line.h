#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/widgets/field_controls.h"
#include "app/widgets/heat_parts.h"

namespace headscope::app {

/// Controls and words next to each other on a line, as above or below a picture: from its left end, or
/// backwards from its right end. Lists are as wide as what is chosen. What can't be shortened leaves if it
/// doesn't fit.
class ControlLine {
 public:
  enum class From { left, right };
  /// `gap`: between controls, in layout units.
  ControlLine(View& view, const ImRect& line, From from = From::left, float gap = 20)
      : view_(view), line_(line), from_(from), gap_(view.px(gap)) {}

  /// A list. Returns whether another entry was chosen.
  bool list(const std::string& name, std::span<const Choice> choices, int& chosen, const char* help = "");
  bool button(const std::string& name, const std::string& label, const std::string& disabledReason = "");
  /// A button that requests an action.
  void action(const std::string& name, const std::string& label, const char* action);
  /// Whether a button with this label fits.
  bool fits(const std::string& label) const;
  void words(const std::string& text);
  /// Words that are shortened to the room that is left.
  void words(const std::string& text, std::uint32_t color, ImFont* font, const std::string& name = "");
  /// Buttons `units` wide in all, one for each value of an enumeration; on the right if `atEnd`. Returns
  /// whether another was chosen.
  template <class Value>
  bool segments(const std::string& name, std::span<const Choice> choices, Value& value, float units,
                const char* help = "", bool atEnd = false) {
    int chosen = static_cast<int>(value);
    const bool changed = part(
        name + ".box", units, [&] { segmented(view_, name, choices, chosen, help); }, atEnd);
    if (!changed || chosen == static_cast<int>(value)) return false;
    value = static_cast<Value>(chosen);
    return true;
  }
  /// Other controls in `units` of the line. Returns whether they fit.
  bool part(const std::string& name, float units, const std::function<void()>& controls, bool atEnd = false);
  void space(float units) { line_.Min.x += view_.px(units); }
  /// The room that is left, in pixels.
  float room() const { return line_.GetWidth(); }

  // The control of a field. Returns whether it changed the scene.

  bool list(Scene& scene, std::string_view path, const std::vector<std::string>& disabledReasons = {});
  /// Buttons in `width` layout units.
  bool buttons(Scene& scene, const std::string& path, float width);
  /// A switch, which leaves `rest` layout units for what follows.
  bool toggle(Scene& scene, const std::string& path, const std::string& disabledReason = "", float rest = 0);

  // At the other end, after all others.

  /// A slider in what is left, at most `most` layout units wide.
  bool lastSlider(Scene& scene, const std::string& path, float most);
  void lastWords(const std::string& text);
  /// What fits of a legend.
  void lastLegend(const FigureLegend& legend);

 private:
  View& view_;
  ImRect line_;  ///< what is left of it
  From from_;
  float gap_;

  ImVec2 take(float width, From from);
  ImVec2 take(float width) { return take(width, from_); }
  bool inBox(const std::string& name, ImVec2 at, float width, const std::function<bool()>& draw);
};

/// A line at the top of an area.
ControlLine toolLine(View& view, const ImRect& area);

/// Controls in an area that doesn't scroll.
void controlsIn(const char* name, const ImRect& area, const std::function<void()>& controls);

}  // namespace headscope::app
