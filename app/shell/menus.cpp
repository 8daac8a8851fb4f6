#include <fmt/core.h>

#include "app/compute/layer/layer_inputs.h"
#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/scene/fields.h"
#include "app/scene/mask_rules.h"
#include "app/scene/model_fit.h"
#include "app/scene/text/number_text.h"
#include "app/shell/dialogs.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// Shows one action with its shortcut on the right. Returns whether it was chosen.
bool menuLine(const View& view, const Action& action, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 to(at.x + width, at.y + view.px(30));
  const bool chosen = hitArea("menu." + action.id, ImVec2(width, to.y - at.y));
  Canvas list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered()) list.AddRectFilled(at, to, view.theme->line, view.px(4));
  const float y = (at.y + to.y) / 2;
  paintText(list, view.fonts->text, ImVec2(at.x + view.px(8), y), view.theme->text, action.name);
  paintText(list, view.fonts->monoSmall, ImVec2(to.x - view.px(8), y), view.theme->faint,
            shortcutText(action.shortcut), Align::right);
  return chosen;
}

}  // namespace

void ContextMenu::draw(View& view, const ActionTable& actions) {
  constexpr const char* kPopup = "context";
  if (!view.menu.empty()) {
    offered_ = std::exchange(view.menu, {});
    std::erase_if(offered_, [&](const std::string& id) { return !actions.has(id); });
    ImGui::OpenPopup(kPopup);
  }
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(view.px(8), view.px(8)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  if (ImGui::BeginPopup(kPopup, ImGuiWindowFlags_NoMove)) {
    for (const InputEvent& event : view.input.events)
      if (event.kind == InputEvent::Kind::key && event.down && event.key == Key::escape)
        ImGui::CloseCurrentPopup();
    float width = 0;
    for (const std::string& id : offered_) {
      const Action& action = actions.find(id);
      width =
          std::max(width, textWidth(view.fonts->text, action.name) +
                              textWidth(view.fonts->monoSmall, shortcutText(action.shortcut)) + view.px(48));
    }
    for (const std::string& id : offered_)
      if (menuLine(view, actions.find(id), width)) {
        view.request(id);
        ImGui::CloseCurrentPopup();
      }
    compat::endPopup();
  }
  ImGui::PopStyleVar(2);
}

/// Names the steps once per list, since comparing hundreds of scenes takes a while.
void HistoryList::nameSteps() {
  const auto& steps = document_->steps();
  const void* newest = steps.back().scene.get();
  if (newest == named_ && names_.size() == steps.size()) return;
  named_ = newest;
  names_.assign(1, "Start");
  for (std::size_t i = 1; i < steps.size(); ++i)
    names_.push_back(steps[i].file == steps[i - 1].file
                         ? changeName(*steps[i - 1].scene, *steps[i].scene)
                         : "Open " + (steps[i].file->path.empty()
                                          ? std::string("another scene")
                                          : Document::sceneName(steps[i].file->path)));
}

bool HistoryList::row(const View& view, std::size_t step, bool current) const {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(28), y = at.y + height / 2;
  const bool clicked = hitArea(fmt::format("history.{}", step), ImVec2(width, height));
  Canvas list = *ImGui::GetWindowDrawList();
  if (current || ImGui::IsItemHovered())
    list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->raised, view.px(5));
  if (current) list.AddCircleFilled(ImVec2(at.x + view.px(10), y), view.px(3), view.theme->query);
  const bool undone = step > document_->undoSteps();
  paintFitted(view, list, current ? view.fonts->bold : view.fonts->text, ImVec2(at.x + view.px(22), y),
              width - view.px(30), undone ? view.theme->faint : view.theme->text, names_[step]);
  return clicked;
}

void HistoryList::draw(Scene&, View& view, bool opening) {
  if (beginDialog(view, "history", "History", 560, 520)) {
    document_->record();
    nameSteps();
    const std::size_t count = document_->steps().size(), now = document_->undoSteps();
    std::size_t wanted = now;
    if (!uiState().focus.on())
      for (const InputEvent& event : view.input.events) {
        if (event.kind != InputEvent::Kind::key || !event.down) continue;
        if (event.key == Key::up) wanted = std::min(wanted + 1, count - 1);
        if (event.key == Key::down && wanted > 0) --wanted;
        if (event.key == Key::enter) view.dialog.reset();
      }
    hint(view, count == 1 ? "No changes yet." : "Click a step, or move with ↑ and ↓. The page follows.");
    gap(view, 4);
    ImGui::BeginChild("steps", ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground);
    for (std::size_t i = count; i-- > 0;) {
      if (row(view, i, i == now)) wanted = i;
      if (i == now && (opening || wanted != now)) ImGui::SetScrollHereY();
    }
    compat::endChild();
    if (wanted != now) {
      view.controls = {};
      document_->goTo(wanted);
      view.redraw();
    }
  }
  endDialog();
}

