#pragma once

#include "app/pages/heads/heads_state.h"
#include "app/scene/embedding_table.h"
#include "app/widgets/dialog.h"
#include "attention/formats/tables.h"

namespace headscope::app::heads_page {

/// The typed embeddings as a table of cells that accepts pasted spreadsheet cells.
class TableEditor : public Dialog {
 public:
  explicit TableEditor(State& page) : page_(page) {}
  std::string name() const override { return "table"; }
  void draw(Scene& scene, View& view, bool opening) override;

  /// The cell being edited, and the last problem.
  struct Editing {
    Index row = -2, col = -2;  ///< −2 = none; col −1 is the name
    std::string text, problem;
    bool justOpened = false;
  };

 private:
  State& page_;
  Editing editing_;
};

}  // namespace headscope::app::heads_page
