#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"

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

}  // namespace headscope::app
