#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/widgets/field_controls.h"
#include "app/widgets/panel.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app {

/// The sizes of type, by meaning.
enum class Type { small, text, title, hero };

/// A part of a line, in a meaningful colour and font; 0 and null = the line's own.
struct Span {
  enum class Kind { words, heading, badge };

  std::string text;
  std::uint32_t color = 0;
  ImFont* font = nullptr;
  bool atEnd = false;  ///< stands on the right
  Kind kind = Kind::words;
};

/// A share of 1 as a bar between its label and its figure.
struct ShareBar {
  std::string label, figure;
  float share = 0;
  float before = -1;           ///< marked by an outline; negative = none
  std::uint32_t color = 0;     ///< of bar and words; 0 = the theme's text
  std::string mark = "";       ///< in front of the label, as a rank
  std::string change = "";     ///< after the figure
  ImFont* font = nullptr;      ///< of the label; null = the theme's for words
  float labels = 0.26f;        ///< part of the line that the label takes,
  float labelUnits = FLT_MAX;  ///< and the most
};

/// One of several words that can be clicked.
struct Word {
  std::string text;
  std::uint32_t color = 0, frame = 0;
  bool lit = false, underlined = false;
};
struct WordsHit {
  std::optional<std::ptrdiff_t> clicked, hovered;
};

/// How a pair of label and value looks.
struct PairLook {
  std::uint32_t color = 0;  ///< of the value; 0 = the theme's text
  Type type = Type::text;
  std::string name = "";  ///< for tests; "" = none
  bool lined = false;     ///< a hairline below
};

/// How a bar between its label and its value looks.
struct BarLook {
  std::uint32_t ink = 0, color = 0;  ///< of the label and the bar; 0 = the theme's text and secondary
  ImFont* font = nullptr;            ///< of the label; null = that of figures
  float label = 58, value = 62;      ///< room for them, in layout units
  float height = 25;                 ///< in layout units; only the bar if that is too low for text
};

/// A column of a panel, from top to bottom. A panel is a function that says what there is; Rows decides where
/// it stands, how far sections are apart, what is shortened, and shows what was cut while hovered. Controls
/// of Dear ImGui may stand between the rows.
class Rows {
 public:
  explicit Rows(View& view) : view_(view) {}
  View& view() const { return view_; }
  const Theme& theme() const { return *view_.theme; }

  /// A button that requests an action.
  struct Button {
    const char *name, *label, *action;
    bool quiet = false;
  };
  /// A line that can be chosen.
  struct Option {
    std::string name, label, value;
  };

  /// Begins a section, apart from the rows above if there are any.
  void section(const std::string& title, const std::string& aside = "");
  /// The same with a quiet button on the right.
  void section(const std::string& title, const Button& button);
  /// Begins a section that a click on its title opens and closes. It is closed at first, with `inside` in its
  /// title in place of its rows. `opens`: has something that must be seen, such as a problem. Returns whether
  /// it is open. Tests know the title as fold.TITLE.
  bool fold(const std::string& title, const std::string& inside, bool opens = false);

  /// A label on the left and a value in figures on the right.
  void pair(const std::string& label, const std::string& value, const PairLook& look = {});
  /// Pairs with short labels, two on a line.
  void pairs(const std::string& name, std::span<const std::pair<std::string, std::string>> values,
             const std::string& help = "");
  /// A line that can be chosen. Returns whether it was clicked.
  bool option(const std::string& name, const std::string& label, const std::string& value, bool chosen,
              const std::string& help = "");
  /// A list of such lines that scrolls, as high as the panel allows with `below` layout units left for the
  /// rows after it. Shows the chosen line when another one is chosen. `help` is called for a line on which
  /// the pointer rests. Returns the line that was clicked, −1 = none.
  int options(const std::string& name, std::span<const Option> lines, int chosen, float below,
              const std::function<std::string(std::size_t)>& help = {});
  /// A line with a bar, `share` of its track long, between a label and a value. If it has a name, it can be
  /// clicked; returns whether it was.
  bool bar(const std::string& name, const std::string& label, double share, const std::string& value,
           const BarLook& look = {});
  /// One line of parts; if they are too long, the widest are shortened.
  void line(Type type, const std::vector<Span>& parts, const std::string& name = "");
  /// Words on as many lines as they need, tracked as NAME.INDEX.
  WordsHit words(const std::string& name, std::span<const Word> words, float width);
  /// A wrapped paragraph; colour 0 = the theme's text.
  void paragraph(ImFont* font, const std::string& text, const std::string& name = "",
                 std::uint32_t color = 0);
  /// Wrapped paragraphs of formatted text. With `explains`, terms of the glossary are underlined.
  void rich(const RichFonts& fonts, const RichText& text, bool explains = false);
  /// A wrapped sentence in a secondary colour, and an error next to its cause; nothing for an empty text.
  void hint(const std::string& text, const std::string& name = "");
  void problem(const std::string& text, const std::string& name = "");

