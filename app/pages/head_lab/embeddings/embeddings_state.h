#pragma once

#include <optional>
#include <string>

#include "app/compute/heads/embedding_study.h"
#include "app/pages/head_lab/head_lab_state.h"
#include "app/pages/head_lab/map_view.h"

namespace headscope::app::head_lab_page {

/// What the tab of embeddings shows beside the scene: free for its panels to change.
struct EmbeddingsState {
  explicit EmbeddingsState(State& lab) : page(lab) {}

  State& page;
  std::shared_ptr<const EmbeddingStudy> study;  ///< null until it is there
  std::string refused;                          ///< why there is none
  std::string problem;                          ///< what was wrong with what was typed or pasted
  EmbeddingAxes axes;
  std::shared_ptr<const attention::Plane> kept;  ///< components that stay although the table changes
  std::shared_ptr<const attention::Table> made;  ///< the scene's table as this tab left it
  float extent = 0;                              ///< half of what the plane shows; 0: not known yet
  Index firstColumn = -1;                        ///< of the table's window; −1: where the tokens differ

  /// What is being dragged, with what it was when it was taken hold of.
  struct Drag {
    enum class Kind { none, cell, point, chip, window } kind = Kind::none;
    Index row = 0, col = 0;
    ImVec2 from;                ///< of the pointer
    float value = 0;            ///< of the cell
    float scale = 1;            ///< of a cell: its change a pixel; of the colours, the largest |value|
    Eigen::RowVectorXf vector;  ///< of the point's token
    bool moved = false;
  } drag;
  /// The cell that is typed in; column −1 is the token's name.
  struct Typing {
    Index row = -1, col = 0;
    std::string text;
    bool opened = false;
  } typing;

  bool drags(Drag::Kind kind) const { return drag.kind == kind; }
};

/// The table as it is now: the scene's own where it has one, else what its text is embedded to.
const attention::Table& tableNow(const Scene& scene, const EmbeddingsState& embeddings);
/// The scene's embeddings become `table`, which was made from tableNow(). `edit`: of a drag, so that all of
/// it is one step; empty: a step of its own.
void setTable(Scene& scene, EmbeddingsState& embeddings, attention::Table table, const char* edit);
/// One cell of it.
void setCell(Scene& scene, EmbeddingsState& embeddings, Index row, Index col, float value, const char* edit);

/// The clipboard's table becomes the embeddings; what is wrong with it is said in `embeddings.problem`.
void pasteTable(Scene& scene, EmbeddingsState& embeddings);

// The tab's parts. `embeddings.study` is there.

/// The tokens as chips, what can be done with them, and what was refused.
void embeddingsTokens(Scene& scene, EmbeddingsState& embeddings, const ImRect& area);
/// The table as a heatmap whose cells are dragged up and down.
void embeddingsTable(Scene& scene, EmbeddingsState& embeddings, const ImRect& area);
/// The tokens as points of a plane, which are dragged.
void embeddingsPlane(Scene& scene, EmbeddingsState& embeddings, const ImRect& area);

/// What can be done with the chosen token. An action that can't be done says why.
enum class TokenEdit { duplicate, remove, insert, swapBack, swapOn };
std::string whyNot(const Scene& scene, const EmbeddingsState& embeddings, TokenEdit edit);
void editToken(Scene& scene, EmbeddingsState& embeddings, TokenEdit edit);

}  // namespace headscope::app::head_lab_page
