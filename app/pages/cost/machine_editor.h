#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/compute/cost/cost_catalogue.h"
#include "app/pages/cost/cost_state.h"
#include "app/widgets/dialog.h"

namespace headscope::app::cost_page {

/// The machines of the page as a table: a click types into a cell, own machines come and go, and those that
/// come with the program can be put back.
class MachineEditor : public Dialog {
 public:
  /// `keep` takes each change, in the page and in the file.
  MachineEditor(State& page, std::function<void(const MachineChange&)> keep);
  std::string name() const override { return "machines"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  /// The cell that is being typed in; column −1 is the name.
  struct TypedCell {
    std::string machine;  ///< "" = none is
    int column = -1;
    std::string before, text;
    bool justOpened = false;
  };

  void row(Scene& scene, View& view, const attention::Machine& machine, float width);
  void cell(Scene& scene, View& view, const attention::Machine& machine, int column, const ImRect& area);
  void open(const attention::Machine& machine, int column);
  /// Takes over what is typed; whether it could be taken.
  bool commit(Scene& scene, const attention::Machine& machine);
  void change(Scene& scene, const MachineChange& change);
  void add(const attention::Machine& like);

  State& page_;
  std::function<void(const MachineChange&)> keep_;
  std::vector<std::string> order_;  ///< rows stay where they are while their memory changes
  TypedCell typed_;
  std::string problem_;
  bool scrollDown_ = false;
  bool scrollToChosen_ = true;  ///< when it opens
};

}  // namespace headscope::app::cost_page
