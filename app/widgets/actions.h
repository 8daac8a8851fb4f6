#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/platform/input_queue.h"
#include "app/scene/scene.h"

namespace headscope::app {

/// What a row of Search leads to. Of equally good matches, the first kind is listed first.
enum class ActionKind : std::uint8_t { action, control, model, lesson, term, manual };

/// A named command: run by a shortcut, from Search (Ctrl+K) or by a button; or a place that Search leads to.
struct Action {
  std::string id;            ///< "decode.play": used by buttons and tests
  std::string name;          ///< in Search: a verb and its object
  std::string section = {};  ///< in Search and the sheet of keys; empty = add()'s section
  KeyPress shortcut = {};    ///< Key::none = no shortcut
  bool everywhere = false;   ///< a page's shortcut that also works on other pages
  bool whileTyping = false;  ///< works even when a text box has the keyboard
  bool repeats = false;      ///< repeats while the key is held
  /// Other words that people search for. Commas separate phrases, which find the action as its name does:
  /// "dark mode, light mode, night theme".
  std::string words = {};
  bool afterStage = false;  ///< the shortcut gives precedence to the page on stage
  std::function<void(Scene&)> run = {};
  std::string page = {};  ///< where the shortcut works, before global ones; empty = everywhere
  ActionKind kind = ActionKind::action;
  std::string about = {};  ///< what it is, as text; searched last

  /// Returns how well the action matches a search, 0 = not at all: best if the text is its name or one of its
  /// phrases, then if each word of the text starts a word of its name, of `words` too, of `about` too. Words
  /// like "what", "is" and "the" don't count.
  int matches(std::string_view wanted) const;
};

/// Some actions, in listing order.
struct ActionList {
  std::vector<Action> all;

  /// Adds an action that does `run`.
  void add(Action action, std::function<void(Scene&)> run) {
    action.run = std::move(run);
    all.push_back(std::move(action));
  }
};

/// All actions, of the window and of every page, in listing order. Shortcuts, the action list and the sheet
/// of keys share this table.
class ActionTable {
 public:
  /// Adds actions to a section, and to a page if `page` isn't empty. Throws std::invalid_argument if an id or
  /// a shortcut is taken.
  void add(std::vector<Action> actions, std::string_view section, std::string_view page = {});
  /// Whether the action exists; some are left out where they can't work, as in a browser.
  bool has(std::string_view id) const;
  /// Throws std::invalid_argument if there is no such action.
  const Action& find(std::string_view id) const;
  /// Returns the action that a key press on a page triggers; null if none.
  const Action* pressed(KeyPress press, std::string_view page, bool typing, bool repeated) const;
  const std::vector<Action>& all() const { return actions_; }

 private:
  std::vector<Action> actions_;
};

/// Returns "Ctrl+Shift+Z"; "" without a key.
std::string shortcutText(const KeyPress& press);

}  // namespace headscope::app