namespace {

/// Applies the change unless it makes the scene invalid; then shows why.
void tryChange(Scene& scene, View& view, const std::function<void(Scene&)>& change) {
  Scene changed = scene;
  change(changed);
  growModelDim(changed.setup.model, plantingSuits(changed.setup));
  if (const auto status = validate(changed); !status) return view.messages.fail(status.error().message);
  scene = std::move(changed);
}

/// Returns the location given in the row's condition: "cache" of "cursor.page=cache"; "" if it has none.
std::string placeOf(std::string_view when, std::string_view what) {
  const std::size_t at = when.find(what);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = when.substr(at + what.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

/// Goes to the place where the control is visible.
void goToPlace(Scene& scene, std::string_view when) {
  if (std::string page = placeOf(when, "cursor.page="); !page.empty()) scene.cursor.page = page;
  if (std::string tab = placeOf(when, "cursor.lab.tab="); !tab.empty()) scene.cursor.lab.tab = tab;
  if (const std::string shown = placeOf(when, "cursor.cache_view="); !shown.empty())
    scene.cursor.cacheView =
        static_cast<CacheView>(std::ranges::find(kCacheViewNames, shown) - kCacheViewNames.begin());
}

/// Returns "Colours: Magma", for a page's tab "Cache: Paging", and for a source "Map source: File".
std::string nameOf(const Field& field, const std::string& choice) {
  const std::string page = placeOf(std::get<Selection>(field.control).when, "cursor.page=");
  if (field.path.ends_with("view") && !page.empty()) return capitalized(page) + ": " + choice;
  std::string name(field.path.ends_with(".source") ? field.path
                                                   : field.path.substr(field.path.find_last_of('.') + 1));
  for (char& c : name)
    if (c == '_' || c == '.') c = ' ';
  return capitalized(name) + ": " + choice;
}

void addChoices(std::vector<Action>& actions, const Field& field, View& view) {
  const auto& selection = std::get<Selection>(field.control);
  for (std::size_t i = 0; i < selection.labels.size(); ++i) {
    const std::string id = "set." + std::string(field.path) + "." + choiceName(field, i);
    const bool needsFile = field.path == "weights.source" && choiceName(field, i) == "file";
    actions.push_back({.id = id,
                       .name = nameOf(field, std::string(selection.labels[i])),
                       .whileTyping = true,
                       .words = field.words,
                       .run = [&field, &view, i, needsFile](Scene& scene) {
                         if (needsFile && scene.setup.weights.file.empty())
                           return view.request("weights.open");
                         tryChange(scene, view, [&](Scene& changed) {
                           if (field.path.starts_with("cursor."))
                             goToPlace(changed, std::get<Selection>(field.control).when);
                           choose(field, changed, static_cast<int>(i));
                         });
                       }});
  }
}

void addSwitch(std::vector<Action>& actions, const Field& field, View& view) {
  actions.push_back({.id = "set." + std::string(field.path),
                     .name = std::string(std::get<Toggle>(field.control).label) + ": on or off",
                     .whileTyping = true,
                     .words = field.words,
                     .run = [&field, &view](Scene& scene) {
                       tryChange(scene, view, [&](Scene& changed) {
                         bool& value = std::get<Member<bool>>(field.access).edit(changed);
                         value = !value;
                         if (field.path == "model.linked") fitModelTo(changed.setup.model);
                         if (field.path == "input.cross") followCross(changed.setup);
                       });
                     }});
}

}  // namespace

std::vector<Action> fieldActions(View& view) {
  std::vector<Action> actions;
  for (const Field& field : allFields()) {
    if (std::holds_alternative<Selection>(field.control)) addChoices(actions, field, view);
    if (std::holds_alternative<Toggle>(field.control)) addSwitch(actions, field, view);
  }
  return actions;
}

std::vector<Action> sliderPlaces(View& view) {
  std::vector<Action> places;
  for (const Field& field : allFields()) {
    const auto* slider = std::get_if<Slider>(&field.control);
    if (!slider) continue;
    std::string page = placeOf(slider->when, "cursor.page=");
    if (page.empty()) page = "heads";
    places.push_back({.id = "show." + std::string(field.path),
                      .name = slider->label,
                      .section = "control on " + capitalized(page),
                      .words = field.words,
                      .run =
                          [&view, slider, page](Scene& scene) {
                            view.present = false;  // the stage has no sliders
                            scene.cursor.page = page;
                            goToPlace(scene, slider->when);
                            view.reveal = {slider->name, slider->label};
                          },
                      .kind = ActionKind::control,
                      .about = field.help});
  }
  return places;
}

}  // namespace headscope::app
