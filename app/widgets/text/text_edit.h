#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/platform/imgui_compat.h"
#include "app/platform/shaped_text.h"

namespace headscope::app {

/// The layout of a text in a box: paragraphs wrap between words, and words longer than a line between
/// clusters. Positions are pixels from the top left corner of the first line.
class EditLayout {
 public:
  struct Line {
    std::size_t from = 0, to = 0;  ///< bytes, without the space or break between lines
    bool rightToLeft = false;      ///< the paragraph's direction; right to left is right-aligned
  };

  /// Updates the layout if anything has changed. `width` is the box's; FLT_MAX = one line.
  void update(ImFont* font, std::string_view text, float width);
  const std::vector<Line>& lines() const { return lines_; }
  std::shared_ptr<const ShapedLine> shaped(std::size_t line) const;
  float left(std::size_t line) const;
  /// Returns the line of a caret before that byte.
  std::size_t lineOf(std::size_t byte) const;
  /// Returns the top of a caret before that byte.
  ImVec2 caretAt(std::size_t byte) const;
  std::size_t byteAt(ImVec2 at) const;
  /// Returns where the bytes [from, to) of a line are drawn, as pairs of left and right.
  std::vector<std::pair<float, float>> selected(std::size_t line, std::size_t from, std::size_t to) const;
  float height() const;

 private:
  void addParagraph(std::size_t from, std::size_t to);

  ImFont* font_ = nullptr;
  float width_ = 0;
  int generation_ = -1;
  std::string text_;
  std::vector<Line> lines_;
};

/// The editing state of the box that has the keyboard. Positions are bytes between grapheme clusters.
struct TextEdit {
  ImGuiID box = 0;         ///< 0 = none
  ImGuiID enteredBox = 0;  ///< the last box, if Enter ended its editing
  std::size_t caret = 0, anchor = 0;
  std::string before;   ///< the text when the box got the keyboard
  std::string last;     ///< the text after the last frame
  float goal = -1;      ///< the x that up and down aim for; −1 = the caret's
  float scroll = 0;     ///< for a single-line box
  bool reveals = true;  ///< the caret moved and must be scrolled into view

  std::pair<std::size_t, std::size_t> selection() const { return std::minmax(caret, anchor); }
  void moveTo(std::size_t to, bool selects);
  void selectAll(const std::string& text);
  void selectWord(const std::string& text);
  /// Replaces the selection.
  void insert(std::string& text, std::string_view with);
  /// Erases the selection, or else the cluster (with `word`, the word) before or after the caret.
  void erase(std::string& text, bool forwards, bool word);
  /// Call after the text was changed elsewhere: puts the caret after the change.
  void follow(const std::string& text);
};

std::size_t nextWord(std::string_view text, std::size_t at);
std::size_t previousWord(std::string_view text, std::size_t at);

}  // namespace headscope::app
