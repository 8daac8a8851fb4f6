#include "app/platform/window.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "app/platform/address_space.h"
#include "app/platform/quit_signals.h"
#include "app/platform/recent_models.h"
#include "app/platform/ui.h"
#include "app/scene/lesson.h"
#include "app/scene/lesson_file.h"
#include "app/session.h"
#include "attention/formats/temporary_file.h"

namespace headscope::app {

namespace {

using Clock = std::chrono::steady_clock;

/// Sleeps until something happens; draws while something moves.
void runLoop(Window& window, Session& session, std::atomic<bool>& askedToQuit) {
  std::string title;
  Clock::time_point last = Clock::now();
  while (!session.wantsToQuit()) {
    const double wait = session.nextFrameIn();
    if (!window.takeRefresh()) {
      window.wait(std::isinf(wait) ? 30 : wait);
    } else {
      window.wait(0);
    }
    if (askedToQuit.exchange(false) || window.shouldClose()) {
      window.keepOpen();
      session.requestQuit();
    }
    const int width = window.width(), height = window.height();
    if (width == 0 || height == 0) continue;  // minimised
    const Clock::time_point now = Clock::now();
    const double elapsed = std::chrono::duration<double>(now - last).count();
    last = now;
    session.frame(width, height, window.scale(), elapsed);
    window.present();
    window.setFullScreen(session.view().fullScreen);
    if (session.title() != title) window.setTitle(title = session.title());
  }
}

/// With `path` the scene is that file's. `lesson` is opened besides; "" = none.
int openWindow(const Scene& scene, const std::string& path, bool ownScene, const std::string& lesson = "") {
  requireAddressSpace();
  std::atomic<bool> askedToQuit = false;
  const QuitSignals signals([&] {
    askedToQuit = true;
    Window::wake();
  });
  Window window("Headscope", 1600, 960);
  Ui ui;
  window.sendEventsTo(ui.input());
  Session session(ui, defaultLimits(), [] { Window::wake(); });
  session.view().preferences = loadPreferences();
  if (ownScene) session.setScene(scene, path);
  if (!lesson.empty()) session.openFile(lesson, Outcome(session.view()));
  runLoop(window, session, askedToQuit);
  // A computation or a slow disk may not come back for long, and nobody waits for what they would say.
  if (!session.stop()) {
    attention::removeTemporaryFiles();
    std::_Exit(0);
  }
  return 0;
}

}  // namespace

int runWindow(const std::string& path) {
  if (isLessonFile(path)) {
    const auto lesson = readLesson(path);
    return lesson ? runLesson(path) : fail(lesson.error());
  }
  const attention::Result<Scene> scene = sceneOrOpening(path);
  if (!scene) return fail(scene.error());
  std::error_code ignored;
  // A model is no file that the scene could be saved to.
  const bool named =
      !scene->setup.subject.model.empty() && std::filesystem::path(path).extension() != ".json";
  if (named && scene->setup.subject.model != kLearned) rememberModel(scene->setup.subject.model);
  const bool file = !named;
  return openWindow(*scene, file && !std::filesystem::is_directory(path, ignored) ? path : "", !path.empty());
}

int runWindow(const Scene& scene) {
  return openWindow(scene, "", true);
}

int runLesson(const std::string& path) {
  return openWindow(openingScene(), "", false, path);
}

}  // namespace headscope::app
