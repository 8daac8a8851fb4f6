#include <fmt/core.h>

#include "app/commands/commands.h"
#include "app/compute/figures/picture_file.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/compute/model/model_study.h"
#include "app/platform/process.h"
#include "app/scene/fields.h"
#include "app/scene/links/link.h"
#include "app/scene/models/open_model.h"
#include "app/session/headless.h"
#include "app/widgets/panel.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

/// A figure without the window around it, as `headscope render --what` draws it.
struct PictureOptions {
  PictureKind what = PictureKind::heads;
  std::string output;
  std::optional<std::string> width, height;  ///< lengths for parseLength()
  std::optional<double> dpi, scale;
  bool dark = false;
};

/// Draws the picture of a scene; returns the exit code.
int renderPicture(const Scene& scene, const PictureOptions& options);

using attention::Error;
using attention::Result;

namespace {

/// Returns an Error if a value is wrong for any scene. The comparisons also refuse NaN.
Result<PictureSize> sizeFrom(const PictureOptions& options) {
  PictureSize size;
  for (const auto& [text, length, name] : {std::tuple(&options.width, &size.width, "--width"),
                                           std::tuple(&options.height, &size.height, "--height")}) {
    if (!*text) continue;
    const Result<Length> parsed = parseLength(**text);
    if (!parsed) return Error{std::string(name) + ": " + parsed.error().message};
    *length = *parsed;
  }
  if (options.scale && (size.width || size.height))
    return Error{"--scale is given with --width or --height, expected one or the other"};
  size.scale = options.scale.value_or(1);
  if (!(size.scale >= 1 && size.scale <= 4))
    return Error{fmt::format("--scale is {:f}, expected 1 to 4 for a picture of this kind", size.scale)};
  size.dpi = options.dpi.value_or(size.dpi);
  if (!(size.dpi >= 36 && size.dpi <= 2400))
    return Error{fmt::format("--dpi is {:f}, expected 36 to 2400", size.dpi)};
  return size;
}

double aspectOf(const PictureSize& size, double otherwise) {
  if (!size.width || !size.height) return otherwise;
  const auto inches = [&](const Length& length) {
    return length.millimetres ? length.value / 25.4 : length.value / size.dpi;
  };
  return std::clamp(inches(*size.width) / inches(*size.height), 0.1, 10.0);
}

/// Returns an Error if what was computed doesn't contain the cursor's step.
attention::Status checkStep(const Scene& scene, const Snapshot& snapshot) {
  const SequenceSnapshot* shown = shownSequence(scene, &snapshot);
  if (!scene.cursor.decoding || !shown) return attention::success();
  if (!snapshot.causal)
    return Error{
        "--step is given, but this scene can't be decoded step by step: expected causal self-attention"};
  if (scene.cursor.step > shown->queryLength)
    return Error{fmt::format("--step is {}, expected 1 to the {} tokens there are", scene.cursor.step,
                             shown->queryLength)};
  return attention::success();
}

/// Draws the picture as the pages do; the Heads page's with the KV cache below the heads, if there is one.
Result<Drawing> paintedPicture(HeadlessApp& headless, const Scene& scene, const PictureOptions& options,
                               double aspect) {
  const bool page = options.what == PictureKind::page;
  const PictureKind kind = page ? shownPicture(scene) : options.what;
  headless.session().view().preferences.light = !options.dark;
  FigureView how;
  how.aspect = static_cast<float>(aspect);
  how.alone = !page;
  Result<Drawing> drawing = headless.figure(scene, how, kind);
  if (!drawing || !page || (kind != PictureKind::head && kind != PictureKind::heads)) return drawing;
  const auto cache = headless.figure(scene, how, PictureKind::cache);
  return cache ? stacked({*drawing, *cache}) : drawing;
}

}  // namespace

int renderPicture(const Scene& scene, const PictureOptions& options) {
  const Result<PictureSize> size = sizeFrom(options);
  if (!size) return usage(size.error());
  if (const auto format = pictureFormat(options.output); !format) return usage(format.error());
  const MemoryBudget memory(defaultLimits().memoryBytes);
  requireAddressSpace();
  HeadlessApp headless(64, 64);
  const Result<Drawing> drawing =
      paintedPicture(headless, scene, options, aspectOf(*size, FigureView().aspect));
  const Snapshot* snapshot = headless.session().snapshot();
  if (drawing && snapshot)
    if (const auto step = checkStep(scene, *snapshot); !step) return usage(step.error());
  if (!drawing) return fail(drawing.error());
  const auto written = writePicture(options.output, *drawing, *size, memory);
  if (!written) return fail(written.error());
  InputCache inputs{memory};
  for (const std::string& note : maskFileNotes(scene.setup, inputs)) warn(note);
  return kExitDone;
}

