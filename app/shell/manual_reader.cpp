#include "app/shell/manual_reader.h"

#include <numeric>
#include <optional>

#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/text/text_box.h"
#include "attention/text/ascii.h"

namespace headscope::app {

namespace {

using BlockKind = MarkdownBlock::Kind;

constexpr float kListWidth = 210, kIndent = 18, kCellGap = 16;

std::string wordsOf(const std::vector<RichSpan>& spans) {
  std::string words;
  for (const RichSpan& span : spans) words += span.text;
  return words;
}

std::string wordsOf(const MarkdownBlock& block) {
  std::string words = wordsOf(block.spans) + block.text;
  for (const auto& cell : block.cells) words += " " + wordsOf(cell);
  return words;
}

/// What a link can lead to: a heading, or the first cell of a table's row; "" for other blocks.
std::string titleOf(const MarkdownBlock& block) {
  if (block.kind == BlockKind::heading) return block.text;
  return block.cells.empty() ? "" : wordsOf(block.cells.front());
}

RichFonts fontsOf(const View& view, const MarkdownBlock& block) {
  const Fonts& fonts = *view.fonts;
  if (block.kind == BlockKind::heading) {
    ImFont* font = block.level == 1 ? fonts.hero : block.level == 2 ? fonts.title : fonts.bold;
    return {font, font, fonts.monoTitle, fonts.small, view.theme->text};
  }
  if (block.kind == BlockKind::row)
    return {fonts.small, fonts.smallBold, fonts.monoSmall, fonts.small, view.theme->text};
  return {fonts.text, fonts.bold, fonts.mono, fonts.small, view.theme->text};
}

/// Returns the space above a block, in layout units.
float spaceAbove(const std::vector<MarkdownBlock>& blocks, std::size_t index) {
  if (index == 0) return 0;
  const MarkdownBlock& block = blocks[index];
  switch (block.kind) {
    case BlockKind::heading:
      return block.level == 1 ? 0 : 20;
    case BlockKind::row:
      return block.table == blocks[index - 1].table ? 0 : 8;
    case BlockKind::item:
      return 5;
    default:
      return 10;
  }
}

/// Splits code into lines, breaking those that are too long.
std::vector<std::string_view> codeLines(std::string_view code, std::size_t characters) {
  std::vector<std::string_view> lines;
  while (!code.empty()) {
    const std::size_t line = std::min(code.find('\n'), code.size());
    std::size_t end = std::min(line, std::max<std::size_t>(characters, 8));
    while (end < line && (static_cast<unsigned char>(code[end]) & 0xC0) == 0x80) ++end;
    lines.push_back(code.substr(0, end));
    code.remove_prefix(end < line ? end : std::min(line + 1, code.size()));
  }
  return lines;
}

}  // namespace

std::vector<ManualSection> sectionsOf(const std::vector<MarkdownBlock>& chapter) {
  std::vector<ManualSection> sections(1);
  for (const MarkdownBlock& block : chapter) {
    if (block.kind == BlockKind::heading && block.level > 1) sections.push_back({block.text, ""});
    sections.back().words += attention::lowerCase(wordsOf(block)) + "\n";
  }
  return sections;
}

ManualReader::ManualReader(std::vector<Chapter> manual, std::string_view target)
    : manual_(std::move(manual)) {
  for (const Chapter& chapter : manual_) {
    blocks_.push_back(parseMarkdown(chapter.text));
    sections_.push_back(sectionsOf(blocks_.back()));
  }
  if (const std::optional<Place> place = placeOf(target)) {
    shown_ = place->chapter;
    heading_ = place->heading;
  }
}

void ManualReader::go(Place place) {
  visited_.push_back({shown_, heading_});
  shown_ = place.chapter;
  heading_ = std::move(place.heading);
  jumps_ = true;
}

void ManualReader::back() {
  if (visited_.empty()) return;
  shown_ = visited_.back().chapter;
  heading_ = std::move(visited_.back().heading);
  visited_.pop_back();
  jumps_ = true;
}

std::optional<ManualReader::Place> ManualReader::placeOf(std::string_view target) const {
  const std::size_t hash = std::min(target.find('#'), target.size());
  std::string_view file = target.substr(0, hash);
  if (file.ends_with(".md")) file.remove_suffix(3);
  const Chapter* chapter = file.empty() ? &manual_[shown_] : findChapter(manual_, file);
  if (!chapter) return std::nullopt;
  const auto index = static_cast<std::size_t>(chapter - manual_.data());
  const std::string_view anchor = target.substr(std::min(hash + 1, target.size()));
  if (!anchor.empty())
    for (const BlockKind kind : {BlockKind::heading, BlockKind::row})
      for (const MarkdownBlock& block : blocks_[index])
        if (block.kind == kind && anchorOf(titleOf(block)) == anchor) return Place{index, titleOf(block)};
  return Place{index, ""};
}

void ManualReader::follow(std::string_view target) {
  if (std::optional<Place> place = placeOf(target)) go(*std::move(place));
}

void ManualReader::draw(Scene&, View& view, bool opening) {
  if (beginDialog(view, "manual", "Manual", 1180, 900)) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float left = std::min(view.px(kListWidth), room.x * 0.3f);
    ImGui::BeginChild("manual list", ImVec2(left, 0), false, ImGuiWindowFlags_NoBackground);
    list(view, opening);
    compat::endChild();
    ImGui::SameLine(0, view.px(24));
    ImGui::BeginChild("manual page", ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground);
    page(view);
    compat::endChild();
  }
  endDialog();
}

