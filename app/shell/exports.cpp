#include "app/shell/exports.h"

#include <fmt/core.h>

#include "app/scene/scene_json.h"
#include "app/shell/picture_choices.h"
#include "app/widgets/controls.h"
#include "attention/formats/files/system_files.h"

namespace headscope::app {

namespace {

constexpr std::array<const char*, 5> kFilms{"decode", "generation", "flow", "lesson", "talk"};
constexpr std::array<const char*, 5> kFilmLabels{"Decode", "Generation", "Flow", "Lesson", "Talk"};
constexpr std::array<const char*, 3> kSizes{"1280x720", "1920x1080", "3840x2160"};
constexpr std::array<const char*, 3> kSizeLabels{"1280 × 720", "1920 × 1080", "3840 × 2160"};
constexpr std::array<const char*, 3> kRates{"24", "30", "60"};
constexpr std::array<const char*, 3> kRateLabels{"24 frames/s", "30 frames/s", "60 frames/s"};
constexpr std::array<const char*, 4> kEndings{".mp4", ".webm", ".gif", ".frames"};
constexpr std::array<const char*, 4> kEndingLabels{"MP4", "WebM", "GIF", "PNG frames"};

template <std::size_t n>
std::vector<Choice> choicesFrom(const std::array<const char*, n>& labels) {
  std::vector<Choice> choices;
  for (const char* label : labels) choices.push_back({label, "", label});
  return choices;
}

}  // namespace

/// The dialog that asks what to record, and how.
class RecordDialog : public Dialog {
 public:
  explicit RecordDialog(Exports& exports) : exports_(exports) {}
  std::string name() const override { return "record"; }

  void draw(Scene& scene, View& view, bool opening) override {
    if (opening)
      film_ = !exports_.lesson_().path.empty()       ? 3
              : exports_.own().cursor.page == "talk" ? 4
              : scene.cursor.page == "model"         ? 1
              : scene.cursor.page == "flow"          ? 2
                                                     : 0;
    bool asks = false;
    if (beginDialog(view, "record", "Record a film", 460, 300)) {
      std::vector<Choice> films = choicesFrom(kFilmLabels);
      if (exports_.lesson_().path.empty()) films[3].disabledReason = "Open a lesson to record it";
      if (exports_.own().talk->views.empty()) films[4].disabledReason = "Add views to a talk to record it";
      row(view, "record.what", films, film_);
      row(view, "record.size", choicesFrom(kSizeLabels), size_);
      row(view, "record.rate", choicesFrom(kRateLabels), rate_);
      row(view, "record.kind", choicesFrom(kEndingLabels), ending_);
      gap(view, 10);
      asks = button(view, "record.file", "Choose a file…");
      ImGui::SameLine(0, view.px(8));
      if (button(view, "record.cancel", "Cancel")) view.dialog.reset();
    }
    endDialog();
    if (asks) ask(view);
  }

 private:
  void row(View& view, const char* name, const std::vector<Choice>& choices, int& chosen) {
    segmented(view, name, choices, chosen);
    gap(view, 8);
  }
  void ask(View& view) {
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    const std::string ending = kEndings[at(ending_)], film = kFilms[at(film_)];
    FileQuestion question{"Save the film", {ending}, film + ending, {}};
    std::vector<std::string> words{"--what", film, "--size", kSizes[at(size_)], "--fps", kRates[at(rate_)]};
    question.chosen = [&exports = exports_, words, ofTalk = film == "talk"](Scene& scene, const auto& path,
                                                                            const Outcome& outcome) {
      exports.record(ofTalk ? exports.own() : scene, words, path, outcome);
    };
    view.dialog = std::make_shared<FilePicker>(std::move(question), exports_.services_.folders);
  }

