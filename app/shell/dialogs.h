#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

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

}  // namespace headscope::app
