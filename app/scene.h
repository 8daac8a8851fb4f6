#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attention/core/config.h"
#include "attention/formats/tables.h"
#include "attention/heads/planted.h"
#include "attention/text/tokenizer.h"
#include "render/colormap.h"

namespace headscope::app {

using attention::Index;

// The document: everything the person chose. `Setup` decides what is computed, `Look` how it is
// drawn, `Cursor` where the person is looking. Undo walks through Setup and Look and leaves the Cursor
// alone. Defaulted == on Setup is what tells the session to compute again.

enum class EmbeddingSource { text, table };
enum class PositionKind { none, sinusoidal, rope, alibi };
enum class WeightSource { random, planted, file };

/// A table that is shared between the copies of a scene until one of them edits it: scenes are compared in
/// every frame and kept by the hundred in the history, and a table may be large.
class SharedTable {
 public:
  SharedTable() : table_(std::make_shared<const attention::Table>()) {}
  SharedTable(attention::Table table) : table_(std::make_shared<const attention::Table>(std::move(table))) {}

  const attention::Table& operator*() const { return *table_; }
  const attention::Table* operator->() const { return table_.get(); }
  /// A copy of its own to change.
  attention::Table& edit() {
    auto own = std::make_shared<attention::Table>(*table_);
    table_ = own;
    return *own;
  }
  bool operator==(const SharedTable& other) const {
    return table_ == other.table_ || *table_ == *other.table_;
  }

 private:
  std::shared_ptr<const attention::Table> table_;
};

struct InputSetup {
  std::string text;  ///< UTF-8; every line is a sequence of the batch
  attention::Tokenization tokenization = attention::Tokenization::words;
  bool ignoreCase = true;  ///< "The" and "the" get the same vector
  EmbeddingSource source = EmbeddingSource::text;
  SharedTable table;  ///< typed embeddings, tokens × dimensions; used when source is table
  std::uint64_t seed = 1;
  bool cross = false;       ///< keys and values come from contextText
  std::string contextText;  ///< one line for all sequences, or one for each
  bool operator==(const InputSetup&) const = default;
};

struct ModelSetup {
  Index heads = 8, kvHeads = 2, headDim = 32, modelDim = 256;
  bool linked = true;  ///< headDim follows modelDim / heads
  bool bias = false;
  bool scaled = true;   ///< scores are divided by √headDim
  float sharpness = 1;  ///< a further gain on the scores
  float softcap = 0;    ///< c·tanh(s/c); 0 = off
  float dropout = 0;    ///< probability
  PositionKind position = PositionKind::sinusoidal;
  double ropeTheta = 10000;
  bool operator==(const ModelSetup&) const = default;
};

struct WeightSetup {
  WeightSource source = WeightSource::planted;
  std::uint64_t seed = 7;
  /// What each head is made to do; heads beyond the list cycle through the defaults. Entries beyond the
  /// number of heads are kept, so that sliding heads down and up again loses nothing.
  std::vector<attention::PlantedHead> planted;
  std::string file;  ///< a safetensors file with attend's tensor names
  bool operator==(const WeightSetup&) const = default;
};

struct MaskSetup {
  bool causal = true;
  bool padding = true;  ///< mask the keys that only pad shorter sequences
  bool window = false;
  Index windowSize = 4;
  bool sinks = false;  ///< acts with a window
  Index sinkCount = 1;
  bool operator==(const MaskSetup&) const = default;
};

struct Setup {
  InputSetup input;
  ModelSetup model;
  WeightSetup weights;
  MaskSetup mask;
  Index prefill = 4;  ///< tokens the KV cache takes in at once before it steps
  bool operator==(const Setup&) const = default;
};

enum class Quantity { weights, scores };
enum class RangeMode { perHead, shared, unit, logarithmic };

struct Look {
  Quantity quantity = Quantity::weights;
  render::Colormap colormap = render::Colormap::viridis;
  render::Colormap scoreColormap = render::Colormap::diverging;
  RangeMode range = RangeMode::unit;
  int cacheBytes = 2;  ///< bytes a cached value takes in the cost figures: 4, 2 or 1
  bool operator==(const Look&) const = default;
};

struct Cell {
  Index head = 0, query = 0, key = 0;
  bool operator==(const Cell&) const = default;
};

struct Cursor {
  Index sequence = 0;  ///< which line of the batch is shown
  Index focus = -1;    ///< the head shown large, or −1 for the grid
  Cell cell{0, 7, 6};  ///< what the receipt explains
  bool decoding = false;
  Index step = 0;  ///< tokens in the cache while decoding
  bool operator==(const Cursor&) const = default;
};

struct Scene {
  Setup setup;
  Look look;
  Cursor cursor;
  bool operator==(const Scene&) const = default;
};

inline constexpr Index kMaxHeads = 64;
inline constexpr Index kMaxHeadDim = 512;
inline constexpr Index kMaxModelDim = 4096;
inline constexpr Index kMaxTokens = 2048;

/// The opening scene: one sentence on eight planted heads over two kv heads.
Scene openingScene();
/// What head `head` is made to do when the person has not chosen.
attention::PlantedHead defaultPlant(Index head);
/// The list for all heads of the model, defaults filled in.
std::vector<attention::PlantedHead> plantedHeads(const Setup& setup);

/// The first field out of its range, by its JSON name, with what was found and what was expected.
attention::Status validate(const Scene& scene);

enum class AttentionKind { mha, gqa, mqa };
AttentionKind kindOf(const ModelSetup& model);
/// kvHeads for `kind`; for GQA the divisor nearest to √heads that is neither 1 nor heads, if there is one.
Index kvHeadsFor(AttentionKind kind, Index heads);
/// Divisors of `n`, ascending.
std::vector<Index> divisors(Index n);

/// After modelDim was set from outside: keeps heads and head size legal, changing as little as possible.
void fitModelTo(ModelSetup& model);

}  // namespace headscope::app
