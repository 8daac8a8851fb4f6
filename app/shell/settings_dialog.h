#pragma once

#include <string>

#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

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

}  // namespace headscope::app
