#include "app/scene/fields.h"
#include "attention/cache/kv_cache.h"

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
constexpr std::string_view kMergedLabels[] = {"Made for them", "Merged"};

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
     Elsewhere{"the page of the model", "heads off"},
     "Heads whose output is replaced by 0 or by its mean over all tokens; a single synthetic layer is layer "
     "0."},
    {"subject.written", kSubject<&SubjectSetup::written>, Anything{"a list of ids"},
     Elsewhere{"generating", "written tokens"}, "Tokens that the model generated after the text."},
    {"subject.features", kSubject<&SubjectSetup::features>, kFile, Elsewhere{"dropping a file"},
     "A file of encoder features [frames, width], such as Whisper's of sound; empty: none."},
    {"input.text", kInput<&InputSetup::text>, kText, Elsewhere{"a text box", "text"},
     "The text, one sequence per line. With cross-attention it provides the queries only; in an "
     "encoder–decoder model the encoder reads it."},
    {"input.tokenization", kInput<&InputSetup::tokenization>, Names{kTokenizationNames},
     Selection{"tokenization", kTokenizationLabels}, "How the text is split into tokens.",
     "tokenizer, split words"},
    {"input.ignore_case", kInput<&InputSetup::ignoreCase>, kYesOrNo, Toggle{"ignore_case", "Ignore case"},
     "Give upper and lower case the same vector."},
    {"input.embedding", kInput<&InputSetup::source>, Names{kEmbeddingNames},
     Selection{"embedding", kEmbeddingLabels},
     "Where embeddings come from: random vectors for each word of the text, or a typed table."},
    {"input.table", kInput<&InputSetup::table>,
     Anything{"a list of `{\"name\": text, \"values\": [numbers]}`"},
     Elsewhere{"a table to type in", "word vectors"}, "The typed embeddings, one row per token."},
    {"input.seed", kInput<&InputSetup::seed>, kSeed, Slider{"text_seed", "Token seed", kSeeds},
     "Seed of the random token vectors."},
    {"input.cross", kInput<&InputSetup::cross>, kYesOrNo, Toggle{"cross", "Cross-attention"},
     "Take keys and values from a second text.", "encoder decoder, second sentence, translation"},
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
     "Query heads. Each has its own heatmap.", "more heads, fewer heads, number of heads"},
    {"model.kv_heads", kModel<&ModelSetup::kvHeads>, Range{1, kMaxHeads, "heads"},
     Slider{"kv_heads", "KV heads", {1, kMaxHeads, kLog}, "model.linked=false model.heads=64"},
     "Heads with keys and values. Query head h reads kv head ⌊h / (heads / kv_heads)⌋, so kv heads must "
     "divide heads.",
     "fewer kv heads, number of kv heads, share keys, grouped query attention"},
    {"model.head_dim", kModel<&ModelSetup::headDim>, Range{1, kMaxHeadDim, "dimensions"},
     Slider{"head_dim", "Head dim", {1, kMaxHeadDim, kLog}, "model.linked=false weights.source=random"},
     "Size of one head's queries, keys and values; an even number under RoPE.", "d_k, d_head, head size"},
    {"model.model_dim", kModel<&ModelSetup::modelDim>, kDims,
     Slider{"model_dim", "Model dim", {1, kMaxModelDim, kLog}, "model.linked=false weights.source=random"},
     "Size of a token's vector, before and after the heads.", "d_model, hidden size, embedding size, width"},
    {"model.linked", kModel<&ModelSetup::linked>, kYesOrNo, Toggle{"linked", "Head dim = model dim / heads"},
     "Keeps head_dim · heads = model_dim."},
    {"model.bias", kModel<&ModelSetup::bias>, kYesOrNo, Toggle{"bias", "Bias"},
     "Add a bias to the projections: q = Wx + b."},
    {"model.scaled", kModel<&ModelSetup::scaled>, kYesOrNo, Toggle{"scaled", "Scale by 1/√head dim"},
     "Scores are q·k / √head_dim; if off, q·k.", "sqrt d, scaling, divide scores"},
    {"model.sharpness", kModel<&ModelSetup::sharpness>, Range{0, 100},
     Slider{"sharpness", "Sharpness", {0.1, 10, Scale::logarithmic}},
     "A gain on the scores: above 1 the softmax picks fewer keys, below 1 it spreads.",
     "temperature, sharper softmax, flatter softmax"},
    {"model.softcap", kModel<&ModelSetup::softcap>, Range{0, 1000},
     Slider{"softcap", "Soft-cap", {0, 1000, Scale::cubic}, "", "", "MORE"},
     "Scores become c·tanh(score/c), which stays within ±c; 0 is off."},
    {"model.dropout", kModel<&ModelSetup::dropout>, Range{0, 0.95},
     Slider{"dropout", "Dropout", {}, "", "", "MORE"},
     "Each weight is zeroed with probability p and kept as weight / (1 − p) otherwise; 0 is off."},
    {"model.position", kModel<&ModelSetup::position>, Names{kPositionNames},
     Selection{"position", kPositionLabels},
     "How positions are encoded: not at all, sinusoids in the embedding, rotated q and k (RoPE), or a "
     "distance bias on the scores (ALiBi, T5).",
     "positional encoding, position embedding, rotary, sinusoidal"},
    {"model.rope_theta", kModel<&ModelSetup::ropeTheta>, Range{1, 1e9}, Elsewhere{"scene and weights files"},
     "RoPE's base θ: pair i of d dimensions is rotated by position · θ^(−2i/d)."},
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
     "Seed of weights, T5 values and dropout.", "random weights, new weights, shuffle"},
    {"weights.init", kWeights<&WeightSetup::init>, Names{kWeightInitNames},
     Selection{"init", kInitLabels, "weights.source=random"},
     "How random weights are drawn: Xavier, uniform within ±√(6 / (in + out)), or normal with standard "
     "deviation 0.02, as in GPT-2."},
    {"weights.gain", kWeights<&WeightSetup::gain>, Range{0, 1000},
     Slider{"gain", "Gain", {0.1, 100, kLog}, "weights.source=random"}, "Factor on random weights."},
    {"weights.merged", kWeights<&WeightSetup::merged>, kYesOrNo, Selection{"merged", kMergedLabels},
     "Start with a kv head for each head and merge them to kv_heads, each the mean of its heads' W_K and "
     "W_V, as checkpoints are converted; if off, weights are made for kv_heads. A file's layer stays as it "
     "is.",
     "convert a checkpoint, merge heads, uptraining, mean of kv heads"},
    {"weights.planted", kWeights<&WeightSetup::planted>,
     Anything{
         "a list of `{\"pattern\": …, \"offset\": k}`, one for each head; behaviours `offset` (k keys back: "
         "1 previous, 0 self, -1 next), `first_token`, `same_token`, `local_band`, `uniform`, "
         "`separator`, `random`, `induction` (above a layer that has an offset of 1)"},
     Elsewhere{"a list for each head", "planted heads"},
     "Behaviour of each planted head in the first layer."},
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

