#include "app/commands/render_picture.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/commands/report.h"
#include "app/compute/figures/picture_file.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/headless.h"
#include "app/platform/address_space.h"

namespace headscope::app {

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

}  // namespace headscope::app
