#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/scene/text/number_text.h"
#include "app/session/session.h"
#include "app/shell/main_menu.h"
#include "app/shell/manual_reader.h"
#include "attention/text/ascii.h"

namespace headscope::app {

// The part of Session with Search and the places it leads to.

namespace {

/// The manual's sections, without what they do; an id is "manual.CHAPTER#HEADING".
attention::Result<std::vector<Action>> readSections() {
  const auto manual = readManual();
  if (!manual) return manual.error();
  std::vector<Action> places;
  for (const Chapter& chapter : *manual)
    for (const ManualSection& section : sectionsOf(parseMarkdown(chapter.text))) {
      const bool terms = chapter.key == "glossary";  // they are places of their own
      places.push_back(
          {.id = "manual." + chapter.key + "#" + anchorOf(section.heading),
           .name = section.heading.empty() ? chapter.title : chapter.title + " · " + section.heading,
           .section = "manual",
           .kind = ActionKind::manual,
           .about = terms ? "" : section.words});
    }
  return places;
}

constexpr std::string_view kManual = "manual.", kTerm = "glossary.";

}  // namespace

/// Opens the manual at "CHAPTER" or "CHAPTER#HEADING"; a page's chapter has the page's key, and the
/// glossary's terms count as headings. The files are read in the background.
void Session::openManual(const std::string& target) {
  View& view = services_.view;
  services_.files.read<std::vector<Chapter>>(
      "manual", [] { return readManual(); },
      [&view, target](attention::Result<std::vector<Chapter>> manual) {
        if (!manual) return view.messages.fail(manual.error().message);
        view.dialog = std::make_shared<ManualReader>(*std::move(manual), target);
      });
}

void Session::openMenu() {
  const auto enabled = [this](const std::string& action) {
    if (action == "edit.undo") return workspace_.undoTarget(false).canUndo();
    if (action == "edit.redo") return workspace_.undoTarget(true).canRedo();
    return action != "look.side" || !pages().info(own().scene().cursor.page).side.empty();
  };
  const auto state = [this](const std::string& action) -> std::string {
    const View& view = services_.view;
    if (action == "look.full_screen") return view.fullScreen ? "on" : "off";
    if (action == "stage.lecturer") return stage().lecturer ? "open" : "";
    const auto rows = preferenceRows();
    const auto row = std::ranges::find_if(rows, [&](const PreferenceRow& each) {
      return action == each.action || action == each.action + std::string(".larger");
    });
    return row == rows.end() ? "" : attention::lowerCase(settingText(*row, view.preferences));
  };
  services_.view.dialog = std::make_shared<MainMenu>(
      actions_, files_,
      MainMenu::Rules{enabled, state, [this](const std::string& typed) { openSearch(typed); }});
}

void Session::openSearch(std::string typed) {
  services_.view.dialog = std::make_shared<Palette>(actions_, places_, std::move(typed));
  gatherPlaces();
  if (!chapters_.empty()) return;
  services_.files.read<std::vector<Action>>(
      "search", [] { return readSections(); },
      [this](attention::Result<std::vector<Action>> read) {
        if (!read) return services_.view.messages.fail(read.error().message);
        chapters_ = *std::move(read);
        for (Action& section : chapters_)
          section.run = [this, target = section.id.substr(kManual.size())](Scene&) { openManual(target); };
      });
}

namespace {
bool sameIds(const std::vector<Action>& a, const std::vector<Action>& b) {
  const auto same = [](const Action& one, const Action& other) { return one.id == other.id; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}
}  // namespace

/// Makes the list of places from what is known so far.
void Session::gatherPlaces() {
  std::vector<Action> places = sliderPlaces(services_.view);
  const auto take = [&](std::vector<Action> more) {
    places.insert(places.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  for (const auto& page : pages()) take(page->places());
  if (services_.view.glossary)
    for (const Term& term : services_.view.glossary->terms())
      places.push_back({.id = std::string(kTerm) + term.name,
                        .name = term.name,
                        .section = "glossary",
                        .run = [this, at = anchorOf(term.name)](Scene&) { openManual("glossary#" + at); },
                        .kind = ActionKind::term,
                        .about = term.explained()});
  take(chapters_);
  // The same list keeps what Search has found in it.
  if (sameIds(places, *places_)) return;
  places_ = std::make_shared<const std::vector<Action>>(std::move(places));
}

/// Returns the action or place of that id. Throws std::invalid_argument if there is none.
const Action& Session::actionNamed(const std::string& id) const {
  if (!actions_.has(id))
    for (const Action& place : *places_)
      if (place.id == id) return place;
  return actions_.find(id);
}

/// Gives the keyboard focus to the control that Search led to, once its page has drawn it.
void Session::revealControl() {
  View& view = services_.view;
  RevealedControl& wanted = view.reveal;
  if (wanted.name.empty()) return;
  constexpr int kWaits = 4;  // a page may need some frames to lay itself out
  const auto area = tracked(wanted.name);
  if (area && uiState().focus.goInto(*area)) {
    wanted = {};
  } else if (++wanted.frames > kWaits) {
    view.say("“" + wanted.label + "” isn't shown with the current settings.");
    wanted = {};
  }
  view.redraw();
}

}  // namespace headscope::app
