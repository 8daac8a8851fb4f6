#include "app/session/lecturer.h"

#include <fmt/core.h>

#include <ctime>

namespace headscope::app {

namespace {

constexpr int kWidth = 1280, kHeight = 800;

std::string clockText() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (!::localtime_r(&now, &parts)) return "";
  return fmt::format("{}:{:02}", parts.tm_hour, parts.tm_min);
}

}  // namespace

LecturerWindow::Opened::Opened(Window& first) : window("Headscope: lecturer", kWidth, kHeight, first) {}

LecturerWindow::~LecturerWindow() {
  if (!opened_) return;
  opened_->window.makeCurrent();
  ImGuiContext* const before = ImGui::GetCurrentContext();
  opened_.reset();
  ImGui::SetCurrentContext(before);
  first_.makeCurrent();
}

void LecturerWindow::open(Session& session) {
  ImGuiContext* const before = ImGui::GetCurrentContext();
  try {
    opened_ = std::make_unique<Opened>(first_);
    opened_->window.sendEventsTo(queue_);
  } catch (const std::runtime_error& error) {
    session.stage().lecturer = false;
    session.view().messages.fail(error.what());
  }
  ImGui::SetCurrentContext(before);
  first_.makeCurrent();
  if (!opened_) return;
  session.view().present = true;
  screens_ = 0;  // makes watchScreens() place the windows
}

void LecturerWindow::close(Session& session) {
  ImGuiContext* const before = ImGui::GetCurrentContext();
  opened_->window.makeCurrent();
  opened_.reset();
  ImGui::SetCurrentContext(before);
  first_.makeCurrent();
  hall_ = {};
  session.stage().lecturer = false;
  session.view().redraw();
}

/// Places each window on an existing screen: when the lecturer's opens, and when screens come or go.
void LecturerWindow::watchScreens(Session& session) {
  if (std::exchange(screens_, screenCount()) == screenCount()) return;
  const std::vector<DesktopBox> screens = desktopScreens();
  // A full-screen window is moved by whatever made it full screen.
  if (!opened_) {
    if (!session.view().fullScreen) first_.moveTo(keptInSight(screens, first_.box()));
    return;
  }
  const ScreenRoles roles = screenRoles(screens, first_.box());
  View& view = session.view();
  if (roles.lecturer >= 0) {
    const auto hall = static_cast<std::size_t>(roles.hall),
               lecturer = static_cast<std::size_t>(roles.lecturer);
    if (!view.fullScreen) before_ = first_.box();
    if (screenOf(screens, first_.box()) != roles.hall) {
      first_.setFullScreen(false);
      first_.fill(screens[hall]);
    }
    view.fullScreen = true;
    opened_->window.fill(screens[lecturer]);
    return;
  }
  view.fullScreen = false;
  first_.setFullScreen(false);
  first_.moveTo(keptInSight(screens, first_.box()));
  opened_->window.moveTo(keptInSight(screens, opened_->window.box()));
}

LecturerState LecturerWindow::stateOf(Session& session, double now) const {
  LecturerState state;
  const Scene& own = session.document().scene();
  const StageState& stage = session.stage();
  const auto& views = own.talk->views;
  const auto at = static_cast<std::size_t>(own.cursor.view);
  if (own.cursor.page == "talk" && at < views.size())
    state.title = fmt::format("View {} of {} · {}", at + 1, views.size(), viewTitle(views[at], at));
  state.notes = session.notes();
  state.clock = clockText();
  state.elapsed = elapsedText(now - stage.since);
  if (!hall_.empty())
    state.hall = {hall_.texture(), static_cast<float>(hall_.width()), static_cast<float>(hall_.height())};
  state.blank = stage.blank;
  state.frozen = stage.frozen;
  const std::shared_ptr<const Scene> next = session.nextScene();
  state.hasNext = next != nullptr;
  if (next)
    if (const auto texture = session.view().pictures.of(next)) state.next = LecturerPicture{*texture};
  state.keys = stageWords(session.scene(), stage, session.actions());
  return state;
}

/// Keys pressed here are meant for the hall's window.
void LecturerWindow::forwardKeys() {
  while (!queue_.empty())
    for (InputEvent& event : queue_.takeFrame().events) {
      const bool key = event.kind == InputEvent::Kind::key || event.kind == InputEvent::Kind::text;
      (key ? input_ : opened_->ui.input()).push(std::move(event));
    }
}

void LecturerWindow::frame(Session& session, double now) {
  if (opened_ && opened_->window.shouldClose()) session.stage().lecturer = false;
  if (session.stage().lecturer && !opened_) open(session);
  if (!session.stage().lecturer && opened_) close(session);
  watchScreens(session);
  if (before_ && !session.view().present) {  // the lecture is over
    session.view().fullScreen = false;
    first_.setFullScreen(false);
    first_.moveTo(keptInSight(desktopScreens(), *std::exchange(before_, std::nullopt)));
  }
  if (!opened_) return;
  const int hallWidth = first_.width(), hallHeight = first_.height();
  if (hallWidth > 0 && hallHeight > 0 && !session.stage().frozen) {
    // No larger than a texture can be.
    const auto side = [](int length) { return std::min(length, kLargestWindow.width); };
    if (hall_.width() != side(hallWidth) || hall_.height() != side(hallHeight))
      hall_ = render::Picture(side(hallWidth), side(hallHeight));
    hall_.copyBound(hallWidth, hallHeight);
  }
  const LecturerState state = stateOf(session, now);
  Window& window = opened_->window;
  window.takeRefresh();
  forwardKeys();
  const int width = window.width(), height = window.height();
  if (width <= 0 || height <= 0) return;
  window.makeCurrent();
  {
    const Ui::Current current(opened_->ui);
    View& view = opened_->view;
    const View& hall = session.view();
    view.theme = hall.theme;
    view.time = now;
    view.unit = window.scale() * hall.preferences.textSize;
    opened_->ui.setScale(view.unit);
    view.fonts = &opened_->ui.fonts();
    const render::Color back = unpacked(view.theme->background);
    opened_->ui.frame(width, height, 1.0 / 60, {back.r, back.g, back.b}, [&](const FrameInput& input) {
      view.input = input;
      applyImGuiStyle(view);
      lecturerView(view, state, static_cast<float>(width), static_cast<float>(height));
    });
    window.present();
  }
  first_.makeCurrent();
}

double LecturerWindow::nextFrameIn() const {
  return opened_ ? 0.5 : std::numeric_limits<double>::infinity();
}

}  // namespace headscope::app