namespace {

struct RenderOptions {
  std::string scene, output, page, view;
  std::optional<std::string> size, theme, what, width, height, image;
  std::optional<double> scale, dpi;
  std::optional<Index> layer, head, step;
  bool present = false;
};

constexpr const char* kWindowName = "window";

bool isVector(const std::string& path) {
  const auto format = pictureFormat(path);
  return format && *format != PictureFormat::png;
}

/// The picture to draw without the window; nothing if the window itself is drawn, as by default for PNG files
/// and with the window's options.
std::optional<PictureKind> pictureOf(const RenderOptions& options) {
  const bool vector = isVector(options.output);
  const bool ofWindow = !vector || options.size || options.present || !options.view.empty();
  const std::string what = options.what.value_or(ofWindow ? kWindowName : "page");
  if (what == kWindowName) return std::nullopt;
  const auto at = std::find(kPictureNames.begin(), kPictureNames.end(), what) - kPictureNames.begin();
  return static_cast<PictureKind>(at);
}

/// Returns an Error if an option has no meaning for this kind of picture.
attention::Status checkMeaning(const RenderOptions& options, bool picture) {
  const auto refuse = [](const char* option, const char* where) {
    return attention::Error{fmt::format("{} applies only to {}", option, where)};
  };
  constexpr const char* kPictures =
      "pictures without the window: --what heads, head, mask, cache, map, cost, model, patch, attribution, "
      "lens or page";
  if (!picture && options.width) return refuse("--width", kPictures);
  if (!picture && options.height) return refuse("--height", kPictures);
  if (!picture && options.dpi) return refuse("--dpi", kPictures);
  constexpr const char* kWindow = "the window's picture, --what window";
  if (picture && options.size) return refuse("--size", kWindow);
  if (picture && !options.view.empty()) return refuse("--view", kWindow);
  if (picture && options.present) return refuse("--present", kWindow);
  return attention::success();
}

/// Returns an Error if a value is wrong for any scene. The comparisons also refuse NaN.
attention::Status checkOptions(const RenderOptions& options) {
  if (const double scale = options.scale.value_or(1); !(scale >= 0.5 && scale <= 4))
    return attention::Error{fmt::format("--scale is {:f}, expected 0.5 to 4", scale)};
  if (options.step.value_or(1) < 1)
    return attention::Error{fmt::format("--step is {}, expected at least 1", *options.step)};
  return attention::success();
}

/// Gives the scene's model, or its recorded attention, the picture in the file `image`.
attention::Status putOnPicture(Scene& scene, const std::string& image) {
  SubjectSetup& subject = scene.setup.subject;
  if (!subject.opened) return pictureWithoutModel(image);
  auto on = withPicture(subject.opened, image);
  if (!on) return on.error();
  subject.opened = *std::move(on);
  subject.picture = image;
  scene.cursor.cell.query = scene.cursor.cell.key = 0;
  return attention::success();
}

/// Shows the layer with this number. Returns an Error if there is none.
attention::Status showLayer(Scene& scene, Index number) {
  const Index layers = layerCount(scene.setup);
  Index layer = 0;  // recorded attention may leave numbers out
  while (layer < layers && layerNumber(scene.setup, layer) != number) ++layer;
  if (layer == layers)
    return attention::Error{fmt::format("--layer is {}, expected one of the scene's, {} to {}", number,
                                        layerNumber(scene.setup, 0), layerNumber(scene.setup, layers - 1))};
  scene.setup = withLayer(std::move(scene.setup), layer);
  scene.cursor.model.layer = layer;
  return attention::success();
}

int runRender(const RenderOptions& options) {
  const auto size = parseSize(options.size.value_or("1920x1080"));
  if (!size) return usage(size.error());
  if (const auto status = checkOptions(options); !status) return usage(status.error());
  const std::optional<PictureKind> picture = pictureOf(options);
  if (const auto status = checkMeaning(options, picture.has_value()); !status) return usage(status.error());
  attention::Result<Scene> scene = sceneOrOpening(options.scene);
  if (!scene) return fail(scene.error());
  if (options.image)
    if (const auto on = putOnPicture(*scene, *options.image); !on) return fail(on.error());
  if (options.layer)
    if (const auto status = showLayer(*scene, *options.layer); !status) return usage(status.error());
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
  if (const auto view = chosen(kTabNames, options.view); view < std::ssize(kTabNames)) {
    scene->cursor.page = "mask";
    scene->cursor.studio.tab = static_cast<StudioTab>(view);
  }
  if (const auto view = chosen(kCacheViewNames, options.view); view < std::ssize(kCacheViewNames)) {
    scene->cursor.page = "cache";
    scene->cursor.cacheView = static_cast<CacheView>(view);
  }
  const std::string& page = scene->cursor.page;
  if (options.step && !picture && page != "heads" && page != "cache")
    return usage({"--step is given, but the page " + page + " shows no decode; heads and cache do"});
  const auto& opened = scene->setup.subject.opened;
  if (opened && opened->recorded)
    for (const std::string& note : recordedNotes(*opened->recorded)) warn(note);
  if (picture)
    return renderPicture(*scene, {*picture, options.output, options.width, options.height, options.dpi,
                                  options.scale, options.theme == "dark"});
  // A picture is held three times: as drawn, as read back, and as the file's bytes.
  requireAddressSpace(16.0 * size->first * size->second);
  HeadlessApp headless(size->first, size->second, static_cast<float>(options.scale.value_or(1)));
  headless.session().view().preferences.light = options.theme == "light";
  headless.session().view().present = options.present;
  headless.session().setScene(*scene, isLink(options.scene) ? "" : options.scene);
  headless.draw();
  if (const auto error = headless.session().error()) return fail({*error});
  if (const SequenceSnapshot* shown =
          shownSequence(headless.session().scene(), headless.session().snapshot());
      options.step && shown && *options.step > shown->queryLength)
    return usage({fmt::format("--step is {}, expected 1 to the {} tokens there are", *options.step,
                              shown->queryLength)});
  if (options.step && !headless.session().scene().cursor.decoding)
    return usage(
        {"--step is given, but this scene can't be decoded step by step: expected causal self-attention"});
  const auto written =
      isVector(options.output)
          ? writePicture(options.output, headless.drawing(), {}, MemoryBudget(defaultLimits().memoryBytes))
          : attention::writeFile(options.output, render::encodePng(headless.image()));
  if (!written) return fail(written.error());
  InputCache cache{MemoryBudget(defaultLimits().memoryBytes)};
  for (const std::string& note : maskFileNotes(scene->setup, cache)) warn(note);
  return kExitDone;
}

}  // namespace

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

void addRenderCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("render", "Draw the window, or a figure, without a display");
  auto options = std::make_shared<RenderOptions>();
  command
      ->add_option(
          "SCENE", options->scene,
          "A scene, a link, a lesson, a model (a folder or a GGUF file), recorded attention or learned; "
          "default: the opening scene")
      ->check(checkFileName);
  command->add_option("-o,--output", options->output, "The PNG, SVG or PDF to write")
      ->required()
      ->check(checkFileName);
  std::vector<std::string> names(kPictureNames.begin(), kPictureNames.end());
  names.emplace_back(kWindowName);
  command
      ->add_option(
          "--what", options->what,
          "A figure without the window: heads, head, mask, cache, map or cost; for a model also model "
          "(all its heads), patch, attribution or lens; or page, what the page shows. Or window, the "
          "window as you see it, with its lines and text in an SVG or PDF; default for a PNG, and with "
          "--size, --present or --view")
      ->check(CLI::IsMember(names));
  command->add_option("--size", options->size, "Pixels of the window, as WIDTHxHEIGHT; default 1920x1080");
  command->add_option("--width", options->width,
                      "Width of a picture without the window: 800 pixels, or 120mm");
  command->add_option("--height", options->height, "The same");
  command->add_option("--dpi", options->dpi, "Pixels per inch, for millimetres; default 300");
  command->add_option(
      "--scale", options->scale,
      "Scale of text and controls, 2 for a HiDPI display; in other pictures, pixels per unit");
  command
      ->add_option("--theme", options->theme,
                   "dark or light; default dark for the window, light for other pictures")
      ->check(CLI::IsMember({"dark", "light"}));
  std::vector<std::string> pages;
  for (const PageRow& row : pageTable()) pages.emplace_back(row.info.key);
  command->add_option("--page", options->page, "The page; default: as in the scene")
      ->check(CLI::IsMember(pages));
  std::vector<std::string> views(kTabNames.begin(), kTabNames.end());
  views.insert(views.end(), kCacheViewNames.begin(), kCacheViewNames.end());
  command
      ->add_option(
          "--view", options->view,
          "On Mask: mask, biases or compare; on Cache: growth, shapes, precision, eviction or paging")
      ->check(CLI::IsMember(views));
  command->add_option("--room", options->view)->check(CLI::IsMember(views))->group("");  // the old name
  command->add_option("--layer", options->layer, "Show this layer, counted from 0");
  command->add_option("--head", options->head, "Enlarge this head");
  command->add_option("--step", options->step, "Decode this many tokens");
  command
      ->add_option("--image", options->image,
                   "A PNG or JPEG for a model that reads pictures, or for recorded attention of one")
      ->check(checkFileName);
  command->add_flag("--present", options->present, "Draw as presented: large type, no panels");
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runRender(*options); }); });
}

}  // namespace headscope::app
