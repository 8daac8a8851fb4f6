// Where no model is open the page shows the bundled one in its place: a view of its own beside the scene,
// which stays as it is until something of the view is changed.

#include <utility>

#include "app/pages/model/model_page.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"

namespace headscope::app::model_page {

void Page::openExample() {
  if (std::exchange(example_.asked, true)) return;
  page_.opening.name = "the bundled model";
  services_.files.read<std::shared_ptr<const OpenModel>>(
      modelFolder(kLearned).string(),
      [stop = services_.files.stopToken()] { return openModel(kLearned, stop); },
      [this](attention::Result<std::shared_ptr<const OpenModel>> opened) {
        page_.opening.name.clear();
        if (opened)
          example_.model = *std::move(opened);
        else
          page_.opening.problem = opened.error().message;
      });
}

bool Page::showsExample(const Scene& scene) const {
  return example_.model && scene.setup.subject.model.empty() && !isStack(scene.setup);
}

Scene Page::exampleOf(const Scene& scene) {
  Scene shown = scene;
  shown.setup = {};
  shown.setup.input = scene.setup.input;
  shown.setup.prefill = scene.setup.prefill;
  adoptModel(shown, kLearned, example_.model);
  // Of words it doesn't know it would show scraps.
  const Learned& learned = example_.model->learned;
  const SharedText& text = scene.setup.input.text;
  if (example_.text != text) {
    example_.text = text;
    example_.known = !text->empty() && wordsOutside(learned.words, *text).empty();
  }
  if (!learned.skills.empty() && !example_.known) shown.setup.input.text = learned.skills.front().text;
  return shown;
}

void Page::onShown(Scene& scene, const std::function<void(Scene&)>& act) {
  if (!showsExample(scene) || scene.cursor.page != "model") return act(scene);
  Scene shown = exampleOf(scene);
  const Setup before = shown.setup;
  const CompareSetup compared = shown.compare;
  act(shown);
  const bool adopts = shown.setup != before || shown.compare != compared || shown.cursor.page != "model";
  if (adopts) {
    shown.cursor.sequence = 0;
    shown.cursor.decoding = false;
  } else {
    shown.setup = std::move(scene.setup);
  }
  scene = std::move(shown);
}

std::vector<Action> Page::onShown(std::vector<Action> actions) {
  for (Action& action : actions)
    action.run = [this, run = std::move(action.run)](Scene& scene) { onShown(scene, run); };
  return actions;
}

}  // namespace headscope::app::model_page
