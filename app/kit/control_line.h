#pragma once

#include <string>
#include <vector>

#include "app/widgets/field_controls.h"

namespace headscope::app {

/// Controls next to each other on a line: from its left end, or backwards from its right end. Lists are as
/// wide as what is chosen. Switches and words leave if they don't fit.
class ControlLine {
 public:
  enum class From { left, right };
  /// `gap`: between controls, in layout units.
  ControlLine(View& view, const ImRect& line, From from = From::left, float gap = 20)
      : view_(view), line_(line), from_(from), gap_(view.px(gap)) {}

  /// A list. Returns whether another entry was chosen.
  bool list(const std::string& name, std::span<const Choice> choices, int& chosen, const char* help = "");
  bool button(const std::string& name, const std::string& label, const std::string& disabledReason = "");
  void words(const std::string& text);

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

 private:
  View& view_;
  ImRect line_;  ///< what is left of it
  From from_;
  float gap_;

  ImVec2 take(float width);
  bool inBox(const std::string& name, ImVec2 at, float width, const std::function<bool()>& draw);
};

}  // namespace headscope::app
