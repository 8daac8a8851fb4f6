// The program in a web page: the browser requests each frame, and work runs between frames.

#include <emscripten.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <utility>

#include "app/compute/figures/picture_formats.h"
#include "app/compute/jobs/memory_budget.h"
#include "app/platform/preferences.h"
#include "app/platform/shaped_text.h"
#include "app/platform/ui.h"
#include "app/platform/web/page.h"
#include "app/platform/window.h"
#include "app/scene/scene_json.h"
#include "app/session/figures.h"
#include "app/session/session.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

namespace {

using Clock = std::chrono::steady_clock;

/// Memory budget, out of the 2 GiB that a page can have.
constexpr std::uint64_t kMemory = std::uint64_t{768} << 20;
/// Delay before the address follows a changed scene: browsers limit how often it may change.
constexpr double kSettledSeconds = 0.5;
constexpr double kKeptAfterSeconds = 2;
/// Delay before the page around this one hears of a selection, so that it hears none the pointer only
/// crosses.
constexpr double kRestedSeconds = 0.25;
/// Seconds of work before the browser gets its turn; and between frames that only show progress.
constexpr double kSlice = 0.024, kProgress = 0.1;

double secondsSince(Clock::time_point time) {
  return std::chrono::duration<double>(Clock::now() - time).count();
}

/// What the page around this one selects, or is told of; −1: not chosen.
struct Selected {
  Index layer = -1, head = -1, query = -1, key = -1;
  bool operator==(const Selected&) const = default;
};

Selected selectedIn(const Scene& scene) {
  const Cursor& cursor = scene.cursor;
  return {cursor.page == "model" ? cursor.model.layer : shownLayer(scene.setup), cursor.cell.head,
          cursor.cell.query, cursor.cell.key};
}

void select(Scene& scene, const Selected& wanted) {
  Cursor& cursor = scene.cursor;
  const auto take = [](Index& at, Index from) { at = from < 0 ? at : from; };
  take(cursor.model.layer, wanted.layer);
  take(cursor.cell.head, wanted.head);
  take(cursor.cell.query, wanted.query);
  take(cursor.cell.key, wanted.key);
  cursor.keyChosen = cursor.keyChosen || wanted.key >= 0;
  shareSubject(scene);
}

class BrowserPage {
 public:
  BrowserPage() : session_(ui_, Limits{kMemory}, [this] { worked_ = true; }) {
    window_.sendEventsTo(ui_.input());
    ui_.keep(Ui::Keep::framebuffer);
    session_.view().preferences = loadPreferences();
    session_.view().preferencesFile->begin(formatPreferences(session_.view().preferences));
    if (!attention::fileExists(preferencesPath()))
      session_.view().preferences.light = headscopePageLight() != 0;
    const std::filesystem::path state = stateFolder();
    recovery_ = std::make_shared<RecoveryStore>(state.empty() ? state : state / "recovery");
    session_.closing().recovery().keepIn(recovery_);
    if (headscopePageRests()) stand_in::atStopCheck = [this] { rest(); };
    shown_ = session_.document().scene();  // needs no address
    told_ = selectedIn(shown_);            // nor does its selection need telling
  }

  Session& session() { return session_; }
  /// Queues an event made by the page's script; the next frame handles it.
  void push(InputEvent event) {
    ui_.input().push(std::move(event));
    due_ = {};
  }

  void frame() {
    // If frames are slow, suspended work gets as much time as a frame. Results of other work are handled
    // first.
    if (resting_ > 0 && !worked_ && secondsSince(drawn_) < drawSeconds_) return;
    const bool worked = worked_.exchange(false);
    if (worked) {
      headscopePageDownloads();
      headscopePageKeep();
    }
    const auto now = Clock::now();
    if (window_.width() == 0 || window_.height() == 0) return;
    if (window_.takeRefresh() || worked || now >= due_) draw(now);
    figures_.step(session_);
  }

  /// Does as much work as fits into a slice. Longer work suspends between slices if the browser supports it.
  /// Returns whether there was any.
  bool work() {
    beginSlice();
    bool any = false;
    while (secondsSince(slice_) < kSlice && (session_.work() || figures_.work())) any = true;
    inside_ = false;
    return any;
  }

  void open(std::string link) { session_.links().open(std::move(link), Outcome(session_.view())); }
  void clipboard(const char* text) { ImGui::SetClipboardText(text); }
  void picture(const std::string& path) {
    session_.view().redraw();
    session_.takePicture([path, this](const Drawing& drawing) {
      if (const auto written = attention::writeFile(path, svgText(drawing)); !written)
        say(written.error().message);
    });
  }
  /// Selects as soon as what is being opened is there.
  void select(const Selected& wanted) {
    wanted_ = wanted;
    due_ = {};
  }
  void theme(bool light) {
    session_.view().preferences.light = light;
    session_.view().redraw();
    due_ = {};
  }
  void say(const std::string& why) { session_.view().messages.fail(why); }

