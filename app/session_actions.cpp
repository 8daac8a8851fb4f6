// The part of Session that does what the person asked for by name.

#include <algorithm>

#include "app/scene/lessons/lesson_file.h"
#include "app/scene/scene_json.h"
#include "app/session.h"
#include "app/shell/shell.h"
#include "app/widgets/file_picker.h"

namespace headscope::app {

namespace {
constexpr Mods kCtrl{.ctrl = true};
constexpr Mods kCtrlShift{.ctrl = true, .shift = true};
}  // namespace

void Session::setScene(Scene scene, const std::filesystem::path& path) {
  resetPages();
  document_->open(std::move(scene), path);
}

void Session::openScene(Scene scene, SceneFile file) {
  resetPages();
  document_->open(std::move(scene), std::move(file));
}

/// Before another scene is opened. What was changed on a stage goes with it, and is a step of its own.
void Session::resetPages() {
  View& view = services_.view;
  view.controls.refusal = {};
  for (const auto& page : pages_) {
    if (const auto staged = page->staged(); staged && staged->dirty() && !page->stagesViews())
      document_->openInTalk(staged->scene(), *staged->file());
    page->reset();
  }
  view.redraw();
}

/// The window's document becomes that scene, and the lesson that somebody went to meanwhile stays in front.
void Session::openBehind(Scene scene, const std::filesystem::path& path) {
  const Cursor& shown = document_->scene().cursor;
  scene.cursor.page = shown.page;
  scene.cursor.lesson = shown.lesson;
  document_->open(std::move(scene), path);
  services_.view.redraw();
}

void Session::openFile(const std::filesystem::path& path, const Outcome& outcome) {
  services_.files.read<NamedFile>(
      path,
      [path, page = scene().cursor.page] {
        std::error_code ignored;
        return NamedFile{path, std::filesystem::is_directory(path, ignored), page};
      },
      [this, asker = services_.asker(), outcome](attention::Result<NamedFile> file) {
        file ? open(*file, asker, outcome) : outcome.fail(file.error().message);
      });
}

void Session::open(const NamedFile& file, const Asker& asker, const Outcome& outcome) {
  const std::filesystem::path& path = file.path;
  // A model's configuration is no scene.
  if (path.filename() == "config.json" && !file.folder)
    for (const auto& page : pages_)
      if (page->open(file, asker, outcome)) return;
  if (path.extension() == ".json" && !file.folder) return openJson(file, asker, outcome);
  if (pages_[rowOf(file.page)]->open(file, asker, outcome)) return;
  // What the page that was shown has no use for may be for another, in the order of the tabs.
  for (const auto& page : pages_)
    if (page->open(file, asker, outcome)) return;
  outcome.fail(attention::shownPath(path.filename()) + " has the ending \"" +
               attention::shownPath(path.extension()) +
               "\"; expected .json (a scene), .safetensors (weights), .npy or .csv (embeddings)");
}

/// A scene, or what says of itself that it is a lesson.
void Session::openJson(const NamedFile& file, const Asker& asker, const Outcome& outcome) {
  services_.files.read<std::optional<Scene>>(
      file.path,
      [path = file.path, stop = services_.files.stopToken()]() -> attention::Result<std::optional<Scene>> {
        if (isLessonFile(path)) return std::optional<Scene>();
        attention::Result<Scene> scene = readScene(path, stop);
        if (!scene) return scene.error();
        return std::optional(*std::move(scene));
      },
      [this, file, asker, outcome](attention::Result<std::optional<Scene>> scene) {
        if (!scene) return outcome.fail(scene.error().message);
        const std::string name = attention::shownPath(file.path.filename());
        if (!*scene) {
          for (const auto& page : pages_)
            if (page->open(file, asker, outcome)) return;
          return outcome.fail(name + " is a lesson, and no page takes lessons");
        }
        if (const auto page = checkPage(**scene, rows_); !page)
          return outcome.fail(name + ": " + page.error().message);
        const bool behind = onStage() && !shown().stagesViews() && !asker.inFront();
        const bool inTalk = (*scene)->talk->views.empty() && !document_->scene().talk->views.empty();
        remember({recentKind(**scene), file.path});
        behind ? openBehind(**std::move(scene), file.path) : setScene(**std::move(scene), file.path);
        outcome.done("Opened " + name + (behind ? ", after the lesson" : inTalk ? " inside the talk" : ""));
      });
}

void Session::save(const std::filesystem::path& path, const Outcome& outcome) {
  save({saved()->file(), std::make_shared<const Scene>(saved()->scene())}, path, outcome, [] {});
}

void Session::save(const UnsavedScene& unsaved, const std::filesystem::path& path, const Outcome& outcome,
                   std::function<void()> done) {
  services_.files.write(
      path, [path, scene = unsaved.scene] { return writeScene(path, *scene); },
      [this, path, unsaved, outcome, done = std::move(done)](attention::Status written) {
        if (!written) return outcome.fail(written.error().message);
        *unsaved.file = {path, *unsaved.scene};
        const bool left = shown().stagesViews() && working() != document_ && working()->dirty();
        outcome.tell("Saved " + path.filename().string() +
                     (left ? ". The changes on the stage are not kept in their view." : ""));
        done();
        remember({recentKind(*unsaved.scene), path});  // last: who leaves now doesn't wait for the list
      });
}

void Session::stepHead(Index by) {
  Cursor& cursor = scene().cursor;
  const Index heads = worker().heads(scene());
  // Who presents walks from head to head, each of them large.
  const bool enters = services_.view.present && cursor.focus < 0 && cursor.page == "heads";
  cursor.cell.head = enters ? cursor.cell.head : (cursor.cell.head + by + heads) % heads;
  if (enters || cursor.focus >= 0) cursor.focus = cursor.cell.head;
}

std::vector<Action> Session::documentActions() {
  const auto ask = [this](FileQuestion question) {
    services_.view.dialog = std::make_shared<FilePicker>(std::move(question), services_.folders);
  };
  const auto saveAs = [this, ask](Scene&) {
    ask({"Save the scene",
         {".json"},
         "scene.headscope.json",
         [this](Scene&, const auto& path, const Outcome& outcome) { save(path, outcome); }});
  };
  return {
      {"scene.open",
       "Open scene…",
       "Scene",
       {Key::o, kCtrl},
       true,
       false,
       [this, ask](Scene&) {
         FileQuestion question{"Open a scene", {".json"}, "", {}};
         question.chosen = [this](Scene&, const auto& path, const Outcome& outcome) {
           openFile(path, outcome);
         };
         question.recent = std::make_shared<std::vector<RecentFile>>();
         question.recentChosen = [this](const RecentFile& file, const Outcome& outcome) {
           openRecent(file, outcome);
         };
         readRecent([recent = question.recent](auto files) { *recent = std::move(files); });
         ask(std::move(question));
       },
       "",
       "load import file recent talk model"},
      {"scene.save",
       "Save scene",
       "Scene",
       {Key::s, kCtrl},
       true,
       false,
       [this, saveAs](Scene& scene) {
         saved()->path().empty() ? saveAs(scene) : save(saved()->path(), Outcome(services_.view));
       },
       "",
       "export store"},
      {"scene.save_as",
       "Save scene as…",
       "Scene",
       {Key::s, kCtrlShift},
       true,
       false,
       saveAs,
       "",
       "export store"},
      {"scene.reset",
       "Go back to the opening scene",
       "Scene",
       {Key::n, kCtrl},
       true,
       false,
       [this](Scene&) { setScene(openingScene()); },
       "",
       "reset start over clear new"},
      {"scene.recover",
       "Restore unsaved work…",
       "Scene",
       {},
       true,
       false,
       [this](Scene&) { recovery_.offers = true; },
       "",
       "recovery recover crash lost backup autosave"},
      {"edit.undo",
       "Undo",
       "Edit",
       {Key::z, kCtrl},
       true,
       true,
       [this](Scene&) {
         services_.view.controls = {};
         undoes(false).undo();
       },
       "",
       "revert"},
      {"edit.redo",
       "Redo",
       "Edit",
       {Key::z, kCtrlShift},
       true,
       true,
       [this](Scene&) {
         services_.view.controls = {};
         undoes(true).redo();
       }},
      {"edit.history",
       "History: go to an earlier or later step…",
       "Edit",
       {static_cast<Key>('H'), kCtrl},
       true,
       false,
       [this](Scene&) { services_.view.dialog = std::make_shared<HistoryList>(undoable()); },
       "",
       "undo list steps revert back"},
      {"edit.stop",
       "Stop computing and keep what is shown",
       "Edit",
       {},
       true,
       false,
       [this](Scene& scene) {
         // The setting that takes too long stays in the history, one undo away.
         if (!snapshot()) return;
         working()->record();
         scene.setup = snapshot()->setup;
       }},
  };
}

std::vector<Action> Session::windowActions() {
  View& view = services_.view;
  std::vector<Action> actions{
      {"look.back",
       "Go back to all heads",
       "View",
       {Key::escape, {}},
       false,
       false,
       [&view](Scene& scene) {
         if (view.present && scene.cursor.focus < 0) view.present = false;
         if (scene.cursor.focus < 0) view.drawer = false;
         scene.cursor.focus = -1;
       },
       "",
       "zoom out reset"},
      {"look.next_head",
       "Next head",
       "View",
       {Key::pageDown, {}},
       false,
       false,
       [this](Scene&) { stepHead(1); }},
      {"look.previous_head",
       "Previous head",
       "View",
       {Key::pageUp, {}},
       false,
       false,
       [this](Scene&) { stepHead(-1); }},
      {"look.present",
       "Present: large type, no panels",
       "View",
       {Key::p, {}},
       false,
       false,
       [&view](Scene&) { view.present = !view.present; },
       "",
       "zoom presentation slides lecture mode"},
      {"look.full_screen",
       "Full screen",
       "View",
       {Key::f11, {}},
       true,
       false,
       [&view](Scene&) { view.fullScreen = !view.fullScreen; },
       "",
       "maximize window"},
      {"look.side",
       "Show or hide the receipt",
       "View",
       {Key::r, {}},
       false,
       false,
       [&view](Scene&) { view.drawer = !view.drawer; }},
  };
  for (const PageRow& row : rows_)
    actions.push_back({"page." + std::string(row.info.key), std::string(row.info.goTo), "Pages",
                       row.info.shortcut, false, false,
                       [this, key = row.info.key](Scene&) { document_->scene().cursor.page = key; }});
  return actions;
}

}  // namespace headscope::app
