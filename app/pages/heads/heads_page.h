#pragma once

#include <atomic>
#include <tuple>
#include <vector>

#include "app/compute/cache/cache_studies.h"
#include "app/compute/heads/word_aim.h"
#include "app/compute/layer/snapshot.h"
#include "app/kit/board.h"
#include "app/kit/motion.h"
#include "app/kit/rows.h"
#include "app/kit/sentence.h"
#include "app/kit/shown.h"
#include "app/kit/word_card.h"
#include "app/pages/common/page.h"
#include "app/scene/model_fit.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"
#include "attention/formats/tables.h"

namespace headscope::app::heads_page {

/// The values that the model's sliders offer, and the settings they depend on.
struct ModelStops {
  ModelSetup model;
  WeightSetup weights;
  EmbeddingSource embedding = EmbeddingSource::text;
  ChosenHeads chosen;
  std::vector<Index> heads = {}, kvHeads = {}, headDim = {}, modelDim = {};  ///< ascending
};

struct HeadSliders {
  ChosenHeads chosen;
  ModelStops stops;
};

/// The pictures of heads and cache. The panels set the sizes they are drawn at; the page sets how many cells
/// are pooled into one.
struct Pictures {
  EasedTextures grid, focus, cache;  ///< all heads; the enlarged head; keys and values
  float gridPixels = 256;            ///< longer side of one map in the grid
  float focusCell = 8;               ///< size of one cell of the enlarged head
  int gridFactor = 1, focusFactor = 1;
  CacheGrain cacheGrain, drawnCacheGrain;  ///< needed by the strips; used in their pictures
};

/// The token that an open menu is about.
struct TokenMenu {
  Index token = -1;          ///< the token it was opened on; −1 = actions apply to the selected query
  bool tokenIsQuery = true;  ///< `token` is a query, not a key
};

/// Where a weight stands: the layer, the sequence, the cell, and the words of its query and key.
using WeightPlace = std::tuple<Index, Index, Cell, std::string, std::string>;

/// The selected cell's weight before the scene last changed. Changes that follow each other, as while a
/// slider is dragged, count as one.
struct WeightBefore {
  WeightPlace place;
  float weight = 0;
  double changedAt = 0;
};

/// The dimension under the pointer in the receipt's vectors.
struct ReceiptPointer {
  Index dim = -1, nextDim = -1;  ///< in the last frame and in this one; −1 = none
};

/// The card of the selected word, and what its vector was when the card was opened.
struct WordPart {
  explicit WordPart(ShownSet& set) : study(set, studyWords), changes(set, studyChanges), aim(set, aimWord) {}

  Shown<EmbeddingQuestion, WordStudy> study;
  Shown<ChangeQuestion, HeadChanges> changes;
  Shown<AimQuestion, WordAim> aim;
  std::optional<AimQuestion> aimed;  ///< the word that a head is to read, until its vector is found
  WordReading reading;               ///< of the cell that `readAt` names, in that snapshot
  std::tuple<std::shared_ptr<const Snapshot>, Index, Index, Index> readAt;  ///< sequence, head, word
  WordCardState card;
  std::weak_ptr<Document> document;  ///< whose word it is: a stage shows others
  bool compares = false;             ///< the vector is edited, and nothing else since then

  struct Before {
    Index word = -1;  ///< −1 = no card is open
    std::string name;
    Eigen::RowVectorXf vector;
    InputSetup input;
    std::shared_ptr<const WordStudy> opened;   ///< of the vectors then: the map keeps its plane
    std::shared_ptr<const Snapshot> snapshot;  ///< the heads' weights
    Index sequence = 0;
  } before;
};

/// The page's view state, which its panels may change.
struct State {
  explicit State(PageServices& services)
      : view(services.view), shown(services.view, services.workers, services.resources) {}

