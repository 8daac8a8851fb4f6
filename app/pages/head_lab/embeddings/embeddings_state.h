#pragma once

#include <optional>
#include <string>

#include "app/compute/heads/lab_studies.h"
#include "app/pages/head_lab/head_lab_page.h"
#include "app/pages/head_lab/map_view.h"

namespace headscope::app::head_lab_page {

/// The tab's view state, which its panels may change.
struct EmbeddingsState {
  explicit EmbeddingsState(State& lab) : page(lab), study(lab.shown, studyEmbedding) {}

  State& page;
  Shown<EmbeddingQuestion, EmbeddingStudy> study;
  std::string problem;  ///< what was wrong with the typed or pasted text
  EmbeddingAxes axes;
  std::shared_ptr<const attention::Plane> kept;  ///< components kept while the table is edited
  std::shared_ptr<const attention::Table> made;  ///< the scene's table as this tab last set it
  float extent = 0;        ///< half of the range that the plane shows; 0 = not known yet
  Index firstColumn = -1;  ///< first visible column of the table; −1 = choose where tokens differ most

  /// The item being dragged, and its state when the drag began.
  struct Drag {
    enum class Kind { none, cell, point, chip } kind = Kind::none;
    Index row = 0, col = 0;
    ImVec2 from;      ///< pointer position
    float value = 0;  ///< of the cell
    float scale = 1;  ///< the largest |value|, which fixes the colours and a cell's change per pixel
    Eigen::RowVectorXf vector;  ///< of the point's token
    bool moved = false;
  } drag;
  /// The cell being edited; row −1 = none, col −1 = the token's name.
  struct Typing {
    Index row = -1, col = 0;
    std::string text, was;
    bool opened = false;
  } typing;

  bool drags(Drag::Kind kind) const { return drag.kind == kind; }
};

/// The current table: the scene's own if it has one, else the embeddings of its text.
const attention::Table& tableNow(const Scene& scene, const EmbeddingsState& embeddings);
/// Sets the scene's embeddings to `table`, which was derived from tableNow(). `edit`: id of a drag, which
/// makes the whole drag one undo step; "" = a separate step.
void setTable(Scene& scene, EmbeddingsState& embeddings, attention::Table table, const char* edit);
/// Sets one cell of the table, in the same way.
void setCell(Scene& scene, EmbeddingsState& embeddings, Index row, Index col, float value, const char* edit);

/// Sets the embeddings to the clipboard's table, or `embeddings.problem` if it is invalid.
void pasteTable(Scene& scene, EmbeddingsState& embeddings);

// The tab's parts. They require `embeddings.study`.

/// The tokens as chips, the edits for them, and the last problem.
void embeddingsTokens(Scene& scene, EmbeddingsState& embeddings, const ImRect& area);
/// The height of the table's rows and of what is above and below them, in layout units.
inline constexpr float kTableRow = 27, kTableAround = 28 + 62;
/// Opens the name of the selected token for typing.
void renameToken(const Scene& scene, EmbeddingsState& embeddings);
/// The table as a heatmap; cells are changed by dragging up and down.
void embeddingsTable(Scene& scene, EmbeddingsState& embeddings, const ImRect& area);
/// The tokens as draggable points of a plane.
void embeddingsPlane(Scene& scene, EmbeddingsState& embeddings, const ImRect& area);

/// Edits of the selected token. whyNot() says why an edit isn't possible, or "".
enum class TokenEdit { duplicate, remove, insert, swapBack, swapOn };
std::string whyNot(const Scene& scene, const EmbeddingsState& embeddings, TokenEdit edit);
void editToken(Scene& scene, EmbeddingsState& embeddings, TokenEdit edit);

}  // namespace headscope::app::head_lab_page
