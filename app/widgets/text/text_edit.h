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

/// A text laid out for a box: paragraphs wrapped between words, words of more than a line between clusters.
/// Positions are pixels from the top left of the first line.
class EditLayout {
 public:
  struct Line {
    std::size_t from = 0, to = 0;  ///< bytes; the space or break between two lines is in neither
    bool rightToLeft = false;      ///< its paragraph: it stands at the right
  };

  /// Lays it out anew where anything has changed. `width`: of the box; infinite = one line.
  void update(ImFont* font, std::string_view text, float width);
  const std::vector<Line>& lines() const { return lines_; }
  std::shared_ptr<const ShapedLine> shaped(std::size_t line) const;
  float left(std::size_t line) const;
  /// The line in which a caret before that byte stands.
  std::size_t lineOf(std::size_t byte) const;
  /// The top of a caret before that byte.
  ImVec2 caretAt(std::size_t byte) const;
  std::size_t byteAt(ImVec2 at) const;
  /// Where the bytes [from, to) of a line are drawn, as pairs of left and right.
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

/// What is edited, in the box that has the keyboard. Places are bytes of the text, between grapheme clusters.
struct TextEdit {
  ImGuiID box = 0;         ///< 0 = none has it
  ImGuiID enteredBox = 0;  ///< the one that had it last, where Enter ended that
  std::size_t caret = 0, anchor = 0;
  std::string before;   ///< the text when the box got the keyboard
  std::string last;     ///< and after the last frame
  float goal = -1;      ///< the x that up and down keep to; −1 = the caret's
  float scroll = 0;     ///< of a box of one line
  bool reveals = true;  ///< the caret has moved: it is to be scrolled to

  std::pair<std::size_t, std::size_t> selection() const { return std::minmax(caret, anchor); }
  void moveTo(std::size_t to, bool selects);
  void selectAll(const std::string& text);
  void selectWord(const std::string& text);
  /// In place of what is selected.
  void insert(std::string& text, std::string_view with);
  /// What is selected, or the cluster, or with `word` the word, before or behind the caret.
  void erase(std::string& text, bool forwards, bool word);
  /// After the text was changed elsewhere: the caret stands behind what changed.
  void follow(const std::string& text);
};

std::size_t nextWord(std::string_view text, std::size_t at);
std::size_t previousWord(std::string_view text, std::size_t at);

}  // namespace headscope::app
