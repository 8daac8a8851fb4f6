#include "app/widgets/text/draw_text.h"

#include <algorithm>

#include "app/platform/track.h"
#include "app/platform/ui_state.h"

namespace headscope::app {

namespace {
const char* begin(std::string_view text) {
  return text.data();
}
const char* end(std::string_view text) {
  return text.data() + text.size();
}

/// The part of a text's width left of the point it is aligned to.
float anchorOf(Align align) {
  return align == Align::left ? 0 : align == Align::center ? 0.5f : 1;
}

Typesetter& typesetter() {
  return uiState().typesetter;
}

template <typename Visit>
void eachLine(std::string_view text, Visit visit) {
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    visit(text.substr(from, end - from));
    from = end + 1;
  }
}

/// `wrap` is the width at which Dear ImGui wraps plain text; 0 = never.
ImVec2 sizeOfText(ImFont* font, std::string_view text, float wrap = 0) {
  const float size = compat::sizeOf(font);
  if (Typesetter::isPlain(font, text))
    return font->CalcTextSizeA(size, FLT_MAX, wrap, begin(text), end(text));
  ImVec2 all(0, 0);
  eachLine(text, [&](std::string_view line) {
    all.x = std::max(all.x, typesetter().line(font, line)->width);
    all.y += size;
  });
  return all;
}

/// Draws lines with their top left corner at `at`.
void drawLines(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
               float wrap = 0) {
  const float size = compat::sizeOf(font);
  if (Typesetter::isPlain(font, text))
    return list.AddText(font, size, at, color, begin(text), end(text), wrap);
  eachLine(text, [&](std::string_view line) {
    typesetter().draw(list, font, at, color, *typesetter().line(font, line));
    at.y += size;
  });
}

/// Draws lines, and records them as `text` for tests.
void put(Canvas list, ImFont* font, ImVec2 at, ImVec2 size, std::uint32_t color, std::string_view lines,
         std::string_view text, float wrap = 0) {
  if (!compat::isPlace(at)) return;
  UiState& state = uiState();
  if (state.watches) {
    const bool foreground = list.isForeground();
    const ImRect area(at, ImVec2(at.x + size.x, at.y + size.y));
    const ImRect clip(list.GetClipRectMin(), list.GetClipRectMax());
    // Text cut by its panel's edge can be scrolled into view; text cut by a pixel or more inside the panel
    // can't.
    const ImGuiWindow* const window = ImGui::GetCurrentContext()->CurrentWindow;
    const bool byPanel = window && (area.Min.y > clip.Min.y - 1 || clip.Min.y <= window->ClipRect.Min.y) &&
                         (area.Max.y < clip.Max.y + 1 || clip.Max.y >= window->ClipRect.Max.y);
    state.texts.push_back({std::string(text), area, clip, color,
                           !foreground && byPanel && reachable().Contains(area), foreground,
                           compat::sizeOf(font), font});
  }
  if (!state.hidesTexts) drawLines(list, font, at, color, lines, wrap);
}

/// Wraps text between words, and inside words wider than a line (scripts without spaces). For plain text,
/// Dear ImGui breaks such words. Alone, it would also break a line after the point or comma of a number.
std::string wrappedLines(ImFont* font, std::string_view text, float width) {
  std::string words = wrapped(text, width, [&](std::string_view piece) { return textWidth(font, piece); });
  if (Typesetter::isPlain(font, words)) return words;
  std::string lines;
  eachLine(words, [&](std::string_view line) {
    while (!line.empty()) {
      const std::size_t fits = std::max(bytesWithin(font, line, width), nextCluster(line, 0));
      lines += line.substr(0, fits);
      line.remove_prefix(fits);
      if (!line.empty()) lines += '\n';
    }
    lines += '\n';
  });
  lines.pop_back();
  return lines;
}
}  // namespace

float textWidth(ImFont* font, std::string_view text) {
  return sizeOfText(font, text).x;
}

std::size_t bytesWithin(ImFont* font, std::string_view text, float width) {
  if (Typesetter::isPlain(font, text)) {
    const char* end = text.data();
    font->CalcTextSizeA(compat::sizeOf(font), std::nextafter(width, FLT_MAX), 0, text.data(),
                        text.data() + text.size(), &end);
    return static_cast<std::size_t>(end - text.data());
  }
  float room = std::nextafter(width, FLT_MAX);
  std::size_t fits = 0;
  for (const TextCluster& cluster : typesetter().line(font, text)->clusters) {
    room -= cluster.right - cluster.left;
    if (room < 0) break;
    fits = cluster.to;
  }
  // Letters at the cut may have another form than inside the word.
  while (fits > 0 && fits < text.size() && textWidth(font, text.substr(0, fits)) > width)
    fits = previousCluster(text, fits);
  return fits;
}

