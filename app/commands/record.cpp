#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "app/commands/commands.h"
#include "app/commands/films.h"
#include "app/commands/report.h"
#include "app/platform/address_space.h"
#include "app/platform/frame_sink.h"

namespace headscope::app {

namespace {

using Clock = std::chrono::steady_clock;

struct RecordOptions {
  std::string file, output, what = "decode", size = "1280x720", theme = "dark";
  int framesPerSecond = 30;
  std::optional<double> seconds;
  bool panels = false;
};

constexpr double kMaxSeconds = 3600;

/// Prints "120 of 300 frames" on standard error, on a terminal always in the same line.
class Progress {
 public:
  explicit Progress(Index frames) : frames_(frames) {}
  void at(Index frame) {
    const Clock::time_point now = Clock::now();
    if (frame < frames_ && now - said_ < std::chrono::milliseconds(500)) return;
    said_ = now;
    printProgress(countText(frame) + " of " + countText(frames_) + " frames", frame == frames_);
  }

 private:
  const Index frames_;
  Clock::time_point said_ = {};
};

/// Records all frames in the film's own time: slow computing or drawing drops none.
attention::Status recordFilm(const Film& film, double seconds, int framesPerSecond, HeadlessApp& headless,
                             FrameSink& sink) {
  const Index frames = std::max<Index>(1, std::llround(seconds * framesPerSecond));
  const double frameSeconds = 1.0 / framesPerSecond;
  const Index steps = std::max<Index>(film.steps, 1);
  Progress progress(frames);
  render::Image image;
  bool goesOn = true;
  double waited = 0;  // since the last frame was drawn
  for (Index frame = 0, step = 0; frame < frames; ++frame) {
    bool changed = frame == 0;
    if (frame > 0) waited += frameSeconds;
    while (goesOn && step < frame * steps / frames) {
      // The step begins now, not when the last frame was drawn.
      if (waited > 0) headless.frame(std::exchange(waited, 0));
      goesOn = film.next(headless);
      changed = changed || goesOn;
      ++step;
    }
    if (changed || headless.session().nextFrameIn() <= waited) {
      // Moving parts request more from frame to frame.
      headless.session().settle();
      headless.frame(waited);
      waited = 0;
      image = headless.image();
    }
    if (const auto added = sink.add(image); !added) return added.error();
    progress.at(frame + 1);
  }
  return attention::success();
}

int runRecord(const RecordOptions& options) {
  const auto size = parseSize(options.size);
  if (!size) return usage(size.error());
  if (options.framesPerSecond < 1 || options.framesPerSecond > 120)
    return usage({fmt::format("--fps is {}, expected 1 to 120", options.framesPerSecond)});
  if (options.seconds && !(*options.seconds > 0 && *options.seconds <= kMaxSeconds))
    return usage({fmt::format("--seconds is {:g}, expected more than 0, at most {:g}", *options.seconds,
                              kMaxSeconds)});
  const auto kind = static_cast<FilmKind>(std::find(kFilmNames.begin(), kFilmNames.end(), options.what) -
                                          kFilmNames.begin());
  auto film = filmOf(kind, options.file);
  if (!film) return fail(film.error());
  auto sink = openRecording({options.output, size->first, size->second, options.framesPerSecond});
  if (!sink) return fail(sink.error());
  requireAddressSpace(16.0 * size->first * size->second);
  HeadlessApp headless(size->first, size->second);
  View& view = headless.session().view();
  view.preferences.light = options.theme == "light";
  view.preferences.reducedMotion = false;
  view.present = !options.panels;
  if (const auto begun = beginFilm(*film, kind, headless); !begun) return fail(begun.error());
  if (options.seconds && kind == FilmKind::generation)
    film->steps = std::max<Index>(1, std::lround(*options.seconds / film->stepSeconds));
  const double seconds = options.seconds.value_or(
      std::min(kMaxSeconds, film->stepSeconds * static_cast<double>(std::max<Index>(film->steps, 1))));
  const auto recorded = recordFilm(*film, seconds, options.framesPerSecond, headless, **sink);
  if (!recorded) return fail(recorded.error());
  const auto written = (*sink)->finish();
  return written.ok() ? kExitDone : fail(written.error());
}

}  // namespace

void addRecordCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand(
      "record",
      "Record a decode, a generation, the pipeline, a lesson or a talk as a film, without a display");
  auto options = std::make_shared<RecordOptions>();
  command
      ->add_option(
          "FILE", options->file,
          "A scene, a lesson, a model (a folder or a GGUF file) or learned; default: the opening scene")
      ->check(checkFileName);
  command
      ->add_option("-o,--output", options->output,
                   "An .mp4, .webm or .gif, which ffmpeg writes, or a new folder for PNG frames")
      ->required()
      ->check(checkFileName);
  command->add_option("--what", options->what, "decode, generation, lesson, pipeline or talk; default decode")
      ->check(CLI::IsMember(std::vector<std::string>(kFilmNames.begin(), kFilmNames.end())));
  command->add_option("--size", options->size, "Pixels, as WIDTHxHEIGHT; default 1280x720");
  command->add_option("--fps", options->framesPerSecond, "Frames a second; default 30");
  command->add_option("--seconds", options->seconds,
                      "Length of the film; default: 0.8 per token, 3 per pipeline step, 6 per lesson step");
  command->add_option("--theme", options->theme, "dark or light; default dark")
      ->check(CLI::IsMember({"dark", "light"}));
  command->add_flag("--panels", options->panels, "Show the window's panels; default: as presented");
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runRecord(*options); }); });
}

}  // namespace headscope::app