 private:
  void draw(Clock::time_point now) {
    const double elapsed = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    session_.frame(window_.width(), window_.height(), window_.scale(), elapsed);
    window_.present();
    shareSelection();
    window_.setFullScreen(session_.view().fullScreen);
    if (session_.title() != title_) window_.setTitle(title_ = session_.title());
    follow();
    const double next = std::max(session_.nextFrameIn(), resting_ > 0 ? kProgress : 0);
    drawn_ = Clock::now();
    drawSeconds_ = std::chrono::duration<double>(drawn_ - now).count();
    constexpr double kMax = 0.5;  // so that the address and the kept work follow
    due_ = drawn_ + std::chrono::microseconds(static_cast<std::int64_t>(std::min(next, kMax) * 1e6));
    headscopePageFrame(secondsSince(now) * 1000, session_.busy() ? 0 : next);
  }

  /// Selects what the page around this one asked for, and tells it of what is selected.
  void shareSelection() {
    if (wanted_ && !session_.busy()) {
      app::select(session_.scene(), *std::exchange(wanted_, std::nullopt));
      session_.view().redraw();
      due_ = {};
    }
    const Selected now = selectedIn(session_.scene());
    if (!(now == selected_)) {
      selected_ = now;
      selectedAt_ = Clock::now();
    } else if (!(now == told_) && !session_.busy() && secondsSince(selectedAt_) > kRestedSeconds) {
      told_ = now;
      headscopePageSelected(static_cast<int>(now.layer), static_cast<int>(now.head),
                            static_cast<int>(now.query), static_cast<int>(now.key));
    }
  }

  void beginSlice() {
    slice_ = Clock::now();
    inside_ = true;
  }
  /// Called wherever work checks whether to stop, also within frames.
  void rest() {
    if (!inside_ || secondsSince(slice_) < kSlice) return;
    inside_ = false;
    ++resting_;
    headscopePageRest();
    --resting_;
    beginSlice();
  }
  /// Updates the page's address and the browser's storage once the scene has stopped changing.
  void follow() {
    const Scene& scene = session_.document().scene();
    if (!(scene == seen_)) {
      seen_ = scene;
      changed_ = Clock::now();
    }
    const double rested = secondsSince(changed_);
    if (rested > kSettledSeconds && !(shown_ == scene)) {
      shown_ = scene;
      const auto link = session_.links().link();
      headscopePageAddress(link.ok() && link->size() <= 4 * kLongLink ? link->substr(link->find('#')).c_str()
                                                                      : "");
      headscopePageUnsaved(!session_.workspace().unsaved().empty());
    }
    if (rested > kKeptAfterSeconds && recovery_->outdated()) keep();
    if (rested > kKeptAfterSeconds && !(kept_ == scene)) {
      kept_ = scene;
      keep();
    }
  }
  void keep() {
    (void)recovery_->write();
    headscopePageKeep();
  }

  std::atomic<bool> worked_ = false;  ///< some work was done since the last frame
  Window window_{"Headscope", 0, 0};
  Ui ui_;
  Session session_;
  FigurePainter figures_{Limits{kMemory}, [] {}};
  std::shared_ptr<RecoveryStore> recovery_;
  std::string title_;
  Scene seen_, shown_, kept_;
  std::optional<Selected> wanted_;
  Selected selected_, told_;
  Clock::time_point selectedAt_ = Clock::now();
  Clock::time_point last_ = Clock::now(), due_ = last_, changed_ = last_, slice_ = last_, drawn_ = last_;
  double drawSeconds_ = 0;  ///< of the last frame, which ended at drawn_
  int resting_ = 0;         ///< number of suspended pieces of work
  bool inside_ = false;     ///< running work, not a frame
};

/// Shows an exception in place of the program. Unsaved work was kept before.
template <typename Act>
void guarded(void* page, Act act) {
  try {
    act(*static_cast<BrowserPage*>(page));
  } catch (const std::exception& error) {
    emscripten_cancel_main_loop();
    headscopePageFailed(error.what());
  }
}

/// Called by the page on a suspendable stack.
int work(void* page) {
  bool worked = false;
  guarded(page, [&worked](BrowserPage& own) { worked = own.work(); });
  return worked ? 1 : 0;
}

void frame(void* page) {
  guarded(page, [](BrowserPage& own) { own.frame(); });
}

}  // namespace
}  // namespace headscope::app

