#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/platform/preferences.h"
#include "app/widgets/actions.h"
#include "app/widgets/dialog.h"
#include "app/widgets/view.h"

namespace headscope::app {

class DocumentFiles;

/// The menu ☰: everything a window can do, in columns, with the recent files below. Narrow windows get fewer
/// columns side by side. Arrows move, Enter chooses, letters search instead.
class MainMenu : public Dialog {
 public:
  /// What the session knows.
  struct Rules {
    std::function<bool(const std::string& action)> enabled;
    std::function<std::string(const std::string& action)> state;  ///< what a switch is at; "" = no switch
    std::function<void(const std::string& typed)> search;
  };
  /// Reads the recent files.
  MainMenu(const ActionTable& actions, DocumentFiles& files, Rules rules);
  std::string name() const override { return "menu"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  struct Line {
    std::string id, label, key, state;
  };
  struct Column {
    std::string title;
    std::vector<Line> lines;
    float width = 0;
  };
  std::vector<Column> columns(const View& view) const;
  void column(View& view, const Column& column, ImVec2 at);
  void recentFiles(View& view, float width);
  void takeKeys(View& view);

  const ActionTable& actions_;
  DocumentFiles& files_;
  const Rules rules_;
  std::shared_ptr<std::vector<RecentFile>> recent_ = std::make_shared<std::vector<RecentFile>>();
};

}  // namespace headscope::app
