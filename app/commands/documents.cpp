#include <fmt/core.h>

#include "app/commands/commands.h"
#include "app/compute/figures/picture_file.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/compute/layer/snapshot.h"
#include "app/compute/model/model_study.h"
#include "app/pages/pages.h"
#include "app/platform/assets.h"
#include "app/platform/process.h"
#include "app/scene/document.h"
#include "app/scene/fields.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/links/link.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/scene_json.h"
#include "app/session/headless.h"
#include "app/shell/exports.h"
#include "attention/formats/base64.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/tensor_source.h"
#include "attention/models/gguf/gguf_source.h"

namespace headscope::app {

bool hasRecordedExtension(const std::string& path) {
  return attention::isTensorFile(recordedFile(path).path);
}

std::filesystem::path lessonOr(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path lesson = assetFolder() / "lessons" / (path + ".json");
  return !std::filesystem::exists(path, ignored) && std::filesystem::exists(lesson, ignored)
             ? lesson
             : std::filesystem::path(path);
}

attention::Result<Scene> sceneOrOpening(const std::string& named) {
  const auto withPage = [](attention::Result<Scene> scene, const std::string& name) {
    if (scene.ok())
      if (const auto page = checkPage(*scene, pageTable()); !page)
        return attention::Result<Scene>(attention::Error{name + ": " + page.error().message});
    return scene;
  };
  if (isLink(named)) return withPage(readLink(named), "the link");
  const std::filesystem::path path = lessonOr(named);
  if (path.empty()) return openingScene();
  std::error_code ignored;
  const bool learned = path == kLearned && !std::filesystem::exists(path, ignored);
  if (learned || hasRecordedExtension(path.string()) ||
      std::filesystem::is_directory(attention::groupedPath(path).path, ignored) || attention::isGguf(path)) {
    const std::string folder =
        learned ? kLearned : std::filesystem::absolute(path, ignored).lexically_normal().string();
    auto opened = openModel(folder);
    if (!opened) return opened.error();
    Scene scene = openingScene();
    adoptModel(scene, folder, *std::move(opened));
    scene.cursor.page = "model";
    return scene;
  }
  if (isLessonFile(path)) {
    auto lesson = readLesson(path);
    if (!lesson) return lesson.error();
    return (*lesson)->steps.front().scene;
  }
  return withPage(readScene(path), attention::shownPath(path.filename()));
}

Command sceneCommand() {
  const auto fields = std::make_shared<bool>(false);
  Command command{"scene", "Print the opening scene's JSON, to start your own from"};
  command.options = {Option("--fields", "Print the manual's table of all fields of a scene", fields.get())};
  command.run = [fields] {
    return *fields ? print(fieldsMarkdown()) : print(formatScene(openingScene()), Printed::json);
  };
  return command;
}

namespace {

struct LinkOptions {
  std::string scene, base = kLinkAddress, lesson;
  std::optional<Index> step;
};

int runLink(const LinkOptions& options) {
  if (options.lesson.empty() && options.step) refuse("--step belongs to a lesson, expected --lesson too");
  if (!options.lesson.empty() && !options.scene.empty()) refuse("expected a scene or --lesson, not both");
  Scene scene = orFail(sceneOrOpening(options.scene));
  if (!options.lesson.empty()) {
    scene.cursor.page = "lessons";
    scene.cursor.lesson = {options.lesson, options.step.value_or(1) - 1, -1, false};
  }
  const std::string link = orFail(linkTo(scene, options.base));
  orFail(readLink(link));  // only links that open are printed
  if (const std::string note = longLinkNote(link); !note.empty()) warn(note);
  return print(link + "\n");
}

}  // namespace

Command linkCommand() {
  const auto o = std::make_shared<LinkOptions>();
  Command command{"link", "Print a link that holds a whole scene, or opens a lesson"};
  command.options = {Option("SCENE", "A scene, a link, a lesson or learned; default: the opening scene",
                            &o->scene, kFileName),
                     Option("--base ADDRESS", "The address before the #", &o->base, kShown),
                     Option("--lesson ID", "A lesson by its id or number, in place of a scene", &o->lesson),
                     Option("--step N", "For --lesson: which step, from 1", &o->step)};
  command.run = [o] { return runLink(*o); };
  return command;
}

Command pythonCommand() {
  Command command{"python",
                  "Print headscope.py, which records, shows and draws attention from Python: headscope "
                  "python > headscope.py"};
  command.run = [] { return print(readAssetText("python/headscope.py")); };
  return command;
}

namespace {

/// Warns about parts of the scene's masks that are easily missed or misread.
void tellOfMasks(const Scene& scene, const Snapshot& snapshot, InputCache& cache) {
  for (const std::string& note : maskFileNotes(scene.setup, cache)) warn(note);
  for (const auto& [layer, reason] : omittedLayers(scene.setup))
    warn("omitted: " + layer + " (" + reason + ")");
  const SequenceSnapshot& first = snapshot.sequences.front();
  const MaskSetup& mask = scene.setup.mask;
  const bool compares =
      attention::comparesPositions(mask.layers) || (mask.compare && attention::comparesPositions(mask.other));
  if (compares && scene.setup.input.cross)
    warn(attention::positionRule(static_cast<Index>(first.queries.size()),
                                 static_cast<Index>(first.keys.size()), 0));
}

int runSnapshot(const std::string& path, const std::string& output) {
  const Scene scene = orFail(sceneOrOpening(path));
  Resources resources(defaultLimits());
  const auto& opened = scene.setup.subject.opened;
  const bool recorded = opened && opened->recorded;
  const Snapshot snapshot =
      recorded ? recordedSnapshot(scene.setup, resources) : computeSnapshot(scene.setup, resources);
  if (snapshot.error) failWith(snapshot.error->message);
  if (snapshot.empty) failWith("the scene has no tokens: there is nothing to compute");
  orFail(attention::writeSafetensors(output, orFail(snapshotFile(scene, snapshot, resources))));
  tellOfMasks(scene, snapshot, resources.inputs);
  if (recorded)
    for (const std::string& note : recordedNotes(*opened->recorded)) warn(note);
  return kExitDone;
}

}  // namespace

Command snapshotCommand() {
  const auto scene = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  Command command{"snapshot", "Write everything computed from a scene as safetensors"};
  command.options = {
      Option("SCENE",
             "A scene, a link, a lesson, a model (a folder or a GGUF file), recorded attention or learned; "
             "default: the opening scene",
             scene.get(), kFileName),
      Option("-o,--output", "The safetensors file to write", output.get(), kRequiredFileName)};
  command.run = [scene, output] { return runSnapshot(*scene, *output); };
  return command;
}

namespace {

constexpr std::uint64_t kMaxBytes = 20'000'000;
/// Placeholder in the page for what it opens first.
constexpr std::string_view kPlace = "<!--DATA-->";

struct ExportOptions {
  std::string scene, output, page;
};

/// What the page opens, and the file name it opens it under.
struct Given {
  std::string name;
  std::vector<std::uint8_t> bytes;
};

/// The browser build: the installed one, or the checkout's; empty if there is neither.
std::filesystem::path builtPage() {
  const std::filesystem::path assets = assetFolder();
  std::error_code ignored;
  for (const auto& page : {assets / "headscope.html", assets.parent_path() / "build-web" / "headscope.html"})
    if (std::filesystem::exists(page, ignored)) return page;
  return {};
}

std::string readPage(const std::string& named) {
  const std::filesystem::path path = named.empty() ? builtPage() : std::filesystem::path(named);
  if (path.empty())
    failWith(
        "the page for browsers is missing: run app/web/build in the sources and pass "
        "build-web/headscope.html as --page");
  const auto bytes = orFail(attention::readFile(path));
  const std::string page(bytes.begin(), bytes.end());
  if (page.find(kPlace) == std::string::npos)
    failWith(attention::shownPath(path) +
             " has no room for a scene, expected the headscope.html that app/web/build makes");
  return page;
}

/// Replaces everything except letters, digits, '.', '_' and '-', since the name becomes part of a page.
std::string plainName(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '_' && c != '-'; }, '_');
  return name;
}

