#include "app/scene/scene_json.h"
#include "app/shell/workspace.h"

namespace headscope::app {

namespace {
constexpr Mods kCtrl{.ctrl = true};
constexpr Mods kCtrlShift{.ctrl = true, .shift = true};
}  // namespace

RecentKind recentKind(const Scene& scene) {
  return scene.talk->views.empty() ? RecentKind::scene : RecentKind::talk;
}

void DocumentFiles::remember(const RecentFile& file) {
  services_.files.write(
      file.path,
      [file] {
        std::error_code ignored;
        const std::filesystem::path whole = std::filesystem::absolute(file.path, ignored);
        rememberRecent({file.kind, whole.empty() ? file.path : whole.string()});
        return attention::success();
      },
      [](const attention::Status&) {});
}

void DocumentFiles::readRecent(const std::function<void(std::vector<RecentFile>)>& take) {
  services_.files.read<std::vector<RecentFile>>(
      "recent.json", [] { return loadRecent(); },
      [take](attention::Result<std::vector<RecentFile>> found) {
        if (found) take(*std::move(found));
      });
}

void DocumentFiles::openRecent(const RecentFile& file, const Outcome& outcome) {
  if (file.kind != RecentKind::model) return open(file.path, outcome);
  // Which page takes a model doesn't depend on the page shown.
  open({file.path, true, "model"}, services_.requester(), outcome);
}

void DocumentFiles::open(const std::filesystem::path& path, const Outcome& outcome) {
  services_.files.read<NamedFile>(
      path,
      [path, page = workspace_.working()->scene().cursor.page] {
        std::error_code ignored;
        return NamedFile{path, std::filesystem::is_directory(path, ignored), page};
      },
      [this, requester = services_.requester(), outcome](attention::Result<NamedFile> file) {
        file ? open(*file, requester, outcome) : outcome.fail(file.error().message);
      });
}

void DocumentFiles::openSent(const std::filesystem::path& path) {
  const SubjectSetup& subject = workspace_.own()->scene().setup.subject;
  services_.view.redraw();
  if (subject.opened && subject.opened->recorded && subject.model == path.string() &&
      workspace_.own()->scene().cursor.page == "model")
    return;
  services_.files.read<NamedFile>(
      path,
      [path]() -> attention::Result<NamedFile> {
        std::error_code ignored;
        return NamedFile{path, std::filesystem::is_directory(path, ignored), "model"};
      },
      [this, requester = services_.requester()](attention::Result<NamedFile> file) {
        if (file) open(*file, requester, Outcome(services_.view));
      });
}

void DocumentFiles::open(const NamedFile& file, const Requester& requester, const Outcome& outcome) {
  const std::filesystem::path& path = file.path;
  // A model's configuration is not a scene.
  if (path.filename() == "config.json" && !file.folder)
    for (const auto& page : workspace_.pages())
      if (page->open(file, requester, outcome)) return;
  if (path.extension() == ".json" && !file.folder) return openJson(file, requester, outcome);
  if (workspace_.pages().named(file.page).open(file, requester, outcome)) return;
  // A file that the shown page can't use may be for another page; they are tried in tab order.
  for (const auto& page : workspace_.pages())
    if (page->open(file, requester, outcome)) return;
  outcome.fail(attention::shownPath(path.filename()) + " ends in \"" +
               attention::shownPath(path.extension()) +
               "\"; expected .json (a scene), .safetensors (weights), .npy or .csv (embeddings)");
}

/// Opens a scene, or a file that declares itself a lesson.
void DocumentFiles::openJson(const NamedFile& file, const Requester& requester, const Outcome& outcome) {
  struct Opened {
    std::optional<Scene> scene;  ///< nothing if it is a lesson
    attention::ContentMark content = 0;
  };
  services_.files.read<Opened>(
      file.path,
      [path = file.path, stop = services_.files.stopToken()]() -> attention::Result<Opened> {
        Opened opened;
        if (isLessonFile(path)) return opened;
        attention::Result<Scene> scene = readScene(path, stop, &opened.content);
        if (!scene) return scene.error();
        opened.scene = *std::move(scene);
        return opened;
      },
      [this, file, requester, outcome](attention::Result<Opened> opened) {
        if (!opened) return outcome.fail(opened.error().message);
        const std::string name = attention::shownPath(file.path.filename());
        std::optional<Scene>& scene = opened->scene;
        if (!scene) {
          for (const auto& page : workspace_.pages())
            if (page->open(file, requester, outcome)) return;
          return outcome.fail(name + " is a lesson, and no page takes lessons");
        }
        if (const auto page = checkPage(*scene, workspace_.pages().rows()); !page)
          return outcome.fail(name + ": " + page.error().message);
        const bool behind = workspace_.onStage() && !workspace_.shown().stagesViews() && !requester.inFront();
        const bool inTalk = scene->talk->views.empty() && !workspace_.own()->scene().talk->views.empty();
        remember({recentKind(*scene), file.path.string()});
        behind ? workspace_.openBehind(*std::move(scene), file.path, opened->content)
               : workspace_.open(*std::move(scene), file.path, opened->content);
        outcome.done("Opened " + name + (behind ? ", after the lesson" : inTalk ? " inside the talk" : ""));
      });
}

UnsavedScene DocumentFiles::working() const {
  return {workspace_.saved()->file(), std::make_shared<const Scene>(workspace_.saved()->scene())};
}

void DocumentFiles::save(const std::filesystem::path& path, Existing existing, const Outcome& outcome) {
  save(working(), path, existing, outcome, [] {});
}

void DocumentFiles::save(const UnsavedScene& unsaved, const std::filesystem::path& path, Existing existing,
                         const Outcome& outcome, std::function<void()> done) {
  struct Written {
    bool changed = false;  ///< by something else, so that nothing was written
    attention::ContentMark content = 0;
  };
  const auto result = std::make_shared<Written>();
  services_.files.write(
      path,
      [path, result, scene = unsaved.scene, asks = existing == Existing::askIfChanged,
       known = unsaved.file->content] {
        const auto found = asks ? attention::contentMarkOf(path) : std::nullopt;
        result->changed = found && found != known;
        return result->changed ? attention::success() : writeScene(path, *scene, &result->content);
      },
      [this, path, unsaved, result, outcome, done = std::move(done)](attention::Status written) {
        if (!written) return outcome.fail(written.error().message);
        if (result->changed) return askAboutChanged(unsaved, path, outcome, done);
        *unsaved.file = {path, *unsaved.scene, result->content};
        const bool left = workspace_.shown().stagesViews() && workspace_.working() != workspace_.own() &&
                          workspace_.working()->dirty();
        outcome.tell("Saved " + path.filename().string() +
                     (left ? ". Your changes to the view shown aren't included." : ""));
        done();
        remember({recentKind(*unsaved.scene), path.string()});  // last: quitting doesn't wait for this list
      });
}

void DocumentFiles::askAboutChanged(const UnsavedScene& unsaved, const std::filesystem::path& path,
                                    const Outcome& outcome, std::function<void()> done) {
  View& view = services_.view;
  const std::string name = path.filename().string();
  if (view.dialog)
    return outcome.fail(name +
                        " wasn't saved: another window or program has changed it. Save again to choose.");
  view.redraw();
  view.dialog = std::make_shared<ChangedFileDialog>(
      name, [this, unsaved, path, outcome, done] { save(unsaved, path, Existing::replace, outcome, done); },
      [this, unsaved, done] { saveAs(unsaved, done); });
}

void DocumentFiles::saveAs(const UnsavedScene& unsaved, std::function<void()> done) {
  FileQuestion question{"Save the scene", {".json"}, "scene.headscope.json", {}};
  question.chosen = [this, unsaved, done](Scene&, const auto& path, const Outcome& outcome) {
    save(unsaved, path, Existing::replace, outcome, done);
  };
  services_.view.dialog = std::make_shared<FilePicker>(std::move(question), services_.folders);
}

std::vector<Action> DocumentFiles::actions() {
  const auto ask = [this](FileQuestion question) {
    services_.view.dialog = std::make_shared<FilePicker>(std::move(question), services_.folders);
  };
  const auto saveWorking = [this, ask](Scene&) {
    ask({"Save the scene",
         {".json"},
         "scene.headscope.json",
         [this](Scene&, const auto& path, const Outcome& outcome) {
           save(path, Existing::replace, outcome);
         }});
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
               open(path, outcome);
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
           [this, saveWorking](Scene& scene) {
             const std::filesystem::path& path = workspace_.saved()->path();
             path.empty() ? saveWorking(scene) : save(path, Existing::askIfChanged, Outcome(services_.view));
           }},
      {.id = "scene.save_as",
       .name = "Save scene as…",
       .shortcut = {Key::s, kCtrlShift},
       .whileTyping = true,
       .words = "export store",
       .run = saveWorking},
      {.id = "scene.reset",
       .name = "Go back to the opening scene",
       .shortcut = {Key::n, kCtrl},
       .whileTyping = true,
       .words = "reset start over clear new",
       .run = [this](Scene&) { workspace_.open(openingScene(), std::filesystem::path()); }},
  };
}

