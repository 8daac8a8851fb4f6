#pragma once

#include <array>

#include "app/scene/shared_value.h"

namespace headscope::app {

struct PenPoint {
  float x = 0, y = 0;
  bool operator==(const PenPoint&) const = default;
};

/// A token that a pen stroke is on, to find it again after others were inserted or removed.
struct PenToken {
  attention::Index at = 0, of = 0;  ///< index among how many; of = 0: only the index, whatever is there
  std::string word;
  bool operator==(const PenToken&) const = default;
};

/// A pen stroke. It belongs to the cell, picture or word where it began, and moves with it.
struct PenStroke {
  std::string page;              ///< key of the page it was drawn on
  std::string on;                ///< what it belongs to, as tracked (see platform/track.h); "" = the window
  std::vector<PenToken> cell;    ///< in a picture, its row and column; in a row of words, the word; or empty
  bool arrow = false;            ///< straight, from the first point to the last
  std::vector<PenPoint> points;  ///< 0 to 1 across what it belongs to, or beyond
  bool operator==(const PenStroke&) const = default;
};
using SharedStrokes = SharedValue<std::vector<PenStroke>>;

inline constexpr std::size_t kMaxStrokes = 500, kMaxStrokePoints = 2000, kMaxStrokeName = 200;
/// Of all strokes of a scene together: 500 long strokes across a screen.
inline constexpr std::size_t kMaxPenPoints = 200'000;
/// Limit of a point's coordinates, and their resolution.
inline constexpr float kFarthestPoint = 10000, kPointGrain = 1e-4f;

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

/// A finished talk of the program, a scene file in assets/talks to give or change. The table lets the window
/// offer it without reading the file.
struct ReadyTalk {
  const char *id, *file, *title;
  int views, minutes;
};
inline constexpr std::array<ReadyTalk, 3> kReadyTalks{
    ReadyTalk{"attention", "01-attention-in-twenty-minutes.json", "Attention in twenty minutes", 12, 20},
    ReadyTalk{"kv_cache", "02-the-kv-cache-and-what-it-costs.json", "The KV cache and what it costs", 12, 25},
    ReadyTalk{"induction", "03-what-a-head-does-the-induction-circuit.json",
              "What a head does: the induction circuit", 11, 20}};

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
