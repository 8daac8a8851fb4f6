#include <fmt/core.h>

#include <iterator>

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
#include "attention/models/gguf/gguf_source.h"

namespace headscope::app {

bool hasRecordedExtension(const std::string& path) {
  const std::string ending = recordedFile(path).path.extension().string();
  constexpr std::string_view kEndings[] = {".npz", ".npy", ".safetensors", ".pt", ".pth"};
  return std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

std::filesystem::path lessonOr(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path lesson = assetFolder() / "lessons" / (path + ".json");
  return !std::filesystem::exists(path, ignored) && std::filesystem::exists(lesson, ignored)
             ? lesson
             : std::filesystem::path(path);
}

attention::Result<Scene> sceneOrOpening(const std::string& named) {
  if (isLink(named)) {
    attention::Result<Scene> scene = readLink(named);
    if (scene.ok())
      if (const auto page = checkPage(*scene, pageTable()); !page)
        return attention::Error{"the link: " + page.error().message};
    return scene;
  }
  const std::filesystem::path path = lessonOr(named);
  if (path.empty()) return openingScene();
  std::error_code ignored;
  const bool learned = path == kLearned && !std::filesystem::exists(path, ignored);
  if (learned || hasRecordedExtension(path) ||
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
  attention::Result<Scene> scene = readScene(path);
  if (scene.ok())
    if (const auto page = checkPage(*scene, pageTable()); !page)
      return attention::Error{attention::shownPath(path.filename()) + ": " + page.error().message};
  return scene;
}

void addSceneCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("scene", "Print the opening scene's JSON, to start your own from");
  const auto fields = std::make_shared<bool>(false);
  command->add_flag("--fields", *fields, "Print the manual's table of all fields of a scene");
  command->callback([fields, &exitCode] {
    exitCode = *fields ? print(fieldsMarkdown()) : print(formatScene(openingScene()), Printed::json);
  });
}

namespace {

struct LinkOptions {
  std::string scene, base = kLinkAddress, lesson;
  Index step = 1;
};

int runLink(const LinkOptions& options, bool hasStep) {
  if (options.lesson.empty() && hasStep) return usage({"--step belongs to a lesson, expected --lesson too"});
  if (!options.lesson.empty() && !options.scene.empty())
    return usage({"expected a scene or --lesson, not both"});
  attention::Result<Scene> scene = sceneOrOpening(options.scene);
  if (!scene) return fail(scene.error());
  if (!options.lesson.empty()) {
    scene->cursor.page = "lessons";
    scene->cursor.lesson = {options.lesson, options.step - 1, -1, false};
  }
  const attention::Result<std::string> link = linkTo(*scene, options.base);
  if (!link) return fail(link.error());
  // Only links that open are printed.
  if (const auto opened = readLink(*link); !opened) return fail(opened.error());
  if (const std::string note = longLinkNote(*link); !note.empty()) warn(note);
  return print(*link + "\n");
}

}  // namespace

void addLinkCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("link", "Print a link that holds a whole scene, or opens a lesson");
  auto options = std::make_shared<LinkOptions>();
  command
      ->add_option("SCENE", options->scene,
                   "A scene, a link, a lesson or learned; default: the opening scene")
      ->check(checkFileName);
  command->add_option("--base", options->base, "The address in front of the #")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command->add_option("--lesson", options->lesson, "A lesson by its id or number, in place of a scene")
      ->type_name("ID");
  CLI::Option* step =
      command->add_option("--step", options->step, "For --lesson: which step, from 1")->type_name("N");
  command->callback([options, step, &exitCode] {
    exitCode = guarded([&] { return runLink(*options, step->count() > 0); });
  });
}

void addPythonCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand(
      "python",
      "Print headscope.py, which shows and saves attention from Python: headscope python > headscope.py");
  command->callback(
      [&exitCode] { exitCode = guarded([] { return print(readAssetText("python/headscope.py")); }); });
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
  const attention::Result<Scene> scene = sceneOrOpening(path);
  if (!scene) return fail(scene.error());
  Resources resources(defaultLimits());
  const auto& opened = scene->setup.subject.opened;
  const Snapshot snapshot = opened && opened->recorded ? recordedSnapshot(scene->setup, resources)
                                                       : computeSnapshot(scene->setup, resources);
  if (snapshot.error) return fail({snapshot.error->message});
  if (snapshot.empty) return fail({"the scene has no tokens: there is nothing to compute"});
  const auto file = snapshotFile(*scene, snapshot, resources);
  if (!file) return fail(file.error());
  const auto written = attention::writeSafetensors(output, *file);
  if (!written) return fail(written.error());
  tellOfMasks(*scene, snapshot, resources.inputs);
  if (opened && opened->recorded)
    for (const std::string& note : recordedNotes(*opened->recorded)) warn(note);
  return kExitDone;
}

}  // namespace

void addSnapshotCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("snapshot", "Write everything computed from a scene as safetensors");
  auto scene = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  command
      ->add_option(
          "SCENE", *scene,
          "A scene, a link, a lesson, a model (a folder or a GGUF file), recorded attention or learned; "
          "default: the opening scene")
      ->check(checkFileName);
  command->add_option("-o,--output", *output, "The safetensors file to write")
      ->required()
      ->check(checkFileName);
  command->callback(
      [scene, output, &exitCode] { exitCode = guarded([&] { return runSnapshot(*scene, *output); }); });
}

