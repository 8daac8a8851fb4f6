#include "app/widgets/text/text_edit.h"

#include <algorithm>

#include "app/platform/ui_state.h"
#include "app/widgets/text/draw_text.h"

namespace headscope::app {

void EditLayout::update(ImFont* font, std::string_view text, float width) {
  const int generation = uiState().typesetter.generation();
  if (!lines_.empty() && font == font_ && width == width_ && generation == generation_ && text == text_)
    return;
  font_ = font;
  width_ = width;
  generation_ = generation;
  text_ = std::string(text);
  lines_.clear();
  for (std::size_t from = 0; from <= text_.size();) {
    const std::size_t to = std::min(text_.find('\n', from), text_.size());
    addParagraph(from, to);
    from = to + 1;
  }
}

void EditLayout::addParagraph(std::size_t from, std::size_t to) {
  const std::string_view paragraph = std::string_view(text_).substr(from, to - from);
  const bool plain = Typesetter::isPlain(font_, paragraph);
  const bool rightToLeft = !plain && runsRightToLeft(paragraph);
  const std::string words =
      wrapped(paragraph, width_, [&](std::string_view piece) { return textWidth(font_, piece); });
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find('\n', at), words.size());
    const std::string_view line = std::string_view(words).substr(at, end - at);
    const std::size_t fits = std::max(bytesWithin(font_, line, width_), nextCluster(line, 0));
    lines_.push_back({from + at, from + at + fits, rightToLeft});
    at += fits < line.size() ? fits : line.size() + 1;
  }
}

std::shared_ptr<const ShapedLine> EditLayout::shaped(std::size_t line) const {
  const Line& at = lines_[line];
  return uiState().typesetter.line(font_, std::string_view(text_).substr(at.from, at.to - at.from),
                                   at.rightToLeft ? Direction::rightToLeft : Direction::leftToRight);
}

float EditLayout::left(std::size_t line) const {
  if (!lines_[line].rightToLeft || width_ == FLT_MAX) return 0;
  return std::floor(std::max(0.0f, width_ - shaped(line)->width));
}

std::size_t EditLayout::lineOf(std::size_t byte) const {
  const auto after = std::ranges::upper_bound(lines_, byte, {}, &Line::from);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, after - lines_.begin()) - 1);
}

ImVec2 EditLayout::caretAt(std::size_t byte) const {
  const std::size_t line = lineOf(byte);
  return ImVec2(left(line) + shaped(line)->caretAt(byte - lines_[line].from),
                static_cast<float>(line) * lineHeight(font_));
}

std::size_t EditLayout::byteAt(ImVec2 at) const {
  const float row = std::floor(at.y / lineHeight(font_));
  const auto line = static_cast<std::size_t>(std::clamp(row, 0.0f, static_cast<float>(lines_.size() - 1)));
  return lines_[line].from + shaped(line)->byteAt(at.x - left(line));
}

std::vector<std::pair<float, float>> EditLayout::selected(std::size_t line, std::size_t from,
                                                          std::size_t to) const {
  std::vector<std::pair<float, float>> parts;
  const std::size_t start = lines_[line].from;
  const float begins = left(line);
  for (const TextCluster& cluster : shaped(line)->clusters) {
    if (start + cluster.from < from || start + cluster.to > to) continue;
    const float x = begins + cluster.left, end = begins + cluster.right;
    if (!parts.empty() && std::abs(parts.back().second - x) < 0.01f)
      parts.back().second = end;
    else if (!parts.empty() && std::abs(parts.back().first - end) < 0.01f)
      parts.back().first = x;
    else
      parts.emplace_back(x, end);
  }
  return parts;
}

float EditLayout::height() const {
  return static_cast<float>(lines_.size()) * lineHeight(font_);
}

void TextEdit::moveTo(std::size_t to, bool selects) {
  caret = to;
  if (!selects) anchor = to;
  goal = -1;
  reveals = true;
}

void TextEdit::selectAll(const std::string& text) {
  anchor = 0;
  caret = text.size();
}

void TextEdit::selectWord(const std::string& text) {
  anchor = previousWord(text, std::min(caret + 1, text.size()));
  caret = anchor;
  while (caret < text.size() && text[caret] != ' ' && text[caret] != '\n') ++caret;
}

void TextEdit::insert(std::string& text, std::string_view with) {
  const auto [from, to] = selection();
  text.replace(from, to - from, with);
  moveTo(from + with.size(), false);
}

void TextEdit::erase(std::string& text, bool forwards, bool word) {
  if (caret == anchor) {
    if (forwards)
      caret = word ? nextWord(text, caret) : nextCluster(text, caret);
    else
      caret = word ? previousWord(text, caret) : previousCluster(text, caret);
  }
  insert(text, "");
}

void TextEdit::follow(const std::string& text) {
  if (text == last) return;
  const auto same = std::mismatch(last.rbegin(), last.rend(), text.rbegin(), text.rend());
  std::size_t at = text.size() - static_cast<std::size_t>(same.first - last.rbegin());
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  moveTo(at, false);
  last = text;
}

namespace {
bool separates(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\t';
}
}  // namespace

std::size_t nextWord(std::string_view text, std::size_t at) {
  while (at < text.size() && !separates(text[at])) ++at;
  while (at < text.size() && separates(text[at])) ++at;
  return at;
}

std::size_t previousWord(std::string_view text, std::size_t at) {
  while (at > 0 && separates(text[at - 1])) --at;
  while (at > 0 && !separates(text[at - 1])) --at;
  return at;
}

}  // namespace headscope::app
