#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/scene/shared_value.h"

namespace headscope::app {

struct Scene;

/// One view of a talk: what the hall sees, and what the lecturer says about it.
struct TalkView {
  std::string name;   ///< one line; shown in the strip and while the hall's picture changes
  std::string notes;  ///< for the lecturer alone, of any number of lines
  /// Whole, with its page and where it is looked at; its own talk is empty. Views that were not changed share
  /// it, also through undo: the pointer says whether it is still the same.
  std::shared_ptr<const Scene> scene;
};
/// Scenes are compared, not the pointers to them.
bool operator==(const TalkView& a, const TalkView& b);

/// Views in the order that they are shown. A part of the scene: what is saved, undone and recovered of a
/// scene is so of its talk.
struct Talk {
  std::vector<TalkView> views;
  bool operator==(const Talk&) const = default;
};
using SharedTalk = SharedValue<Talk>;

inline constexpr std::size_t kMaxTalkViews = 300, kMaxViewName = 200, kMaxViewNotes = std::size_t{64} << 10;

/// What `scene` is as a view: without a talk and a lesson's step of its own. `page` is the one that is shown.
std::shared_ptr<const Scene> viewScene(const Scene& scene);

// Edits, each of a talk that is `scene`'s. A place that isn't there changes nothing.

/// Puts a view after place `after` (−1: first) and returns where it is; −1 where there are kMaxTalkViews.
int addView(Scene& scene, TalkView view, int after);
/// Puts the view at `from` where `to` is; those between move up.
void moveView(Scene& scene, int from, int to);
void removeView(Scene& scene, int at);
/// What the views are, for those who print or record them. Empty: the scene has no talk.
std::vector<TalkView> talkViews(const Scene& scene);

/// "View 3" where a view has no name.
std::string viewTitle(const TalkView& view, std::size_t at);

}  // namespace headscope::app