float lineHeight(const ImFont* font) {
  return compat::sizeOf(font);
}

float paintText(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
                Align align) {
  const float size = compat::sizeOf(font);
  const float width = textWidth(font, text);
  at.x -= anchorOf(align) * width;
  const int first = list.vertices();
  put(list, font, ImVec2(std::round(at.x), std::round(at.y - size / 2)), ImVec2(width, size), color, text,
      text);
  list.align(first, anchorOf(align));
  return width;
}

float paintSpaced(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, std::string_view text,
                  float space) {
  if (!Typesetter::isPlain(font, text)) return paintText(list, font, at, color, text);
  const float start = at.x;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = from + 1;
    while (to < text.size() && (static_cast<unsigned char>(text[to]) & 0xC0) == 0x80) ++to;
    at.x += paintText(list, font, at, color, text.substr(from, to - from)) + space;
    from = to;
  }
  return at.x - start;
}

std::string fitted(ImFont* font, std::string_view text, float width) {
  if (text.empty()) return "";
  if (width < textWidth(font, "…")) return textWidth(font, text) <= width ? std::string(text) : "";
  if (bytesWithin(font, text, width) == text.size()) return std::string(text);
  const float room = std::max(0.0f, width - textWidth(font, "…"));
  return std::string(text.substr(0, bytesWithin(font, text, room))) + "…";
}

void paintRotated(Canvas list, ImFont* font, ImVec2 at, float degrees, std::uint32_t color,
                  std::string_view text, Align align) {
  // ImGui drops glyphs that start outside the clip rectangle, so the text is laid out at the window's origin
  // first, then turned and moved.
  if (!compat::isPlace(at)) return;
  const float size = compat::sizeOf(font);
  const float width = textWidth(font, text);
  const ImVec2 clipMin = list.GetClipRectMin(), clipMax = list.GetClipRectMax();
  const ImVec2 origin(clipMin.x, clipMin.y);
  list.PushClipRect(clipMin, ImVec2(std::max(clipMax.x, clipMin.x + width + size),
                                    std::max(clipMax.y, clipMin.y + 2 * size)));
  const int first = list.vertices();
  if (!uiState().hidesTexts) drawLines(list, font, origin, color, text);
  list.align(first, anchorOf(align));
  list.turn(first, ImVec2(origin.x + anchorOf(align) * width, origin.y + size / 2), at, -degrees);
  list.PopClipRect();
}

float paintParagraph(Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                     std::string_view text) {
  const std::string lines = wrappedLines(font, text, width);
  const ImVec2 size = sizeOfText(font, lines, width);
  put(list, font, ImVec2(std::round(at.x), std::round(at.y)), size, color, lines, text, width);
  return size.y;
}

TextLines linesOf(ImFont* font, std::string_view text, float width) {
  TextLines all{wrappedLines(font, text, width), {}, width};
  all.size = sizeOfText(font, all.lines, width);
  return all;
}

void paintLines(Canvas list, ImFont* font, ImVec2 at, std::uint32_t color, const TextLines& lines,
                std::string_view text) {
  put(list, font, at, lines.size, color, lines.lines, text, lines.wrap);
}

std::string firstFitting(ImFont* font, const std::vector<std::string>& wordings, float width) {
  for (const std::string& wording : wordings)
    if (textWidth(font, wording) <= width) return wording;
  return wordings.empty() ? "" : wordings.back();
}

std::string wrapped(std::string_view text, float width,
                    const std::function<float(std::string_view)>& measure) {
  std::string out(text);
  std::size_t lineStart = 0;
  std::size_t lastSpace = std::string::npos;
  for (std::size_t at = 0; at <= out.size(); ++at) {
    const bool end = at == out.size() || out[at] == '\n';
    if (!end && out[at] != ' ') continue;
    // A word ends here. Break before it if the line up to here is too wide.
    if (lastSpace != std::string::npos &&
        measure(std::string_view(out).substr(lineStart, at - lineStart)) > width) {
      out[lastSpace] = '\n';
      lineStart = lastSpace + 1;
    }
    lastSpace = at < out.size() && out[at] == ' ' ? at : std::string::npos;
    if (end) lineStart = at + 1;
  }
  return out;
}

}  // namespace headscope::app