Given givenFile(const std::string& named) {
  const auto checkSize = [](const std::string& name, std::uintmax_t bytes) {
    if (bytes > kMaxBytes)
      failWith(
          fmt::format("{} has {} bytes, expected up to {}", name, countText(bytes), countText(kMaxBytes)));
  };
  std::error_code ignored;
  if (!isLink(named) && hasRecordedExtension(named)) {
    const std::uintmax_t size = std::filesystem::file_size(named, ignored);
    if (!ignored) checkSize(attention::shownPath(named), size);
    return Given{plainName(named), orFail(attention::readFile(named))};
  }
  const Scene scene = orFail(sceneOrOpening(named));
  if (const auto files = namedFiles(scene); !files.empty())
    failWith("the scene names the file " + attention::quotedText(files.front()) +
             ", which a page for browsers doesn't hold");
  const std::string text = formatScene(scene);
  checkSize("the scene", text.size());
  return Given{isLink(named) || named.empty() ? "scene.json"
                                              : plainName(std::filesystem::path(named).stem()) + ".json",
               {text.begin(), text.end()}};
}

int runExport(const ExportOptions& options) {
  std::string page = readPage(options.page);
  const Given given = givenFile(options.scene);
  page.replace(
      page.find(kPlace), kPlace.size(),
      fmt::format("<script type=\"application/octet-stream\" id=\"given\" data-name=\"{}\">{}</script>",
                  given.name, attention::toBase64(given.bytes, attention::Base64::standard)));
  orFail(attention::writeFile(options.output, page));
  return kExitDone;
}

}  // namespace