// Called by the page's script (app/web/page.js) with the pointer that main() passed to it.
extern "C" {
EMSCRIPTEN_KEEPALIVE void headscopePaste(void* page, const char* text);
EMSCRIPTEN_KEEPALIVE void headscopeType(void* page, const char* text);
EMSCRIPTEN_KEEPALIVE void headscopeDrop(void* page, const char* path);
EMSCRIPTEN_KEEPALIVE void headscopeGive(void* page, const char* path);
EMSCRIPTEN_KEEPALIVE void headscopeOpenLink(void* page, const char* link);
EMSCRIPTEN_KEEPALIVE void headscopeSay(void* page, const char* text);
EMSCRIPTEN_KEEPALIVE void headscopeLinkAddress(void* page, const char* address);
EMSCRIPTEN_KEEPALIVE void headscopePicture(void* page, const char* path);
EMSCRIPTEN_KEEPALIVE void headscopeEmbed(void* page, const char* none);
EMSCRIPTEN_KEEPALIVE void headscopeLeftFullScreen(void* page, const char* none);
EMSCRIPTEN_KEEPALIVE void headscopeSelect(void* page, const char* numbers);
EMSCRIPTEN_KEEPALIVE void headscopeTheme(void* page, const char* name);
}

using headscope::app::BrowserPage;
using headscope::app::guarded;
using headscope::app::InputEvent;

/// Acts as if the system clipboard held the text and Ctrl+V was pressed.
void headscopePaste(void* page, const char* text) {
  guarded(page, [text](BrowserPage& own) {
    own.clipboard(text);
    for (const bool down : {true, false}) {
      InputEvent event;
      event.kind = InputEvent::Kind::key;
      event.key = headscope::app::Key::v;
      event.down = down;
      event.mods.ctrl = true;
      own.push(event);
    }
  });
}

/// Handles text from an input method or an on-screen keyboard.
void headscopeType(void* page, const char* text) {
  guarded(page, [text](BrowserPage& own) {
    headscope::app::eachCodepoint(text, [&own](std::uint32_t code, std::string_view) {
      InputEvent event;
      event.kind = InputEvent::Kind::text;
      event.codepoint = code;
      own.push(event);
    });
  });
}

void headscopeDrop(void* page, const char* path) {
  guarded(page, [path](BrowserPage& own) {
    InputEvent event;
    event.kind = InputEvent::Kind::drop;
    event.paths.emplace_back(path);
    own.push(event);
  });
}

/// Opens the file that was put into the page, as a file sent to a window: whatever page is shown.
void headscopeGive(void* page, const char* path) {
  guarded(page, [path](BrowserPage& own) { own.session().files().openSent(path); });
}

void headscopeOpenLink(void* page, const char* link) {
  guarded(page, [link](BrowserPage& own) { own.open(link); });
}

void headscopeSay(void* page, const char* text) {
  guarded(page, [text](BrowserPage& own) { own.say(text); });
}

void headscopeLinkAddress(void* page, const char* address) {
  guarded(page, [address](BrowserPage& own) { own.session().links().setAddress(address); });
}

/// Saves the next frame of the page as an SVG file.
void headscopePicture(void* page, const char* path) {
  guarded(page, [path](BrowserPage& own) { own.picture(path); });
}

/// Embedded in another page: shows one page without tools.
void headscopeEmbed(void* page, const char*) {
  guarded(page, [](BrowserPage& own) { own.session().view().present = true; });
}

/// Called when the user left full screen by the browser's own key.
void headscopeLeftFullScreen(void* page, const char*) {
  guarded(page, [](BrowserPage& own) { own.session().view().fullScreen = false; });
}

/// "layer head query key"; −1 leaves one as it is.
void headscopeSelect(void* page, const char* numbers) {
  guarded(page, [numbers](BrowserPage& own) {
    headscope::app::Selected wanted;
    if (std::istringstream(numbers) >> wanted.layer >> wanted.head >> wanted.query >> wanted.key)
      own.select(wanted);
  });
}

/// "light" or "dark".
void headscopeTheme(void* page, const char* name) {
  guarded(page, [name](BrowserPage& own) { own.theme(std::string_view(name) == "light"); });
}

int main() {
  try {
    // Never freed: lives as long as the browser shows the page.
    BrowserPage* const page = std::make_unique<BrowserPage>().release();
    headscopePageBegun(page, headscope::app::work);
    emscripten_set_main_loop_arg(headscope::app::frame, page, 0, false);
    return 0;
  } catch (const std::exception& error) {
    headscopePageFailed(error.what());
    return 1;
  }
}
