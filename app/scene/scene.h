#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/scene/cost_setup.h"
#include "app/scene/head_lab_cursor.h"
#include "app/scene/limits.h"
#include "app/scene/pen.h"
#include "app/scene/shared_layers.h"
#include "app/scene/shared_text.h"
#include "app/scene/shared_value.h"
#include "app/scene/subject.h"
#include "app/scene/talk.h"
#include "attention/core/config.h"
#include "attention/core/head_map.h"
#include "attention/formats/tables.h"
#include "attention/heads/planted.h"
#include "attention/masks/compile.h"
#include "attention/text/tokenizer.h"
#include "render/colormap.h"

namespace headscope::app {

// The document: everything the person chose. `Setup` decides what is computed, `Look` how it is
// drawn, `Cursor` where the person is looking. Undo walks through all but the Cursor, and leaves that
// alone. Defaulted == on Setup is what tells the session to compute again.

enum class EmbeddingSource { text, table };
enum class PositionKind { none, sinusoidal, rope, alibi, t5 };
enum class WeightSource { random, planted, file };
enum class WeightInit { xavier, normal };

using SharedTable = SharedValue<attention::Table>;
using SharedMarks = SharedValue<std::vector<attention::TextMarks>>;

struct InputSetup {
  SharedText text;  ///< UTF-8; every line is a sequence of the batch
  attention::Tokenization tokenization = attention::Tokenization::words;
  bool ignoreCase = true;  ///< "The" and "the" get the same vector
  EmbeddingSource source = EmbeddingSource::text;
  SharedTable table;  ///< typed embeddings, tokens × dimensions; used when source is table
  std::uint64_t seed = 1;
  bool cross = false;      ///< keys and values come from contextText
  SharedText contextText;  ///< one line for all sequences, or one for each
  bool operator==(const InputSetup&) const = default;
};

/// Beside what is here, the numbers of the score terms.
struct ModelSetup : attention::ScoreNumbers {
  /// Layers made here, one upon the other: each adds its output to the residual stream. With more than one,
  /// `norm`: each reads the stream normed (RMS).
  Index layers = 1;
  bool norm = false;
  Index heads = 8, kvHeads = 2, headDim = 32, modelDim = 256;
  bool linked = true;  ///< headDim follows modelDim / heads
  bool bias = false;
  bool scaled = true;  ///< scores are divided by √headDim
  float dropout = 0;   ///< probability
  PositionKind position = PositionKind::sinusoidal;
  double ropeTheta = 10000;
  Index t5Buckets = 32, t5Distance = 128;  ///< used with position t5; the numbers follow the weights' seed
  float t5Strength = 1;
  /// The key and value head that a head reads.
  Index kvHeadOf(Index head) const { return head * kvHeads / heads; }
  bool operator==(const ModelSetup&) const = default;
};

struct WeightSetup {
  WeightSource source = WeightSource::planted;
  std::uint64_t seed = 7;
  WeightInit init = WeightInit::xavier;  ///< how random weights are drawn
  float gain = 1;                        ///< they are multiplied by
  /// What each head is made to do; heads beyond the list cycle through the defaults. Entries beyond the
  /// number of heads are kept, so that sliding heads down and up again loses nothing.
  std::vector<attention::PlantedHead> planted;
  std::vector<std::vector<attention::PlantedHead>> plantedAbove;  ///< the same for the layers after the first
  std::string file;  ///< a safetensors file or .npz with a layer's weights
  Index layer = -1;  ///< which of the file's layers, by the number in its names; −1: the only one
  bool operator==(const WeightSetup&) const = default;
};

struct MaskSetup {
  SharedLayers layers;                                                 ///< empty: everything is visible
  std::map<std::string, SharedValue<attention::CellTable>> paintings;  ///< what painted("name") names
  SharedMarks marks;     ///< for each line of the text; lines beyond have none
  SharedTable additive;  ///< added to the scores of all heads: a row for each query, a column for each key
  bool compare = false;  ///< compute a second mask beside the first, on the same queries, keys and values
  SharedLayers other;
  bool operator==(const MaskSetup&) const = default;
};

struct Setup {
  SubjectSetup subject;
  InputSetup input;
  ModelSetup model;
  WeightSetup weights;
  MaskSetup mask;
  Index prefill = 4;  ///< tokens the KV cache takes in at once before it steps
  bool operator==(const Setup&) const = default;
};

/// `dropped`: what dropout left of the weights, which are themselves the softmax's probabilities.
enum class Quantity { weights, scores, dropped };
enum class RangeMode { perHead, shared, unit, logarithmic };

struct Look {
  Quantity quantity = Quantity::weights;
  render::Colormap colormap = render::Colormap::viridis;
  render::Colormap scoreColormap = render::Colormap::diverging;
  RangeMode range = RangeMode::unit;
  float labelThreshold = 0.3f;  ///< a head is named from this score above even attention on
  Index cacheBytes = 2;         ///< bytes a cached value takes in the cost figures: 4, 2 or 1
  SharedStrokes strokes;        ///< what the pen drew over the pages
  bool operator==(const Look&) const = default;
};

/// Where the map's queries and keys come from: the scene's text, a long text made up for it, or a file of Q
/// and K.
enum class MapSource { scene, generated, file };

/// What the map of one long head is made of beside the Setup. It takes part in undo and files, and asks for
/// no Snapshot.
struct MapSetup {
  MapSource source = MapSource::scene;
  Index tokens = 32768;    ///< of the text that is made up
  std::uint64_t seed = 1;  ///< of the same
  std::string file;        ///< a safetensors file with queries and keys
  Index layer = 0;         ///< of the file
  attention::Pooling pooling = attention::Pooling::max;
  bool operator==(const MapSetup&) const = default;
};

struct Cell {
  Index head = 0, query = 0, key = 0;
  bool operator==(const Cell&) const = default;
};

/// The mask studio's tabs.
enum class StudioTab { mask, biases, compare };

/// What the mask studio is set to look at.
struct StudioCursor {
  StudioTab tab = StudioTab::mask;
  Index blockSize = 32;     ///< cells a side as the block map counts them
  Index layers = 2;         ///< stacked layers the receptive field looks through
  bool residual = true;     ///< tokens keep what they have from layer to layer
  bool allHeads = true;     ///< the receptive field goes through any head, not the shown one alone
  Index selected = 0;       ///< the layer the sliders and the brush belong to
  bool editsOther = false;  ///< layers and brush belong to the second mask
  float wipe = 0.5f;        ///< where the first mask ends and the second begins
  bool operator==(const StudioCursor&) const = default;
};

/// What of the map is in sight.
struct MapCursor {
  double row = 0, col = 0;     ///< the middle of the window, in cells
  double cellsPerPixel = 0;    ///< 0 = as many as show the whole head
  Index query = -1, key = -1;  ///< the cell that is marked; −1 = none
  bool operator==(const MapCursor&) const = default;
};

/// Which lesson is open, and how far it has come.
struct LessonCursor {
  std::string lesson;  ///< its id; empty: the list of lessons
  Index step = 0;
  Index guess = -1;       ///< the option of the step's question that was chosen; −1: none
  bool answered = false;  ///< the question's answer is shown
  bool operator==(const LessonCursor&) const = default;
};

struct Cursor {
  std::string page = "heads";  ///< the key of the page that is shown; pages/pages.cpp has them
  StudioCursor studio;
  MapCursor map;
  ModelCursor model;
  LessonCursor lesson;
  HeadLabCursor lab;
  Index view = 0;      ///< the view of the talk that is on the stage of Talk
  Index sequence = 0;  ///< which line of the batch is shown
  Index focus = -1;    ///< the head shown large, or −1 for the grid
  Cell cell{0, 7, 6};  ///< what the receipt explains
  CacheView cacheView = CacheView::growth;
  bool decoding = false;
  Index step = 0;  ///< tokens in the cache while decoding
  bool operator==(const Cursor&) const = default;
};

struct Scene {
  Setup setup;
  Look look;
  MapSetup map;
  GenerationSetup generation;
  CompareSetup compare;
  CostSetup cost;
  SharedTalk talk;  ///< views to walk through; none: the scene is no talk
  Cursor cursor;
  bool operator==(const Scene&) const = default;
};

/// Whether they are the same document, wherever the person looks, which the layer belongs to but where the
/// edits act on that one alone. What was typed is a part of it, also the text whose pattern a head takes
/// over.
bool sameDocument(const Scene& a, const Scene& b);
/// `scene` becomes the same document as `from`; the person looks where they did, if that is there.
void takeDocument(Scene& scene, const Scene& from);
/// One layer and one head are looked at, whichever page chose them: brings the layer that Model shows large
/// and the one that the other pages show together, and the head that is shown large and the cell's. Edits
/// that act on one layer alone stay on theirs while Model looks at another.
void shareSubject(Scene& scene);

/// What the opening scene's sentence is read against until another context is typed.
inline constexpr const char* kSampleContext = "Das Tier war zu müde , um die Straße zu überqueren .";

/// What a new scene masks: causal & padding.
attention::MaskLayers openingMask();

/// The opening scene: one sentence on eight planted heads over two kv heads.
Scene openingScene();
/// Whether several layers are made here, of which the scene shows one.
bool isStack(const Setup& setup);
/// Whether queries and keys are of two texts: cross-attention made here, or a decoder's cross heads.
bool isCross(const Setup& setup);
/// How many layers there are: of the opened model, or made here.
Index layerCount(const Setup& setup);
/// Which of them the scene shows, counted from 0.
Index shownLayer(const Setup& setup);
/// The same scene with another one shown.
Setup withLayer(Setup setup, Index layer);
/// What head `head` of layer `layer` is made to do when the person has not chosen. Later layers have an
/// induction head, which reads what the first layer's previous-token head wrote.
attention::PlantedHead defaultPlant(Index head, Index layer = 0);
/// The list for all heads of the shown layer, defaults filled in.
std::vector<attention::PlantedHead> plantedHeads(const Setup& setup);
/// Makes a head of the shown layer do that.
void plantHead(Setup& setup, Index head, const attention::PlantedHead& plant);

}  // namespace headscope::app