/// Shows the chapters, or while searching the matching sections.
void ManualReader::list(View& view, bool opening) {
  lineBox(view, "manual.search", wanted_, ImGui::GetContentRegionAvail().x, opening, "Search the manual");
  gap(view, 6);
  // Keep its space, so that the chapters don't move when it appears.
  ImGui::BeginDisabled(visited_.empty());
  if (listRow(view, "manual.back", visited_.empty() ? "" : "← Back", false)) back();
  ImGui::EndDisabled();
  const std::string wanted = attention::lowerCase(wanted_);
  if (wanted.empty()) {
    for (std::size_t i = 0; i < manual_.size(); ++i)
      if (listRow(view, "manual.chapter." + manual_[i].key, manual_[i].title, i == shown_)) go({i, ""});
    return;
  }
  bool any = false;
  for (std::size_t i = 0; i < manual_.size(); ++i)
    for (const ManualSection& section : sections_[i]) {
      if (section.words.find(wanted) == std::string::npos) continue;
      any = true;
      const Chapter& chapter = manual_[i];
      const std::string label =
          section.heading.empty() ? chapter.title : chapter.title + " · " + section.heading;
      const bool chosen = i == shown_ && section.heading == heading_;
      if (listRow(view, "manual.section." + chapter.key + "." + anchorOf(section.heading), label, chosen))
        go({i, section.heading});
    }
  if (!any) hint(view, "The manual has nothing on “" + wanted_ + "”.");
}

bool ManualReader::listRow(View& view, const std::string& name, const std::string& label, bool chosen) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(26);
  const bool clicked = hitArea(name, ImVec2(width, height));
  const Canvas draw(*ImGui::GetWindowDrawList());
  if (chosen || (ImGui::IsItemHovered() && !label.empty()))
    draw.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->raised, view.px(5));
  paintFitted(view, draw, view.fonts->text, ImVec2(at.x + view.px(8), at.y + height / 2), width - view.px(16),
              chosen ? view.theme->text : view.theme->secondary, label);
  return clicked;
}

void ManualReader::page(View& view) {
  const float width = ImGui::GetContentRegionAvail().x - view.px(14);
  place(view, width);
  const auto& blocks = blocks_[shown_];
  if (std::exchange(jumps_, false)) {
    const auto at = std::find_if(blocks.begin(), blocks.end(), [&](const MarkdownBlock& block) {
      return !heading_.empty() && titleOf(block) == heading_;
    });
    const auto index = at == blocks.end() ? 0 : static_cast<std::size_t>(at - blocks.begin());
    ImGui::SetScrollY(placed_.tops[index]);
    view.redraw();
  }
  scrollByKeys(view);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 window = ImGui::GetWindowPos();
  const float top = window.y - from.y, bottom = top + ImGui::GetWindowHeight();
  std::vector<LinkArea> links;
  Canvas canvas(*ImGui::GetWindowDrawList());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (placed_.tops[i + 1] < top || placed_.tops[i] > bottom) continue;
    const float space = view.px(spaceAbove(blocks, i));
    if (blocks[i].kind == BlockKind::row && !heading_.empty() && titleOf(blocks[i]) == heading_) {
      const ImVec2 low(from.x - view.px(6), from.y + placed_.tops[i] + space),
          high(from.x + width, from.y + placed_.tops[i + 1]);
      canvas.AddRectFilled(low, high, view.theme->raised, view.px(4));
      track("manual.term", low, high);
    }
    drawBlock(view, &canvas, i, ImVec2(from.x, from.y + placed_.tops[i] + space), width, &links);
  }
  ImGui::Dummy(ImVec2(width, placed_.tops.back()));
  const bool hovered = ImGui::IsWindowHovered();
  explainTerms(view, canvas, links);
  for (const LinkArea& link : links) {
    if (link.target.empty()) continue;
    track("manual.link." + link.target, link.area.Min, link.area.Max);
    if (!hovered || !link.area.Contains(ImGui::GetIO().MousePos)) continue;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (ImGui::IsMouseReleased(0)) {
      follow(link.target);
      return;
    }
  }
}

void ManualReader::scrollByKeys(const View& view) {
  const float line = view.px(60), screen = ImGui::GetWindowHeight() * 0.85f;
  for (const InputEvent& event : view.input.events) {
    if (event.kind != InputEvent::Kind::key || !event.down) continue;
    float by = 0;
    if (event.key == Key::down) by = line;
    if (event.key == Key::up) by = -line;
    if (event.key == Key::pageDown) by = screen;
    if (event.key == Key::pageUp) by = -screen;
    if (by != 0) ImGui::SetScrollY(std::clamp(ImGui::GetScrollY() + by, 0.0f, ImGui::GetScrollMaxY()));
  }
}