Command exportHtmlCommand() {
  const auto o = std::make_shared<ExportOptions>();
  Command command{"export-html",
                  "Write a scene, or recorded attention of up to 20 MB, as one page that any browser opens"};
  command.options = {
      Option("SCENE", "A scene, a link, a lesson, learned or recorded attention; default: the opening scene",
             &o->scene, kFileName),
      Option("-o,--output FILE", "The HTML file to write", &o->output, kRequiredFileName),
      Option("--page FILE",
             "Headscope's page for browsers; default: the one installed, or built next to the sources",
             &o->page, kFileName)};
  command.run = [o] { return runExport(*o); };
  return command;
}

namespace {

struct HandoutOptions {
  std::vector<std::string> files;
  std::string output, theme = "light";
  bool answers = false;
};

std::vector<FigurePage> pagesOf(const std::string& named, bool answers) {
  const std::string file = lessonOr(named).string();
  if (isLessonFile(file)) return handoutPages(orFail(readLesson(file)), answers);
  return handoutPages(orFail(sceneOrOpening(file)), std::filesystem::path(file).stem().string());
}

int runHandout(const HandoutOptions& options) {
  const auto format = pictureFormat(options.output);
  if (!format || *format != PictureFormat::pdf)
    refuse("--output is " + attention::quotedText(options.output) + ", expected a name that ends in .pdf");
  std::vector<FigurePage> pages;
  for (const std::string& file : options.files)
    for (FigurePage& page : pagesOf(file, options.answers)) pages.push_back(std::move(page));
  requireAddressSpace();
  const std::unique_ptr<HeadlessApp> app = HeadlessApp::forFigures(2);
  HeadlessApp& headless = *app;
  headless.session().view().preferences.light = options.theme == "light";
  orFail(writePdf(options.output, orFail(headless.figures(pages)), kHandoutSize));
  return kExitDone;
}

}  // namespace

Command handoutCommand() {
  const auto o = std::make_shared<HandoutOptions>();
  Command command{"handout", "Write a PDF to hand out, with one view per page, its text and its question"};
  command.options = {
      Option("FILE", "Scenes and lessons, in order; a lesson has a page for each step, a talk for each view",
             &o->files, kRequiredFileName),
      Option("-o,--output", "The PDF to write", &o->output, kRequiredFileName),
      Option("--theme", "dark or light; default light", &o->theme, {.words = {"dark", "light"}}),
      Option("--answers", "Include the answers, and the pictures after them", &o->answers)};
  command.run = [o] { return runHandout(*o); };
  return command;
}

}  // namespace headscope::app
