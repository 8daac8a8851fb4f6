#include <fmt/format.h>

#include "app/commands/commands.h"
#include "app/commands/cost/engine.h"
#include "app/platform/preferences.h"
#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "attention/formats/quote.h"
#include "attention/models/config/model_catalogue.h"
#include "attention/text/ascii.h"

namespace headscope::app {
namespace {

using attention::Error;
using attention::ModelShape;

/// GB/s of two channels of DDR5-5600, 8 B each (JEDEC JESD79-5).
constexpr double kSystemBandwidth = 2 * 8 * 5.6;

struct CostOptions {
  std::string model, format = "bf16", weights = "published", math = "weights", device;
  std::optional<Index> tokens;
  Index batch = 1, block = 16, tensorParallel = 1;
  double price = 0;
  bool list = false, devices = false, fits = false, json = false;
  // Of llama.cpp.
  std::string engine, keys = "fp16", values = "fp16";
  Index ubatch = 512;
  std::optional<Index> gpuLayers;
  bool fullWindows = false, withoutFlash = false, cacheInSystem = false, expertsInSystem = false;
  double systemBandwidth = kSystemBandwidth;
};

/// Exit code if a device is named and the model doesn't fit, for scripts.
constexpr int kDoesNotFit = 3;

/// Whether a text names a file or folder, not a model: "./gpt2", "models/", "config.json".
/// "meta-llama/Llama-3.1-8B" is a model's name.
bool isPath(const std::string& text) {
  return text.ends_with(".json") || text.ends_with(".gguf") || text.ends_with('/') || text.starts_with('.') ||
         text.starts_with('/');
}

/// What exists on disk comes first: a folder may have a published model's name and hold another.
attention::Result<ModelShape> shapeNamed(const std::string& model, const CostCatalogue& catalogue) {
  std::error_code ignored;
  const std::filesystem::path path(model);
  const bool folder = std::filesystem::is_directory(path, ignored);
  if (!folder && std::filesystem::exists(path, ignored)) return attention::readModelShape(path);
  if (folder && (isPath(model) || attention::describesModel(path))) return attention::readModelShape(path);
  if (const ModelShape* found = attention::findModel(catalogue.shapes, model); found && !isPath(model))
    return *found;
  if (isPath(model)) return attention::readModelShape(path);
  return Error{"there is no model " + attention::quotedText(model) +
               ", expected a name that --list prints, or a config.json" +
               attention::nearestModel(catalogue.shapes, model)};
}

/// Sets `value` to the word's place in a table. Refuses a word that isn't there.
template <typename Value>
void choose(Value& value, const char* option, const std::string& word,
            std::span<const std::string_view> names) {
  const auto found =
      std::find(names.begin(), names.end(), attention::lowerCase(word));  // files spell it "Q4_K_M"
  if (found == names.end())
    refuse(fmt::format("{} is {}, expected one of {}", option, attention::quotedText(word),
                       fmt::join(names, ", ")));
  value = static_cast<Value>(found - names.begin());
}

/// The options as a setup of the Cost page.
CostSetup setupOf(const CostOptions& options, const ModelShape& shape, const CostCatalogue& catalogue) {
  CostSetup setup;
  choose(setup.format, "--dtype", options.format, attention::kNumberFormatNames);
  choose(setup.weights, "--weights-dtype", options.weights, attention::kWeightFormatNames);
  choose(setup.math, "--activations-dtype", options.math, attention::kMathFormatNames);
  setup.tokens = options.tokens.value_or(shape.context);
  setup.batch = options.batch;
  setup.block = options.block;
  setup.gpus = options.tensorParallel;
  if (!(options.price >= 0 && std::isfinite(options.price)))
    refuse(fmt::format("--price is {}, expected a number from 0", options.price));
  setup.price = options.price;
  if (!options.device.empty()) setup.device = options.device;
  if (const auto known = checkDevice(setup, catalogue); !known)
    refuse("--device" + known.error().message.substr(std::string_view("cost.device").size()));
  orRefuse(attention::splits(shape, options.tensorParallel));
  return setup;
}

/// A format under llama.cpp's name, "f16", or ours.
attention::NumberFormat cacheType(const char* option, const std::string& word) {
  attention::NumberFormat format{};
  choose(format, option,
         word == "f16"   ? "fp16"
         : word == "f32" ? "fp32"
                         : word,
         attention::kNumberFormatNames);
  return format;
}

/// What llama.cpp would do; nothing without --engine.
std::optional<LlamaCppReport> engineReport(const CostOptions& options, const CostFigures& figures) {
  const std::pair<bool, const char*> own[] = {
      {options.keys != "fp16", "--cache-type-k"},
      {options.values != "fp16", "--cache-type-v"},
      {options.ubatch != 512, "--ubatch"},
      {options.gpuLayers.has_value(), "--gpu-layers"},
      {options.fullWindows, "--swa-full"},
      {options.withoutFlash, "--no-flash-attn"},
      {options.cacheInSystem, "--no-kv-offload"},
      {options.expertsInSystem, "--cpu-moe"},
      {options.systemBandwidth != kSystemBandwidth, "--system-bandwidth"}};
  if (options.engine.empty()) {
    for (const auto& [given, name] : own)
      if (given) refuse(fmt::format("{} is an option of llama.cpp: --engine llama.cpp is missing", name));
    return std::nullopt;
  }
  if (options.tensorParallel > 1)
    refuse("--engine llama.cpp is counted for one GPU, expected no --tensor-parallel");
  if (!(options.systemBandwidth > 0 && std::isfinite(options.systemBandwidth)))
    refuse(fmt::format("--system-bandwidth is {}, expected a number above 0", options.systemBandwidth));
  checkRange("--gpu-layers", options.gpuLayers.value_or(0), 0, Index{1} << 20);
  LlamaCppReport report;
  report.settings = {.keys = cacheType("--cache-type-k", options.keys),
                     .values = cacheType("--cache-type-v", options.values),
                     .ubatch = options.ubatch,
                     .fullWindows = options.fullWindows,
                     .flashAttention = !options.withoutFlash,
                     .gpuLayers = options.gpuLayers,
                     .cacheInSystem = options.cacheInSystem,
                     .expertsInSystem = options.expertsInSystem,
                     .systemBandwidth = options.systemBandwidth * 1e9};
  report.memory = orRefuse(attention::llamaCppMemory(figures.shape, figures.request, report.settings));
  report.split =
      attention::offload(figures.shape, figures.request, report.settings, report.memory, figures.machine);
  return report;
}

int runCost(const CostOptions& options) {
  const CostCatalogue catalogue = loadCatalogue(configurationFolder());
  for (const std::string& problem : catalogue.problems) warn(problem);
  if (options.list && !options.model.empty()) refuse("expected either --list or --model");
  if (options.list)
    return options.json ? print(listJson(catalogue) + "\n", Printed::json) : print(listTable(catalogue));
  if (options.devices) return print(machineTable(catalogue));
  if (options.model.empty()) refuse("expected --model NAME or --list");
  const ModelShape shape = orFail(shapeNamed(options.model, catalogue));
  const CostFigures figures = costFigures(setupOf(options, shape, catalogue), shape, catalogue);
  if (options.fits && !options.engine.empty()) refuse("expected either --fits or --engine");
  const std::optional<LlamaCppReport> engine = engineReport(options, figures);
  if (options.fits)
    return options.json ? print(fitsJson(figures, catalogue) + "\n", Printed::json)
                        : print(fitsTable(figures, catalogue));
  CostReport report = costReport(figures, catalogue);
  report.engine = engine;
  for (const std::string& warning : report.warnings) warn(warning);
  const int printed = options.json ? print(costJson(report) + "\n", Printed::json) : print(costTable(report));
  const bool fits = report.engine ? report.engine->split.fits : report.figures.fits();
  return printed == 0 && !options.device.empty() && !fits ? kDoesNotFit : printed;
}

}  // namespace

Command costCommand() {
  const auto o = std::make_shared<CostOptions>();
  const OptionRules count{.check = checkPositiveCount};
  Command command{
      "cost",
      "Show whether a model fits, how fast it can run, and what its cache, weights and attention cost"};
  command.options = {
      Option("--model NAME", "A shape's name (--list), a config.json, or a folder that holds one", &o->model),
      Option("--tokens N", "Tokens per sequence; default: the model's context", &o->tokens, count),
      Option("--batch B", "Sequences at once", &o->batch, count),
      Option("--dtype TYPE", "Number format of the cache: " + valuesText(fieldAt("cost.dtype")), &o->format),
      Option("--weights-dtype TYPE",
             "Number format of the weights: published, fp32, fp16, bf16, fp8, int8, int4, awq, gptq, "
             "nf4, mxfp4, nvfp4 or a GGUF type such as q4_k_m",
             &o->weights),
      Option("--activations-dtype TYPE",
             "Number format of the products: weights (as the weights' format implies), fp32, fp16, "
             "bf16, fp8, int8 or fp4",
             &o->math),
      Option("--device NAME",
             "A machine's name (--devices) or the start of it; default H200. If you name one and the "
             "model doesn't fit, the exit code is 3",
             &o->device),
      Option("--price AMOUNT", "Price of a GPU per hour, for the cost of a million tokens", &o->price),
      Option("--block TOKENS", "Tokens per cache block", &o->block, count),
      Option("--tensor-parallel T", "GPUs that share every layer", &o->tensorParallel, count),
      Option("--fits", "Print the longest context and the speed for all machines and some weights' formats",
             &o->fits),
      Option("--engine NAME", "Also what this engine allocates: llama.cpp", &o->engine,
             {.words = {"llama.cpp"}}),
      Option("--cache-type-k TYPE", "llama.cpp: number format of the keys", &o->keys, kShown),
      Option("--cache-type-v TYPE", "llama.cpp: number format of the values", &o->values, kShown),
      Option("--ubatch", "llama.cpp: tokens computed at once", &o->ubatch,
             {.check = checkPositiveCount, .shown = true}),
      Option("--swa-full", "llama.cpp: windows cache all tokens", &o->fullWindows),
      Option("--no-flash-attn", "llama.cpp: without flash attention", &o->withoutFlash),
      Option("--gpu-layers", "llama.cpp: layers on the GPU; default: as many as fit", &o->gpuLayers),
      Option("--no-kv-offload", "llama.cpp: the cache in the system's memory", &o->cacheInSystem),
      Option("--cpu-moe", "llama.cpp: the experts in the system's memory", &o->expertsInSystem),
      Option("--system-bandwidth", "GB/s of the system's memory; default: two channels of DDR5-5600",
             &o->systemBandwidth, kShown),
      Option("--list", "Print the named shapes", &o->list),
      Option("--devices", "Print the named machines", &o->devices),
      Option("--json", "Print JSON, bytes as whole numbers", &o->json)};
  command.run = [o] { return runCost(*o); };
  return command;
}

}  // namespace headscope::app