  /// The control of a field of the document. Returns whether it changed the scene.
  bool slider(Scene& scene, std::string_view path, const SliderState& state = {});
  bool toggle(Scene& scene, std::string_view path, const std::string& disabledReason = "");
  bool choice(Scene& scene, std::string_view path, float width = 0,
              const std::vector<std::string>& disabledReasons = {});
  /// Lists of several fields next to each other over the whole width.
  void choices(Scene& scene, std::initializer_list<std::string_view> paths);
  /// A box of one line over the whole width; `focus` gives it the keyboard once. Returns whether Enter was
  /// pressed.
  bool input(const std::string& name, std::string& text, bool& focus, const std::string& hint);
  /// A list over the whole width. Returns whether another entry was chosen.
  bool list(const std::string& name, std::span<const Choice> choices, int& chosen, const char* help = "");
  /// A button that requests an action.
  void action(const std::string& name, const std::string& label, const char* action,
              const std::string& disabledReason = "");
  /// The button that most people want next. Returns whether it was clicked.
  bool primary(const std::string& name, const std::string& label);
  /// Buttons next to each other, on as many lines as they need.
  void actions(const std::vector<Button>& buttons, const std::string& disabledReason = "");
  /// Goes on in the last line if a button with this label fits there. Returns whether it does.
  bool goOn(const std::string& label);
  /// Goes on in the last line, `units` from the left or, if negative, from the right.
  void column(float units);

  /// A share as a bar, which lights up while hovered if `lights`. Returns whether it was clicked, which
  /// requires a name.
  bool bar(const std::string& name, const ShareBar& bar, bool lights);

  /// A short text before the next control of the same line.
  void tag(const std::string& text, std::uint32_t color, float units);
  /// Squares with the numbers below `count`, named NAME.0 and so on, some of them lit. Returns the clicked
  /// one.
  std::optional<Index> numbers(const std::string& name, Index count, const std::function<bool(Index)>& lit);
  /// A square picture, `share` of the width, with rows next to it.
  void beside(float share, const std::function<void(const ImRect&)>& picture,
              const std::function<void()>& rows);
  /// The meaning of a colour, and possibly a number.
  void swatch(std::uint32_t color, const std::string& meaning, const std::string& value = "");
  /// Reserves an area for a picture over the whole width, `height` in layout units, tracked as `name`.
  ImRect area(const std::string& name, float height);
  /// Rows for reading and for hands, which a poster doesn't have.
  void inWindow(const std::function<void()>& rows);
  void space(float units);
  /// The following rows stand `units` above the panel's lower edge, if there is room.
  void bottom(float units);
  float width() const { return ImGui::GetContentRegionAvail().x; }

 private:
  View& view_;
};

/// The panel on the left of a page.
void leftPanel(View& view, const Layout& layout, const char* name, const std::function<void(Rows&)>& rows);
/// The panel on the right, which in narrow windows is a drawer over the panels `covered`.
void rightPanel(View& view, const Layout& layout, const char* name,
                std::initializer_list<const char*> covered, const std::function<void(Rows&)>& rows);

}  // namespace headscope::app
