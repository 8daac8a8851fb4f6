// Opening a model, and what was opened before.

#include <fmt/core.h>

#include <utility>

#include "app/compute/model/text_study.h"
#include "app/pages/common/unknown_words.h"
#include "app/pages/model/model_page.h"
#include "app/platform/recent_files.h"
#include "app/scene/models/downloads.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "app/widgets/file_picker.h"

namespace headscope::app::model_page {

void Page::openModelAt(const std::string& model, const Asker& asker, const Outcome& outcome,
                       const std::function<void(Scene&)>& then) {
  page_.opening.name = model == kLearned ? "the bundled model" : modelName(model);
  page_.opening.problem.clear();
  services_.view.redraw();
  services_.files.read<std::shared_ptr<const OpenModel>>(
      recordedFile(modelFolder(model).string()).path,
      [model, stop = services_.files.stopToken()] { return openModel(model, stop); },
      [this, model, asker, outcome, then](attention::Result<std::shared_ptr<const OpenModel>> opened) {
        page_.opening.name.clear();
        if (!opened) {
          page_.opening.problem = opened.error().message;
          return outcome.fail(opened.error().message);
        }
        const std::string name = (*opened)->name;
        if (model != kLearned) changeRecent(model, true);
        const auto taken = asker.edit(name, [&](Scene& scene) {
          adoptModel(scene, model, *std::move(opened));
          scene.cursor.page = "model";
          scene.cursor.cell = {0, kMaxMapTokens, 0};  // the last token asks
          if (then) then(scene);
        });
        taken ? outcome.done("Opened " + name) : outcome.fail(taken.error().message);
      });
}

void Page::readOther(const std::string& name) {
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

void Page::lookForCached() {
  if (std::exchange(page_.opening.lookedForCached, true)) return;
  services_.files.read<std::vector<CachedModel>>(
      hubCache(), [] { return downloadedModels(); },
      [this](attention::Result<std::vector<CachedModel>> found) {
        if (found) page_.opening.cached = *std::move(found);
      });
}

/// The list of models that were opened, on the files' thread; what is there of it is looked at with it.
void Page::lookForRecent() {
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

/// A model was opened, or is to leave the list.
void Page::changeRecent(const std::string& path, bool opened) {
  page_.opening.lookedForRecent = false;
  services_.files.write(
      path,
      [path, opened] {
        opened ? rememberRecent({RecentKind::model, path}) : forgetRecent(path);
        return attention::success();
      },
      [](const attention::Status&) {});
}

bool Page::open(const NamedFile& file, const Asker& asker, const Outcome& outcome) {
  std::error_code ignored;
  if (isPictureName(file.path) && !file.folder) {
    openPicture(std::filesystem::absolute(file.path, ignored).lexically_normal(), asker, outcome);
    return true;
  }
  const std::string ending = recordedFile(file.path.string()).path.extension().string();
  // Lines of plain text are embeddings elsewhere.
  if (ending == ".jsonl" || (ending == ".txt" && file.page == "model" && page_.texts.shown)) {
    openTexts(file.path, asker, outcome);
    return true;
  }
  // Files may be a layer's weights or embeddings too: on this page they are attention that was recorded.
  const bool recorded =
      file.page == "model" && (ending == ".safetensors" || ending == ".npz" || ending == ".npy");
  if (!recorded && !file.folder && ending != ".gguf") return false;
  const auto& opened = page_.model.opened;
  if (recorded && opened && opened->sources && !opened->model->source()) {  // whose encoder isn't computed
    const std::string path = std::filesystem::absolute(file.path, ignored).lexically_normal().string();
    const auto taken = asker.edit("features", [&](Scene& scene) {
      if (scene.setup.subject.opened == opened) scene.setup.subject.features = path;
    });
    taken ? outcome.done("Reading " + modelName(path)) : outcome.fail(taken.error().message);
    return true;
  }
  openModelAt(std::filesystem::absolute(file.path, ignored).lexically_normal().string(), asker, outcome);
  return true;
}

/// What the small model learned is in a file.
void Page::readExamples() {
  services_.files.read<Learned>(
      modelFolder(kLearned).string(), [] { return readLearned(modelFolder(kLearned)); },
      [this](attention::Result<Learned> read) {
        more_ = onShown(exampleActions(std::make_shared<const Learned>(read ? *std::move(read) : Learned{})));
      });
}

std::vector<Action> Page::exampleActions(const std::shared_ptr<const Learned>& learned) {
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

/// On whichever page is shown, where the small model is open; else it is opened first.
void Page::showExample(Scene& scene, const LearnedSkill& skill) {
  if (scene.setup.subject.model != kLearned)
    return openModelAt(kLearned, services_.asker(), Outcome(services_.view),
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

/// The skill's text and the one beside it, with the words that are right after them.
void Page::showPair(Scene& scene, const LearnedSkill& skill) {
  if (scene.setup.subject.model != kLearned)
    return openModelAt(kLearned, services_.asker(), Outcome(services_.view),
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

std::vector<Action> Page::pairActions() {
  std::vector<Action> actions = {
      {.id = "model.swap_texts",
       .name = "Swap text A and text B",
       .words = "clean corrupted prompt",
       .run =
           [](Scene& scene) {
             if (!scene.compare.other.empty()) swapTexts(scene);
           }},
      {.id = "model.patches.clear",
       .name = "Remove all kept patches",
       .words = "reset",
       .run = [](Scene& scene) { scene.compare.patches.clear(); }},
  };
  // By the names of their tabs.
  struct Tab {
    ModelView view;
    const char *key, *name, *words;
  };
  constexpr Tab kTabs[] = {
      {ModelView::heads, "heads", "Model: all heads", ""},
      {ModelView::patch, "patch", "Model: patch pieces of one text into another",
       "patching circuit difference"},
      {ModelView::attribution, "attribution", "Model: attribution, what each piece adds to the answer",
       "circuit"},
      {ModelView::lens, "lens", "Model: lens, the top prediction after every layer", "logit"},
      {ModelView::study, "study", "Model: study every head on many texts", ""}};
  for (const Tab& tab : kTabs)
    actions.push_back({.id = std::string("model.view.") + tab.key,
                       .name = tab.name,
                       .whileTyping = true,
                       .words = tab.words,
                       .run = [which = tab.view](Scene& scene) {
                         scene.cursor.page = "model";
                         scene.cursor.model.view = which;
                       }});
  return actions;
}

std::vector<Action> Page::openActions() {
  const auto askRecorded = [this](std::string title, decltype(FileQuestion::chosen) chosen) {
    services_.view.dialog = std::make_shared<FilePicker>(
        FileQuestion{std::move(title), {".safetensors", ".npz", ".npy"}, "", std::move(chosen)},
        services_.folders);
  };
  return {
      {.id = "model.open",
       .name = "Open a model…",
       .section = "Scene",
       .shortcut = {Key::o, {.ctrl = true, .shift = true}},
       .everywhere = true,
       .whileTyping = true,
       .words = "load import checkpoint hugging face gguf ollama",
       .run =
           [this](Scene&) {
             services_.view.dialog = std::make_shared<FilePicker>(
                 FileQuestion{.title = "Open a model",
                              .endings = {".json", ".gguf"},
                              .proposal = "",
                              .chosen =
                                  [this](Scene&, const auto& path, const Outcome& outcome) {
                                    const bool gguf = path.extension() == ".gguf";
                                    openModelAt((gguf ? path : path.parent_path()).string(),
                                                services_.asker(), outcome);
                                  },
                              .folderFile = "config.json"},
                 services_.folders);
           }},
      {.id = "model.recorded",
       .name = "Import recorded attention…",
       .section = "Scene",
       .whileTyping = true,
       .words = "import load npz safetensors output_attentions",
       .run =
           [this, askRecorded](Scene&) {
             askRecorded("Open recorded attention", [this](Scene&, const auto& path, const Outcome& outcome) {
               openModelAt(path.string(), services_.asker(), outcome);
             });
           }},
      {.id = "model.recorded_b",
       .name = "Compare with other recorded attention…",
       .words = "difference second recording",
       .run =
           [this, askRecorded](Scene& scene) {
             const auto& opened = scene.setup.subject.opened;
             if (!opened || !opened->recorded) return services_.view.say("Import recorded attention first");
             askRecorded("Compare with recorded attention",
                         [](Scene& now, const auto& path, const Outcome& outcome) {
                           now.compare.recorded = path.string();
                           now.cursor.model.shown = ShownText::difference;
                           outcome.done();
                         });
           }},
      {.id = "model.learned",
       .name = "Open the bundled model",
       .section = "Scene",
       .whileTyping = true,
       .words = "load bundled miniature",
       .run =
           [this](Scene& scene) {
             if (showsExample(scene) && scene.cursor.page == "model") {
               scene = exampleOf(scene);
               return services_.view.say("Opened " + example_.model->name);
             }
             openModelAt(kLearned, services_.asker(), Outcome(services_.view));
           }},
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

}  // namespace headscope::app::model_page
