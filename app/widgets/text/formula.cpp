
#include "app/widgets/text/rich_text.h"

namespace headscope::app {

using Kind = FormulaNode::Kind;

namespace {

/// Drops the spaces around signs in scripts and limits, where there is too little space.
std::string_view symbolText(const FormulaNode& node, int level) {
  const std::string_view text = node.text;
  const bool spaced = text.size() > 2 && text.front() == ' ' && text.back() == ' ';
  return level > 0 && spaced ? text.substr(1, text.size() - 2) : text;
}

/// Measures and draws with one recursion each, so that both agree. Positions refer to the line's middle.
class FormulaPainter {
 public:
  FormulaPainter(const RichFonts& fonts, Canvas* list) : fonts_(fonts), list_(list) {}

  FormulaSize size(const FormulaNode& node, int level) const {
    const float line = lineHeight(font(level));
    switch (node.kind) {
      case Kind::row:
        return rowSize(node, level);
      case Kind::symbol:
        return {textWidth(font(level), symbolText(node, level)), line / 2, line / 2};
      case Kind::fraction: {
        const FormulaSize above = size(node.children[0], level), below = size(node.children[1], level);
        return {std::max(above.width, below.width) + line * 0.5f, above.up + above.down + line * 0.08f,
                below.up + below.down + line * 0.08f};
      }
      case Kind::root: {
        const FormulaSize inside = size(node.children[0], level);
        return {inside.width + textWidth(font(level), "√") + line * 0.08f, inside.up + line * 0.1f,
                inside.down};
      }
      case Kind::scripts: {
        const FormulaSize base = size(node.children[0], level);
        const FormulaSize below = size(node.children[1], level + 1),
                          above = size(node.children[2], level + 1);
        return {base.width + std::max(below.width, above.width),
                above.width > 0 ? std::max(base.up, shift(level) + above.up) : base.up,
                below.width > 0 ? std::max(base.down, shift(level) + below.down) : base.down};
      }
      case Kind::sum: {
        const FormulaSize below = size(node.children[0], level + 1),
                          above = size(node.children[1], level + 1);
        const float sign = textWidth(font(level), node.text);
        return {std::max({sign, below.width, above.width}) + line * 0.2f,
                line / 2 + (above.width > 0 ? (above.up + above.down) * 0.8f : 0),
                line / 2 + (below.width > 0 ? (below.up + below.down) * 0.8f : 0)};
      }
    }
    return {};
  }

  void draw(const FormulaNode& node, ImVec2 at, int level) const {
    const float line = lineHeight(font(level));
    const FormulaSize all = size(node, level);
    switch (node.kind) {
      case Kind::row: {
        float x = at.x;
        for (const FormulaNode& child : node.children) {
          draw(child, ImVec2(x, at.y), level);
          x += size(child, level).width;
        }
        break;
      }
      case Kind::symbol:
        paintText(*list_, font(level), at, fonts_.color, symbolText(node, level));
        break;
      case Kind::fraction:
        drawFraction(node, at, level, all);
        break;
      case Kind::root: {
        // Drawn, as a font's sign has one height and doesn't meet the bar.
        const float sign = textWidth(font(level), "√"), top = at.y - all.up + line * 0.14f;
        const ImVec2 strokes[] = {ImVec2(at.x + sign * 0.12f, at.y + line * 0.06f),
                                  ImVec2(at.x + sign * 0.3f, at.y - line * 0.02f),
                                  ImVec2(at.x + sign * 0.56f, at.y + all.down - line * 0.14f),
                                  ImVec2(at.x + sign * 0.94f, top), ImVec2(at.x + all.width, top)};
        list_->AddPolyline(strokes, std::size(strokes), fonts_.color, 0, thickness());
        draw(node.children[0], ImVec2(at.x + sign, at.y), level);
        break;
      }
      case Kind::scripts: {
        draw(node.children[0], at, level);
        const float x = at.x + size(node.children[0], level).width;
        draw(node.children[1], ImVec2(x, at.y + shift(level)), level + 1);
        draw(node.children[2], ImVec2(x, at.y - shift(level)), level + 1);
        break;
      }
      case Kind::sum:
        drawSum(node, at, level, all);
        break;
    }
  }

 private:
  ImFont* font(int level) const { return level == 0 ? fonts_.plain : fonts_.small; }
  float shift(int level) const { return lineHeight(font(level)) * (level == 0 ? 0.32f : 0.36f); }
  float thickness() const { return std::max(1.0f, lineHeight(fonts_.plain) / 18); }

  FormulaSize rowSize(const FormulaNode& node, int level) const {
    const float half = node.empty() ? 0 : lineHeight(font(level)) / 2;
    FormulaSize all{0, half, half};
    for (const FormulaNode& child : node.children) {
      const FormulaSize each = size(child, level);
      all = {all.width + each.width, std::max(all.up, each.up), std::max(all.down, each.down)};
    }
    return all;
  }

  void drawFraction(const FormulaNode& node, ImVec2 at, int level, const FormulaSize& all) const {
    const float line = lineHeight(font(level)), gap = line * 0.08f;
    const FormulaSize above = size(node.children[0], level), below = size(node.children[1], level);
    list_->AddLine(ImVec2(at.x + line * 0.1f, at.y), ImVec2(at.x + all.width - line * 0.1f, at.y),
                   fonts_.color, thickness());
    draw(node.children[0], ImVec2(at.x + (all.width - above.width) / 2, at.y - gap - above.down), level);
    draw(node.children[1], ImVec2(at.x + (all.width - below.width) / 2, at.y + gap + below.up), level);
  }

  void drawSum(const FormulaNode& node, ImVec2 at, int level, const FormulaSize& all) const {
    const float line = lineHeight(font(level)), room = all.width - line * 0.2f;
    const float sign = textWidth(font(level), node.text);
    paintText(*list_, font(level), ImVec2(at.x + (room - sign) / 2, at.y), fonts_.color, node.text);
    const FormulaSize below = size(node.children[0], level + 1), above = size(node.children[1], level + 1);
    draw(node.children[0], ImVec2(at.x + (room - below.width) / 2, at.y + all.down - below.down), level + 1);
    draw(node.children[1], ImVec2(at.x + (room - above.width) / 2, at.y - all.up + above.up), level + 1);
  }

  const RichFonts& fonts_;
  Canvas* list_;
};

}  // namespace

RichFonts richFonts(const View& view, std::uint32_t color) {
  const Fonts& fonts = *view.fonts;
  return {fonts.text, fonts.bold, fonts.mono, fonts.script, color ? color : view.theme->text};
}

FormulaSize formulaSize(const RichFonts& fonts, const FormulaNode& formula) {
  return FormulaPainter(fonts, nullptr).size(formula, 0);
}

void paintFormula(const View&, Canvas list, const RichFonts& fonts, const FormulaNode& formula,
                  ImVec2 leftMiddle) {
  FormulaPainter(fonts, &list).draw(formula, leftMiddle, 0);
}

}  // namespace headscope::app
