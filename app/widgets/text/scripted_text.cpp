#include "app/widgets/text/scripted_text.h"

#include <algorithm>
#include <utility>

#include "app/widgets/text/rich_text.h"

namespace headscope::app {

namespace {

/// Characters on the same level: on the line (0), below (1) or above (−1).
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

FormulaNode formulaOf(std::string_view text) {
  using Kind = FormulaNode::Kind;
  FormulaNode all;
  while (!text.empty()) {
    const ScriptRun run = takeRun(text);
    FormulaNode words{Kind::symbol, std::string(run.text), {}};
    if (run.level == 0)
      all.children.push_back(std::move(words));
    else if (run.level > 0)
      all.children.push_back({Kind::scripts, "", {{}, std::move(words), {}}});
    else
      all.children.push_back({Kind::scripts, "", {{}, {}, std::move(words)}});
  }
  return all;
}

RichFonts fontsFor(const View& view, ImFont* font, std::uint32_t color) {
  const Fonts& fonts = *view.fonts;
  const bool mono = font == fonts.mono || font == fonts.monoSmall || font == fonts.monoTitle;
  ImFont* small = font == fonts.hero       ? fonts.text
                  : font == fonts.monoHero ? fonts.mono
                  : mono                   ? fonts.monoSmall
                                           : fonts.small;
  return {font, font, font, small, color};
}

}  // namespace

float scriptedWidth(const View& view, ImFont* font, std::string_view text) {
  return formulaSize(fontsFor(view, font, 0), formulaOf(text)).width;
}

float paintScripted(const View& view, Canvas list, ImFont* font, ImVec2 at, std::uint32_t color,
                    std::string_view text, Align align, float width) {
  const RichFonts fonts = fontsFor(view, font, color);
  const FormulaNode formula = formulaOf(text);
  const float whole = formulaSize(fonts, formula).width;
  if (whole > width) return paintText(list, font, at, color, fitted(font, text, width), align);
  if (align == Align::center) at.x -= whole / 2;
  if (align == Align::right) at.x -= whole;
  paintFormula(view, list, fonts, formula, at);
  return whole;
}

}  // namespace headscope::app
