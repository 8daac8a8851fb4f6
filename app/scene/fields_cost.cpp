#include <string_view>

#include "app/scene/enum_names.h"
#include "app/scene/fields.h"
#include "attention/cache/eviction.h"

namespace headscope::app {

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
constexpr std::string_view kPolicyLabels[] = {"None", "Window", "Sinks + window", "Heavy hitters", "Random"};
constexpr std::string_view kMemoryLabels[] = {"Cache in GiB", "n² matrices in GiB"};
constexpr std::string_view kWorkLabels[] = {"FLOPs of a prefill", "FLOPs of a decode step"};

constexpr Field kCostRows[] = {
    {"cost.model", kCost<&CostSetup::model>, Anything{"a shape's name, `opened model`, or nothing"},
     Elsewhere{"the list of models"}, "The shape that Cost shows; empty: the synthetic layer."},
    {"cost.config", kCost<&CostSetup::config>, Anything{"a path"}, Elsewhere{"a file dialog"},
     "A config.json to use instead, relative to the scene."},
    {"cost.dtype", kCost<&CostSetup::format>, Names{attention::kNumberFormatNames},
     Selection{"cost.dtype", attention::kNumberFormatNames, "cursor.page=cost", true},
     "Number format of the cache. Scales count in llama.cpp's formats, from q8_0 on; the others' are "
     "ignored."},
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
     "The accelerator: its memory, bandwidth and operations a second."},
    {"cost.gpus", kCost<&CostSetup::gpus>, Range{1, 16, "GPUs"},
     Slider{"cost.gpus", "GPUs", {1, 16, Scale::logarithmic}, "cursor.page=cost"},
     "Tensor parallelism: GPUs that share every layer. With fewer kv heads than GPUs, kv heads are copied."},
    {"cost.price", kCost<&CostSetup::price>, Range{0, 1000000, "for a GPU and an hour"},
     Elsewhere{"a slider"}, "Price of a GPU per hour, for the cost of a million tokens; 0 if unknown."},
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
    {"cost.cache.speed", kCache<&CacheSetup::speed>, Range{0.5, 200, "steps a second"}, Elsewhere{"a slider"},
     "Playback speed on Cache."},
    {"cost.cache.mha_stair", kCache<&CacheSetup::mhaStair>, kYesOrNo,
     Toggle{"cache.mha_stair", "MHA", "cursor.page=cache"},
     "Compare with MHA: each head has its own keys and values."},
    {"cost.cache.mqa_stair", kCache<&CacheSetup::mqaStair>, kYesOrNo,
     Toggle{"cache.mqa_stair", "MQA, 1 kv head", "cursor.page=cache"},
     "Compare with MQA: one kv head for all heads."},
    {"cost.cache.mla_stair", kCache<&CacheSetup::mlaStair>, kYesOrNo,
     Toggle{"cache.mla_stair", "MLA, as DeepSeek has it", "cursor.page=cache"},
     "Compare with latent attention (MLA): a latent of 4 · head dim and a rotary key of ½ · head dim."},
    {"cost.cache.merged", kCache<&CacheSetup::merged>, Range{0, 1024, "kv heads"}, Elsewhere{"a slider"},
     "Number of kv heads after merging an opened layer's by their mean, a divisor of them; 0 for half."},
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
            "the dimensions of all keys that positions turn"},
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

}  // namespace headscope::app