namespace {

template <auto Member>
constexpr Access kMask = access<&Scene::setup, &Setup::mask, Member>();

constexpr Anything kExpression{"an [expression](masks.md)"};

constexpr Field kMaskRows[] = {
    {"mask.expression", kMask<&MaskSetup::layers>, kExpression, Elsewhere{"the mask studio", "mask"},
     "Which keys each query sees."},
    {"mask.paintings", kMask<&MaskSetup::paintings>,
     Anything{"a list of `{\"name\", \"queries\", \"keys\", \"rows\"}`, each row `{\"row\", \"visible\", "
              "\"masked\"}` with runs `[begin, end)`"},
     Elsewhere{"the mask studio's brush"}, "Painted cells that `painted(\"name\")` refers to."},
    {"mask.marks", kMask<&MaskSetup::marks>,
     Anything{"a list, one for each line, of objects with any of `documents`, `prefix`, `images`, `globals`, "
              "`tree_prefix`, `parents`, `grid_height`, `grid_width`"},
     Elsewhere{"the mask studio's tokens", "marks on the text"},
     "Marks on the text that replace those found automatically."},
    {"mask.additive", kMask<&MaskSetup::additive>, Anything{"rows like `input.table`"},
     Elsewhere{"the mask studio's biases", "added biases"},
     "A matrix that is added to the scores of all heads: a row for each query, a column for each key."},
    {"mask.compare", kMask<&MaskSetup::compare>, Anything{"true or false"},
     Elsewhere{"the mask studio's A / B", "second mask"}, "Compute a second mask to compare."},
    {"mask.other", kMask<&MaskSetup::other>, kExpression, Elsewhere{"the mask studio's A / B", "mask B"},
     "The second mask."},
    {"prefill", access<&Scene::setup, &Setup::prefill>(), Range{1, kMaxTokens, "tokens"},
     Slider{"prefill", "Prefill", {}, "", "the tokens"},
     "Prompt tokens processed at once before decoding one at a time."}};

}  // namespace

