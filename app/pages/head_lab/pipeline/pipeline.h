#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/kit/board.h"
#include "app/pages/head_lab/head_lab_page.h"
#include "app/widgets/view.h"

namespace headscope::app::head_lab_page {

/// A column of a table below bars.
struct Column {
  std::string label;
  double from = 0, to = 0;  ///< of its bar
  std::string above;        ///< text above the bar
  std::vector<std::string> numbers;
  std::uint32_t color;
  bool outlined = false;  ///< for a bar that goes down
  bool lit = false;       ///< selected
  bool hovered = false;   ///< here or in another picture
};

/// Bars with numbers below: a sum growing product by product, or a row's weights.
struct Columns {
  std::string name;
  std::string place;                  ///< what the labels below the bars count: "c"; may be empty
  std::vector<std::string> rowNames;  ///< one-line formulas: "W_O"
  std::vector<std::uint32_t> rowColors;
  std::vector<Column> columns;
  double low = 0, high = 0;
  bool joined = false;  ///< thin lines connect the bars
};

/// The number of columns that fit.
std::size_t columnsThatFit(const View& view, const ImRect& area);
/// Draws the table at the bottom of the area. Returns the hovered column; −1 = none. Tests find columns as
/// NAME.0, NAME.1, …
int paintColumns(const View& view, const ImRect& area, const Columns& columns);
/// The number of lines that fit.
std::size_t linesThatFit(const View& view, const ImRect& area);
/// Draws the same table sideways, one line per column, where it is too narrow. The rows' names are at the
/// top; bars grow to the right. Returns as paintColumns().
int paintLines(const View& view, const ImRect& area, const Columns& columns);

/// Whether a table is narrow, so that it has lines rather than columns.
bool hasLines(const View& view, const ImRect& table);
/// How many columns or lines fit, and the table; returns as paintColumns().
std::size_t tableRoom(const State& page, const ImRect& table);
int paintTable(const State& page, const ImRect& table, const Columns& columns);

/// A receipt's headline: the formula, "= total", and an explanation below.
struct SumTitle {
  std::string formula;
  std::optional<double> total;
  std::string how;
  bool previews = false;  ///< explains what is hovered, not what is selected
};
void paintSumTitle(const View& view, const ImRect& area, const SumTitle& title);
/// The part of the area below the headline.
ImRect belowSumTitle(const View& view, const ImRect& area);

/// The label for the terms that a table combines or leaves out: "3 more".
std::string moreText(Index count);

/// A query's row through an elementwise step: numbers before and after, the latter also as bars. `cell`: the
/// query, and the key that the headline is about.
void rowTable(const Scene& scene, State& page, const ImRect& area, const Cell& cell);

/// A matrix of a frame.
struct FilmBlock {
  Stage stage;
  Ink ink;
  std::string name, shape;
  float width;                            ///< in layout units
  Index slices = 1;                       ///< heads side by side
  Index lit = -1;                         ///< the selected head's slice; −1 = none
  bool used = false;                      ///< by the selected step
  bool ofKeys = false, ofQueries = true;  ///< whose row is marked
};

struct FilmFrame {
  Step step;
  std::string title;
  std::vector<FilmBlock> blocks = {};
  std::string number = {}, hint = {};
  float width = 0;      ///< in layout units
  bool broken = false;  ///< first that can't be computed; `number` = shape found, `hint` = shape expected
};

/// The content of the film: a head in detail, or what is known of a layer that can't be computed.
struct FilmReel {
  attention::AttentionConfig config;
  Index queries = 0, keys = 0;              ///< 0 = not known
  const StagePictures* pictures = nullptr;  ///< null or empty: frames without pictures
  std::vector<attention::Token> tokens;     ///< [queries] names of the rows
  std::optional<Cell> cell;                 ///< whose row and column are marked
  std::vector<FilmFrame> frames;

  /// A stage's picture; null if there is none.
  const StagePicture* picture(Stage stage) const {
    const StagePicture* one = pictures ? &(*pictures)[static_cast<std::size_t>(stage)] : nullptr;
    return one && one->values.size() > 0 ? one : nullptr;
  }
};

/// The stages that a step reads. `biased`: something is added to the scores or caps them.
std::vector<Stage> operandsOf(Step step, bool biased);

/// The sizes for laying out frames. Unknown sizes are written as letters.
struct FilmSizes {
  const attention::AttentionConfig& config;
  Index queries = 0, keys = 0, head = 0;
  bool cross = false;
};
/// Sets the frames' matrices. `frame.title` must be set.
void layOut(std::vector<FilmFrame>& frames, const FilmSizes& sizes);

/// The head's frames, with the selected cell's numbers and what the selected step reads.
FilmReel headReel(const Scene& scene, const State& page);
/// The same frames for a `snapshot` without numbers; `fault` may be null.
FilmReel emptyReel(const Snapshot& snapshot, const LayerFault* fault);

// The tab's parts. All but film() require `page.head`.

/// All frames side by side; a click selects a step. Their height decides what they show: in very low areas
/// only dots with the steps' names.
void film(Scene& scene, State& page, const FilmReel& reel, const ImRect& area);
/// The selected step's matrices, as on a blackboard.
void stage(Scene& scene, State& page, const ImRect& area);
/// What the step does, as a sentence, and one cell's sum in full.
void addCalculation(Scene& scene, State& page, Board& board);
/// Which query heads share which kv head, one line per kv head; a click selects a head.
void groupTable(Scene& scene, State& page, const ImRect& area);

}  // namespace headscope::app::head_lab_page