  Exports& exports_;
  int film_ = 0, size_ = 0, rate_ = 1, ending_ = 0;
};

const Scene& Exports::own() const {
  return services_.own()->scene();
}

Exports::~Exports() {
  child_.reset();
  removeInput();
}

void Exports::removeInput() {
  std::error_code ignored;
  if (!input_.empty()) std::filesystem::remove(std::exchange(input_, {}), ignored);
}

void Exports::record(const Scene& scene, std::vector<std::string> words, const std::filesystem::path& path,
                     const Outcome& outcome) {
  const auto failed = [&](const std::string& why) {
    removeInput();
    outcome.fail(why);
  };
  if (child_) return outcome.fail(name_ + " is still being written. Stop it first.");
  std::string file = lesson_().path.string();
  if (file.empty()) {
    file = attention::newTemporaryFile(".json").string();
    if (file.empty()) return failed("No temporary file could be made for the scene.");
    input_ = file;
    if (!(std::ofstream(file) << formatScene(scene)).flush()) return failed(file + " can't be written.");
  }
  words.insert(words.begin(), {"record", file});
  words.insert(words.end(),
               {"--theme", services_.view.preferences.light ? "light" : "dark", "-o", path.string()});
  auto started = ChildProgram::start(program, words, wake_);
  if (!started) return failed(started.error().message);
  child_ = *std::move(started);
  name_ = path.filename().string();
  stopped_ = false;
  outcome.done("Writing " + name_ + " …");
}

bool Exports::take() {
  if (!child_) return false;
  const std::optional<int> ended = child_->ended();
  const std::string said = child_->said();
  View& view = services_.view;
  if (!ended) {
    if (said.empty() || said == told_) return false;
    view.say(name_ + ": " + (told_ = said));
    return true;
  }
  constexpr std::string_view kPrefix = "headscope: ";
  if (*ended == 0)
    view.say("Saved " + name_);
  else if (stopped_)
    view.say("Stopped; " + name_ + " was not written.");
  else
    view.messages.fail(said.starts_with(kPrefix) ? said.substr(kPrefix.size())
                                                 : name_ + " could not be written.");
  child_.reset();
  removeInput();
  return true;
}

void Exports::askForHandout() {
  FileQuestion question{"Save a handout", {".pdf"}, "handout.pdf", {}};
  question.chosen = [this](Scene& scene, const auto& path, const Outcome& outcome) {
    View& view = services_.view;
    if (!mayDraw(nullptr, outcome)) return;
    const auto lesson = lesson_().lesson;
    const std::filesystem::path file = services_.own()->path();
    view.figureWanted = std::make_shared<FigureRequest>(
        FigureRequest{lesson ? handoutPages(lesson, false)
                             : handoutPages(own().cursor.page == "talk" ? own() : scene,
                                            file.empty() ? "Headscope" : file.stem().string()),
                      view.preferences.light, path.filename().string(), view.time,
                      [this, path](auto drawn) { saveDrawn(path, std::move(drawn), kHandoutSize); }});
  };
  services_.view.dialog = std::make_shared<FilePicker>(std::move(question), services_.folders);
}

namespace {

void askForPicture(PageServices& services, std::string proposal,
                   const std::shared_ptr<PictureChoices>& choices,
                   std::function<void(const std::filesystem::path&, const Outcome&)> chosen) {
  FileQuestion question{"Save a picture", {kPictureEndings.begin(), kPictureEndings.end()}, "", {}};
  question.proposal = std::move(proposal);
  question.beside = [choices](View& view) { choices->draw(view); };
  question.chosen = [chosen = std::move(chosen)](Scene&, const auto& path, const Outcome& outcome) {
    if (const auto format = pictureFormat(path); !format) return outcome.fail(format.error().message);
    chosen(path, outcome);
  };
  services.view.dialog = std::make_shared<FilePicker>(std::move(question), services.folders);
}

}  // namespace

void Exports::askForFigure(const Scene& scene, PictureKind kind, bool light) {
  FigureView how;
  how.alone = kind != PictureKind::page;
  const auto choices = std::make_shared<PictureChoices>(
      services_, FigurePage{.scene = scene, .kind = kind, .how = how}, light, pictureWidth_, fonts_);
  askForPicture(services_, std::string(kPictureNames[static_cast<std::size_t>(kind)]) + ".png", choices,
                [this, choices](const auto& path, const Outcome& outcome) {
                  if (!mayDraw(choices->request(), outcome)) return;
                  choices->finish(path.filename().string(), [this, path, size = choices->size()](auto drawn) {
                    saveDrawn(path, std::move(drawn), size);
                  });
                });
}

/// Saves the page as the window shows it, once the dialog has closed.
void Exports::askForShown(const Scene& scene) {
  const auto choices = std::make_shared<PictureChoices>(
      services_, std::nullopt, services_.view.preferences.light, pictureWidth_, fonts_);
  askForPicture(services_, scene.cursor.page + ".pdf", choices,
                [this, choices](const auto& path, const Outcome& outcome) {
                  outcome.done("Drawing " + path.filename().string() + " …");
                  services_.view.redraw();
                  services_.view.pictureWanted = [this, path, size = choices->size()](Drawing drawing) {
                    save(path, {std::move(drawing)}, size);
                  };
                });
}

bool Exports::mayDraw(const std::shared_ptr<FigureRequest>& own, const Outcome& outcome) {
  View& view = services_.view;
  if (view.figureWanted && view.figureWanted != own) {
    outcome.fail(view.figureWanted->name + " is still being drawn. Stop it first.");
    return false;
  }
  outcome.done();
  view.messages.notice.clear();  // the status line shows progress, with a button to stop
  return true;
}

void Exports::saveDrawn(const std::filesystem::path& path, attention::Result<std::vector<Drawing>> drawn,
                        const PictureSize& size) {
  drawn ? save(path, *std::move(drawn), size) : services_.view.messages.fail(drawn.error().message);
}

void Exports::save(const std::filesystem::path& path, std::vector<Drawing> pages, const PictureSize& size) {
  services_.files.write(
      path,
      [path, pages = std::move(pages), size, &memory = services_.resources.memory, fonts = fonts_] {
        return pages.size() == 1 ? writePicture(path, pages.front(), size, memory, fonts)
                                 : writePdf(path, pages, size, fonts);
      },
      [path, outcome = Outcome(services_.view)](attention::Status written) {
        written.ok() ? outcome.tell("Saved " + path.filename().string())
                     : outcome.fail(written.error().message);
      });
}

std::vector<Action> Exports::pictureActions() {
  std::vector<Action> actions;
  const auto add = [&actions](std::string id, std::string name, std::function<void(Scene&)> run,
                              KeyPress shortcut = {}) {
    const std::string first = actions.empty() ? "export png, export svg, export pdf, " : "";
    actions.push_back({.id = "picture." + std::move(id),
                       .name = "Save a picture of " + std::move(name) + "…",
                       .shortcut = shortcut,
                       .whileTyping = true,
                       .words = first + "export screenshot image figure window vector print png svg pdf",
                       .run = std::move(run)});
  };
  add("save", "this page", [this](Scene& scene) { askForFigure(scene, shownPicture(scene), true); },
      {Key::p, {.ctrl = true}});
  add("save_shown", "this page as it is shown", [this](Scene& scene) { askForShown(scene); });
  add("save_dark", "this page, dark",
      [this](Scene& scene) { askForFigure(scene, shownPicture(scene), false); });
  constexpr std::pair<PictureKind, const char*> kKinds[] = {
      {PictureKind::head, "this head"},     {PictureKind::heads, "all heads"},
      {PictureKind::mask, "the mask"},      {PictureKind::map, "the map"},
      {PictureKind::cache, "the KV cache"}, {PictureKind::cost, "the cost figures"}};
  for (const auto& [kind, name] : kKinds)
    add("save_" + std::string(kPictureNames[static_cast<std::size_t>(kind)]), name,
        [this, kind = kind](Scene& scene) { askForFigure(scene, kind, true); });
  return actions;
}

std::vector<Action> Exports::actions() {
  std::vector<Action> actions = pictureActions();
  for (Action& action : filmActions()) actions.push_back(std::move(action));
  return actions;
}

std::vector<Action> Exports::filmActions() {
  return {{.id = "film.record",
           .name = "Record a film…",
           .whileTyping = true,
           .words = "video mp4 webm gif animation export",
           .run =
               [this](Scene&) {
                 View& view = services_.view;
                 if (ChildProgram::available())
                   view.dialog = std::make_shared<RecordDialog>(*this);
                 else
                   view.messages.fail(
                       "Only the installed Headscope makes films. Copy this scene's link and open it there.");
               }},
          {.id = "film.stop",
           .name = "Stop recording",
           .whileTyping = true,
           .words = "video cancel abort",
           .run =
               [this](Scene&) {
                 if (!child_) return services_.view.say("Nothing is being recorded.");
                 stopped_ = true;
                 child_->stop();
               }},
          {.id = "handout.save",
           .name = "Save a handout of this view, lesson or talk…",
           .whileTyping = true,
           .words = "pdf print export notes",
           .run = [this](Scene&) { askForHandout(); }}};
}

}  // namespace headscope::app
