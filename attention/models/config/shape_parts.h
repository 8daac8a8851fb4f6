#pragma once

#include "attention/cache/model_cost.h"
#include "attention/models/config/config_reader.h"

// The parts of reading a model's shape from its config.json.

namespace headscope::attention {

using NameList = std::vector<const char*>;
using Keys = const NameList&;

/// Looks up sizes under the names that architectures use for them.
class SizeFinder {
 public:
  explicit SizeFinder(const ConfigReader& json) : json_(json) {}

  bool has(Keys keys) const { return first(keys) != nullptr; }
  /// Every key counts as read: a file that has several says the same with each.
  Index optional(Keys keys, Index defaultValue = 0, Index most = kMaxConfigSize) const;
  /// If no key is present, adds `what` to missing() and returns 1.
  Index needed(const char* what, Keys keys, Index most = kMaxConfigSize);
  /// If no key is present, adds `what` to assumed() and returns `usual`.
  Index assumed(const char* what, Keys keys, Index usual, Index most = kMaxConfigSize);
  const std::string& missing() const { return missing_; }
  const std::string& assumed() const { return assumed_; }

 private:
  const char* first(Keys keys) const;
  /// A list with the same number for each layer counts as that number.
  Index sizeOf(const char* key, Index least, Index most) const;
  const ConfigReader& json_;
  std::string missing_, assumed_;
};

/// What a model_type implies beyond the fields of its config.json.
struct CatalogueType {
  std::string name;
  /// Words: plain (two feed-forward matrices), tied (the head is the embedding table unless the file says
  /// otherwise), positions (learned), encoder, pooler (its own, or a head's d × d map), dense (such a map,
  /// but only in a class with a head), biases, 4d (the feed-forward part is 4 · modelDim wide unless the file
  /// says otherwise), t5 (an encoder–decoder with T5's fields), parallel (each layer has both an attention
  /// and a recurrent part), twice (num_layers counts pairs of layers with one mixture), repeated (layers
  /// share weights), memory (caches hidden states), waves (convolutions before the first layer).
  std::string traits = {};
  /// JSON defaults for fields that a file may leave out, and for the sizes that it may leave out too where it
  /// describes several models: those of the type's configuration class in Hugging Face's transformers.
  std::string defaults = "{}", sizes = "{}";
};

/// Finds a type in assets/catalogue/model_types.json. Returns null if it isn't known.
const CatalogueType* findModelType(std::string_view name);
bool hasTrait(const CatalogueType* type, std::string_view trait);
/// Whether it is one of these types, separated by spaces.
bool isType(const CatalogueType* type, std::string_view names);

/// The number of layers whose weights are stored: fewer in ALBERT, where several layers use the same.
Index storedLayers(const ConfigReader& json, const CatalogueType* type, Index layers);

/// Returns the rows of a shape's tables of learned positions. `shape` has its layers.
Index positionRows(const ConfigReader& json, const CatalogueType* type, const ModelShape& shape);

/// Returns the parameters of norms, biases, heads and whatever else a type has besides the matrices of its
/// layers and its embedding. `shape` has its layers and positions.
std::uint64_t otherParameters(const ConfigReader& json, const CatalogueType* type, const ModelShape& shape);

/// Reads how the weights of a config.json are stored, from quantization_config or MLX's quantization, else
/// from torch_dtype, into shape.weights. Reads shape.experts. An unknown method becomes a note. How that note
/// ends, before the format in which weights are counted.
inline constexpr std::string_view kCountedInstead = ": weights are counted in ";
void readWeightFormat(const ConfigReader& root, const ConfigReader& json, ModelShape& shape);

/// The parts of one layer.
struct PlannedLayer {
  enum class Inner { none, dense, experts };
  CacheKind mixer = CacheKind::full;
  Inner inner = Inner::dense;  ///< the feed-forward part
  // Sizes of this layer, where they differ from the model's; 0 = they don't.
  Index kvHeads = 0, span = 0, innerDim = 0;
  bool linear = false;  ///< a modelDim × modelDim matrix instead of attention
};

/// Returns the layers that a config.json describes, first to last, and which of them have experts. Reads
/// layer_types, hybrid_override_pattern, block_types, attn_layer_period and _offset, full_attention_interval,
/// sliding_window_pattern, layer_switch, no_rope_layers and similar fields. Records values it doesn't
/// understand as an error in `json`'s status.
std::vector<PlannedLayer> planLayers(const ConfigReader& json, const CatalogueType* type, Index layers,
                                     bool experts);
/// Returns the layers of `block_configs`, in which NVIDIA's Nemotron gives each its own sizes (Bercovich et
/// al. 2024, Puzzle).
std::vector<PlannedLayer> planBlocks(const ConfigReader& json, Index layers, Index heads, Index modelDim);
/// Returns the kv heads of each layer where the file lists them; else nothing.
std::vector<Index> kvHeadsByLayer(const ConfigReader& json, Index layers);
/// Returns the tokens of the model's windows or chunks; 0: it has none.
Index spanOf(const ConfigReader& json, const CatalogueType* type);

/// Returns the state and matrices of a recurrent layer. Refuses a type whose recurrent layers aren't known.
LayerGroup recurrentLayer(const ConfigReader& json, const CatalogueType* type, Index modelDim);

/// The model's type as the file gives it, for messages.
std::string architectureOf(const ConfigReader& json);

/// Refuses fields of layers that cache something other than keys and values. If an unknown type has them, its
/// other fields can't tell what it caches.
void refuseForeignLayers(const ConfigReader& json);

/// Whether the text model reads all tokens at once and decodes nothing, by the class that the file names
/// (whatever the family) or because its attention sees later tokens. `json` is the text model's part of
/// `root`.
bool isEncoder(const ConfigReader& root, const ConfigReader& json);

/// The tokens of a picture in as many tiles as Llama 3.2 Vision takes.
Index pictureTokens(const ConfigReader& root);

/// Adds Zamba2's blocks of attention and MLP beside some of its layers (Glorioso et al. 2024, section 2), and
/// sets repeatedParameters: what is stored once and used in several layers, as in ALBERT (Lan et al. 2020,
/// section 3.1).
void addSharedBlocks(const ConfigReader& json, const CatalogueType* type, ModelShape& shape);

/// Sets mtpParameters and notes what a reader of the figures has to know.
void addNotes(const ConfigReader& root, const ConfigReader& json, const CatalogueType* type,
              ModelShape& shape);

/// The part of a config.json that describes the text model, and what else the file describes.
struct TextModel {
  ConfigReader json;
  bool nested = false;      ///< not the whole file, so the file may leave out what its type has by default
  std::string others = {};  ///< "vision and audio" for vision_config and audio_config
};
/// Returns the file itself, or an object such as text_config, which may be inside another (thinker_config).
TextModel textPart(const ConfigReader& root);

/// Returns the fields whose names speak of attention, heads, layers, caches, windows, groups or sharing, and
/// that nobody has asked `json` for, as a list in quotes; "" if there are none. Leaves out those that don't
/// change how much is stored or computed.
std::string unreadOfAttention(const ConfigReader& json);

}  // namespace headscope::attention