std::span<const Field> maskFields() {
  return kMaskRows;
}

namespace {

template <auto... Members>
constexpr Access kCost = access<&Scene::cost, Members...>();
template <auto Member>
constexpr Access kCache = kCost<&CostSetup::cache, Member>;

constexpr std::string_view kWeightFormatLabels[] = {"As published",
                                                    "fp32",
                                                    "fp16",
                                                    "bf16",
                                                    "fp8",
                                                    "int8",
                                                    "int4, no scales",
                                                    "AWQ, 4 bits",
                                                    "GPTQ, 4 bits",
                                                    "NF4, bitsandbytes",
                                                    "MXFP4",
                                                    "NVFP4",
                                                    "GGUF Q8_0",
                                                    "GGUF Q6_K",
                                                    "GGUF Q5_K_M",
                                                    "GGUF Q5_K",
                                                    "GGUF Q5_0",
                                                    "GGUF Q4_K_M",
                                                    "GGUF Q4_K",
                                                    "GGUF Q4_0",
                                                    "GGUF Q3_K",
                                                    "GGUF Q2_K"};
constexpr std::string_view kMathLabels[] = {"As the weights", "fp32", "fp16", "bf16", "fp8", "int8", "fp4"};
constexpr std::string_view kPolicyLabels[] = {"None",   "Window", "Sinks + window", "Heavy hitters",
                                              "Random", "TOVA",   "Key norm",       "KeyDiff"};
constexpr std::string_view kMemoryLabels[] = {"Cache in GiB", "n² matrices in GiB"};
constexpr std::string_view kWorkLabels[] = {"FLOPs of a prefill", "FLOPs of a decode step"};

constexpr Field kCostRows[] = {
    {"cost.model", kCost<&CostSetup::model>, Anything{"a shape's name, `opened model`, or nothing"},
     Elsewhere{"the list of models"}, "The shape that Cost shows; empty: the synthetic layer."},
    {"cost.config", kCost<&CostSetup::config>, Anything{"a path"}, Elsewhere{"a file dialog"},
     "A config.json to use instead, relative to the scene."},
    {"cost.dtype", kCost<&CostSetup::format>, Names{attention::kNumberFormatNames},
     Selection{"cost.dtype", attention::kNumberFormatNames, "cursor.page=cost", true},
     "Number format of the cache. Scales are counted in llama.cpp's formats, from q8_0 on, but not in the "
     "others."},
    {"cost.weights_dtype", kCost<&CostSetup::weights>, Names{attention::kWeightFormatNames},
     Selection{"cost.weights_dtype", kWeightFormatLabels, "cursor.page=cost", true},
     "Number format of the weights, with scales and zeros; embeddings and head stay in 16 bits if the format "
     "is only for layers."},
    {"cost.activations_dtype", kCost<&CostSetup::math>, Names{attention::kMathFormatNames},
     Selection{"cost.activations_dtype", kMathLabels, "cursor.page=cost", true},
     "Number format of the products; decides which of the machine's peaks applies."},
    {"cost.tokens", kCost<&CostSetup::tokens>, Range{1, kMaxCostTokens, "tokens"},
     Slider{"cost.tokens", "Context", {1, 16777216, Scale::logarithmic}, "cursor.page=cost"},
     "Tokens in the cache of each sequence: prompt and answer."},
    {"cost.batch", kCost<&CostSetup::batch>, Range{1, kMaxCostBatch, "sequences"},
     Slider{"cost.batch", "Batch", {1, 4096, Scale::logarithmic}, "cursor.page=cost"},
     "Sequences at once, each with its own cache."},
    {"cost.block", kCost<&CostSetup::block>, Range{8, 256, "tokens", 8},
     Slider{"cost.block", "Block", {8, 256, Scale::logarithmic}, "cursor.page=cost"},
     "Tokens per page; an engine reserves whole pages."},
    {"cost.device", kCost<&CostSetup::device>, Anything{"a machine's name"}, Elsewhere{"a list"},
     "The accelerator: its memory, bandwidth and operations per second."},
    {"cost.gpus", kCost<&CostSetup::gpus>, Range{1, 16, "GPUs"},
     Slider{"cost.gpus", "GPUs", {1, 16, Scale::logarithmic}, "cursor.page=cost"},
     "Tensor parallelism: GPUs that share every layer. With fewer kv heads than GPUs, kv heads are copied."},
    {"cost.price", kCost<&CostSetup::price>, Range{0, 1000000, "per GPU and hour"}, Elsewhere{"a slider"},
     "Price of a GPU per hour, for the cost of a million tokens; 0 if unknown."},
    {"cost.memory_plot", kCost<&CostSetup::memory>, Names{kMemoryPlotNames},
     Selection{"memory_plot", kMemoryLabels, "cursor.page=cost", true},
     "What the first plot shows over the tokens: the cache, or full attention matrices."},
    {"cost.work_plot", kCost<&CostSetup::work>, Names{kWorkPlotNames},
     Selection{"work_plot", kWorkLabels, "cursor.page=cost", true}, "Operations shown in the second plot."},
    {"cost.cache.stored", kCache<&CacheSetup::stored>, Names{attention::kRoundedFormatNames},
     Selection{"cache.stored", attention::kRoundedFormatNames, "cursor.page=cache"},
     "Number format of the cache; integers add scales of 2 B per token and kv head."},
    {"cost.cache.layers", kCache<&CacheSetup::layers>, Range{1, 1024, "layers"},
     Slider{"cache.layers", "Layers", {1, 128, Scale::logarithmic}, "cursor.page=cache"},
     "Number of layers like this one; multiplies bytes and compute."},
    {"cost.cache.chunk", kCache<&CacheSetup::chunk>, Range{0, kMaxTokens, "tokens"},
     Elsewhere{"a slider up to the prefill"}, "Tokens per prefill pass; 0 for all."},
    {"cost.cache.speed", kCache<&CacheSetup::speed>, Range{0.5, 200, "steps per second"},
     Elsewhere{"a slider"}, "Playback speed on Cache."},
    {"cost.cache.mha_stair", kCache<&CacheSetup::mhaStair>, kYesOrNo,
     Toggle{"cache.mha_stair", "MHA", "cursor.page=cache"},
     "Compare with MHA: each head has its own keys and values."},
    {"cost.cache.mqa_stair", kCache<&CacheSetup::mqaStair>, kYesOrNo,
     Toggle{"cache.mqa_stair", "MQA, 1 kv head", "cursor.page=cache"},
     "Compare with MQA: one kv head for all heads."},
    {"cost.cache.mla_stair", kCache<&CacheSetup::mlaStair>, kYesOrNo,
     Toggle{"cache.mla_stair", "MLA, as in DeepSeek", "cursor.page=cache"},
     "Compare with latent attention (MLA): a latent of 4 · head dim and a rotary key of ½ · head dim."},
    {"cost.cache.merged", kCache<&CacheSetup::merged>, Range{0, 1024, "kv heads"}, Elsewhere{"a slider"},
     "Number of kv heads left after an opened layer's are merged by their mean: a divisor of their number, "
     "or 0 for half."},
    {"cost.cache.latent", kCache<&CacheSetup::latent>, Range{1, kMaxModelDim, "dimensions"},
     Slider{"cache.latent",
            "Latent",
            {1, 512, Scale::logarithmic},
            "cursor.page=cache cursor.cache_view=shapes"},
     "Dimensions of the latent that stores keys and values of all heads in MLA."},
    {"cost.cache.rotary_dim", kCache<&CacheSetup::rotary>, Range{0, kMaxModelDim, "dimensions", 2},
     Slider{"cache.rotary_dim",
            "Rotary",
            {0, 512},
            "cursor.page=cache cursor.cache_view=shapes model.position=rope",
            "the dimensions that all keys rotate"},
     "Dimensions of the rotary key shared by all heads and cached with the latent, under RoPE only."},
    {"cost.cache.first_policy", kCache<&CacheSetup::first>, Names{attention::kEvictionNames},
     Selection{"cache.first_policy", kPolicyLabels, "cursor.page=cache cursor.cache_view=eviction", true},
     "Eviction policy of the first cache."},
    {"cost.cache.second_policy", kCache<&CacheSetup::second>, Names{attention::kEvictionNames},
     Selection{"cache.second_policy", kPolicyLabels, "cursor.page=cache cursor.cache_view=eviction", true},
     "Eviction policy of the second cache."},
    {"cost.cache.budget", kCache<&CacheSetup::budget>, Range{1, kMaxTokens, "entries"},
     Slider{"cache.budget",
            "Budget",
            {1, kMaxTokens},
            "cursor.page=cache cursor.cache_view=eviction",
            "the tokens"},
     "Entries each kv head keeps, including the newest."},
    {"cost.cache.block", kCache<&CacheSetup::block>, Range{8, 256, "tokens", 8},
     Slider{
         "cache.block", "Block", {8, 256, Scale::logarithmic}, "cursor.page=cache cursor.cache_view=paging"},
     "Tokens per cache block."},
    {"cost.cache.schedule", kCache<&CacheSetup::schedule>,
     Anything{"lines of `STEP: PROMPT + ANSWER shares N with R`"}, Elsewhere{"a text box"},
     "Requests that arrive and finish in the paging schedule."}};

}  // namespace

