#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/scene/document.h"
#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// What Search leads to besides actions: controls, lessons, models, glossary terms, sections of the manual.
using Places = std::shared_ptr<const std::vector<Action>>;

/// Returns what matches the search, best first. The places are left out while nothing is typed.
std::vector<const Action*> searched(std::string_view wanted, const std::vector<Action>& actions,
                                    const std::vector<Action>& places);

/// Search: type to filter, choose with the arrows, go there with Enter. The typed words are also offered as
/// the text for the heads to read, in a last row that is never chosen by itself.
class Palette : public Dialog {
 public:
  /// Both may grow while the dialog is open; `places` is then replaced.
  Palette(const ActionTable& actions, const Places& places, std::string typed = "")
      : actions_(actions), places_(places), typed_(std::move(typed)) {}
  std::string name() const override { return "palette"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  void search();
  bool offersText() const;
  int rows() const { return static_cast<int>(found_.size()) + (offersText() ? 1 : 0); }
  bool row(View& view, const std::string& name, const std::string& label, const std::string& aside, int index,
           bool moved);
  int list(View& view, bool moved);
  const ActionTable& actions_;
  const Places& places_;
  const std::string typed_;  ///< before the search opened
  std::string wanted_;
  int chosen_ = 0;  ///< index of a row; −1 = none
  std::string chosenId_;
  std::vector<const Action*> found_;
  // What found_ was made from.
  std::string soughtFor_;
  std::size_t soughtActions_ = 0;
  Places soughtPlaces_;
  bool typesOn_ = false;  ///< the search line keeps the keyboard after an Enter that did nothing
};

/// The list of keys and mouse controls. Lists the keys of the visible pages first, and omits the window's
/// keys that they override. The first of `pages` overrides the second.
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

/// The settings: type to filter, and change each next to its explanation. Below them, a check of how the
/// theme's colours and the scene's colormap look with colour-vision deficiencies.
class SettingsDialog : public Dialog {
 public:
  /// Opens with the search `wanted`.
  explicit SettingsDialog(std::string wanted = "") : wanted_(std::move(wanted)) {}
  std::string name() const override { return "settings"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  bool isWanted(const PreferenceRow& row) const;
  void row(View& view, const PreferenceRow& row) const;
  std::string wanted_;
};

/// The menu of actions for the item under the pointer. Setting view.menu opens it there; a click runs an
/// action.
class ContextMenu {
 public:
  void draw(View& view, const ActionTable& actions);

 private:
  std::vector<std::string> offered_;  ///< action ids
};

/// The document's steps, each named after its change, newest first. The arrows or a click go to a step, and
/// the scene follows at once; Enter closes the list.
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
  const void* named_ = nullptr;  ///< newest scene when names_ was made
};

/// Returns every choice and switch of the document as an action, so that Search finds them too.
std::vector<Action> fieldActions(View& view);
/// Returns every slider of the document as a place, where it gets the keyboard focus.
std::vector<Action> sliderPlaces(View& view);

}  // namespace headscope::app
