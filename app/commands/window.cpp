#include "app/platform/window.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>

#include "app/commands/commands.h"
#include "app/platform/process.h"
#include "app/platform/sent_files.h"
#include "app/platform/ui.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/links/link.h"
#include "app/scene/models/open_model.h"
#include "app/session/figures.h"
#include "app/session/lecturer.h"
#include "app/session/session.h"
#include "attention/formats/files/file_io.h"
#include "attention/models/layers/attention_file.h"

namespace headscope::app {

namespace {

using Clock = std::chrono::steady_clock;

/// Unsaved work is on disk this long after a change, however the program ends.
constexpr std::chrono::seconds kWrittenAfter(2);

/// Requests from outside the window to end the program.
struct Ending {
  std::atomic<bool> asked = false;  ///< like the window's button, which asks the user first
  std::atomic<bool> forced = false;
  std::atomic<Clock::rep> forcedAt = 0;
};

/// Ctrl+C asks first, like the window's button. At a second one, a hang-up or a request to terminate, nobody
/// may be there to answer: unsaved work is kept for the next start, and the window closes. Runs on the signal
/// thread, so that work is kept even if the window hangs.
void onSignal(int signal, Ending& ending, RecoveryStore& recovery) {
  (void)recovery.write();
  constexpr std::chrono::seconds kTimeout(2);
  const Clock::duration now = Clock::now().time_since_epoch();
  if (ending.forced && now - Clock::duration(ending.forcedAt) > kTimeout) {
    attention::removeTemporaryFiles();
    std::_Exit(128 + signal);
  }
  const bool again = ending.asked.exchange(true);
  if ((signal != SIGINT || again) && !ending.forced) {
    ending.forcedAt = now.count();
    ending.forced = true;
  }
  Window::wake();
}

/// Sleeps until something happens, and draws while something moves.
void runLoop(Window& window, Session& session, InputQueue& input, Ending& ending, SentFiles& sent) {
  ScenePainter painter([] { Window::wake(); });
  FigurePainter figures(defaultLimits(), [] { Window::wake(); });
  LecturerWindow lecturer(window, input);
  std::string title;
  Clock::time_point last = Clock::now();
  bool asked = false, forced = false;
  while (!session.closing().done()) {
    const double wait = std::min({session.nextFrameIn(), painter.nextStepIn(session.view()),
                                  lecturer.nextFrameIn(), figures.nextStepIn(session.view())});
    if (!window.takeRefresh()) {
      window.wait(std::isinf(wait) ? 30 : wait);
    } else {
      window.wait(0);
    }
    if (ending.forced && !std::exchange(forced, true)) session.closing().leave();
    if ((ending.asked && !std::exchange(asked, true) && !forced) || window.shouldClose()) {
      window.keepOpen();
      session.closing().request();
    }
    for (const std::filesystem::path& path : sent.take()) {
      session.files().openSent(path);
      window.askForAttention();
    }
    const int width = window.width(), height = window.height();
    if (width == 0 || height == 0) continue;  // minimised
    const Clock::time_point now = Clock::now();
    const double elapsed = std::chrono::duration<double>(now - last).count();
    last = now;
    session.frame(width, height, window.scale(), elapsed);
    lecturer.frame(session, session.view().time);
    // A frozen picture stays on the screen.
    if (!session.stage().frozen) window.present();
    window.setFullScreen(session.view().fullScreen);
    figures.step(session);
    // Pictures of other views are painted while this one is idle.
    if (session.nextFrameIn() > 0.03) painter.step(session.view(), session.document().scene());
    if (session.title() != title) window.setTitle(title = session.title());
  }
}

std::filesystem::path recoveryFolder() {
  const std::filesystem::path folder = stateFolder();
  return folder.empty() ? folder : folder / "recovery";
}

/// The opening scene with the last window's page and colours.
Scene firstScene(const LastWindow& last) {
  Scene scene = openingScene();
  for (const PageRow& page : pageTable())
    if (page.info.key == last.page) scene.cursor.page = last.page;
  for (const render::Colormap map : render::kColormaps)
    if (render::name(map) == last.colormap) scene.look.colormap = map;
  return scene;
}

/// Saves what the next window starts with; synchronously, since nobody waits for it any more.
void remember(const Window& window, Session& session) {
  Preferences preferences = session.view().preferences;
  LastWindow& last = preferences.last;
  if (!session.view().fullScreen && window.width() > 0 && window.height() > 0) {
    last.width = static_cast<int>(std::lround(static_cast<float>(window.width()) / window.scale()));
    last.height = static_cast<int>(std::lround(static_cast<float>(window.height()) / window.scale()));
  }
  const Scene& scene = session.document().scene();
  last.page = scene.cursor.page;
  last.colormap = render::name(scene.look.colormap);
  last.panel = session.view().drawer;
  if (const auto path = preferencesPath(); !path.empty())
    (void)session.view().preferencesFile->write(path, formatPreferences(preferences));
}

/// If `path` isn't empty, the scene is that file's, which held `content`. Also opens `lesson` and shows
/// `problem`; "" = none.
int openWindow(const Scene& scene, const std::string& path, bool ownScene, const std::string& lesson = "",
               const std::string& problem = "", std::optional<attention::ContentMark> content = {}) {
  requireAddressSpace();
  const auto recovery = std::make_shared<RecoveryStore>(recoveryFolder());
  Ending ending;
  const QuitSignals signals([&](int signal) { onSignal(signal, ending, *recovery); });
  const Preferences preferences = loadPreferences();
  const LastWindow& last = preferences.last;
  // Fonts take as long as the window and its context, so they are made at the same time.
  auto fonts = std::make_unique<FontBook>(preferences.textSize);
  Window window("Headscope", last.width > 0 ? last.width : 1600, last.height > 0 ? last.height : 960);
  SentFiles sent(windowsFolder(), displayName(), [] { Window::wake(); });
  Ui ui(std::move(fonts));
  ui.keep(Ui::Keep::picture);
  window.sendEventsTo(ui.input());
  Session session(ui, defaultLimits(), [] { Window::wake(); });
  const ExitWatch lostDisplay([&recovery] {
    const bool kept = recovery->write().ok() && recovery->holdsWork();
    warn(kept ? "the display was lost; the next start offers the unsaved work" : "the display was lost");
    attention::removeTemporaryFiles();
    std::_Exit(1);
  });
  session.view().preferences = preferences;
  session.view().preferencesFile->begin(formatPreferences(preferences));
  session.view().drawer = last.panel;
  if (!ownScene) session.begin(firstScene(last));
  session.closing().recovery().keepIn(recovery);
  recovery->writeAside(kWrittenAfter);
  if (ownScene) session.setScene(scene, path, content);
  // A model is not a file that the scene could be saved to.
  const std::string& model = scene.setup.subject.model;
  if (!path.empty())
    session.files().remember({recentKind(scene), path});
  else if (!model.empty() && model != kLearned)
    session.files().remember({RecentKind::model, model});
  if (!ownScene && lesson.empty()) session.startOffer().offerRecent();
  if (!lesson.empty()) session.files().open(lesson, Outcome(session.view()));
  if (!problem.empty()) session.view().messages.fail(problem);
  runLoop(window, session, ui.input(), ending, sent);
  remember(window, session);
  // A computation or a slow disk may take long to stop, and nobody waits for the result.
  if (!session.stop()) {
    attention::removeTemporaryFiles();
    std::_Exit(0);
  }
  return 0;
}

}  // namespace

int runWindow(const std::string& path) {
  if (isLessonFile(path)) {
    orFail(readLesson(path));
    return runLesson(path);
  }
  // Before it is read: what changes in between is noticed when the scene is saved.
  const auto content = attention::contentMarkOf(path);
  const attention::Result<Scene> scene = sceneOrOpening(path);
  if (isLink(path)) {
    if (scene.ok()) return openWindow(*scene, "", true);
    warn(scene.error().message);
    return openWindow(openingScene(), "", false, "", scene.error().message);
  }
  if (!scene) return fail(scene.error());
  std::error_code ignored;
  // A model is not a file that the scene could be saved to.
  const bool file = scene->setup.subject.model.empty() || std::filesystem::path(path).extension() == ".json";
  return openWindow(*scene, file && !std::filesystem::is_directory(path, ignored) ? path : "", !path.empty(),
                    "", "", content);
}

bool sendToWindow(const std::string& named) {
  const std::filesystem::path path = recordedFile(named).path;
  std::error_code missing;
  if (named.empty() || !std::filesystem::exists(path, missing)) return false;
  const std::string whole = std::filesystem::absolute(path, missing).lexically_normal().string();
  return !missing && sendFile(windowsFolder(), displayName(), whole + named.substr(path.string().size()));
}

int runWindow(const Scene& scene) {
  return openWindow(scene, "", true);
}

int runLesson(const std::string& path) {
  return openWindow(openingScene(), "", false, path);
}

namespace {

struct ViewOptions {
  std::string file;
  Index head = 0, layer = 0;
};

int runView(const ViewOptions& options) {
  const attention::QkFile file = orFail(attention::QkFile::open(options.file));
  const auto& layers = file.layers();
  checkRange("--layer", options.layer, 0, std::ssize(layers) - 1);
  checkRange("--head", options.head, 0, layers[static_cast<std::size_t>(options.layer)].config.heads - 1);
  Scene scene = openingScene();
  scene.map.source = MapSource::file;
  scene.map.file = std::filesystem::absolute(options.file).string();
  scene.map.layer = options.layer;
  scene.cursor.page = "map";
  scene.cursor.cell.head = options.head;
  return runWindow(scene);
}

}  // namespace

Command viewCommand() {
  const auto o = std::make_shared<ViewOptions>();
  Command command{"view", "Open the map on queries and keys of a safetensors file, up to 131,072 tokens"};
  command.options = {
      Option("FILE", "Queries and keys, or the dump of a key cache", &o->file, kRequiredFileName),
      Option("--head", "The head to show first", &o->head, kShown),
      Option("--layer", "The layer to show, if the file has several", &o->layer, kShown)};
  command.run = [o] { return runView(*o); };
  return command;
}

}  // namespace headscope::app
