#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/input_queue.h"
#include "app/scene/scene.h"

namespace headscope::app {

/// Something that can be done by name: from the keyboard, the action list (Ctrl+K) or a button.
struct Action {
  std::string id;            ///< "decode.play": how buttons and tests ask for it
  std::string name;          ///< for the list: a verb and what it acts on
  std::string section = {};  ///< of the list and the sheet of keys; empty: that of who adds it
  KeyPress shortcut = {};    ///< Key::none where there is none
  bool everywhere = false;   ///< the shortcut of a page's action acts on other pages as well
  bool whileTyping = false;  ///< acts even when a text box has the keyboard
  bool repeats = false;      ///< again and again while the key is held
  std::string words = {};    ///< what else people call it, lower case: "export", "logit lens"
  bool afterStage = false;   ///< of a page that stages another: its key is asked after that one's
  std::function<void(Scene&)> run;
  std::string page = {};  ///< the one page where its shortcut acts, before others' there; empty: everywhere

  /// How well it answers a search: 2 where its name has the text, 1 where every word of the text begins one
  /// of its name's or its other words, 0 where it doesn't.
  int matches(std::string_view wanted) const;
};

/// All actions, the window's own and every page's: one table for shortcuts, the action list and the sheet of
/// keys, in the order they are listed.
class ActionTable {
 public:
  /// Adds actions of a section, and of a page where `page` is not empty. Throws std::invalid_argument where
  /// an id or a shortcut is taken.
  void add(std::vector<Action> actions, std::string_view section, std::string_view page = {});
  /// Whether there is such an action: some are left out where they can't do anything, as in a browser.
  bool has(std::string_view id) const;
  /// Throws std::invalid_argument for an id nobody has.
  const Action& find(std::string_view id) const;
  /// What a key press on a page asks for; null where it asks for nothing.
  const Action* pressed(KeyPress press, std::string_view page, bool typing, bool repeated) const;
  const std::vector<Action>& all() const { return actions_; }

 private:
  std::vector<Action> actions_;
};

/// "Ctrl+Shift+Z"; "" for none.
std::string shortcutText(const KeyPress& press);

}  // namespace headscope::app
