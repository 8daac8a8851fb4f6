#pragma once

#include "app/scene/shared_value.h"
#include "app/scene/subject.h"
#include "app/scene/talk.h"
#include "attention/cache/number_format.h"
#include "attention/core/head_map.h"
#include "attention/formats/tables.h"
#include "attention/heads/planted.h"
#include "render/colormap.h"

namespace headscope::app {

using attention::Index;

inline constexpr Index kMaxStackLayers = 4;
inline constexpr Index kMaxHeads = 64;
inline constexpr Index kMaxHeadDim = 512;
inline constexpr Index kMaxModelDim = 4096;
inline constexpr Index kMaxTokens = 2048;
inline constexpr Index kMinMapTokens = 256;
using attention::kMaxMapLayers;
using attention::kMaxMapTokens;
inline constexpr Index kMaxLines = 64;
/// Maximum size of a text in a scene. The longest that can be shown has kMaxMapTokens tokens.
inline constexpr std::size_t kMaxTextBytes = std::size_t{4} << 20;
inline constexpr Index kMaxT5Buckets = 128;
inline constexpr Index kMaxReachLayers = 32;

using attention::NumberFormat;

/// What the Cost page's first plot shows over the tokens.
enum class MemoryPlot { cache, matrices };
/// What its second plot shows: the operations of a prefill, or of one decode step.
enum class WorkPlot { prefill, decode };

/// Which entries a full cache evicts.
enum class EvictionPolicy { none, window, sinks, heavy, random, tova, keynorm, keydiff };

/// What the Cache page computes in addition to the layer. Part of undo and files; requires no new Snapshot.
struct CacheSetup {
  NumberFormat stored = NumberFormat::fp16;
  Index layers = 1;                                        ///< multiplies all bytes
  Index chunk = 0;                                         ///< tokens per prefill pass; 0 = all
  double speed = 2;                                        ///< steps per second of playback
  bool mhaStair = true, mqaStair = true, mlaStair = true;  ///< lines next to the layer's own bytes
  Index merged = 0;   ///< kv heads left after merging an opened layer's; 0 = half of them
  Index latent = 64;  ///< dimensions of the latent that replaces keys and values (MLA)
  Index rotary = 16;  ///< dimensions of the rotary key cached with it, if positions rotate keys
  EvictionPolicy first = EvictionPolicy::sinks, second = EvictionPolicy::heavy;
  Index budget = 6;  ///< entries that a policy keeps per kv head
  Index block = 16;  ///< tokens per page
  std::string schedule = "0: 40 + 24\n2: 100 + 40\n6: 40 + 60 shares 32 with 1\n20: 16 + 30";
  bool operator==(const CacheSetup&) const = default;
};

/// The inputs of the Cost page: a model's shape, its number formats, the request and the machine.
struct CostSetup {
  std::string model = "Llama-3.1-70B";       ///< a shape's name; empty = the synthetic layer
  std::string config;                        ///< a config.json to use instead
  NumberFormat format = NumberFormat::bf16;  ///< of the cache
  attention::WeightFormat weights = attention::WeightFormat::published;
  attention::MathFormat math = attention::MathFormat::weights;
  Index tokens = 131072, batch = 1, block = 16;
  std::string device = "H200";
  Index gpus = 2;
  double price = 0;  ///< of a GPU per hour; 0 = unknown
  MemoryPlot memory = MemoryPlot::cache;
  WorkPlot work = WorkPlot::prefill;
  CacheSetup cache;
  bool operator==(const CostSetup&) const = default;
};

/// The views of the Cache page.
enum class CacheView { growth, shapes, precision, eviction, paging };

inline constexpr Index kMaxCostTokens = Index{1} << 40;
inline constexpr Index kMaxCostBatch = 65536;

// The document: everything the user chose. `Setup` decides what is computed, `Look` how it is drawn, `Cursor`
// where the user is looking. Undo covers all but the Cursor, and leaves that alone. The session compares
// Setups by their defaulted == to decide whether to compute again.

enum class EmbeddingSource { text, table };
enum class PositionKind { none, sinusoidal, rope, alibi, t5 };
enum class WeightSource { random, planted, file };
enum class WeightInit { xavier, normal };

using SharedTable = SharedValue<attention::Table>;
using SharedMarks = SharedValue<std::vector<attention::TextMarks>>;

struct InputSetup {
  SharedText text;  ///< UTF-8; each line is a sequence of the batch
  attention::Tokenization tokenization = attention::Tokenization::words;
  bool ignoreCase = true;  ///< "The" and "the" get the same vector
  EmbeddingSource source = EmbeddingSource::text;
  SharedTable table;  ///< typed embeddings, tokens × dimensions; used when source is table
  std::uint64_t seed = 1;
  bool cross = false;      ///< keys and values come from contextText
  SharedText contextText;  ///< one line for all sequences, or one per sequence
  bool operator==(const InputSetup&) const = default;
};

/// A layer's sizes and options, in addition to the numbers of the score terms.
struct ModelSetup : attention::ScoreNumbers {
  /// Number of stacked synthetic layers; each adds its output to the residual stream. With several, `norm`
  /// means that each reads the stream after an RMS norm.
  Index layers = 1;
  bool norm = false;
  Index heads = 8, kvHeads = 2, headDim = 32, modelDim = 256;
  bool linked = true;  ///< headDim follows modelDim / heads
  bool bias = false;
  bool scaled = true;  ///< scores are divided by √headDim
  float dropout = 0;   ///< probability
  PositionKind position = PositionKind::sinusoidal;
  double ropeTheta = 10000;
  Index t5Buckets = 32, t5Distance = 128;  ///< for position t5; the numbers depend on the weights' seed
  float t5Strength = 1;
  /// The kv head that a query head reads.
  Index kvHeadOf(Index head) const { return head * kvHeads / heads; }
  bool operator==(const ModelSetup&) const = default;
};

struct WeightSetup {
  WeightSource source = WeightSource::planted;
  std::uint64_t seed = 7;
  WeightInit init = WeightInit::xavier;  ///< how random weights are drawn
  float gain = 1;                        ///< factor on random weights
  /// Weights are made for a kv head per head, of which groups are averaged; otherwise for the kv heads.
  bool merged = false;
  /// Each head's behaviour; heads beyond the list cycle through the defaults. Entries beyond the number of
  /// heads are kept, so that sliding heads down and up again loses nothing.
  std::vector<attention::PlantedHead> planted;
  std::vector<std::vector<attention::PlantedHead>> plantedAbove;  ///< the same for layers after the first
  std::string file;  ///< safetensors or .npz file with a layer's weights
  Index layer = -1;  ///< layer of the file, by the number in its names; −1 = the only one
  bool operator==(const WeightSetup&) const = default;
};

struct MaskSetup {
  SharedLayers layers;                                                 ///< empty = everything is visible
  std::map<std::string, SharedValue<attention::CellTable>> paintings;  ///< what painted("name") refers to
  SharedMarks marks;     ///< one per line of the text; further lines have none
  SharedTable additive;  ///< added to the scores of all heads: a row per query, a column per key
  bool compare = false;  ///< compute a second mask, on the same queries, keys and values
  SharedLayers other;
  bool operator==(const MaskSetup&) const = default;
};

struct Setup {
  SubjectSetup subject;
  InputSetup input;
  ModelSetup model;
  WeightSetup weights;
  MaskSetup mask;
  Index prefill = 4;  ///< tokens that enter the KV cache at once, before single steps
  bool operator==(const Setup&) const = default;
};

/// `dropped`: the weights after dropout. `weights` are the softmax's probabilities.
enum class Quantity { weights, scores, dropped };
enum class RangeMode { perHead, shared, unit, logarithmic };

struct Look {
  Quantity quantity = Quantity::weights;
  render::Colormap colormap = render::Colormap::viridis;
  render::Colormap scoreColormap = render::Colormap::diverging;
  RangeMode range = RangeMode::unit;
  float labelThreshold = 0.3f;  ///< a head is named if its score is this far above even attention
  Index cacheBytes = 2;         ///< bytes per cached value in the cost figures: 4, 2 or 1
  SharedStrokes strokes;        ///< drawn by the pen over the pages
  bool operator==(const Look&) const = default;
};

/// Source of the map's queries and keys: the scene's text, a generated long text, or a file of Q and K.
enum class MapSource { scene, generated, file };

/// What the map of one long head is made of, in addition to the Setup. Part of undo and files; requires no
/// new Snapshot.
struct MapSetup {
  MapSource source = MapSource::scene;
  Index tokens = 32768;    ///< of the generated text
  std::uint64_t seed = 1;  ///< of the generated text
  std::string file;        ///< safetensors file with queries and keys
  Index layer = 0;         ///< of the file
  attention::Pooling pooling = attention::Pooling::max;
  // Chosen on the map; nothing: as on the other pages.
  std::optional<RangeMode> range = {};
  std::optional<render::Colormap> colormap = {};
  bool operator==(const MapSetup&) const = default;
};

struct Cell {
  Index head = 0, query = 0, key = 0;
  bool operator==(const Cell&) const = default;
};

/// The mask studio's tabs.
enum class StudioTab { mask, biases, compare };

/// What the mask studio shows.
struct StudioCursor {
  StudioTab tab = StudioTab::mask;
  Index blockSize = 32;     ///< cells per side of a block in the block map
  Index layers = 2;         ///< stacked layers that the receptive field spans
  bool residual = true;     ///< tokens keep their information from layer to layer
  bool allHeads = true;     ///< the receptive field goes through any head, not only the one shown
  Index selected = 0;       ///< layer that the sliders and the brush edit; −1 = none
  bool editsOther = false;  ///< layers and brush belong to the second mask
  float wipe = 0.5f;        ///< where the second mask begins, as a share of the width
  bool operator==(const StudioCursor&) const = default;
};

/// The visible part of the map.
struct MapCursor {
  double row = 0, col = 0;     ///< middle of the window, in cells
  double cellsPerPixel = 0;    ///< 0 = as many as show the whole head
  Index query = -1, key = -1;  ///< the marked cell; −1 = none
  bool operator==(const MapCursor&) const = default;
};

/// The open lesson and the position in it.
struct LessonCursor {
  std::string lesson;  ///< its id; empty = the list of lessons
  Index step = 0;
  Index guess = -1;       ///< chosen option of the step's question; −1 = none
  bool answered = false;  ///< whether the question's answer is shown
  bool operator==(const LessonCursor&) const = default;
};

struct Cursor {
  std::string page = "heads";  ///< key of the page shown, from pages/pages.cpp
  StudioCursor studio;
  MapCursor map;
  ModelCursor model;
  LessonCursor lesson;
  FlowCursor flow;
  HeadLabCursor lab;
  Index view = 0;      ///< view of the talk that is on the stage of Talk
  Index sequence = 0;  ///< line of the batch that is shown
  Index focus = -1;    ///< head shown large; −1 = the grid
  Cell cell{0, 7, 6};  ///< the selected cell, which the receipt explains
  /// Whether a person chose the cell's key. Otherwise it is the row's largest weight.
  bool keyChosen = false;
  bool wiring = false;    ///< Heads shows which kv head each head reads
  bool wordCard = false;  ///< the selected query's vector is open for editing
  CacheView cacheView = CacheView::growth;
  bool decoding = false;
  Index step = 0;  ///< tokens in the cache while decoding
  bool operator==(const Cursor&) const = default;
};

/// Selects a cell as a click does: its key stays, whatever its weight becomes. Choosing the selected cell
/// again lets it go: the key is then the row's largest weight.
void choose(Cursor& cursor, const Cell& cell);

struct Scene {
  Setup setup;
  Look look;
  MapSetup map;
  GenerationSetup generation;
  CompareSetup compare;
  CostSetup cost;
  SharedTalk talk;  ///< views to walk through; empty = no talk
  Cursor cursor;
  bool operator==(const Scene&) const = default;
};

/// Whether the two are the same document, wherever the user looks. The layer shown is part of where the user
/// looks, unless edits apply only to that layer. All typed text is part of the document, including the text
/// whose pattern a head takes over.
bool sameDocument(const Scene& a, const Scene& b);
/// Makes `scene` the same document as `from`. The user keeps looking at the same place if it exists there.
void takeDocument(Scene& scene, const Scene& from);
/// Makes all pages show one layer and one head, whichever page chose them: aligns the layer of the Model page
/// with that of the other pages, and the head shown large with the cell's. Edits that apply to one layer stay
/// on theirs while Model shows another.
void shareSubject(Scene& scene);

/// The second text in cross-attention for the opening scene's sentence, until another is typed.
inline constexpr const char* kSampleContext = "Das Tier war zu müde , um die Straße zu überqueren .";

/// The mask of a new scene: causal & padding.
attention::MaskLayers openingMask();

/// The opening scene: one sentence on eight planted heads over two kv heads.
Scene openingScene();
/// Whether there are several synthetic layers, of which the scene shows one.
bool isStack(const Setup& setup);
/// Whether queries and keys come from two texts: synthetic cross-attention, or a decoder's cross heads.
bool isCross(const Setup& setup);
/// The number of layers, of the opened model or synthetic.
Index layerCount(const Setup& setup);
/// The layer that the scene shows, counted from 0.
Index shownLayer(const Setup& setup);
/// Returns the setup with another layer shown.
Setup withLayer(Setup setup, Index layer);
/// The behaviour of head `head` of layer `layer` if the user has chosen none. Later layers have an induction
/// head, which reads what the first layer's previous-token head wrote.
attention::PlantedHead defaultPlant(Index head, Index layer = 0);
/// The behaviours of all heads of the shown layer, with defaults filled in.
std::vector<attention::PlantedHead> plantedHeads(const Setup& setup);
/// Sets the behaviour of a head of the shown layer.
void plantHead(Setup& setup, Index head, const attention::PlantedHead& plant);

}  // namespace headscope::app
