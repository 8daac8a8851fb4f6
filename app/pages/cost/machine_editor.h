#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/compute/cost/cost_catalogue.h"
#include "app/pages/cost/cost_state.h"
#include "app/widgets/dialog.h"

namespace headscope::app::cost_page {

/// The page's machines as an editable table. Own machines can be added and removed, built-in ones reset.
class MachineEditor : public Dialog {
 public:
  /// `keep` receives each change, and applies it to the page and the file.
  MachineEditor(State& page, std::function<void(const MachineChange&)> keep);
  std::string name() const override { return "machines"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  /// The cell being edited; column −1 is the name.
  struct TypedCell {
    std::string machine;  ///< "" = none
    int column = -1;
    std::string before, text;
    bool justOpened = false;
  };

  void row(Scene& scene, View& view, const attention::Machine& machine, float width);
  void cell(Scene& scene, View& view, const attention::Machine& machine, int column, const ImRect& area);
  void open(const attention::Machine& machine, int column);
  /// Applies the typed text. Returns whether it was valid.
  bool commit(Scene& scene, const attention::Machine& machine);
  void change(Scene& scene, const MachineChange& change);
  void add(const attention::Machine& like);

  State& page_;
  std::function<void(const MachineChange&)> keep_;
  std::vector<std::string> order_;  ///< row order, fixed while memory sizes are edited
  TypedCell typed_;
  std::string problem_;
  bool scrollDown_ = false;
  bool scrollToChosen_ = true;  ///< once, after opening
};

}  // namespace headscope::app::cost_page
