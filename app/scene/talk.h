#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/scene/shared_value.h"

namespace headscope::app {

struct Scene;

/// One view of a talk: what the audience sees, and the lecturer's notes.
struct TalkView {
  std::string name;   ///< one line; shown in the strip and while the audience's picture changes
  std::string notes;  ///< for the lecturer only, any number of lines
  /// Complete, with its page and cursor; its own talk is empty. Unchanged views share it, also across undo,
  /// so the pointer tells whether it is still the same.
  std::shared_ptr<const Scene> scene;
};
/// Compares scenes, not the pointers to them.
bool operator==(const TalkView& a, const TalkView& b);

/// Views in the order that they are shown. Part of the scene, so saving, undo and recovery of a scene include
/// its talk.
struct Talk {
  std::vector<TalkView> views;
  bool operator==(const Talk&) const = default;
};
using SharedTalk = SharedValue<Talk>;

inline constexpr std::size_t kMaxTalkViews = 300, kMaxViewName = 200, kMaxViewNotes = std::size_t{64} << 10;

/// Returns `scene` as a view: with its page, but without its talk and lesson step.
std::shared_ptr<const Scene> viewScene(const Scene& scene);

// Edits of `scene`'s talk. A position that doesn't exist changes nothing.

/// Inserts a view after position `after` (−1 = first). Returns its position; −1 if there are kMaxTalkViews.
int addView(Scene& scene, TalkView view, int after);
/// Moves the view at `from` to position `to`; those between move up or down.
void moveView(Scene& scene, int from, int to);
void removeView(Scene& scene, int at);
/// The views, for printing or recording; empty = the scene has no talk.
std::vector<TalkView> talkViews(const Scene& scene);

/// The view's name, or "View 3" if it has none.
std::string viewTitle(const TalkView& view, std::size_t at);

}  // namespace headscope::app