namespace {

using attention::Error;
using attention::Result;

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

Result<std::string> readPage(const std::string& named) {
  const std::filesystem::path path = named.empty() ? builtPage() : std::filesystem::path(named);
  if (path.empty())
    return Error{
        "the page for browsers is missing: run app/web/build in the sources and pass "
        "build-web/headscope.html as --page"};
  const auto bytes = attention::readFile(path);
  if (!bytes) return bytes.error();
  std::string page(bytes->begin(), bytes->end());
  if (page.find(kPlace) == std::string::npos)
    return Error{attention::shownPath(path) +
                 " has no room for a scene, expected the headscope.html that app/web/build makes"};
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

Result<Given> givenFile(const std::string& named) {
  std::error_code ignored;
  if (!isLink(named) && hasRecordedExtension(named)) {
    const std::uintmax_t size = std::filesystem::file_size(named, ignored);
    if (!ignored && size > kMaxBytes)
      return Error{fmt::format("{} has {} bytes, expected up to {}", attention::shownPath(named),
                               countText(size), countText(kMaxBytes))};
    auto bytes = attention::readFile(named);
    if (!bytes) return bytes.error();
    return Given{plainName(named), *std::move(bytes)};
  }
  const Result<Scene> scene = sceneOrOpening(named);
  if (!scene) return scene.error();
  if (const auto files = namedFiles(*scene); !files.empty())
    return Error{"the scene names the file " + attention::quotedText(files.front()) +
                 ", which a page for browsers doesn't hold"};
  const std::string text = formatScene(*scene);
  if (text.size() > kMaxBytes)
    return Error{fmt::format("the scene has {} bytes, expected up to {}", countText(text.size()),
                             countText(kMaxBytes))};
  return Given{isLink(named) || named.empty() ? "scene.json"
                                              : plainName(std::filesystem::path(named).stem()) + ".json",
               {text.begin(), text.end()}};
}

int runExport(const ExportOptions& options) {
  Result<std::string> page = readPage(options.page);
  if (!page) return fail(page.error());
  const Result<Given> given = givenFile(options.scene);
  if (!given) return fail(given.error());
  page->replace(
      page->find(kPlace), kPlace.size(),
      fmt::format("<script type=\"application/octet-stream\" id=\"given\" data-name=\"{}\">{}</script>",
                  given->name, attention::toBase64(given->bytes, attention::Base64::standard)));
  const attention::Status written = attention::writeFile(options.output, *page);
  return written.ok() ? kExitDone : fail(written.error());
}

}  // namespace

void addExportHtmlCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand(
      "export-html",
      "Write a scene, or recorded attention of up to 20 MB, as one page that any browser opens");
  auto options = std::make_shared<ExportOptions>();
  command
      ->add_option("SCENE", options->scene,
                   "A scene, a link, a lesson, learned or recorded attention; default: the opening scene")
      ->check(checkFileName);
  command->add_option("-o,--output", options->output, "The HTML file to write")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--page", options->page,
                   "Headscope's page for browsers; default: the one installed, or built next to the sources")
      ->type_name("FILE")
      ->check(checkFileName);
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runExport(*options); }); });
}

namespace {

struct HandoutOptions {
  std::vector<std::string> files;
  std::string output, theme = "light";
  bool answers = false;
};

/// Returns the pages of a scene or lesson, or an Error if it can't be read.
attention::Result<std::vector<FigurePage>> pagesOf(const std::string& named, bool answers) {
  const std::string file = lessonOr(named).string();
  if (isLessonFile(file)) {
    const auto lesson = readLesson(file);
    if (!lesson) return lesson.error();
    return handoutPages(*lesson, answers);
  }
  const auto scene = sceneOrOpening(file);
  if (!scene) return scene.error();
  return handoutPages(*scene, std::filesystem::path(file).stem().string());
}

int runHandout(const HandoutOptions& options) {
  const auto format = pictureFormat(options.output);
  if (!format || *format != PictureFormat::pdf)
    return usage(
        {"--output is " + attention::quotedText(options.output) + ", expected a name that ends in .pdf"});
  std::vector<FigurePage> pages;
  for (const std::string& file : options.files) {
    auto read = pagesOf(file, options.answers);
    if (!read) return fail(read.error());
    pages.insert(pages.end(), std::make_move_iterator(read->begin()), std::make_move_iterator(read->end()));
  }
  requireAddressSpace();
  HeadlessApp headless(64, 64, 2);
  headless.session().view().preferences.light = options.theme == "light";
  const auto drawn = headless.figures(pages);
  if (!drawn) return fail(drawn.error());
  const auto written = writePdf(options.output, *drawn, kHandoutSize);
  return written.ok() ? kExitDone : fail(written.error());
}

}  // namespace

void addHandoutCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("handout",
                                         "Write a PDF to hand out, with one view per page, its text and its "
                                         "question");
  auto options = std::make_shared<HandoutOptions>();
  command
      ->add_option("FILE", options->files,
                   "Scenes and lessons, in order; a lesson has a page for each step, a talk for each view")
      ->required()
      ->check(checkFileName);
  command->add_option("-o,--output", options->output, "The PDF to write")->required()->check(checkFileName);
  command->add_option("--theme", options->theme, "dark or light; default light")
      ->check(CLI::IsMember({"dark", "light"}));
  command->add_flag("--answers", options->answers, "Include the answers, and the pictures after them");
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runHandout(*options); }); });
}

}  // namespace headscope::app
