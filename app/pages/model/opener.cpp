#include "app/pages/model/opener.h"

#include <utility>

#include "app/platform/recent_files.h"
#include "app/scene/models/downloads.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "app/widgets/file_picker.h"

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
          scene.cursor.cell.query = scene.cursor.cell.key = 0;  // the query is the class token
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

Action Opener::pictureAction() {
  return {.id = "model.picture",
          .name = "Open a picture for the model…",
          .words = "image vit dinov2 clip patches",
          .run = [this](Scene&) {
            services_.view.dialog = std::make_shared<FilePicker>(
                FileQuestion{"Open a picture",
                             {".png", ".jpg", ".jpeg"},
                             "",
                             [this](Scene&, const auto& path, const Outcome& outcome) {
                               openPicture(path, services_.requester(), outcome);
                             }},
                services_.folders);
          }};
}

std::vector<Action> Opener::actions(const std::function<void(Scene&)>& openBundled) {
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
                                    open((gguf ? path : path.parent_path()).string(), services_.requester(),
                                         outcome);
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
               open(path.string(), services_.requester(), outcome);
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
      pictureAction(),
  };
}

}  // namespace headscope::app::model_page
