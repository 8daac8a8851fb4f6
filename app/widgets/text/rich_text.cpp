#include "app/widgets/text/rich_text.h"

#include "app/platform/track.h"
#include "app/scene/text/manual.h"

namespace headscope::app {

using SpanKind = RichSpan::Kind;

namespace {

/// A word, formula or mark. Lines break only between pieces.
struct Piece {
  const RichSpan* span;
  std::string_view text;
  FormulaSize size;
  bool spaceBefore = false;
};

float markWidth(const View& view) {
  return view.px(24);
}

/// Whether the piece is a sign that must not end a line.
bool leads(const Piece& piece) {
  constexpr std::string_view kSigns[] = {"=", "≈", "≠", "<", ">", "≤", "≥", "+", "−", "×", "÷"};
  return piece.span->kind != SpanKind::mark &&
         std::find(std::begin(kSigns), std::end(kSigns), piece.text) != std::end(kSigns);
}

class RichPainter {
 public:
  RichPainter(const View& view, Canvas* list, const RichFonts& fonts, std::vector<LinkArea>* links)
      : view_(view), list_(list), fonts_(fonts), links_(links) {}

  float paragraph(const std::vector<RichSpan>& spans, ImVec2 at, float width) {
    std::vector<Piece> line;
    float used = 0, height = 0;
    // Keeps pieces without a space between them on one line, and a sign with what follows.
    const std::vector<Piece> all = pieces(spans);
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i + 1;
      while (end < all.size() && (!all[end].spaceBefore || leads(all[end - 1]))) ++end;
      float word = all[i].size.width;
      for (std::size_t k = i + 1; k < end; ++k)
        word += all[k].size.width + (all[k].spaceBefore ? spaceWidth() : 0);
      const float space = line.empty() || !all[i].spaceBefore ? 0 : spaceWidth();
      if (!line.empty() && used + space + word > width) {
        height += paintLine(line, ImVec2(at.x, at.y + height));
        line.clear();
        used = 0;
      } else {
        used += space;
      }
      line.insert(line.end(), all.begin() + static_cast<std::ptrdiff_t>(i),
                  all.begin() + static_cast<std::ptrdiff_t>(end));
      used += word;
      i = end;
    }
    if (!line.empty()) height += paintLine(line, ImVec2(at.x, at.y + height));
    return height;
  }

 private:
  float spaceWidth() const { return textWidth(fonts_.plain, " "); }

  ImFont* font(SpanKind kind) const {
    const bool plain = kind == SpanKind::plain || kind == SpanKind::link;
    return kind == SpanKind::code ? fonts_.code : plain ? fonts_.plain : fonts_.bold;
  }

  std::uint32_t color(SpanKind kind) const {
    const Theme& theme = *view_.theme;
    const std::uint32_t hue = kind == SpanKind::query                           ? theme.query
                              : kind == SpanKind::key || kind == SpanKind::link ? theme.key
                              : kind == SpanKind::value                         ? theme.value
                                                                                : fonts_.color;
    return theme.light && hue != fonts_.color ? mixed(hue, theme.text, 0.45f) : hue;
  }

  std::vector<Piece> pieces(const std::vector<RichSpan>& spans) const {
    std::vector<Piece> all;
    bool space = false;
    for (const RichSpan& span : spans) {
      if (span.kind == SpanKind::formula || span.kind == SpanKind::mark) {
        const float half = lineHeight(fonts_.plain) / 2;
        const FormulaSize size =
            span.formula ? formulaSize(fonts_, *span.formula) : FormulaSize{markWidth(view_), half, half};
        all.push_back({&span, span.text, size, space});
        space = false;
        continue;
      }
      ImFont* with = font(span.kind);
      const std::string_view text = span.text;
      for (std::size_t at = 0; at < text.size();) {
        if (text[at] == ' ') {
          space = true;
          ++at;
          continue;
        }
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        const float half = lineHeight(fonts_.plain) / 2;
        // Moves a comma closer to a mark.
        if (!space && !all.empty() && all.back().span->kind == SpanKind::mark)
          all.back().size.width -= view_.px(3);
        all.push_back({&span, word, {textWidth(with, word), half, half}, space});
        space = false;
        at = end;
      }
    }
    return all;
  }

  float paintLine(const std::vector<Piece>& line, ImVec2 at) {
    float up = 0, down = 0;
    for (const Piece& piece : line) {
      up = std::max(up, piece.size.up);
      down = std::max(down, piece.size.down);
    }
    const float lead = lineHeight(fonts_.plain) * 0.2f;
    if (list_) {
      float x = at.x;
      const float y = at.y + up + lead / 2;
      for (std::size_t i = 0; i < line.size(); ++i) {
        if (i > 0 && line[i].spaceBefore) x += spaceWidth();
        paintPiece(line[i], ImVec2(x, y));
        x += line[i].size.width;
      }
    }
    return up + down + lead;
  }

  void paintPiece(const Piece& piece, ImVec2 at) {
    const RichSpan& span = *piece.span;
    if (span.kind == SpanKind::formula) {
      paintFormula(view_, *list_, fonts_, *span.formula, at);
    } else if (span.kind == SpanKind::mark) {
      paintMark(view_, *list_, ImVec2(at.x + markWidth(view_) / 2, at.y), span.text);
    } else {
      paintText(*list_, font(span.kind), at, color(span.kind), piece.text);
    }
    if ((span.kind != SpanKind::link && span.kind != SpanKind::bold) || !links_) return;
    const float half = lineHeight(fonts_.plain) / 2;
    links_->push_back(
        {ImRect(at.x, at.y - half, at.x + piece.size.width, at.y + half), span.target, span.text});
  }

  const View& view_;
  Canvas* list_;
  const RichFonts& fonts_;
  std::vector<LinkArea>* links_;
};

}  // namespace

void explainTerms(const View& view, Canvas list, const std::vector<LinkArea>& links) {
  if (!view.glossary) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (const LinkArea& link : links) {
    const Term* const term = link.target.empty() ? view.glossary->find(link.words) : nullptr;
    if (!term) continue;
    const float y = link.area.Max.y - view.px(1);
    for (float x = link.area.Min.x; x < link.area.Max.x; x += view.px(5))
      list.AddLine(ImVec2(x, y), ImVec2(std::min(x + view.px(2), link.area.Max.x), y), view.theme->secondary,
                   view.px(1));
    track("term." + term->name, link.area.Min, link.area.Max);
    if (ImGui::IsWindowHovered() && link.area.Contains(mouse))
      tooltip(view, term->name + ": " + term->explained());
  }
}

float paintRichText(const View& view, Canvas* list, const RichFonts& fonts, const RichText& text, ImVec2 at,
                    float width, std::vector<LinkArea>* links) {
  RichPainter painter(view, list, fonts, links);
  float height = 0;
  for (const auto& paragraph : text) {
    if (height > 0) height += lineHeight(fonts.plain) * 0.45f;
    height += painter.paragraph(paragraph, ImVec2(at.x, at.y + height), width);
  }
  return height;
}

void paintMark(const View& view, Canvas list, ImVec2 center, std::string_view number) {
  // A dark ring around a light disc is visible on any background.
  list.AddCircleFilled(center, view.px(11), 0xFF1A1411, 24);
  list.AddCircleFilled(center, view.px(9.5f), 0xFFFAF6F4, 24);
  paintText(list, view.fonts->smallBold, center, 0xFF1A1411, number, Align::center);
}

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
                                           : fonts.script;
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
