#include "app/scene/enum_names.h"
#include "app/scene/fields.h"
#include "attention/cache/eviction.h"

namespace headscope::app {

namespace {

template <auto... Members>
constexpr Access kCost = access<&Scene::cost, Members...>();
template <auto Member>
constexpr Access kCache = kCost<&CostSetup::cache, Member>;

constexpr const char* kFormatLabels[] = {"fp32", "fp16", "bf16", "fp8", "int8", "int4"};
constexpr const char* kPolicyLabels[] = {"None", "Window", "Sinks + window", "Heavy hitters", "Random"};
constexpr const char* kMemoryLabels[] = {"Cache in GiB", "n² matrices in GiB"};
constexpr const char* kWorkLabels[] = {"FLOPs of a prefill", "FLOPs of a decode step"};

constexpr Field kCostRows[] = {
    {"cost.model", kCost<&CostSetup::model>, Anything{"a shape's name, `opened model`, or nothing"},
     Elsewhere{"the list of models"}, "The shape that the page Cost is about; nothing: the layer made here."},
    {"cost.config", kCost<&CostSetup::config>, Anything{"a path"}, Elsewhere{"a file dialog"},
     "A config.json in its place, relative to the scene."},
    {"cost.dtype", kCost<&CostSetup::format>, Names{attention::kNumberFormatNames},
     Selection{"cost.dtype", kFormatLabels, "cursor.page=cost"},
     "How numbers of cache and weights are kept; scales of int8 and int4 aren't counted."},
    {"cost.tokens", kCost<&CostSetup::tokens>, Range{1, kMaxCostTokens, "tokens"},
     Slider{"cost.tokens", "Context", {1, 16777216, Scale::logarithmic}, "cursor.page=cost"},
     "Tokens in the cache of each sequence: prompt and answer."},
    {"cost.batch", kCost<&CostSetup::batch>, Range{1, kMaxCostBatch, "sequences"},
     Slider{"cost.batch", "Batch", {1, 4096, Scale::logarithmic}, "cursor.page=cost"},
     "Sequences at once, each with a cache of its own."},
    {"cost.block", kCost<&CostSetup::block>, Range{8, 256, "tokens", 8},
     Slider{"cost.block", "Block", {8, 256, Scale::logarithmic}, "cursor.page=cost"},
     "Tokens of a page: an engine reserves whole ones."},
    {"cost.device", kCost<&CostSetup::device>, Anything{"a machine's name"}, Elsewhere{"a list"},
     "The accelerator: its memory, bandwidth and operations a second."},
    {"cost.gpus", kCost<&CostSetup::gpus>, Range{1, 16, "GPUs"},
     Slider{"cost.gpus", "GPUs", {1, 16, Scale::logarithmic}, "cursor.page=cost"},
     "Tensor parallelism: GPUs that share every layer, and copy kv heads where there are fewer."},
    {"cost.memory_plot", kCost<&CostSetup::memory>, Names{kMemoryPlotNames},
     Selection{"memory_plot", kMemoryLabels, "cursor.page=cost", true},
     "What the page's first plot shows over the tokens: the cache, or attention matrices that nobody keeps."},
    {"cost.work_plot", kCost<&CostSetup::work>, Names{kWorkPlotNames},
     Selection{"work_plot", kWorkLabels, "cursor.page=cost", true},
     "Whose operations the second plot shows."},
    {"cost.cache.stored", kCache<&CacheSetup::stored>, Names{attention::kNumberFormatNames},
     Selection{"cache.stored", kFormatLabels, "cursor.page=cache"},
     "How the cache is kept, int8 and int4 with a scale of 2 B for each token "
     "and kv head; its pictures and bytes follow."},
    {"cost.cache.layers", kCache<&CacheSetup::layers>, Range{1, 1024, "layers"},
     Slider{"cache.layers", "Layers", {1, 128, Scale::logarithmic}, "cursor.page=cache"},
     "Layers like this one: multiplies every byte and all work."},
    {"cost.cache.chunk", kCache<&CacheSetup::chunk>, Range{0, kMaxTokens, "tokens"},
     Elsewhere{"a slider up to the prefill"}, "Tokens that the prefill takes in at once; 0 for all."},
    {"cost.cache.speed", kCache<&CacheSetup::speed>, Range{0.5, 200, "steps a second"}, Elsewhere{"a slider"},
     "How fast Play goes on the page Cache."},
    {"cost.cache.mha_stair", kCache<&CacheSetup::mhaStair>, kYesOrNo,
     Toggle{"cache.mha_stair", "MHA", "cursor.page=cache"},
     "Beside the layer's bytes those of MHA: every head with keys and values of its own."},
    {"cost.cache.mqa_stair", kCache<&CacheSetup::mqaStair>, kYesOrNo,
     Toggle{"cache.mqa_stair", "MQA, 1 kv head", "cursor.page=cache"},
     "Beside the layer's bytes those of MQA: one kv head for all."},
    {"cost.cache.mla_stair", kCache<&CacheSetup::mlaStair>, kYesOrNo,
     Toggle{"cache.mla_stair", "MLA, as DeepSeek has it", "cursor.page=cache"},
     "Beside the layer's bytes those of latent attention with 4 head sizes for keys and values and half a "
     "one "
     "for positions."},
    {"cost.cache.merged", kCache<&CacheSetup::merged>, Range{0, 1024, "kv heads"}, Elsewhere{"a slider"},
     "Kv heads that those of an opened layer are merged into by their mean, a divisor of theirs; 0 for "
     "half."},
    {"cost.cache.latent", kCache<&CacheSetup::latent>, Range{1, kMaxModelDim, "dimensions"},
     Slider{"cache.latent",
            "Latent",
            {1, 512, Scale::logarithmic},
            "cursor.page=cache cursor.cache_room=shapes"},
     "Dimensions of the latent that stands for keys and values of all heads in the fourth shape."},
    {"cost.cache.rotary_dim", kCache<&CacheSetup::rotary>, Range{0, kMaxModelDim, "dimensions", 2},
     Slider{"cache.rotary_dim",
            "Rotary",
            {0, 512},
            "cursor.page=cache cursor.cache_room=shapes model.position=rope",
            "the dimensions of all keys that positions turn"},
     "Dimensions of the one rotary key for all heads that is cached beside the latent, under RoPE alone: "
     "what of the keys keeps its rotation."},
    {"cost.cache.first_policy", kCache<&CacheSetup::first>, Names{attention::kEvictionNames},
     Selection{"cache.first_policy", kPolicyLabels, "cursor.page=cache cursor.cache_room=eviction", true},
     "Which entries the first of two caches gives up when it is full."},
    {"cost.cache.second_policy", kCache<&CacheSetup::second>, Names{attention::kEvictionNames},
     Selection{"cache.second_policy", kPolicyLabels, "cursor.page=cache cursor.cache_room=eviction", true},
     "Which entries the second gives up."},
    {"cost.cache.budget", kCache<&CacheSetup::budget>, Range{1, kMaxTokens, "entries"},
     Slider{"cache.budget",
            "Budget",
            {1, kMaxTokens},
            "cursor.page=cache cursor.cache_room=eviction",
            "the tokens"},
     "Entries that a kv head keeps, the newest included."},
    {"cost.cache.block", kCache<&CacheSetup::block>, Range{8, 256, "tokens", 8},
     Slider{
         "cache.block", "Block", {8, 256, Scale::logarithmic}, "cursor.page=cache cursor.cache_room=paging"},
     "Tokens of a page of the cache."},
    {"cost.cache.schedule", kCache<&CacheSetup::schedule>,
     Anything{"lines of `STEP: PROMPT + ANSWER shares N with R`"}, Elsewhere{"a text box"},
     "Requests that arrive and finish while the cache is paged."}};

}  // namespace

std::span<const Field> costFields() {
  return kCostRows;
}

}  // namespace headscope::app
