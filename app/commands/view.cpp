#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "attention/formats/layers/qk_file.h"

namespace headscope::app {

namespace {

struct ViewOptions {
  std::string file;
  Index head = 0, layer = 0;
};

attention::Status checkRange(const char* option, Index found, Index count) {
  if (found >= 0 && found < count) return attention::success();
  return attention::Error{fmt::format("{} is {}, expected 0 to {}", option, found, count - 1)};
}

int runView(const ViewOptions& options) {
  const attention::Result<attention::QkFile> file = attention::QkFile::open(options.file);
  if (!file) return fail(file.error());
  const auto& layers = file->layers();
  if (auto status = checkRange("--layer", options.layer, static_cast<Index>(layers.size())); !status)
    return usage(status.error());
  const Index heads = layers[static_cast<std::size_t>(options.layer)].config.heads;
  if (auto status = checkRange("--head", options.head, heads); !status) return usage(status.error());
  Scene scene = openingScene();
  scene.map.source = MapSource::file;
  scene.map.file = std::filesystem::absolute(options.file).string();
  scene.map.layer = options.layer;
  scene.cursor.page = "map";
  scene.cursor.cell.head = options.head;
  return runWindow(scene);
}

}  // namespace

void addViewCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand(
      "view", "Open the map on queries and keys of a safetensors file, up to 131,072 tokens");
  auto options = std::make_shared<ViewOptions>();
  command->add_option("FILE", options->file, "Queries and keys, or the dump of a key cache")
      ->required()
      ->check(checkFileName);
  command->add_option("--head", options->head, "The head to show first")->capture_default_str();
  command->add_option("--layer", options->layer, "The layer to show, if the file has several")
      ->capture_default_str();
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runView(*options); }); });
}

}  // namespace headscope::app
