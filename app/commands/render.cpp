#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "app/commands/commands.h"
#include "app/commands/figure_numbers.h"
#include "app/compute/figures/picture_file.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/compute/model/model_study.h"
#include "app/platform/process.h"
#include "app/scene/fields.h"
#include "app/scene/links/link.h"
#include "app/scene/models/open_model.h"
#include "app/session/figures.h"
#include "app/session/headless.h"
#include "app/widgets/panel.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

namespace {

using attention::Result;

struct RenderOptions {
  std::string scene, output, page, view;
  std::optional<std::string> size, theme, what, width, height, image;
  std::optional<double> scale, dpi;
  std::optional<Index> layer, head, step;
  bool present = false;
};

/// The size of a figure without the window around it. The comparisons also refuse NaN.
PictureSize sizeFrom(const RenderOptions& options) {
  PictureSize size;
  if (options.width) size.width = orRefuse(parseLength(*options.width), "--width: ");
  if (options.height) size.height = orRefuse(parseLength(*options.height), "--height: ");
  if (options.scale && (size.width || size.height))
    refuse("--scale is given with --width or --height, expected one or the other");
  size.scale = options.scale.value_or(1);
  if (!(size.scale >= 1 && size.scale <= 4))
    refuse(fmt::format("--scale is {:f}, expected 1 to 4 for a picture of this kind", size.scale));
  size.dpi = options.dpi.value_or(size.dpi);
  if (!(size.dpi >= 36 && size.dpi <= 2400))
    refuse(fmt::format("--dpi is {:f}, expected 36 to 2400", size.dpi));
  return size;
}

double aspectOf(const PictureSize& size, double otherwise) {
  if (!size.width || !size.height) return otherwise;
  const auto inches = [&](const Length& length) {
    return length.millimetres ? length.value / 25.4 : length.value / size.dpi;
  };
  return std::clamp(inches(*size.width) / inches(*size.height), 0.1, 10.0);
}

/// Refuses a step that what was computed doesn't have.
void checkStep(Index step, const SequenceSnapshot* shown, bool decodes) {
  if (shown && step > shown->queryLength)
    refuse(fmt::format("--step is {}, expected 1 to {}, the number of tokens", step, shown->queryLength));
  if (!decodes)
    refuse("--step is given, but this scene can't be decoded step by step: expected causal self-attention");
}

void warnOfMaskFiles(const Scene& scene) {
  InputCache inputs{MemoryBudget(defaultLimits().memoryBytes)};
  for (const std::string& note : maskFileNotes(scene.setup, inputs)) warn(note);
}

/// Draws the picture as the pages do; the Heads page's with the KV cache below the heads, if there is one.
Result<Drawing> paintedPicture(HeadlessApp& headless, const Scene& scene, PictureKind what, double aspect) {
  const bool page = what == PictureKind::page;
  const PictureKind kind = page ? shownPicture(scene) : what;
  FigureView how;
  how.aspect = static_cast<float>(aspect);
  how.alone = !page;
  Result<Drawing> drawing = headless.figure(scene, how, kind);
  if (!drawing || !page || (kind != PictureKind::head && kind != PictureKind::heads)) return drawing;
  const auto cache = headless.figure(scene, how, PictureKind::cache);
  return cache ? stacked({*drawing, *cache}) : drawing;
}

int renderPicture(const Scene& scene, PictureKind what, const RenderOptions& options) {
  const PictureSize size = sizeFrom(options);
  orRefuse(pictureFormat(options.output));
  const MemoryBudget memory(defaultLimits().memoryBytes);
  requireAddressSpace();
  const std::unique_ptr<HeadlessApp> app = HeadlessApp::forFigures();
  HeadlessApp& headless = *app;
  headless.session().view().preferences.light = options.theme != "dark";
  Result<Drawing> drawing = paintedPicture(headless, scene, what, aspectOf(size, FigureView().aspect));
  if (const Snapshot* snapshot = headless.session().snapshot(); drawing && snapshot && scene.cursor.decoding)
    if (const SequenceSnapshot* shown = shownSequence(scene, snapshot))
      checkStep(scene.cursor.step, shown, snapshot->causal);
  orFail(writePicture(options.output, orFail(std::move(drawing)), size, memory));
  warnOfMaskFiles(scene);
  return kExitDone;
}

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

/// Refuses options that have no meaning for this kind of picture, and values that are wrong for any scene.
/// The comparisons also refuse NaN.
void checkOptions(const RenderOptions& options, bool picture) {
  if (const double scale = options.scale.value_or(1); !(scale >= 0.5 && scale <= 4))
    refuse(fmt::format("--scale is {:f}, expected 0.5 to 4", scale));
  if (options.step.value_or(1) < 1) refuse(fmt::format("--step is {}, expected at least 1", *options.step));
  const auto only = [](bool given, const char* option, const char* where) {
    if (given) refuse(fmt::format("{} applies only to {}", option, where));
  };
  constexpr const char* kPictures =
      "pictures without the window: --what heads, head, mask, cache, map, cost, model, patch, attribution, "
      "lens or page";
  only(!picture && options.width, "--width", kPictures);
  only(!picture && options.height, "--height", kPictures);
  only(!picture && options.dpi, "--dpi", kPictures);
  constexpr const char* kWindow = "the window's picture, --what window";
  only(picture && options.size, "--size", kWindow);
  only(picture && !options.view.empty() && !isNumberFile(options.output), "--view", kWindow);
  only(picture && options.present, "--present", kWindow);
}

/// Gives the scene's model, or its recorded attention, the picture in the file `image`.
void putOnPicture(Scene& scene, const std::string& image) {
  SubjectSetup& subject = scene.setup.subject;
  if (!subject.opened) failWith(pictureWithoutModel(image).message);
  subject.opened = orFail(withPicture(subject.opened, image));
  subject.picture = image;
  scene.cursor.cell.query = scene.cursor.cell.key = 0;
}

/// Shows the layer with this number.
void showLayer(Scene& scene, Index number) {
  const Index layers = layerCount(scene.setup);
  Index layer = 0;  // recorded attention may leave numbers out
  while (layer < layers && layerNumber(scene.setup, layer) != number) ++layer;
  if (layer == layers)
    refuse(fmt::format("--layer is {}, expected one of the scene's, {} to {}", number,
                       layerNumber(scene.setup, 0), layerNumber(scene.setup, layers - 1)));
  scene.setup = withLayer(std::move(scene.setup), layer);
  scene.cursor.model.layer = layer;
}

/// The scene with what the options choose in it.
Scene chosenScene(const RenderOptions& options) {
  Scene scene = orFail(sceneOrOpening(options.scene));
  Cursor& cursor = scene.cursor;
  if (options.image) putOnPicture(scene, *options.image);
  if (options.layer) showLayer(scene, *options.layer);
  if (options.head) {
    checkRange("--head", *options.head, 0, scene.setup.model.heads - 1);
    cursor.focus = cursor.cell.head = *options.head;
  }
  if (options.step) {
    cursor.decoding = true;
    cursor.step = *options.step;
    cursor.cell.query = *options.step - 1;
  }
  const auto chosen = [](const auto& names, const std::string& word) {
    return std::find(names.begin(), names.end(), word) - names.begin();
  };
  if (!options.page.empty()) cursor.page = options.page;
  if (const auto view = chosen(kTabNames, options.view); view < std::ssize(kTabNames)) {
    cursor.page = "mask";
    cursor.studio.tab = static_cast<StudioTab>(view);
  }
  if (const auto view = chosen(kCacheViewNames, options.view); view < std::ssize(kCacheViewNames)) {
    cursor.page = "cache";
    cursor.cacheView = static_cast<CacheView>(view);
  }
  return scene;
}

int renderWindow(const Scene& scene, std::pair<int, int> size, const RenderOptions& options) {
  // A picture is held three times: as drawn, as read back, and as the file's bytes.
  requireAddressSpace(16.0 * size.first * size.second);
  HeadlessApp headless(size.first, size.second, static_cast<float>(options.scale.value_or(1)));
  Session& session = headless.session();
  session.view().preferences.light = options.theme == "light";
  session.view().present = options.present;
  session.setScene(scene, isLink(options.scene) ? "" : options.scene);
  headless.draw();
  // Learn and Talk show small pictures of views, which are painted between frames.
  ScenePainter painter([] {});
  while (session.view().pictures.wanted()) {
    painter.step(session.view(), session.scene());
    if (session.view().pictures.wanted())
      std::this_thread::sleep_for(std::chrono::duration<double>(painter.nextStepIn(session.view())));
    else
      headless.draw();
  }
  if (const auto error = session.error()) failWith(*error);
  if (options.step)
    checkStep(*options.step, shownSequence(session.scene(), session.snapshot()),
              session.scene().cursor.decoding);
  orFail(isVector(options.output)
             ? writePicture(options.output, headless.drawing(), {}, MemoryBudget(defaultLimits().memoryBytes))
             : attention::writeFile(options.output, render::encodePng(headless.image())));
  warnOfMaskFiles(scene);
  return kExitDone;
}

int runRender(const RenderOptions& options) {
  const auto size = orRefuse(parseSize(options.size.value_or("1920x1080")));
  const std::optional<PictureKind> picture = pictureOf(options);
  checkOptions(options, picture.has_value());
  const Scene scene = chosenScene(options);
  if (isNumberFile(options.output)) {
    if (!options.what || !picture)
      refuse(
          "numbers are of one figure: --what heads, head, mask, cache, patch, attribution or lens is "
          "missing");
    orFail(writeFigureNumbers(options.output, scene, *picture));
    return kExitDone;
  }
  const std::string& page = scene.cursor.page;
  if (options.step && !picture && page != "heads" && page != "cache")
    refuse("--step is given, but the page " + page + " shows no decode; heads and cache do");
  const auto& opened = scene.setup.subject.opened;
  if (opened && opened->recorded)
    for (const std::string& note : recordedNotes(*opened->recorded)) warn(note);
  return picture ? renderPicture(scene, *picture, options) : renderWindow(scene, size, options);
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

Command renderCommand() {
  const auto o = std::make_shared<RenderOptions>();
  std::vector<std::string> pictures = wordsOf(kPictureNames), pages, views = wordsOf(kTabNames);
  pictures.emplace_back(kWindowName);
  for (const PageRow& row : pageTable()) pages.emplace_back(row.info.key);
  views.insert(views.end(), kCacheViewNames.begin(), kCacheViewNames.end());
  Command command{"render", "Draw the window, or a figure, without a display"};
  command.options = {
      Option("SCENE",
             "A scene, a link, a lesson, a model (a folder or a GGUF file), recorded attention or learned; "
             "default: the opening scene",
             &o->scene, kFileName),
      Option("-o,--output", "The PNG, SVG or PDF to write; or a CSV or JSON with a figure's numbers",
             &o->output, kRequiredFileName),
      Option("--what",
             "A figure without the window: heads, head, mask, cache, map or cost; for a model also model "
             "(all its heads), patch, attribution or lens; or page, what the page shows. Or window, the "
             "window as you see it, with its lines and text in an SVG or PDF; default for a PNG, and with "
             "--size, --present or --view",
             &o->what, {.words = pictures}),
      Option("--size", "Pixels of the window, as WIDTHxHEIGHT; default 1920x1080", &o->size),
      Option("--width", "Width of a picture without the window: 800 pixels, or 120mm", &o->width),
      Option("--height", "The same", &o->height),
      Option("--dpi", "Pixels per inch, for millimetres; default 300", &o->dpi),
      Option("--scale",
             "Scale of text and controls, 2 for a HiDPI display; in other pictures, pixels per unit",
             &o->scale),
      Option("--theme", "dark or light; default dark for the window, light for other pictures", &o->theme,
             {.words = {"dark", "light"}}),
      Option("--page", "The page; default: as in the scene", &o->page, {.words = pages}),
      Option("--view",
             "On Mask: mask, biases or compare; on Cache: growth, shapes, precision, eviction or paging",
             &o->view, {.words = views}),
      Option("--room", "", &o->view, {.words = views, .isOldName = true}),
      Option("--layer", "Show this layer, counted from 0", &o->layer),
      Option("--head", "Enlarge this head", &o->head),
      Option("--step", "Decode this many tokens", &o->step),
      Option("--image", "A PNG or JPEG for a model that reads pictures, or for recorded attention of one",
             &o->image, kFileName),
      Option("--present", "Draw as presented: large type, no panels", &o->present)};
  command.run = [o] { return runRender(*o); };
  return command;
}

}  // namespace headscope::app