attention::Result<std::string> SceneLinks::link() const {
  return linkTo(workspace_.own()->scene(), address_);
}

/// Copies the link. If it is so long that other programs may cut it, also offers to save a file.
void SceneLinks::copy() {
  View& view = services_.view;
  const Scene& own = workspace_.own()->scene();
  const auto link = this->link();
  if (!link) return view.messages.fail(link.error().message);
  ImGui::SetClipboardText(link->c_str());
  if (showsLesson(own)) {
    const bool changed = workspace_.working()->dirty();
    return view.tell(
        changed ? "Copied a link to this step, without your changes" : "Copied a link to this step",
        view.pressedAt);
  }
  if (const std::string note = longLinkNote(*link); !note.empty()) {
    view.say("Copied. " + note);
    view.menu = {"scene.save_as"};
    return;
  }
  view.tell("Copied a link that holds this scene", view.pressedAt);
}

void SceneLinks::open(std::string link, const Outcome& outcome) {
  services_.files.read<Scene>(
      "link",
      [link = std::move(link), rows = workspace_.pages().rows(),
       stop = services_.files.stopToken()]() -> attention::Result<Scene> {
        attention::Result<Scene> scene = readLink(link, stop);
        if (scene.ok())
          if (const auto page = checkPage(*scene, rows); !page)
            return attention::Error{"the link: " + page.error().message};
        return scene;
      },
      [this, outcome](attention::Result<Scene> scene) {
        if (!scene) return outcome.fail(scene.error().message);
        View& view = services_.view;
        view.redraw();
        if (!showsLesson(*scene)) {
          workspace_.open(*std::move(scene), SceneFile());
          return outcome.done("Opened the link");
        }
        // The window's own scene is kept, as for every lesson.
        Cursor& own = workspace_.own()->scene().cursor;
        own.page = scene->cursor.page;
        own.lesson = scene->cursor.lesson;
        outcome.done("Opened the lesson");
      });
}

std::vector<Action> SceneLinks::actions() {
  return {{.id = "link.copy",
           .name = "Copy link",
           .whileTyping = true,
           .words = "share, share url address export",
           .run = [this](Scene&) { copy(); }},
          {.id = "link.paste",
           .name = "Open the link in the clipboard",
           .shortcut = {Key::v, {.ctrl = true}},
           .words = "paste share url address import",
           .run = [this](Scene&) {
             const char* clip = ImGui::GetClipboardText();
             if (!clip || !isLink(clip))
               return services_.view.messages.fail("The clipboard holds no link to a scene.");
             open(clip, Outcome(services_.view));
           }}};
}

}  // namespace headscope::app