/// Measures the chapter, once per width and type size.
void ManualReader::place(const View& view, float width) {
  if (placed_.chapter == shown_ && placed_.width == width && placed_.unit == view.unit) return;
  placed_ = {shown_, width, view.unit, {0}, {}};
  const auto& blocks = blocks_[shown_];
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    while (blocks[i].table >= static_cast<int>(placed_.columns.size()))
      placed_.columns.push_back(columnWidths(view, static_cast<int>(placed_.columns.size()), width));
    const float height = drawBlock(view, nullptr, i, ImVec2(), width, nullptr);
    placed_.tops.push_back(placed_.tops.back() + view.px(spaceAbove(blocks, i)) + height);
  }
}

/// Draws a block, or only measures it if there is no list. Returns its height.
float ManualReader::drawBlock(const View& view, Canvas* list, std::size_t index, ImVec2 at, float width,
                              std::vector<LinkArea>* links) const {
  const MarkdownBlock& block = blocks_[shown_][index];
  const RichFonts fonts = fontsOf(view, block);
  if (block.kind == BlockKind::row) return drawRow(view, list, block, at, links);
  if (block.kind == BlockKind::code) {
    ImFont* mono = view.fonts->monoSmall;
    const float pad = view.px(10), height = lineHeight(mono) * 1.25f;
    const auto characters = static_cast<std::size_t>((width - 2 * pad) / textWidth(mono, "0"));
    const auto lines = codeLines(block.text, characters);
    const float all = height * static_cast<float>(lines.size()) + 2 * pad;
    if (list) {
      list->AddRectFilled(at, ImVec2(at.x + width, at.y + all), view.theme->raised, view.px(6));
      for (std::size_t i = 0; i < lines.size(); ++i)
        paintText(*list, mono, ImVec2(at.x + pad, at.y + pad + height * (static_cast<float>(i) + 0.5f)),
                  view.theme->text, lines[i]);
    }
    return all;
  }
  const float indent = block.level > 0 && block.kind != BlockKind::heading
                           ? view.px(kIndent) * static_cast<float>(block.level)
                           : 0;
  if (list && block.kind == BlockKind::item)
    list->AddCircleFilled(ImVec2(at.x + indent - view.px(10), at.y + lineHeight(fonts.plain) * 0.6f),
                          view.px(2), view.theme->secondary);
  return paintRichText(view, list, fonts, {block.spans}, ImVec2(at.x + indent, at.y), width - indent, links);
}

float ManualReader::drawRow(const View& view, Canvas* list, const MarkdownBlock& row, ImVec2 at,
                            std::vector<LinkArea>* links) const {
  const RichFonts fonts = fontsOf(view, row);
  const auto& widths = placed_.columns[static_cast<std::size_t>(row.table)];
  const float pad = view.px(4);
  float height = 0, x = at.x;
  for (std::size_t c = 0; c < row.cells.size() && c < widths.size(); ++c) {
    height = std::max(
        height, paintRichText(view, list, fonts, {row.cells[c]}, ImVec2(x, at.y + pad), widths[c], links));
    x += widths[c] + view.px(kCellGap);
  }
  height += 2 * pad;
  if (list) list->AddLine(ImVec2(at.x, at.y + height), ImVec2(x, at.y + height), view.theme->line);
  return height;
}

/// Fits each column's longest word; distributes the remaining width to columns that need more.
std::vector<float> ManualReader::columnWidths(const View& view, int table, float width) const {
  std::vector<float> least, wanted;
  for (const MarkdownBlock& block : blocks_[shown_]) {
    if (block.table != table) continue;
    const RichFonts fonts = fontsOf(view, block);
    least.resize(std::max(least.size(), block.cells.size()));
    wanted.resize(least.size());
    for (std::size_t c = 0; c < block.cells.size(); ++c) {
      float all = 0;
      for (const RichSpan& span : block.cells[c]) {
        ImFont* font = span.kind == RichSpan::Kind::code ? fonts.code : fonts.bold;
        all += textWidth(font, span.text) + textWidth(font, " ");
        for (std::size_t at = 0; at < span.text.size();) {
          const std::size_t end = std::min(span.text.find(' ', at), span.text.size());
          least[c] = std::max(least[c], textWidth(font, std::string_view(span.text).substr(at, end - at)));
          at = end + 1;
        }
      }
      wanted[c] = std::max(wanted[c], all);
    }
  }
  const auto gaps = static_cast<float>(least.size()) * view.px(kCellGap);
  const float needed = std::accumulate(least.begin(), least.end(), 0.0f),
              more = std::accumulate(wanted.begin(), wanted.end(), 0.0f) - needed,
              left = std::max(width - gaps - needed, 0.0f);
  for (std::size_t c = 0; c < least.size(); ++c)
    if (more > 0) least[c] += (wanted[c] - least[c]) * std::min(1.0f, left / more);
  return least;
}

}  // namespace headscope::app
