#include "app/widgets/actions.h"

#include <sstream>

#include "attention/text/ascii.h"

namespace headscope::app {

int Action::matches(std::string_view wanted) const {
  const std::string text = attention::lowerCase(wanted), ownName = attention::lowerCase(name);
  if (ownName.find(text) != std::string::npos) return 2;
  const std::string all = " " + ownName + " " + words;
  std::istringstream each(text);
  bool any = false;
  for (std::string word; each >> word; any = true)
    if (all.find(" " + word) == std::string::npos) return 0;
  return any ? 1 : 0;
}

void ActionTable::add(std::vector<Action> actions, std::string_view section, std::string_view page) {
  for (Action& action : actions) {
    if (action.section.empty()) action.section = section;
    if (action.shortcut.key != Key::none && !action.everywhere) action.page = page;
    for (const Action& other : actions_) {
      if (other.id == action.id) throw std::invalid_argument("two actions are called " + action.id);
      if (action.shortcut.key != Key::none && other.shortcut == action.shortcut && other.page == action.page)
        throw std::invalid_argument(action.id + " and " + other.id + " have the same key, " +
                                    shortcutText(action.shortcut));
    }
    // Keeps each section together, whoever adds to it.
    const auto last = std::find_if(actions_.rbegin(), actions_.rend(),
                                   [&](const Action& other) { return other.section == action.section; });
    actions_.insert(last.base() == actions_.begin() ? actions_.end() : last.base(), std::move(action));
  }
}

bool ActionTable::has(std::string_view id) const {
  return std::ranges::any_of(actions_, [&](const Action& action) { return action.id == id; });
}

const Action& ActionTable::find(std::string_view id) const {
  const auto found =
      std::find_if(actions_.begin(), actions_.end(), [&](const Action& action) { return action.id == id; });
  if (found == actions_.end()) throw std::invalid_argument("there is no action " + std::string(id));
  return *found;
}

const Action* ActionTable::pressed(KeyPress press, std::string_view page, bool typing, bool repeated) const {
  // Other common spellings: Ctrl+Y redoes, Ctrl++ needs Shift on many keyboards, and ? shows the keys.
  if (press == KeyPress{Key::y, {.ctrl = true}}) press = {Key::z, {.ctrl = true, .shift = true}};
  if (press == KeyPress{Key::equal, {.ctrl = true, .shift = true}}) press.mods.shift = false;
  if (press == KeyPress{Key::slash, {.shift = true}} && !typing) press = {Key::f1, {.shift = true}};
  const Action* everywhere = nullptr;
  for (const Action& action : actions_) {
    if (action.shortcut != press || (typing && !action.whileTyping) || (repeated && !action.repeats))
      continue;
    if (action.page == page) return &action;
    if (action.page.empty()) everywhere = &action;
  }
  return everywhere;
}

std::string shortcutText(const KeyPress& press) {
  if (press.key == Key::none) return "";
  std::string text;
  if (press.mods.ctrl) text += "Ctrl+";
  if (press.mods.shift) text += "Shift+";
  if (press.mods.alt) text += "Alt+";
  switch (press.key) {
    case Key::space:
      return text + "Space";
    case Key::escape:
      return text + "Esc";
    case Key::enter:
      return text + "Enter";
    case Key::f1:
      return text + "F1";
    case Key::f11:
      return text + "F11";
    case Key::pageUp:
      return text + "Page Up";
    case Key::pageDown:
      return text + "Page Down";
    case Key::left:
      return text + "←";
    case Key::right:
      return text + "→";
    case Key::up:
      return text + "↑";
    case Key::down:
      return text + "↓";
    case Key::home:
      return text + "Home";
    case Key::end:
      return text + "End";
    case Key::del:
      return text + "Delete";
    case Key::backspace:
      return text + "Backspace";
    case Key::equal:
      return text + "+";
    case Key::minus:
      return text + "−";
    default:
      return text + static_cast<char>(press.key);
  }
}

}  // namespace headscope::app
