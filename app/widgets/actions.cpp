#include "app/widgets/actions.h"

#include <algorithm>
#include <array>

#include "attention/text/ascii.h"

namespace headscope::app {

namespace {

/// Words that questions are made of, which say nothing about what is sought.
constexpr std::array<std::string_view, 27> kFillers{
    "a",  "an", "and", "are", "at", "can", "do", "does", "for", "from", "how",   "i",   "in",  "is",
    "it", "me", "my",  "of",  "on", "the", "to", "what", "why", "with", "where", "you", "your"};

using Words = std::vector<std::string>;

void replaceAll(std::string& text, std::string_view old, std::string_view now) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += now.size())
    text.replace(at, old.size(), now);
}

/// Splits a text into words, in lower case and British spelling. Letters beyond ASCII belong to words.
Words wordsOf(std::string_view text) {
  std::string plain = attention::lowerCase(text);
  for (const std::string_view mark : {"…", "“", "”", "·", "—", "→"}) replaceAll(plain, mark, " ");
  for (const std::string_view root : {"square root of ", "sqrt(", "sqrt ", "sqrt", "√("})
    replaceAll(plain, root, "√");
  replaceAll(plain, "color", "colour");
  Words words;
  bool inWord = false;
  for (const char c : plain) {
    const bool belongs = attention::isLetter(c) || attention::isDigit(c) || (c & 0x80) != 0 || c == '\'';
    if (belongs && !inWord) words.emplace_back();
    if (belongs) words.back() += c;
    inWord = belongs;
  }
  return words;
}

/// Leaves out the fillers, unless there are only fillers.
Words meaningful(const Words& all) {
  Words words;
  for (const std::string& word : all)
    if (std::find(kFillers.begin(), kFillers.end(), word) == kFillers.end()) words.push_back(word);
  return words.empty() ? all : words;
}

/// Whether the words are the same but for the plural's "s".
bool same(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return a == b || (b.size() == a.size() + 1 && b.starts_with(a) && b.back() == 's');
}

bool same(const Words& a, const Words& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const std::string& one, const std::string& other) { return same(one, other); });
}

/// Whether each of the wanted words is one of `words` (`whole`), or begins one.
bool contains(const Words& words, const Words& wanted, bool whole) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& each) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return whole ? same(word, each) : word.starts_with(each);
    });
  });
}

/// Whether the wanted words are one of the phrases that commas separate.
bool isPhrase(std::string_view phrases, const Words& wanted) {
  while (!phrases.empty()) {
    const std::size_t end = std::min(phrases.find(','), phrases.size());
    if (same(meaningful(wordsOf(phrases.substr(0, end))), wanted)) return true;
    phrases.remove_prefix(std::min(end + 1, phrases.size()));
  }
  return false;
}

}  // namespace

int Action::matches(std::string_view wanted) const {
  const Words typed = wordsOf(wanted), sought = meaningful(typed);
  if (sought.empty()) return wanted.find_first_not_of(' ') == std::string_view::npos ? 1 : 0;
  Words all = wordsOf(name);
  if (all == typed) return 1000;
  if (same(all, sought) || isPhrase(words, sought)) return 900;
  // The larger the part of the name, the better.
  const int part = static_cast<int>(99 * sought.size() / std::max(all.size(), sought.size()));
  for (const bool whole : {true, false})
    if (contains(all, sought, whole)) return (whole ? 700 : 600) + part;
  const Words others = wordsOf(words);
  all.insert(all.end(), others.begin(), others.end());
  for (const bool whole : {true, false})
    if (contains(all, sought, whole)) return whole ? 500 : 400;
  if (about.empty()) return 0;
  const Words text = wordsOf(about);
  all.insert(all.end(), text.begin(), text.end());
  return contains(all, sought, false) ? 100 : 0;
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
    case Key::f10:
      return text + "F10";
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
