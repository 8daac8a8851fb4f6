#include "app/scene/enum_names.h"
#include "app/scene/fields.h"

namespace headscope::app {

namespace {

template <auto Member>
constexpr Access kSubject = access<&Scene::setup, &Setup::subject, Member>();
template <auto Member>
constexpr Access kInput = access<&Scene::setup, &Setup::input, Member>();
template <auto Member>
constexpr Access kModel = access<&Scene::setup, &Setup::model, Member>();
template <auto Member>
constexpr Access kWeights = access<&Scene::setup, &Setup::weights, Member>();

constexpr std::string_view kTokenizationLabels[] = {"Words", "Characters", "Bytes"};
constexpr std::string_view kEmbeddingLabels[] = {"From text", "Typed table"};
constexpr std::string_view kPositionLabels[] = {"None", "Sine", "RoPE", "ALiBi", "T5"};
constexpr std::string_view kWeightLabels[] = {"Random", "Planted", "File"};
constexpr std::string_view kInitLabels[] = {"Xavier", "Normal"};

constexpr Anything kText{"text"}, kSeed{"a whole number from 0"}, kFile{"a path"};
constexpr Track kSeeds{0, 99};
constexpr Scale kLog = Scale::logarithmic;
constexpr Range kDims{1, kMaxModelDim, "dimensions"};
#define HEADSCOPE_T5 "cursor.page=mask cursor.studio.view=biases model.position=t5"

constexpr Field kSetupRows[] = {
    {"subject.model", kSubject<&SubjectSetup::model>, kFile, Elsewhere{"a file dialog"},
     "A checkpoint's folder, relative to the scene, or `learned` for the bundled model; empty: a synthetic "
     "layer."},
    {"subject.picture", kSubject<&SubjectSetup::picture>, kFile, Elsewhere{"dropping a file"},
     "A PNG or JPEG for a model that reads pictures, or for recorded attention of one; relative to the "
     "scene."},
    {"subject.layer", kSubject<&SubjectSetup::layer>, Range{0, 1023, "layers"},
     Elsewhere{"a slider where there are several"}, "The layer shown, counted from 0."},
    {"subject.edits", kSubject<&SubjectSetup::scope>, Names{kScopeNames}, Elsewhere{"the page of the model"},
     "Whether masks, biases, sharpness, soft-cap and dropout apply to all layers of the model or to this "
     "one."},
    {"subject.switched_off", kSubject<&SubjectSetup::switchedOff>,
     Anything{"a list of `{\"layer\": l, \"head\": h, \"by\": …}`, by `zero` or `mean`"},
     Elsewhere{"the page of the model"},
     "Heads whose output is replaced by 0 or by its mean over all tokens; a single synthetic layer is layer "
     "0."},
    {"subject.written", kSubject<&SubjectSetup::written>, Anything{"a list of ids"}, Elsewhere{"generating"},
     "Tokens that the model generated after the text."},
    {"subject.features", kSubject<&SubjectSetup::features>, kFile, Elsewhere{"dropping a file"},
     "A file of encoder features [frames, width], such as Whisper's of sound; empty: none."},
    {"input.text", kInput<&InputSetup::text>, kText, Elsewhere{"a text box"},
     "The text, a sequence per line. With cross-attention it provides the queries only; in an "
     "encoder–decoder model the encoder reads it."},
    {"input.tokenization", kInput<&InputSetup::tokenization>, Names{kTokenizationNames},
     Selection{"tokenization", kTokenizationLabels}, "How the text is split into tokens."},
    {"input.ignore_case", kInput<&InputSetup::ignoreCase>, kYesOrNo, Toggle{"ignore_case", "Ignore case"},
     "Give upper and lower case the same vector."},
    {"input.embedding", kInput<&InputSetup::source>, Names{kEmbeddingNames},
     Selection{"embedding", kEmbeddingLabels},
     "Where embeddings come from: random vectors for each word of the text, or a typed table."},
    {"input.table", kInput<&InputSetup::table>,
     Anything{"a list of `{\"name\": text, \"values\": [numbers]}`"}, Elsewhere{"a table to type in"},
     "The typed embeddings, one row per token."},
    {"input.seed", kInput<&InputSetup::seed>, kSeed, Slider{"text_seed", "Token seed", kSeeds},
     "Seed of the random token vectors."},
    {"input.cross", kInput<&InputSetup::cross>, kYesOrNo, Toggle{"cross", "Cross-attention"},
     "Take keys and values from a second text."},
    {"input.context", kInput<&InputSetup::contextText>, kText, Elsewhere{"a text box"},
     "The text that cross-attention reads: one line for all sequences, or one per sequence. In "
     "an encoder–decoder model, the decoder's text; if empty, the model's own answer."},
    {"model.layers", kModel<&ModelSetup::layers>, Range{1, kMaxStackLayers, "layers"},
     Slider{"layers", "Layers"},
     "Number of stacked synthetic layers. Each adds its output to its input, x + Attn(x)."},
    {"model.norm", kModel<&ModelSetup::norm>, kYesOrNo,
     Toggle{"norm", "RMS norm before each layer", "model.layers=2"},
     "With several layers, each reads x / √(mean x² + 10⁻⁵), times one shared factor if its heads are "
     "planted."},
    {"model.heads", kModel<&ModelSetup::heads>, Range{1, kMaxHeads, "heads"},
     Slider{"heads", "Heads", {1, kMaxHeads, kLog}, "model.linked=false"},
     "Query heads. Each has its own heatmap."},
    {"model.kv_heads", kModel<&ModelSetup::kvHeads>, Range{1, kMaxHeads, "heads"},
     Slider{"kv_heads", "KV heads", {1, kMaxHeads, kLog}, "model.linked=false model.heads=64"},
     "Heads with keys and values. Query head h reads kv head ⌊h / (heads / kv_heads)⌋, so kv heads must "
     "divide heads."},
    {"model.head_dim", kModel<&ModelSetup::headDim>, Range{1, kMaxHeadDim, "dimensions"},
     Slider{"head_dim", "Head dim", {1, kMaxHeadDim, kLog}, "model.linked=false weights.source=random"},
     "Size of one head's queries, keys and values; even under RoPE."},
    {"model.model_dim", kModel<&ModelSetup::modelDim>, kDims,
     Slider{"model_dim", "Model dim", {1, kMaxModelDim, kLog}, "model.linked=false weights.source=random"},
     "Size of a token's vector, before and after the heads."},
    {"model.linked", kModel<&ModelSetup::linked>, kYesOrNo, Toggle{"linked", "Head dim = model dim / heads"},
     "Keeps head_dim · heads = model_dim."},
    {"model.bias", kModel<&ModelSetup::bias>, kYesOrNo, Toggle{"bias", "Bias"},
     "Add a bias to the projections: q = Wx + b."},
    {"model.scaled", kModel<&ModelSetup::scaled>, kYesOrNo, Toggle{"scaled", "Scale by 1/√head dim"},
     "Scores are q·k / √head_dim; q·k without."},
    {"model.sharpness", kModel<&ModelSetup::sharpness>, Range{0, 100},
     Slider{"sharpness", "Sharpness", {0.1, 10, Scale::logarithmic}},
     "A gain on the scores: above 1 the softmax picks fewer keys, below 1 it spreads."},
    {"model.softcap", kModel<&ModelSetup::softcap>, Range{0, 1000},
     Slider{"softcap", "Soft-cap", {0, 1000, Scale::cubic}, "", "", "MORE"},
     "Scores become c·tanh(score/c), which stays within ±c; 0 is off."},
    {"model.dropout", kModel<&ModelSetup::dropout>, Range{0, 0.95},
     Slider{"dropout", "Dropout", {}, "", "", "MORE"},
     "Each weight is zeroed with probability p and kept as weight / (1 − p) otherwise; 0 is off."},
    {"model.position", kModel<&ModelSetup::position>, Names{kPositionNames},
     Selection{"position", kPositionLabels},
     "How positions are encoded: not at all, sinusoids in the embedding, rotated q and k (RoPE), or a "
     "distance bias on the scores (ALiBi, T5)."},
    {"model.rope_theta", kModel<&ModelSetup::ropeTheta>, Range{1, 1e9}, Elsewhere{"scene and weights files"},
     "RoPE's base θ: pair i of d dimensions turns by position · θ^(−2i/d)."},
    {"model.t5_buckets", kModel<&ModelSetup::t5Buckets>, Range{4, kMaxT5Buckets, "buckets", 2},
     Slider{"t5_buckets", "Buckets", {}, HEADSCOPE_T5},
     "Number of T5 distance buckets. Each adds its own value to the scores."},
    {"model.t5_distance", kModel<&ModelSetup::t5Distance>, Range{3, kMaxTokens, "tokens"},
     Slider{"t5_distance", "Max distance", {16, kMaxTokens, kLog}, HEADSCOPE_T5 " model.t5_buckets=4"},
     "Keys farther away share T5's last bucket; more than half of t5_buckets."},
    {"model.t5_strength", kModel<&ModelSetup::t5Strength>, Range{0, 100},
     Slider{"t5_strength", "Strength", {0, 8}, HEADSCOPE_T5}, "Standard deviation of the T5 bucket values."},
    {"weights.source", kWeights<&WeightSetup::source>, Names{kWeightNames},
     Selection{"weights", kWeightLabels, "weights.file=nowhere.safetensors"},
     "Where projections come from: random, planted (each head gets a chosen behaviour), or a file."},
    {"weights.seed", kWeights<&WeightSetup::seed>, kSeed, Slider{"weight_seed", "Weight seed", kSeeds},
     "Seed of weights, T5 values and dropout."},
    {"weights.init", kWeights<&WeightSetup::init>, Names{kWeightInitNames},
     Selection{"init", kInitLabels, "weights.source=random"},
     "How random weights are drawn: Xavier, uniform within ±√(6 / (in + out)), or normal with standard "
     "deviation 0.02, as in GPT-2."},
    {"weights.gain", kWeights<&WeightSetup::gain>, Range{0, 1000},
     Slider{"gain", "Gain", {0.1, 100, kLog}, "weights.source=random"}, "Factor on random weights."},
    {"weights.planted", kWeights<&WeightSetup::planted>,
     Anything{
         "a list of `{\"pattern\": …, \"offset\": k}`, one for each head; behaviours `offset` (k keys back: "
         "1 previous, 0 self, -1 next), `first_token`, `same_token`, `local_band`, `uniform`, "
         "`separator`, `random`, `induction` (above a layer that has an offset of 1)"},
     Elsewhere{"a list for each head"}, "Behaviour of each planted head in the first layer."},
    {"weights.planted_above", kWeights<&WeightSetup::plantedAbove>, Anything{"a list of such lists"},
     Elsewhere{"a list for each head"},
     "The same for later layers, one list each; missing entries get the program's defaults."},
    {"weights.file", kWeights<&WeightSetup::file>, kFile, Elsewhere{"a file dialog"},
     "A safetensors file or `.npz` with a layer's weights by attend's names or PyTorch's own, relative to "
     "the "
     "scene."},
    {"weights.layer", kWeights<&WeightSetup::layer>, Range{-1, 1023, "layers"},
     Slider{"weights_layer",
            "Layer of the file",
            {0, 127},
            "weights.source=file weights.file=nowhere.safetensors weights.layer=0"},
     "Layer of a whole model's file, by the number in its tensors' names; -1 if there is only one. Further "
     "synthetic layers take the following ones."}};

#undef HEADSCOPE_T5

}  // namespace

std::span<const Field> setupFields() {
  return kSetupRows;
}

}  // namespace headscope::app