  View& view;
  ShownSet shown;
  WordPart word{shown};
  std::shared_ptr<const Snapshot> snapshot;  ///< the snapshot drawn; null before the first
  Pictures pictures;
  Camera camera;
  HeadSliders sliders;
  ReceiptPointer receipt;
  std::optional<WeightBefore> before;  ///< until another cell is selected
  TokenMenu menu;
  SentenceState sentence;
  Motion motion;               ///< of the heads' pictures
  bool showsSentence = false;  ///< the words stand above the heads, so they have no chips on the left
  bool showsWiring = false;    ///< the wiring is there instead of the words
  Playback play;               ///< plays the decode step by step
  bool keysTurn = true;     ///< Page Up and Page Down change the head; next to a lesson they change its step
  bool catchingUp = false;  ///< the snapshot belongs to an earlier setting
  double busySeconds = 0;   ///< how long the next snapshot has been computing
};

// The panels. `snapshot` may be null until the first computation is done.
void sidePanel(Scene& scene, State& page, const Layout& layout);
void headsPanel(Scene& scene, State& page, const Layout& layout);
void cachePanel(Scene& scene, State& page, const Layout& layout);

/// "Attention weight of head 3, 12 queries × 12 keys, causal".
std::string figureTitle(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
                        const std::string& of);
/// The line above the heads: the title on the left, the choices and the colour bar on the right.
void header(Scene& scene, State& page, const SequenceSnapshot& sequence, const ImRect& area);
/// What the colours of a head (−1 = all heads) mean: in the window, on stage and in figures.
FigureLegend headsLegend(const Look& look, const SequenceSnapshot& sequence, Index head);
/// Draws the colour bar of a head (−1 = all heads) next to a figure's cells, whose top right corner is `at`.
/// `cells` [heads, n, m]: the cells as drawn, factor × factor pooled into one.
void paintHeadsLegend(const View& view, Canvas list, const Look& look, const Snapshot& snapshot,
                      const SequenceSnapshot& sequence, Index head, const attention::Stack& cells, int factor,
                      ImVec2 at, float height);
void receiptPanel(Scene& scene, State& page, const Layout& layout);

/// Where the selected cell's weight stands; nothing if the snapshot lacks the cell.
std::optional<WeightPlace> weightPlace(const Scene& scene, const Snapshot& snapshot);
/// The selected cell, in the enlarged head if there is one.
Cell selectedCell(const Scene& scene, const Snapshot& snapshot);
/// What the selected head reads for the selected query, in a sentence.
std::vector<CaptionPart> headSentence(const Scene& scene, const Snapshot& snapshot,
                                      const SequenceSnapshot& sequence, const Theme& theme);
/// While presenting: one sentence, about the enlarged head's cell, the decode step, or the axes.
std::vector<CaptionPart> captionOf(const Scene& scene, const Snapshot& snapshot,
                                   const SequenceSnapshot& sequence, const Theme& theme);

/// Handles a right click on a cell or a head's title: selects the cell and opens its menu.
void offerForCell(Scene& scene, View& view, TokenMenu& menu, const Cell& cell);
/// Opens the menu of a head whose title, in `area`, is right-clicked.
void offerForTitle(Scene& scene, State& page, const ImRect& area, const Cell& cell);
/// The same for a token of an axis or of the KV cache.
void offerForToken(Scene& scene, State& page, bool query, Index at);
/// Highlights the hovered token of an axis; a right click opens its menu.
void pointAtLabels(Scene& scene, State& page, const HeatTile& tile, const AxisLabels& labels);

/// The words above the heads, and what the pointer does there, if there is room for them.
void sentencePart(Board& board, Scene& scene, State& page, const SequenceSnapshot& sequence, bool ownPanel);

/// The wiring of heads and kv heads in place of the words, as long as it is switched on; and `units` high
/// while the slider of either is held. Returns whether it is there.
bool wiringPart(Board& board, Scene& scene, State& page, const SequenceSnapshot& sequence, float units);
/// What the wiring shows, in a sentence: how far merging kv heads moved the heads' weight, or who shares.
std::vector<CaptionPart> wiringSentence(const Snapshot& snapshot, const SequenceSnapshot& sequence,
                                        const View& view);
// The card of the selected word, in word_card_part.cpp.

/// Adds the card, if it is open.
void wordCardPart(Board& board, Scene& scene, State& page, const SequenceSnapshot& sequence);
/// Asks for what an open card shows.
void askWord(const Scene& scene, State& page);
/// How many weights of a head the edited vector changed; nothing while no card is open, or none was edited.
std::optional<Index> changedCells(const State& page, Index head);
/// "8 cells changed" in several wordings, the longest first; empty if changedCells() is nothing.
std::vector<std::string> changeNotes(const State& page, Index head);
/// Draws a head that the edited vector left as it was in half light; in others, ▲ on weights that grew and ▽
/// on weights that fell by more than kChangedWeight, if there is room for them.
void paintChanges(const State& page, const SequenceSnapshot& sequence, Canvas list, const HeatTile& tile);
/// Drops what a card that was open keeps.
void closeWord(State& page);

/// Draws one enlarged head with its axes and numbers.
void focusView(Scene& scene, State& page, const SequenceSnapshot& sequence, const ImRect& area,
               bool besideReceipt);

// Sections of the side panel.
void inputSection(Rows& rows, Scene& scene, const State& page);
/// How the text is read.
void readingSection(Rows& rows, Scene& scene, const State& page);
void modelSection(Rows& rows, Scene& scene, State& page);
void weightsSection(Rows& rows, Scene& scene, const Snapshot* snapshot);
void maskSection(Rows& rows, Scene& scene, const Snapshot* snapshot);
void moreSection(Rows& rows, Scene& scene);

/// A layout of equally shaped heatmaps in an area.
struct GridPlan {
  int columns = 1, rows = 1;
  float cell = 1;  ///< longer side of a cell in pixels; the cell is square unless stretched
  float mapWidth = 1, mapHeight = 1;
  float titleHeight = 0, leftRoom = 0, bottomRoom = 0;  ///< around one map
  float tileWidth = 1, tileHeight = 1;
  float gapX = 0, gapY = 0;
  /// Where tokens label the axes: on every map; on the query axis of each row's first map; there and below
  /// the last map of each column; nowhere.
  enum class Labels { every, firstOfRow, outer, none } labels = Labels::none;
  float margin = 0;  ///< left of the first map of each row, for its axis
};

/// The plan with the largest maps; among nearly equal ones, prefers full rows and columns that line up with
/// the kv groups. `labelLeft` and `labelBottom`: pixels that token labels need. Labels are dropped only when
/// maps get too small for them.
GridPlan planGrid(const View& view, ImVec2 area, int heads, int groupSize, float queries, float keys,
                  float labelLeft, float labelBottom);

/// A figure's plan, with the number of columns that comes closest to its aspect; `labelLeft` as above. Also
/// sets the figure's size, with `below` pixels under the last row.
GridPlan planFigure(View& view, int heads, ImVec2 map, float labelLeft, float below);

/// The cells of each head's map in `area`, in head order, in pixels.
std::vector<ImRect> mapAreas(const View& view, const GridPlan& plan, const ImRect& area, int heads);

/// All heads of the layer, one head in detail, and its KV cache.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  std::vector<Action> places() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void reset() override;
  bool showsStrip(const Scene& scene) const override;
  bool showsSide(const Scene& scene) const override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  FigureLegend legend(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }
  State& state() { return page_; }
  /// Seconds that the last upload of pictures to the GPU took.
  double uploadSeconds() const { return uploadSeconds_; }

