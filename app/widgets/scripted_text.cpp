#include "app/widgets/scripted_text.h"

#include <algorithm>
#include <cmath>

#include "app/platform/ui_state.h"

namespace headscope::app {

namespace {

/// Some characters that stand alike: on the line (0), below (1) or above (−1).
struct ScriptRun {
  std::string_view text;
  int level = 0;
};

ScriptRun takeRun(std::string_view& text) {
  if (text.front() != '_' && text.front() != '^') {
    const ScriptRun run{text.substr(0, text.find_first_of("_^"))};
    text.remove_prefix(run.text.size());
    return run;
  }
  const int level = text.front() == '_' ? 1 : -1;
  text.remove_prefix(1);
  std::size_t end = 1;
  if (text.starts_with('{')) {
    text.remove_prefix(1);
    end = std::min(text.find('}'), text.size());
  } else {
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  }
  const ScriptRun run{text.substr(0, end), level};
  text.remove_prefix(run.text.size());
  if (text.starts_with('}')) text.remove_prefix(1);
  return run;
}

/// A typeface with its size: that of small text, which is as small as can be read, is set a little smaller
/// still.
struct ScriptFont {
  ImFont* font;
  float size;
};

ScriptFont scriptFont(const View& view, ImFont* font) {
  const Fonts& fonts = *view.fonts;
  ImFont* small = font == fonts.hero                                                         ? fonts.text
                  : font == fonts.monoHero                                                   ? fonts.mono
                  : font == fonts.mono || font == fonts.monoSmall || font == fonts.monoTitle ? fonts.monoSmall
                                                                                             : fonts.small;
  return {small, std::min(lineHeight(small), 0.85f * lineHeight(font))};
}

float runWidth(const View& view, ImFont* font, const ScriptRun& run) {
  if (run.level == 0) return textWidth(font, run.text);
  const ScriptFont script = scriptFont(view, font);
  return textWidth(script.font, run.text) * script.size / lineHeight(script.font);
}

}  // namespace

float scriptedWidth(const View& view, ImFont* font, std::string_view text) {
  float width = 0;
  while (!text.empty()) width += runWidth(view, font, takeRun(text));
  return width;
}

float paintScripted(const View& view, ImDrawList& list, ImFont* font, ImVec2 at, std::uint32_t color,
                    std::string_view text, Align align, float width) {
  const float whole = scriptedWidth(view, font, text);
  if (whole > width) return paintText(list, font, at, color, fitted(font, text, width), align);
  if (align == Align::center) at.x -= whole / 2;
  if (align == Align::right) at.x -= whole;
  const ScriptFont script = scriptFont(view, font);
  for (float x = at.x; !text.empty();) {
    const ScriptRun run = takeRun(text);
    if (run.level == 0) {
      paintText(list, font, ImVec2(x, at.y), color, run.text);
    } else if (!uiState().hidesTexts) {
      const float y = at.y + lineHeight(font) * (run.level > 0 ? 0.24f : -0.26f) - script.size / 2;
      list.AddText(script.font, script.size, ImVec2(std::round(x), std::round(y)), color, run.text.data(),
                   run.text.data() + run.text.size());
    }
    x += runWidth(view, font, run);
  }
  return whole;
}

}  // namespace headscope::app
