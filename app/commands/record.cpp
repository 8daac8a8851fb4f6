#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "app/commands/commands.h"
#include "app/compute/layer/flow_time.h"
#include "app/pages/common/layer_steps.h"
#include "app/platform/process.h"
#include "app/scene/lessons/lesson.h"
#include "app/session/headless.h"

namespace headscope::app {

namespace {

/// What a recording shows, step by step.
enum class FilmKind { decode, flow, generation, lesson, talk };
constexpr std::array<std::string_view, 5> kFilmNames{"decode", "flow", "generation", "lesson", "talk"};

struct Film {
  Scene first;         ///< the scene at the start
  std::string lesson;  ///< file of the lesson opened on it; "" = none
  Index steps = 0;     ///< approximate number of steps; 0 = known once the first is computed
  double stepSeconds = 1;
  /// Shows the next step, fully computed. Returns false after the last.
  std::function<bool(HeadlessApp&)> next;
};

/// Tokens that a generation adds if no length is given.
constexpr Index kGenerated = 24;

/// Performs an action at the current moment of the film.
void perform(HeadlessApp& headless, const char* action) {
  headless.session().view().request(action);
  headless.draw(0);
}

Index decodedTokens(HeadlessApp& headless) {
  const SequenceSnapshot* shown = shownSequence(headless.session().scene(), headless.session().snapshot());
  return shown ? shown->queryLength : 0;
}

bool nextDecoded(HeadlessApp& headless) {
  Cursor& cursor = headless.session().scene().cursor;
  if (cursor.step >= decodedTokens(headless)) return false;
  cursor.cell.query = cursor.step++;
  headless.draw(0);
  return true;
}

bool nextGenerated(HeadlessApp& headless) {
  const auto count = [&] { return headless.session().scene().setup.subject.written.size(); };
  const std::size_t before = count();
  perform(headless, "model.step");
  return count() > before;
}

constexpr double kFlowSeconds = 1.0 / 60;  ///< per step of the film of a computation

/// The stages of the computation shown on Flow.
std::vector<PipelineStep> flowStages(HeadlessApp& headless) {
  const Session& session = headless.session();
  const SequenceSnapshot* shown = shownSequence(session.scene(), session.snapshot());
  return shown ? stepsOf(session.snapshot()->config, shown->mask) : std::vector<PipelineStep>();
}

bool nextOfFlow(HeadlessApp& headless) {
  FlowCursor& at = headless.session().scene().cursor.flow;
  const FlowCursor before = at;
  at = laterBy(flowStages(headless), at, kFlowSeconds);
  return at != before;
}

bool nextOfLesson(HeadlessApp& headless) {
  const LessonCursor& at = headless.session().document().scene().cursor.lesson;
  const auto last = at.step;
  perform(headless, "lesson.next");
  return !at.lesson.empty() && at.step >= last;
}

bool nextOfTalk(HeadlessApp& headless) {
  const Index& at = headless.session().document().scene().cursor.view;
  const Index before = at;
  perform(headless, "talk.next");
  return at != before;
}

Film lessonFilm(const std::string& file) {
  const auto lesson = orFail(readLesson(file));
  Film film{openingScene(), file, 0, 6, nextOfLesson};
  // A question takes two more steps: it is asked after its explanation, then answered.
  for (const LessonStep& step : lesson->steps) film.steps += step.question ? 3 : 1;
  return film;
}

/// The film of a scene or lesson, which has to be what `kind` requires.
Film filmOf(FilmKind kind, const std::string& named) {
  const std::string file = lessonOr(named).string();
  const bool isLesson = !file.empty() && isLessonFile(file);
  if (kind == FilmKind::lesson && isLesson) return lessonFilm(file);
  if (kind == FilmKind::lesson)
    failWith("--what is lesson, but " +
             (file.empty() ? "no file is given" : attention::quotedText(file) + " isn't one") +
             ", expected a lesson's file");
  Film film{orFail(sceneOrOpening(file)), "", 0, 0.8, {}};
  Cursor& cursor = film.first.cursor;
  switch (kind) {
    case FilmKind::decode:
      if (cursor.page != "cache") cursor.page = "heads";
      cursor.decoding = true;
      cursor.step = std::max<Index>(film.first.setup.prefill, 1);
      cursor.cell.query = cursor.step - 1;
      film.next = nextDecoded;
      break;
    case FilmKind::generation:
      cursor.page = "model";
      film.steps = kGenerated;
      film.next = nextGenerated;
      break;
    case FilmKind::flow:
      cursor.page = "flow";
      cursor.flow = {PipelineStep::input, 0};
      film.stepSeconds = kFlowSeconds;
      film.next = nextOfFlow;
      break;
    case FilmKind::talk:
      if (film.first.talk->views.empty()) failWith("--what is talk, but the scene has no talk");
      cursor.page = "talk";
      cursor.view = 0;
      film.steps = std::ssize(film.first.talk->views);
      film.stepSeconds = 6;
      film.next = nextOfTalk;
      break;
    case FilmKind::lesson:
      break;
  }
  return film;
}

/// Shows the film's first step, fully computed.
void beginFilm(Film& film, FilmKind kind, HeadlessApp& headless) {
  Session& session = headless.session();
  session.setScene(film.first);
  if (!film.lesson.empty()) session.files().open(film.lesson, Outcome(session.view()));
  headless.draw(0);
  if (const auto error = session.error()) failWith(*error);
  if (!session.view().messages.error.empty()) failWith(session.view().messages.error);
  session.view().messages.clear();  // the notice that the file was opened is not part of the film
  if (kind == FilmKind::decode) {
    if (!session.scene().cursor.decoding)
      failWith("this scene can't be decoded step by step: expected causal self-attention");
    film.steps = decodedTokens(headless) - session.scene().cursor.step + 1;
  }
  if (kind == FilmKind::flow)
    film.steps =
        std::lround((flowSeconds(flowStages(headless)) + 1) / kFlowSeconds);  // the end stays for a second
  if (kind == FilmKind::generation && session.scene().setup.subject.model.empty())
    failWith("the scene has no model that generates: name a model, or learned");
}

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
void recordFilm(const Film& film, double seconds, int framesPerSecond, HeadlessApp& headless,
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
    orFail(sink.add(image));
    progress.at(frame + 1);
  }
}

int runRecord(const RecordOptions& options) {
  const auto [width, height] = orRefuse(parseSize(options.size));
  checkRange("--fps", options.framesPerSecond, 1, 120);
  if (options.seconds && !(*options.seconds > 0 && *options.seconds <= kMaxSeconds))
    refuse(
        fmt::format("--seconds is {:g}, expected more than 0, at most {:g}", *options.seconds, kMaxSeconds));
  const auto kind = static_cast<FilmKind>(std::find(kFilmNames.begin(), kFilmNames.end(), options.what) -
                                          kFilmNames.begin());
  Film film = filmOf(kind, options.file);
  const auto sink = orFail(openRecording({options.output, width, height, options.framesPerSecond}));
  requireAddressSpace(16.0 * width * height);
  HeadlessApp headless(width, height);
  View& view = headless.session().view();
  view.preferences.light = options.theme == "light";
  view.preferences.reducedMotion = false;
  view.present = !options.panels;
  beginFilm(film, kind, headless);
  if (options.seconds && kind == FilmKind::generation)
    film.steps = std::max<Index>(1, std::lround(*options.seconds / film.stepSeconds));
  const double seconds = options.seconds.value_or(
      std::min(kMaxSeconds, film.stepSeconds * static_cast<double>(std::max<Index>(film.steps, 1))));
  recordFilm(film, seconds, options.framesPerSecond, headless, *sink);
  orFail(sink->finish());
  return kExitDone;
}

}  // namespace

Command recordCommand() {
  const auto o = std::make_shared<RecordOptions>();
  Command command{"record",
                  "Record a decode, the flow of a computation, a generation, a lesson or a talk "
                  "as a film, without a display"};
  command.options = {
      Option("FILE",
             "A scene, a lesson, a model (a folder or a GGUF file) or learned; default: the opening scene",
             &o->file, kFileName),
      Option("-o,--output", "An .mp4, .webm or .gif, which ffmpeg writes, or a new folder for PNG frames",
             &o->output, kRequiredFileName),
      Option("--what", "decode, flow, generation, lesson or talk; default decode", &o->what,
             {.words = wordsOf(kFilmNames)}),
      Option("--size", "Pixels, as WIDTHxHEIGHT; default 1280x720", &o->size),
      Option("--fps", "Frames per second; default 30", &o->framesPerSecond),
      Option("--seconds", "Length of the film; default: 0.8 per token, about 54 for flow, 6 per lesson step",
             &o->seconds),
      Option("--theme", "dark or light; default dark", &o->theme, {.words = {"dark", "light"}}),
      Option("--panels", "Show the window's panels; default: as presented", &o->panels)};
  command.run = [o] { return runRecord(*o); };
  return command;
}

}  // namespace headscope::app
