// The part of Session that opens and saves files and holds the document, edit and window actions.

#include <algorithm>

#include "app/scene/lessons/lesson_file.h"
#include "app/scene/models/open_model.h"
#include "app/scene/scene_json.h"
#include "app/session.h"
#include "app/shell/figure_wish.h"
#include "app/shell/history_list.h"
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

/// Call before opening another scene. Adds what was changed on a stage to the history as a separate step.
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

/// Makes `scene` the window's document, and keeps in front the lesson that was opened in the meantime.
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

void Session::openSent(const std::filesystem::path& path) {
  const SubjectSetup& subject = document_->scene().setup.subject;
  services_.view.redraw();
  if (subject.opened && subject.opened->recorded && subject.model == path.string() &&
      document_->scene().cursor.page == "model")
    return;
  services_.files.read<NamedFile>(
      path,
      [path]() -> attention::Result<NamedFile> {
        std::error_code ignored;
        return NamedFile{path, std::filesystem::is_directory(path, ignored), "model"};
      },
      [this, asker = services_.asker()](attention::Result<NamedFile> file) {
        if (file) open(*file, asker, Outcome(services_.view));
      });
}

void Session::open(const NamedFile& file, const Asker& asker, const Outcome& outcome) {
  const std::filesystem::path& path = file.path;
  // A model's configuration is not a scene.
  if (path.filename() == "config.json" && !file.folder)
    for (const auto& page : pages_)
      if (page->open(file, asker, outcome)) return;
  if (path.extension() == ".json" && !file.folder) return openJson(file, asker, outcome);
  if (pages_.named(file.page).open(file, asker, outcome)) return;
  // A file that the shown page can't use may be for another page; they are tried in tab order.
  for (const auto& page : pages_)
    if (page->open(file, asker, outcome)) return;
  outcome.fail(attention::shownPath(path.filename()) + " has the ending \"" +
               attention::shownPath(path.extension()) +
               "\"; expected .json (a scene), .safetensors (weights), .npy or .csv (embeddings)");
}

/// Opens a scene, or a file that declares itself a lesson.
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
        if (const auto page = checkPage(**scene, pages_.rows()); !page)
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
        remember({recentKind(*unsaved.scene), path});  // last: quitting doesn't wait for this list
      });
}

void Session::stepHead(Index by) {
  Cursor& cursor = scene().cursor;
  const Index heads = worker().heads(scene());
  // While presenting, walks from head to head with each one enlarged.
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
      {.id = "scene.open",
       .name = "Open scene…",
       .shortcut = {Key::o, kCtrl},
       .whileTyping = true,
       .words = "load import file recent talk model",
       .run =
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
           }},
      {.id = "scene.save",
       .name = "Save scene",
       .shortcut = {Key::s, kCtrl},
       .whileTyping = true,
       .words = "export store",
       .run =
           [this, saveAs](Scene& scene) {
             saved()->path().empty() ? saveAs(scene) : save(saved()->path(), Outcome(services_.view));
           }},
      {.id = "scene.save_as",
       .name = "Save scene as…",
       .shortcut = {Key::s, kCtrlShift},
       .whileTyping = true,
       .words = "export store",
       .run = saveAs},
      {.id = "scene.reset",
       .name = "Go back to the opening scene",
       .shortcut = {Key::n, kCtrl},
       .whileTyping = true,
       .words = "reset start over clear new",
       .run = [this](Scene&) { setScene(openingScene()); }},
      {.id = "scene.recover",
       .name = "Restore unsaved work…",
       .whileTyping = true,
       .words = "recovery recover crash lost backup autosave",
       .run = [this](Scene&) { recovery_.offerAgain(); }},
  };
}

std::vector<Action> Session::editActions() {
  return {
      {.id = "edit.undo",
       .name = "Undo",
       .shortcut = {Key::z, kCtrl},
       .whileTyping = true,
       .repeats = true,
       .words = "revert",
       .run =
           [this](Scene&) {
             services_.view.controls = {};
             undoes(false).undo();
           }},
      {.id = "edit.redo",
       .name = "Redo",
       .shortcut = {Key::z, kCtrlShift},
       .whileTyping = true,
       .repeats = true,
       .run =
           [this](Scene&) {
             services_.view.controls = {};
             undoes(true).redo();
           }},
      {.id = "edit.history",
       .name = "History: go to an earlier or later step…",
       .shortcut = {static_cast<Key>('H'), kCtrl},
       .whileTyping = true,
       .words = "undo list steps revert back",
       .run = [this](Scene&) { services_.view.dialog = std::make_shared<HistoryList>(undoable()); }},
      {.id = "edit.stop",
       .name = "Stop computing and keep what is shown",
       .whileTyping = true,
       .run =
           [this](Scene& scene) {
             if (const auto wish = std::exchange(services_.view.figureWanted, {}))
               return services_.view.say("Stopped; " + wish->name + " was not written.");
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
      {.id = "look.back",
       .name = "Go back to all heads",
       .shortcut = {Key::escape},
       .words = "zoom out reset",
       .run =
           [&view](Scene& scene) {
             if (view.present && scene.cursor.focus < 0) view.present = false;
             if (scene.cursor.focus < 0) view.drawer = false;
             scene.cursor.focus = -1;
           }},
      {.id = "look.next_head",
       .name = "Next head",
       .shortcut = {Key::pageDown},
       .run = [this](Scene&) { stepHead(1); }},
      {.id = "look.previous_head",
       .name = "Previous head",
       .shortcut = {Key::pageUp},
       .run = [this](Scene&) { stepHead(-1); }},
      {.id = "look.present",
       .name = "Present: large type, no panels",
       .shortcut = {Key::p},
       .words = "zoom presentation slides lecture mode",
       .run = [&view](Scene&) { view.present = !view.present; }},
      {.id = "look.full_screen",
       .name = "Full screen",
       .shortcut = {Key::f11},
       .whileTyping = true,
       .words = "maximize window",
       .run = [&view](Scene&) { view.fullScreen = !view.fullScreen; }},
      {.id = "look.side",
       .name = "Show or hide the receipt",
       .shortcut = {Key::r},
       .run = [&view](Scene&) { view.drawer = !view.drawer; }},
  };
  for (const PageRow& row : pages_.rows())
    actions.push_back({.id = "page." + std::string(row.info.key),
                       .name = std::string(row.info.goTo),
                       .section = "Pages",
                       .shortcut = row.info.shortcut,
                       .run = [this, key = row.info.key](Scene&) { document_->scene().cursor.page = key; }});
  return actions;
}

}  // namespace headscope::app
