#pragma once

#include <memory>
#include <span>

#include "app/kit/board_layout.h"
#include "app/kit/control_line.h"
#include "app/kit/rows.h"

namespace headscope::app {

/// How wide a column is: at least `least` layout units and its share of what is left over.
struct PartWidth {
  float least = 0, share = 1;
};

/// A figure that stands large, with words about it.
struct Headline {
  std::string name, figure;
  std::vector<std::string> sentence;   ///< wordings, longest first
  std::vector<std::string> rest = {};  ///< a second line, the same
  std::uint32_t color = 0;             ///< of the figure; 0 = the theme's text
  std::string help = "";               ///< while hovered
};

/// How a line of words looks.
struct LineLook {
  std::string name = "";
  std::uint32_t color = 0;  ///< 0 = text in titles, else secondary
  std::string help = "";    ///< while hovered
};

/// The middle of a page: says what there is; the board decides where it stands. From top to bottom it has
/// words, figures, pictures, and columns of them. A window in which they don't fit scrolls. On a poster
/// (presented, or a figure) controls leave, and then whole parts, in the order they state, until pictures
/// have the room they need.
class Board {
 public:
  /// `named`: the part that the words next to the page are about; "" = all.
  Board(View& view, const ImRect& area, std::string_view named = "");
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  View& view() const { return *view_; }
  const Theme& theme() const { return *view_->theme; }
  /// The width, and the height of the whole board, in layout units.
  float width() const { return (right_ - left_) / view_->unit; }
  float height() const { return area_.GetHeight() / view_->unit; }
  /// The width of a large figure, in layout units.
  float figureWidth(const std::string& figure) const;

  /// A large figure with its sentence and a smaller line next to it.
  Board& headline(const Headline& what);
  /// The same with all words below it, wrapped.
  Board& largeFigure(const Headline& what);
  /// A title, with words in a secondary colour after it: the first wording that fits.
  Board& title(const std::string& text, const std::vector<std::string>& after = {},
               const LineLook& look = {});
  /// One line of text: the first wording that fits.
  Board& words(const std::vector<std::string>& wordings, const LineLook& look = {});
  /// A wrapped paragraph in `font`.
  Board& paragraph(ImFont* font, const std::string& text, const LineLook& look = {});
  /// A label on the left, the first wording that fits, and a figure on the right, with `note` after it.
  Board& figure(const std::vector<std::string>& label, const std::string& value, bool bold = false,
                const std::string& note = "");
  /// A figure with words after it, as formulas may have them ("rank of W_Q"): the first wording that fits.
  Board& number(const std::string& value, const std::vector<std::string>& words);
  /// A picture; tests know its area as `name`.
  Board& picture(const std::string& name, PartHeight height, std::function<void(const ImRect&)> paint);
  /// Anything else that paints itself, which counts as words.
  Board& area(const std::string& name, PartHeight height, std::function<void(const ImRect&)> paint);
  /// What the colours of a picture mean, on a line that ends on the right. It doesn't leave.
  Board& legend(const FigureLegend& what);
  /// In place of a picture that isn't there: a title and a sentence in the middle; colour 0 = the theme's
  /// text.
  Board& message(const std::string& title, const std::string& text, std::uint32_t color = 0);
  /// A line of controls, `gap` layout units apart, which a poster doesn't have.
  Board& controls(std::function<void(ControlLine&)> line, float gap = 20);

  using Column = std::function<void(std::size_t, Board&)>;
  /// Columns next to each other, `gap` layout units apart; below one another where they are too narrow.
  Board& columns(std::span<const PartWidth> widths, float gap, const Column& column);
  /// Equal columns, whose parts are as high as their neighbours'.
  Board& tiles(std::size_t count, float gap, const Column& column);
  /// Pictures of which a tight board shows one at a time, with a choice of them at its right. `paint` gets
  /// which one, its area and the width its first line must leave free, in pixels.
  Board& oneOf(const std::string& name, std::span<const char* const> tabs,
               std::span<const std::string_view> names, int& shown, float gap, PartHeight height,
               std::function<void(int which, const ImRect& area, float taken)> paint);

  /// The part before has this at its right end, `units` wide, unless it is too short for both.
  Board& atEnd(float units, std::function<void(const ImRect&)> paint);
  /// The part before may leave a poster: 1 = first, kForNamed = last, and only for the named part.
  Board& leaves(int order);
  /// The part before is for hands: a poster doesn't have it.
  Board& inWindow();
  /// The part before is on posters alone, where it says what controls say in windows.
  Board& onPoster();
  /// The part before stands `units` below the one above it.
  Board& apart(float units);

  /// Lays all parts out and paints them.
  void show();

 private:
  Board(const Board& parent, float left, float right);
  Board& add(const std::string& name, PartHeight units, bool picture,
             std::function<void(const ImRect&)> paint);
  float px(float units) const { return view_->px(units); }

  View* view_;
  ImRect area_;
  float left_, right_;
  std::string named_;
  bool roomy_;  ///< type and spaces are large
  bool poster_;
  std::vector<BoardPart> parts_;
  std::vector<std::unique_ptr<Board>> columns_;  ///< whose parts paint themselves with them
};

}  // namespace headscope::app
