#include "app/shell/field_actions.h"

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_weights.h"
#include "app/scene/fields.h"
#include "app/scene/mask_rules.h"
#include "app/scene/model_fit.h"
#include "app/scene/validate.h"

namespace headscope::app {

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
std::string placeOf(const Selection& selection, std::string_view what) {
  const std::string_view when = selection.when;
  const std::size_t at = when.find(what);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = when.substr(at + what.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

/// Goes to the place where the choice is visible.
void goToPlace(Scene& scene, const Selection& selection) {
  if (std::string page = placeOf(selection, "cursor.page="); !page.empty()) scene.cursor.page = page;
  if (std::string tab = placeOf(selection, "cursor.lab.tab="); !tab.empty()) scene.cursor.lab.tab = tab;
}

std::string capitalised(std::string name) {
  if (!name.empty() && name.front() >= 'a' && name.front() <= 'z') name.front() -= 32;
  return name;
}

/// Returns "Colours: Magma", or for a page's tab "Cache: Paging".
std::string nameOf(const Field& field, const std::string& choice) {
  const std::string page = placeOf(std::get<Selection>(field.control), "cursor.page=");
  if (field.path.ends_with("view") && !page.empty()) return capitalised(page) + ": " + choice;
  std::string name(field.path.substr(field.path.find_last_of('.') + 1));
  std::replace(name.begin(), name.end(), '_', ' ');
  return capitalised(name) + ": " + choice;
}

void addChoices(std::vector<Action>& actions, const Field& field, View& view) {
  const auto& selection = std::get<Selection>(field.control);
  for (std::size_t i = 0; i < selection.labels.size(); ++i) {
    const std::string id = "set." + std::string(field.path) + "." + choiceName(field, i);
    const bool needsFile = field.path == "weights.source" && choiceName(field, i) == "file";
    actions.push_back({.id = id,
                       .name = nameOf(field, std::string(selection.labels[i])),
                       .whileTyping = true,
                       .run = [&field, &view, i, needsFile](Scene& scene) {
                         if (needsFile && scene.setup.weights.file.empty())
                           return view.request("weights.open");
                         tryChange(scene, view, [&](Scene& changed) {
                           if (field.path.starts_with("cursor."))
                             goToPlace(changed, std::get<Selection>(field.control));
                           choose(field, changed, static_cast<int>(i));
                         });
                       }});
  }
}

void addSwitch(std::vector<Action>& actions, const Field& field, View& view) {
  actions.push_back({.id = "set." + std::string(field.path),
                     .name = std::string(std::get<Toggle>(field.control).label) + ": on or off",
                     .whileTyping = true,
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

}  // namespace headscope::app