std::span<const Field> costFields() {
  return kCostRows;
}

namespace {

template <auto Member>
constexpr Access kCompare = access<&Scene::compare, Member>();

constexpr Elsewhere kOnModelPage{"the page of the model"};
constexpr Range kId{-1, 100000000};

constexpr Field kCompareRows[] = {
    {"compare.text", kCompare<&CompareSetup::other>, Anything{"text"}, Elsewhere{"a text box", "text B"},
     "A second text, B; empty for none."},
    {"compare.recorded", kCompare<&CompareSetup::recorded>,
     Anything{"a path, with `#group` if the file has several"}, kOnModelPage,
     "A second file of recorded attention, B, relative to the scene; empty for none."},
    {"compare.texts", kCompare<&CompareSetup::texts>, Anything{"a path, or `examples`"}, kOnModelPage,
     "A file of texts to measure every head on, relative to the scene; empty for none."},
    {"compare.answer", kCompare<&CompareSetup::answer>, kId, kOnModelPage,
     "Id of the token whose logit counts for A; -1: A's likeliest next token."},
    {"compare.other_answer", kCompare<&CompareSetup::otherAnswer>, kId, kOnModelPage,
     "Id of the token whose logit is subtracted; -1: B's likeliest next token, or A's second."},
    {"compare.alignment", kCompare<&CompareSetup::alignment>,
     Anything{"a list of `{\"a\": i, \"b\": j}`, tokens of A and B from 0; -1: the other has no partner"},
     kOnModelPage, "Aligned tokens, in addition to equal ones."},
    {"compare.into_a", kCompare<&CompareSetup::intoA>, kYesOrNo, kOnModelPage,
     "Put pieces of B into A instead of pieces of A into B."},
    {"compare.patches", kCompare<&CompareSetup::patches>,
     Anything{
         "a list of `{\"piece\": …, \"layer\": l, \"head\": h, \"token\": t}`; pieces `stream`, `queries`, "
         "`keys`, `values`, `pattern`, `head` and `mlp`; head and token may be -1, all of them"},
     kOnModelPage, "Pieces that are patched together."},
    {"compare.from_layer", kCompare<&CompareSetup::fromLayer>, Range{-1, 1023, "layers"}, kOnModelPage,
     "Layer of the head whose paths into Q, K and V of later heads are patched; -1: whole Q, K and V are."},
    {"compare.from_head", kCompare<&CompareSetup::fromHead>, Range{-1, 65535}, kOnModelPage, "That head."}};

}  // namespace

std::span<const Field> compareFields() {
  return kCompareRows;
}

}  // namespace headscope::app
