#include <algorithm>

#include "app/platform/shaped_text.h"
#include "app/platform/track.h"
#include "app/scene/scene.h"
#include "app/shell/dialogs.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

std::vector<const Action*> searched(std::string_view wanted, const std::vector<Action>& actions,
                                    const std::vector<Action>& places) {
  struct Match {
    int how;
    const Action* action;
  };
  std::vector<Match> matches;
  const bool typed = wanted.find_first_not_of(' ') != std::string_view::npos;
  for (const std::vector<Action>* each : {&actions, &places})
    for (const Action& action : *each) {
      if (action.id == "palette" || (each == &places && !typed)) continue;
      // The manual says something about everything.
      const int how = action.matches(wanted) / (action.kind == ActionKind::manual ? 2 : 1);
      if (how > 0) matches.push_back({how, &action});
    }
  std::stable_sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return a.how != b.how ? a.how > b.how : a.action->kind < b.action->kind;
  });
  std::vector<const Action*> found;
  for (const Match& match : matches) found.push_back(match.action);
  return found;
}

/// Renews the matches if anything they depend on has changed.
void Palette::search() {
  if (soughtPlaces_ == places_ && soughtFor_ == wanted_ && soughtActions_ == actions_.all().size()) return;
  const bool retyped = std::exchange(soughtFor_, wanted_) != wanted_;
  const bool text = !retyped && soughtPlaces_ && chosen_ == static_cast<int>(found_.size());
  soughtActions_ = actions_.all().size();
  soughtPlaces_ = places_;
  found_ = searched(wanted_, actions_.all(), *soughtPlaces_);
  // The row that was chosen by hand stays chosen when more become known.
  const auto kept =
      std::find_if(found_.begin(), found_.end(), [&](const Action* each) { return each->id == chosenId_; });
  if (text)
    chosen_ = static_cast<int>(found_.size());
  else if (found_.empty())
    chosen_ = -1;
  else
    chosen_ = !retyped && chosen_ > 0 && kept != found_.end() ? static_cast<int>(kept - found_.begin()) : 0;
}

bool Palette::offersText() const {
  const std::size_t first = wanted_.find_first_not_of(' '), last = wanted_.find_last_not_of(' ');
  if (first == std::string::npos) return false;
  return found_.empty() || wanted_.find(' ', first) < last;
}

/// Shows one row. Returns whether it was clicked. The one that was chosen by a key (`moved`) scrolls into
/// view.
bool Palette::row(View& view, const std::string& name, const std::string& label, const std::string& aside,
                  int index, bool moved) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), mouse = ImGui::GetIO().MouseDelta;
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(28), y = at.y + height / 2;
  const bool clicked = hitArea(name, ImVec2(width, height));
  if (ImGui::IsItemHovered() && (mouse.x != 0 || mouse.y != 0)) chosen_ = index;
  if (index == chosen_ && moved) ImGui::SetScrollHereY();
  Canvas list = *ImGui::GetWindowDrawList();
  if (index == chosen_)
    list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->raised, view.px(5));
  const float asideWidth = textWidth(view.fonts->small, aside);
  paintText(list, view.fonts->small, ImVec2(at.x + width - view.px(10), y), view.theme->faint, aside,
            Align::right);
  paintFitted(view, list, view.fonts->text, ImVec2(at.x + view.px(10), y), width - asideWidth - view.px(36),
              view.theme->text, label);
  return clicked;
}

/// Shows the matches and, after them, the offer of the text. Returns the row that was clicked; −1 if none.
int Palette::list(View& view, bool moved) {
  int clicked = -1;
  if (found_.empty()) hint(view, "Nothing matches “" + wanted_ + "”.");
  for (int i = 0; i < static_cast<int>(found_.size()); ++i) {
    const Action& action = *found_[static_cast<std::size_t>(i)];
    const std::string keys = shortcutText(action.shortcut);
    if (row(view, "palette." + (action.kind == ActionKind::action ? action.name : action.id), action.name,
            keys.empty() ? action.section : action.section + "   " + keys, i, moved))
      clicked = i;
  }
  if (!offersText()) return clicked;
  const int last = rows() - 1;
  if (row(view, "palette.sentence", "Use “" + wanted_ + "” as the text", "", last, moved)) clicked = last;
  return clicked;
}

void Palette::draw(Scene& scene, View& view, bool opening) {
  if (beginDialog(view, "palette", "Search", 640, 520)) {
    const bool entered =
        lineBox(view, "palette.search", wanted_, ImGui::GetContentRegionAvail().x,
                opening || std::exchange(typesOn_, false), "What do you want to do, change, read or know?");
    if (opening) {  // what was typed before the line had the keyboard
      wanted_ = typed_;
      for (const InputEvent& event : view.input.events)
        if (event.kind == InputEvent::Kind::text) appendUtf8(wanted_, event.codepoint);
    }
    search();
    bool moved = false;
    for (const InputEvent& event : view.input.events) {
      if (event.kind != InputEvent::Kind::key || !event.down || rows() == 0) continue;
      if (event.key != Key::down && event.key != Key::up) continue;
      chosen_ =
          event.key == Key::down ? (chosen_ + 1) % rows() : (std::max(chosen_, 0) + rows() - 1) % rows();
      moved = true;
    }
    gap(view, 4);
    const float below = view.px(54);
    ImGui::BeginChild("list", ImVec2(0, -below), false, ImGuiWindowFlags_NoBackground);
    const int clicked = list(view, moved);
    compat::endChild();
    const int goes = clicked >= 0 ? clicked : entered ? chosen_ : -1;
    const auto count = static_cast<int>(found_.size());
    const Action* chosen =
        chosen_ >= 0 && chosen_ < count ? found_[static_cast<std::size_t>(chosen_)] : nullptr;
    chosenId_ = chosen ? chosen->id : "";
    gap(view, 4);
    if (chosen && chosen->kind != ActionKind::manual) hint(view, chosen->about);
    typesOn_ = entered && goes < 0;
    if (goes >= 0) view.dialog.reset();
    if (goes >= 0 && goes < count) view.request(found_[static_cast<std::size_t>(goes)]->id);
    if (goes >= count) {
      scene.setup.input.source = EmbeddingSource::text;
      scene.setup.input.text = wanted_;
    }
  }
  endDialog();
}

}  // namespace headscope::app
