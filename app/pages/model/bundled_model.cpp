#include "app/pages/model/bundled_model.h"

#include <utility>

#include "app/compute/model/text_study.h"
#include "app/pages/common/unknown_words.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"

namespace headscope::app::model_page {

BundledModel::BundledModel(PageServices& services, State& page, Opener& opener)
    : services_(services), page_(page), opener_(opener) {
  readExamples();
}

void BundledModel::read() {
  if (std::exchange(asked_, true)) return;
  page_.opening.name = "the bundled model";
  services_.files.read<std::shared_ptr<const OpenModel>>(
      modelFolder(kLearned).string(),
      [stop = services_.files.stopToken()] { return openModel(kLearned, stop); },
      [this](attention::Result<std::shared_ptr<const OpenModel>> opened) {
        page_.opening.name.clear();
        if (opened)
          model_ = *std::move(opened);
        else
          page_.opening.problem = opened.error().message;
      });
}

bool BundledModel::isShown(const Scene& scene) const {
  return model_ && scene.setup.subject.model.empty() && !isStack(scene.setup);
}

Scene BundledModel::shownScene(const Scene& scene) {
  Scene shown = scene;
  shown.setup = {};
  shown.setup.input = scene.setup.input;
  shown.setup.prefill = scene.setup.prefill;
  adoptModel(shown, kLearned, model_);
  // Words that it doesn't know would be split into meaningless pieces.
  const Learned& learned = model_->learned;
  const SharedText& text = scene.setup.input.text;
  if (text_ != text) {
    text_ = text;
    known_ = !text->empty() && wordsOutside(learned.words, *text).empty();
  }
  if (!learned.skills.empty() && !known_) shown.setup.input.text = learned.skills.front().text;
  return shown;
}

void BundledModel::onShown(Scene& scene, const std::function<void(Scene&)>& act) {
  if (!isShown(scene) || scene.cursor.page != "model") return act(scene);
  Scene shown = shownScene(scene);
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

std::vector<Action> BundledModel::onShown(std::vector<Action> actions) {
  for (Action& action : actions)
    action.run = [this, run = std::move(action.run)](Scene& scene) { onShown(scene, run); };
  return actions;
}

void BundledModel::open(Scene& scene) {
  if (!isShown(scene) || scene.cursor.page != "model")
    return opener_.open(kLearned, services_.requester(), Outcome(services_.view));
  scene = shownScene(scene);
  services_.view.say("Opened " + model_->name);
}

void BundledModel::readExamples() {
  services_.files.read<Learned>(
      modelFolder(kLearned).string(), [] { return readLearned(modelFolder(kLearned)); },
      [this](attention::Result<Learned> read) {
        more_ = onShown(exampleActions(std::make_shared<const Learned>(read ? *std::move(read) : Learned{})));
      });
}

std::vector<Action> BundledModel::exampleActions(const std::shared_ptr<const Learned>& learned) {
  std::vector<Action> actions;
  for (const LearnedSkill& skill : learned->skills)
    actions.push_back({.id = exampleAction(skill),
                       .name = "Example text: " + skill.title,
                       .whileTyping = true,
                       .run = [this, skill](Scene& scene) { showExample(scene, skill); }});
  for (const LearnedSkill& skill : learned->skills)
    if (!skill.other.empty())
      actions.push_back({.id = "model.pair." + skill.name,
                         .name = "Pair of texts: " + skill.title,
                         .whileTyping = true,
                         .words = "patching circuit clean corrupted compare",
                         .run = [this, skill](Scene& scene) { showPair(scene, skill); }});
  actions.push_back(
      {.id = "model.words",
       .name = "Show the bundled model's vocabulary…",
       .whileTyping = true,
       .run = [this, learned](Scene&) { services_.view.dialog = std::make_shared<WordList>(learned); }});
  return actions;
}

/// Shows an example text on the current page, opening the bundled model first if it isn't open.
void BundledModel::showExample(Scene& scene, const LearnedSkill& skill) {
  if (scene.setup.subject.model != kLearned)
    return opener_.open(kLearned, services_.requester(), Outcome(services_.view),
                        [this, skill](Scene& opened) { showExample(opened, skill); });
  showSkill(scene, page_.writing, skill);
}

void showSkill(Scene& scene, Writing& writing, const LearnedSkill& skill) {
  scene.setup.input.text = skill.text;
  if (skill.head) {
    scene.setup.subject.layer = scene.cursor.model.layer = skill.head->layer;
    scene.cursor.cell.head = skill.head->head;
    if (scene.cursor.focus >= 0) scene.cursor.focus = skill.head->head;
  }
  writing.followsLast = true;
}

/// Shows the skill's text and its counterpart as a pair, with the correct next words as the answers.
void BundledModel::showPair(Scene& scene, const LearnedSkill& skill) {
  if (scene.setup.subject.model != kLearned)
    return opener_.open(kLearned, services_.requester(), Outcome(services_.view),
                        [this, skill](Scene& opened) { showPair(opened, skill); });
  showExample(scene, skill);
  scene.setup.subject.written.clear();
  scene.compare = withoutOther(scene.compare);
  scene.compare.other = skill.other;
  const auto id = [&](const std::string& word) {
    const auto found = answerId(*scene.setup.subject.opened, " " + word);
    return found ? *found : -1;
  };
  scene.compare.answer = id(skill.next);
  scene.compare.otherAnswer = id(skill.otherNext);
  scene.cursor.page = "model";
  scene.cursor.model.view = ModelView::patch;
}

}  // namespace headscope::app::model_page
