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

/// The list of all actions: type to filter, choose with the arrows, run with Enter. Several words are also
/// offered as text for the heads to read.
class Palette : public Dialog {
 public:
  explicit Palette(const ActionTable& actions);
  std::string name() const override { return "palette"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  std::vector<const Action*> found() const;
  const Action* list(View& view, const std::vector<const Action*>& found);
  const ActionTable& actions_;
  Action sentence_;  ///< makes the typed words the text
  std::string wanted_;
  int chosen_ = 0;
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
  explicit SettingsDialog(const ActionTable& actions) : actions_(actions) {}
  std::string name() const override { return "settings"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  bool isWanted(const PreferenceRow& row) const;
  void row(View& view, const PreferenceRow& row) const;
  const ActionTable& actions_;
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

/// Returns every choice and switch of the document as an action, so that the action list contains them too.
std::vector<Action> fieldActions(View& view);

}  // namespace headscope::app
