#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "app/platform/assets.h"
#include "app/scene/links/link.h"
#include "app/scene/models/open_model.h"
#include "app/scene/scene_files.h"
#include "app/scene/scene_json.h"
#include "attention/formats/base64.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

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

}  // namespace headscope::app
