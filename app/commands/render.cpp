#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "app/headless.h"
#include "app/platform/address_space.h"
#include "app/scene/enum_names.h"
#include "attention/formats/file_io.h"

namespace headscope::app {

namespace {

struct RenderOptions {
  std::string scene, output, size = "1920x1080", theme = "dark", page, room;
  float scale = 1;
  std::optional<Index> head, step;
};

attention::Result<std::pair<int, int>> parseSize(const std::string& text) {
  int width = 0, height = 0;
  const std::size_t cross = text.find('x');
  const auto number = [&](std::size_t from, std::size_t to, int& value) {
    const auto parsed = std::from_chars(text.data() + from, text.data() + to, value);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + to;
  };
  if (cross == std::string::npos || !number(0, cross, width) || !number(cross + 1, text.size(), height))
    return attention::Error{"--size is \"" + text + "\", expected WIDTHxHEIGHT such as 1920x1080"};
  if (width < 320 || height < 240 || width > 16384 || height > 16384)
    return attention::Error{"--size is " + text + ", expected 320x240 to 16384x16384"};
  return std::pair(width, height);
}

/// Options whose value is wrong whatever the scene. Written so that NaN is wrong too.
attention::Status checkOptions(const RenderOptions& options) {
  if (!(options.scale >= 0.5f && options.scale <= 4))
    return attention::Error{fmt::format("--scale is {:f}, expected 0.5 to 4", options.scale)};
  if (options.step.value_or(1) < 1)
    return attention::Error{fmt::format("--step is {}, expected at least 1", *options.step)};
  return attention::success();
}

int runRender(const RenderOptions& options) {
  const auto size = parseSize(options.size);
  if (!size) return usage(size.error());
  if (const auto status = checkOptions(options); !status) return usage(status.error());
  attention::Result<Scene> scene = sceneOrOpening(options.scene);
  if (!scene) return fail(scene.error());
  if (options.head) {
    const Index heads = scene->setup.model.heads;
    if (*options.head < 0 || *options.head >= heads)
      return usage({fmt::format("--head is {}, expected 0 to {}", *options.head, heads - 1)});
    scene->cursor.focus = scene->cursor.cell.head = *options.head;
  }
  if (options.step) {
    scene->cursor.decoding = true;
    scene->cursor.step = *options.step;
    scene->cursor.cell.query = *options.step - 1;
  }
  const auto chosen = [](const auto& names, const std::string& word) {
    return std::find(names.begin(), names.end(), word) - names.begin();
  };
  if (!options.page.empty()) scene->cursor.page = options.page;
  if (!options.room.empty()) {
    scene->cursor.page = "mask";
    scene->cursor.studio.tab = static_cast<StudioTab>(chosen(kTabNames, options.room));
  }
  // A picture is held as it is drawn, as it is read and as the file has it.
  requireAddressSpace(16.0 * size->first * size->second);
  HeadlessApp headless(size->first, size->second, options.scale);
  headless.session().view().preferences.light = options.theme == "light";
  headless.session().setScene(*scene, options.scene);
  headless.draw();
  if (const auto error = headless.session().error()) return fail({*error});
  if (const SequenceSnapshot* shown =
          shownSequence(headless.session().scene(), headless.session().snapshot());
      options.step && shown && *options.step > shown->queryLength)
    return usage({fmt::format("--step is {}, expected 1 to the {} tokens there are", *options.step,
                              shown->queryLength)});
  if (options.step && !headless.session().scene().cursor.decoding)
    return usage(
        {"--step is given, but this scene can't be decoded step by step: only a self-attention in which "
         "nothing sees its future can"});
  const auto written = attention::writeFile(options.output, render::encodePng(headless.image()));
  return written.ok() ? 0 : fail(written.error());
}

}  // namespace

void addRenderCommand(CLI::App& app, int& exitCode) {
  CLI::App* command =
      app.add_subcommand("render", "Draw what the window would show into a PNG, without a display");
  auto options = std::make_shared<RenderOptions>();
  command->add_option("SCENE", options->scene, "A scene file; the opening scene if left out")
      ->check(namesFile);
  command->add_option("-o,--output", options->output, "The PNG to write")->required()->check(namesFile);
  command->add_option("--size", options->size, "Pixels, as WIDTHxHEIGHT")->capture_default_str();
  command->add_option("--scale", options->scale, "Size of text and controls: 2 for a HiDPI display")
      ->capture_default_str();
  command->add_option("--theme", options->theme, "dark or light")
      ->check(CLI::IsMember({"dark", "light"}))
      ->capture_default_str();
  std::vector<std::string> pages;
  for (const LabRow& row : labTable()) pages.emplace_back(row.info.key);
  command->add_option("--page", options->page, "The page; as the scene says if left out")
      ->check(CLI::IsMember(pages));
  command->add_option("--room", options->room, "The mask studio's: mask, biases or compare")
      ->check(CLI::IsMember({"mask", "biases", "compare"}));
  command->add_option("--head", options->head, "Show this head large");
  command->add_option("--step", options->step, "Decode this many tokens");
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runRender(*options); }); });
}

}  // namespace headscope::app
