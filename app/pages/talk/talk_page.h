#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/pages/common/page.h"
#include "app/scene/fields.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"

namespace headscope::app::talk_page {

using attention::asSize;

/// A change to the talk, applied at the start of the next frame. Those that need a view use the current one.
enum class Move { next, back, first, last, earlier, later, duplicate, remove, keep, restore };

/// The page's view state, which its panels may change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  PageStage stage;           ///< the current view
  int at = 0, count = 0;     ///< index of the current view, and the number of views
  std::optional<Move> move;  ///< requested in this frame
  std::optional<int> goTo;   ///< index of a requested view
  bool focusName = false;    ///< moves the keyboard focus to the name box
  bool shows = false;        ///< scrolls the strip to the current view
  int dragged = -1;          ///< the view being dragged along the strip; −1 = none
};

/// The height of the strip of views in pixels, which nobody but the lecturer needs: 0 while presenting.
float stripHeight(const View& view, float windowHeight);
/// Draws the views side by side, and on the right the name and notes of the current one. `own` is the
/// window's scene, which holds the talk.
void strip(State& page, Scene& own, const ImRect& area);

/// The animation between two views of a talk that differ only in numbers: the visible part of the map, a
/// slider's value, the step of a decode. Every scene on the way is one that a person could have set, and is
/// fully computed. If the views differ in anything else, there is no animation.
class ViewTravel {
 public:
  /// Starts the animation `from` → `to`, taking `seconds` from `now` on. advance() must first be given `to`.
  /// Returns whether there is anything to animate.
  bool begin(const Scene& from, const Scene& to, double now, double seconds = kWalkSeconds);
  bool active() const { return !ways_.empty(); }
  /// Sets the numbers of `scene` to their values at `now`, except any that the person has changed.
  void advance(Scene& scene, double now);
  /// Sets them to their final values.
  void finish(Scene& scene) { advance(scene, beganAt_ + 2 * seconds_); }

 private:
  struct Way {
    const Field* field;
    double from, to;
    double last;  ///< as last put into the scene
  };
  std::vector<Way> ways_;
  double beganAt_ = 0, seconds_ = kWalkSeconds;
};

/// The scene's talk: one view at a time on the stage, above the strip of all views. While presenting, only
/// the view is shown. Changes made on the stage are reverted when another view is shown, unless they are kept
/// in the view; back on that view, undo restores them.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services) : services_(services), page_(services.view) {}

  std::vector<Action> actions() override;
  void arrange(Document& own) override;
  std::shared_ptr<Document> staged() const override { return page_.stage.document(); }
  std::vector<Staged> stages() const override;
  bool stagesViews() const override { return true; }
  bool travels() const override { return travel_.active(); }
  Layout stageLayout(const Layout& window, bool hasSide, bool hasStrip) const override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene&) override {}
  bool hasTab(const Scene& scene) const override { return !scene.talk->views.empty(); }
  void reset() override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  std::string headline(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::string notes(const Scene& scene) const override;
  std::shared_ptr<const Scene> nextScene(const Scene& scene) const override;

  const State& state() const { return page_; }

 private:
  void applyMoves(Document& own);
  void edit(Document& own, Move move);
  void place(Scene& own);
  void clearStage();
  void addShown(const Scene& shown);
  void openReady(const ReadyTalk& talk, bool presented);
  void present();
  std::string placeText() const;

  PageServices& services_;
  State page_;
  std::shared_ptr<const Scene> placed_;  ///< the staged view's scene
  ViewTravel travel_;
  /// Documents of views whose changes were reverted, so that undo can restore them when staged again.
  std::map<std::shared_ptr<const Scene>, std::shared_ptr<Document>> left_;
};

}  // namespace headscope::app::talk_page
