#include "app/scene/talk.h"

#include <algorithm>

#include "app/scene/scene.h"

namespace headscope::app {

bool operator==(const TalkView& a, const TalkView& b) {
  return a.name == b.name && a.notes == b.notes &&
         (a.scene == b.scene || (a.scene && b.scene && *a.scene == *b.scene));
}

std::shared_ptr<const Scene> viewScene(const Scene& scene) {
  auto view = std::make_shared<Scene>(scene);
  view->talk = {};
  view->cursor.view = 0;
  view->cursor.lesson = {};
  return view;
}

namespace {

bool fileExists(const Scene& scene, int at) {
  return at >= 0 && at < std::ssize(scene.talk->views);
}

}  // namespace

int addView(Scene& scene, TalkView view, int after) {
  const auto count = static_cast<int>(scene.talk->views.size());
  if (static_cast<std::size_t>(count) >= kMaxTalkViews) return -1;
  const int at = std::clamp(after + 1, 0, count);
  auto& views = scene.talk.edit().views;
  views.insert(views.begin() + at, std::move(view));
  return at;
}

void moveView(Scene& scene, int from, int to) {
  if (!fileExists(scene, from) || !fileExists(scene, to) || from == to) return;
  auto& views = scene.talk.edit().views;
  const auto first = views.begin();
  if (from < to)
    std::rotate(first + from, first + from + 1, first + to + 1);
  else
    std::rotate(first + to, first + from, first + from + 1);
}

void removeView(Scene& scene, int at) {
  if (!fileExists(scene, at)) return;
  auto& views = scene.talk.edit().views;
  views.erase(views.begin() + at);
}

std::vector<TalkView> talkViews(const Scene& scene) {
  return scene.talk->views;
}

std::string viewTitle(const TalkView& view, std::size_t at) {
  return view.name.empty() ? "View " + std::to_string(at + 1) : view.name;
}

}  // namespace headscope::app
