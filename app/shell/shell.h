#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/pages/common/page.h"
#include "app/platform/recent_files.h"
#include "app/shell/stage_state.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

// What stands round every page: the bar at the top, the line at the bottom, the questions of the window.

/// What the bars say of the whole window.
struct WindowState {
  std::string sceneName;  ///< of its file; "" where it has none
  bool dirty = false, canUndo = false, canRedo = false;
  std::size_t undoSteps = 0, gpuBytes = 0;
  double drawSeconds = 0;  ///< what the last frame took to draw; 0 = isn't said
};

/// Tabs at the left, what can be done everywhere at the right. `shown` is a row of `rows`.
void topBar(View& view, const Layout& layout, const WindowState& window, const ActionTable& actions,
            std::span<const PageRow> rows, std::size_t shown);
/// The last error or notice, else what the page and the window take.
void statusLine(View& view, const Layout& layout, const WindowState& window, const PageStatus& page);

/// While presenting, in place of that: the page's sentence, or the last error or notice.
void captionLine(View& view, const Layout& layout, const std::vector<CaptionPart>& caption,
                 const std::string& notFinite);

/// Over a page that is presented: the bar of what a lecturer does, where the mouse comes down to it, the key
/// that was pressed, the laser and the spotlight, and the dark.
void stageOverlay(const Scene& scene, View& view, StageState& stage, const Layout& layout,
                  const ActionTable& actions);
/// What the pen drew on the page, on the pictures and words that it belongs to, and while it is on what it
/// draws.
void stagePen(View& view, Scene& scene, StageState& stage);
/// Whether the pen drew anything on the scene's page, and the scene without that.
bool hasPen(const Scene& scene);
void erasePen(Scene& scene);
/// A key, and what it does or how what it switches is: "C", "Causal on".
struct KeyWord {
  std::string key, word;
};
/// What the bar has, for who sees it elsewhere.
std::vector<KeyWord> stageWords(const Scene& scene, const StageState& stage, const ActionTable& actions);
/// Pixels that the lecturer's notes take below a page that is presented, where there is one screen for all.
float notesHeight(const View& view, const std::string& notes, float width, float height);
void stageNotes(const View& view, const std::string& notes, const ImRect& area);
/// Whether the action is on that bar, whose keys are shown when they are pressed.
bool isOnStageBar(const std::string& action);
/// Whether its key acts while presenting alone: a letter that is typed elsewhere replaces no text.
bool isStageKey(const Action& action);
/// Seconds until any of that has to be drawn again without input.
double stageFrameIn(const StageState& stage, double now);