 private:
  void noteWeight(const Scene& scene, const Snapshot& now);
  void showPictures(const Scene& scene);
  void copyNumbers(const Scene& scene);
  const attention::Token* chosenToken(const Scene& scene, Index* at) const;
  void copyToken(const Scene& scene);
  void copyVectors(const Scene& scene, bool query);
  void decodeTo(Scene& scene);
  std::vector<Action> tokenActions();
  void advancePlay(Scene& scene);
  void nextNamed(Scene& scene);
  void walk(Scene& scene);
  enum class Decode { toggle, play, forward, back };
  void decode(Scene& scene, Decode what);
  std::vector<Action> fileActions();
  std::vector<Action> decodeActions();
  std::vector<Action> ownActions();
  void openWeights(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  void openTable(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);

  PageServices& services_;
  State page_;
  CursorFit fit_;
  double uploadSeconds_ = 0;
  /// The most recent band sizes. Shared with the worker, which may outlive the page and prepares the next
  /// bands in these sizes.
  struct Bands {
    std::atomic<Index> sequence = -1, dims = 0, tokens = 0;
  };
  const std::shared_ptr<Bands> bands_ = std::make_shared<Bands>();
  /// What the textures hold, so that they are refilled only when something else is shown: the snapshot, the
  /// sequence, the quantity, the enlarged head, and how many cells are pooled.
  using Drawn = std::tuple<std::shared_ptr<const Snapshot>, Index, Quantity, Index, int, int, CacheGrain>;
  Drawn drawn_;
};

}  // namespace headscope::app::heads_page
