#include "app/pages/common/token_chips.h"
#include "app/pages/model/model_answers.h"
#include "app/scene/models/scene_model.h"
#include "attention/formats/tensor_source.h"

namespace headscope::app::model_page {

void Opener::open(const std::string& model, const Requester& requester, const Outcome& outcome,
                  const std::function<void(Scene&)>& then) {
  page_.opening.name = model == kLearned ? "the bundled model" : modelName(model);
  page_.opening.problem.clear();
  services_.view.redraw();
  services_.files.read<std::shared_ptr<const OpenModel>>(
      recordedFile(modelFolder(model).string()).path,
      [model, stop = services_.files.stopToken()] { return openModel(model, stop); },
      [this, model, requester, outcome, then](attention::Result<std::shared_ptr<const OpenModel>> opened) {
        page_.opening.name.clear();
        if (!opened) {
          page_.opening.problem = opened.error().message;
          return outcome.fail(opened.error().message);
        }
        const std::string name = (*opened)->name;
        if (model != kLearned) changeRecent(model, true);
        const auto taken = requester.edit(name, [&](Scene& scene) {
          adoptModel(scene, model, *std::move(opened));
          scene.cursor.page = "model";
          scene.cursor.cell = {0, kMaxMapTokens, 0};  // the query is the last token
          scene.cursor.keyChosen = false;
          if (then) then(scene);
        });
        taken ? outcome.done("Opened " + name) : outcome.fail(taken.error().message);
      });
}

void Opener::openPicture(const std::filesystem::path& path, const Requester& requester,
                         const Outcome& outcome) {
  const auto openOf = [](const Scene* scene) { return scene ? scene->setup.subject.opened : nullptr; };
  const std::shared_ptr<const OpenModel> opened = openOf(requester.scene());
  if (!opened) return outcome.fail(pictureWithoutModel(path).message);
  using On = std::shared_ptr<const OpenModel>;
  services_.files.read<On>(
      path, [opened, path, stop = services_.files.stopToken()] { return withPicture(opened, path, stop); },
      [openOf, opened, path, requester, outcome](attention::Result<On> on) {
        if (!on) return outcome.fail(on.error().message);
        if (requester.scene() && openOf(requester.scene()) != opened)
          return outcome.fail("Another model was opened meanwhile.");
        const std::string name = path.filename().string();
        const auto taken = requester.edit(name, [&](Scene& scene) {
          scene.setup.subject.opened = *std::move(on);
          scene.setup.subject.picture = path.string();
          scene.setup.subject.problem.clear();
          scene.cursor.page = "model";
          scene.cursor.cell.query = 0;  // the class token
          scene.cursor.keyChosen = false;
        });
        taken ? outcome.done("Opened " + name) : outcome.fail(taken.error().message);
      });
}

void Opener::readOther(const std::string& name) {
  if (page_.other.name == name) return;
  page_.other = {name, nullptr, ""};
  if (name.empty()) return;
  services_.files.read<std::shared_ptr<const OpenModel>>(
      recordedFile(name).path, [name, stop = services_.files.stopToken()] { return openModel(name, stop); },
      [this, name](attention::Result<std::shared_ptr<const OpenModel>> opened) {
        if (page_.other.name != name) return;
        if (!opened)
          page_.other.problem = opened.error().message;
        else if (!(*opened)->recorded)
          page_.other.problem = (*opened)->name + " is a model, expected recorded attention";
        else
          page_.other.opened = *std::move(opened);
        services_.view.redraw();
      });
}

void Opener::look() {
  lookForRecent();
  lookForCached();
}

void Opener::takeChoice() {
  Opening& opening = page_.opening;
  if (!opening.wanted.empty())
    open(std::exchange(opening.wanted, {}), services_.requester(), Outcome(services_.view));
  if (!opening.forgotten.empty()) changeRecent(std::exchange(opening.forgotten, {}), false);
}

void Opener::lookForCached() {
  if (std::exchange(page_.opening.lookedForCached, true)) return;
  services_.files.read<std::vector<CachedModel>>(
      hubCache(), [] { return downloadedModels(); },
      [this](attention::Result<std::vector<CachedModel>> found) {
        if (found) page_.opening.cached = *std::move(found);
      });
}

/// Reads the list of recent models on the file thread, and checks which of them still exist.
void Opener::lookForRecent() {
  if (std::exchange(page_.opening.lookedForRecent, true)) return;
  using Found = std::vector<Opening::Recent>;
  services_.files.read<Found>(
      "",
      []() -> attention::Result<Found> {
        Found found;
        std::error_code ignored;
        for (const std::string& path : loadRecent(RecentKind::model))
          found.push_back(
              {path, downloadedName(path), std::filesystem::exists(recordedFile(path).path, ignored)});
        return found;
      },
      [this](attention::Result<Found> found) {
        if (found) page_.opening.recent = *std::move(found);
      });
}

/// Adds a model to the recent ones if it was opened, else removes it from them.
void Opener::changeRecent(const std::string& path, bool opened) {
  page_.opening.lookedForRecent = false;
  services_.files.write(
      path,
      [path, opened] {
        opened ? rememberRecent({RecentKind::model, path}) : forgetRecent(path);
        return attention::success();
      },
      [](const attention::Status&) {});
}

std::vector<Action> Opener::actions(const std::function<void(Scene&)>& openBundled) {
  const std::vector<std::string> recordings(std::begin(attention::kTensorFiles),
                                            std::end(attention::kTensorFiles));
  const auto opens = [this](bool folders) {
    return [this, folders](Scene&, const std::filesystem::path& path, const Outcome& outcome) {
      const bool inside = folders && path.extension() != ".gguf";  // a folder's config.json
      open((inside ? path.parent_path() : path).string(), services_.requester(), outcome);
    };
  };
  const auto picks = [this](FileQuestion question) {
    return [this, question = std::move(question)](Scene&) { services_.ask(question); };
  };
  return {
      {.id = "model.open",
       .name = "Open a model…",
       .section = "Scene",
       .shortcut = {Key::o, {.ctrl = true, .shift = true}},
       .everywhere = true,
       .whileTyping = true,
       .words = "download a model, load import checkpoint, hugging face, gguf, ollama, gpt2, llama",
       .run = picks({"Open a model", {".json", ".gguf"}, "", opens(true), "config.json"})},
      {.id = "model.recorded",
       .name = "Import recorded attention…",
       .section = "Scene",
       .whileTyping = true,
       .words = "load import npz safetensors output_attentions",
       .run = picks({"Open recorded attention", recordings, "", opens(false)})},
      {.id = "model.recorded_b",
       .name = "Compare with other recorded attention…",
       .words = "difference second recording",
       .run =
           [this, recordings](Scene& scene) {
             const auto& opened = scene.setup.subject.opened;
             if (!opened || !opened->recorded) return services_.view.say("Import recorded attention first");
             services_.ask({"Compare with recorded attention", recordings, "",
                            [](Scene& now, const auto& path, const Outcome& outcome) {
                              now.compare.recorded = path.string();
                              now.cursor.model.shown = ShownText::difference;
                              outcome.done();
                            }});
           }},
      {.id = "model.picture",
       .name = "Open a picture for the model…",
       .words = "image vit dinov2 clip patches",
       .run = picks({"Open a picture",
                     {".png", ".jpg", ".jpeg"},
                     "",
                     [this](Scene&, const auto& path, const Outcome& outcome) {
                       openPicture(path, services_.requester(), outcome);
                     }})},
      {.id = "model.learned",
       .name = "Open the bundled model",
       .section = "Scene",
       .whileTyping = true,
       .words = "load bundled miniature",
       .run = openBundled},
      {.id = "model.leave",
       .name = "Close the model and use a synthetic layer",
       .section = "Scene",
       .whileTyping = true,
       .words = "close reset",
       .run =
           [](Scene& scene) {
             leaveModel(scene);
             scene.cursor.page = "heads";
           }},
  };
}

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

/// Shows an example text on the current page, opening the bundled model first if it isn't open. On stage,
/// where a single key does this, what is presented only gets the text.
void BundledModel::showExample(Scene& scene, const LearnedSkill& skill) {
  const bool opened = scene.setup.subject.model == kLearned;
  if (!opened && services_.view.present) {
    scene.setup.input.source = EmbeddingSource::text;
    scene.setup.input.text = skill.text;
    scene.cursor.keyChosen = false;
    return;
  }
  if (!opened)
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
  scene.cursor.keyChosen = false;
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