/// A sentence typed over the page that is presented, whose heads follow each letter. Enter closes it.
class SentenceBox : public Dialog {
 public:
  std::string name() const override { return "sentence"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  std::string typed_;
};

/// What can be done with what was clicked at: view.menu opens it beside the pointer, and a click acts.
void contextMenu(View& view, const ActionTable& actions, std::vector<std::string>& offered);
/// Units that an offer below the page is high.
inline constexpr float kOfferHeight = 48;
/// Around the control that has the keyboard, which it brings into sight.
void focusRing(View& view);
/// Once, below the living opening scene: eight heads read one sentence, and a lesson says how.
void lessonOffer(View& view, const ImRect& area);
/// There, too: what was opened before, as much as there is room for. What was clicked: one of `files`, or
/// files.size() for none of them.
std::optional<std::size_t> recentOffer(View& view, const ImRect& area, std::span<const RecentFile> files);
/// What was just done, beside where it was asked for, for kToldSeconds or until something else is asked for.
void toldNote(View& view);
/// Every choice and switch of the document as an action, so that the list of actions knows them too.
std::vector<Action> fieldActions(View& view);

/// All actions by name: type to narrow, arrows to choose, Enter to act. Several words are also offered as the
/// text that heads read.
class Palette : public Dialog {
 public:
  explicit Palette(const ActionTable& actions);
  std::string name() const override { return "palette"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  std::vector<const Action*> found() const;
  const Action* list(View& view, const std::vector<const Action*>& found);
  const ActionTable& actions_;
  Action sentence_;  ///< makes what is typed the text
  std::string wanted_;
  int chosen_ = 0;
};

/// Every key and what the mouse does: those of the pages that are shown first, and without the window's that
/// they take over. Of `pages`, the first one's keys act before the second's.
class ShortcutSheet : public Dialog {
 public:
  ShortcutSheet(const ActionTable& actions, std::vector<std::string> pages)
      : actions_(actions), pages_(std::move(pages)) {}
  std::string name() const override { return "shortcuts"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  bool isShown(const Action& action) const;
  const Action* acting(const KeyPress& press) const;

  const ActionTable& actions_;
  const std::vector<std::string> pages_;
};

/// The settings: type to narrow, and change each where it is said what it does. Below them, how the theme's
/// colours and the scene's colormap look to eyes that see colours otherwise.
class SettingsDialog : public Dialog {
 public:
  explicit SettingsDialog(const ActionTable& actions) : actions_(actions) {}
  std::string name() const override { return "settings"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  bool isWanted(const PreferenceRow& row) const;
  void row(View& view, const PreferenceRow& row) const;
  const ActionTable& actions_;
  std::string wanted_;
};

/// All steps of the document, each by what it changed, the newest first. The arrows and a click go to one,
/// and the scene follows at once; Enter closes the list.
class HistoryList : public Dialog {
 public:
  explicit HistoryList(std::shared_ptr<Document> document) : document_(std::move(document)) {}
  std::string name() const override { return "history"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  void nameSteps();
  bool row(const View& view, std::size_t step, bool current) const;
  const std::shared_ptr<Document> document_;
  std::vector<std::string> names_;
  const void* named_ = nullptr;  ///< the newest scene that has a name
};

/// A scene that is in no file as it is: "demo.json", and where it is to be found.
struct UnsavedLine {
  std::string name, place;
  bool hasFile = false;  ///< it can be saved without asking where
};

/// Leaving would lose these scenes.
class LeaveQuestion : public Dialog {
 public:
  /// `save` gets the place in `unsaved` of the one to be saved.
  LeaveQuestion(std::vector<UnsavedLine> unsaved, std::function<void(std::size_t)> save,
                std::function<void()> leave)
      : unsaved_(std::move(unsaved)), save_(std::move(save)), leave_(std::move(leave)) {}
  std::string name() const override { return "discard"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const std::vector<UnsavedLine> unsaved_;
  const std::function<void(std::size_t)> save_;
  const std::function<void()> leave_;
};

/// The scenes that can be had back, as they come, for their pictures.
struct RecoveryPreview {
  std::vector<std::shared_ptr<const Scene>> scenes;
  bool refused = false;  ///< there will be no pictures
};

/// A window ended without saving: what it kept can be had back.
class RecoveryQuestion : public Dialog {
 public:
  struct OfferedScene {
    std::string name, page, words;  ///< "demo.json", "Heads", and what its heads read
  };
  struct Offer {
    std::string when, ago;             ///< "24 November 2026, 02:46", "3 minutes"
    std::vector<OfferedScene> scenes;  ///< what was worked on comes last
    std::string problem;               ///< why they can't be read; "" = they can
    std::shared_ptr<RecoveryPreview> preview = {};
    std::function<void()> previewed = {};  ///< called once all pictures are there
  };
  RecoveryQuestion(Offer offer, std::function<void()> restore, std::function<void()> discard)
      : offer_(std::move(offer)), restore_(std::move(restore)), discard_(std::move(discard)) {}
  std::string name() const override { return "recovery"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const Offer offer_;
  const std::function<void()> restore_, discard_;
  bool previewed_ = false;
};

}  // namespace headscope::app
