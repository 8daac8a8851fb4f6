#include <fmt/format.h>

#include "app/commands/commands.h"
#include "app/commands/cost/output.h"
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
using attention::NumberFormat;

struct CostOptions {
  std::string model, format = "bf16", weights = "published", math = "weights", device;
  Index tokens = 0, batch = 1, block = 16, tensorParallel = 1;
  double price = 0;
  bool tokensGiven = false, list = false, devices = false, json = false;
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

/// Returns the index of a word in a table, or an Error that names the option.
attention::Result<int> placeOf(const char* option, const std::string& word,
                               std::span<const std::string_view> names) {
  const std::string plain = attention::lowerCase(word);  // files spell it "Q4_K_M"
  const auto found = std::find(names.begin(), names.end(), plain);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  return Error{fmt::format("{} is {}, expected one of {}", option, attention::quotedText(word),
                           fmt::join(names, ", "))};
}

/// The options as a setup of the Cost page.
attention::Result<CostSetup> setupOf(const CostOptions& options, const ModelShape& shape,
                                     const CostCatalogue& catalogue) {
  CostSetup setup;
  const auto format = placeOf("--dtype", options.format, attention::kNumberFormatNames);
  if (!format) return format.error();
  const auto weights = placeOf("--weights-dtype", options.weights, attention::kWeightFormatNames);
  if (!weights) return weights.error();
  const auto math = placeOf("--activations-dtype", options.math, attention::kMathFormatNames);
  if (!math) return math.error();
  setup.format = static_cast<NumberFormat>(*format);
  setup.weights = static_cast<attention::WeightFormat>(*weights);
  setup.math = static_cast<attention::MathFormat>(*math);
  setup.tokens = options.tokensGiven ? options.tokens : shape.context;
  setup.batch = options.batch;
  setup.block = options.block;
  setup.gpus = options.tensorParallel;
  setup.price = options.price;
  if (!options.device.empty()) setup.device = options.device;
  if (const auto known = checkDevice(setup, catalogue); !known)
    return Error{"--device" + known.error().message.substr(std::string_view("cost.device").size())};
  if (const auto fits = attention::splits(shape, options.tensorParallel); !fits) return fits.error();
  return setup;
}

int printList(const CostCatalogue& catalogue, bool json) {
  return json ? print(listJson(catalogue) + "\n", Printed::json) : print(listTable(catalogue));
}

int runCost(const CostOptions& options) {
  const CostCatalogue catalogue = loadCatalogue(configurationFolder());
  for (const std::string& problem : catalogue.problems) warn(problem);
  if (options.list && !options.model.empty()) return usage({"expected either --list or --model"});
  if (options.list) return printList(catalogue, options.json);
  if (options.devices) return print(machineTable(catalogue));
  if (options.model.empty()) return usage({"expected --model NAME or --list"});
  const auto shape = shapeNamed(options.model, catalogue);
  if (!shape) return fail(shape.error());
  const auto setup = setupOf(options, *shape, catalogue);
  if (!setup) return usage(setup.error());
  const CostReport report = costReport(costFigures(*setup, *shape, catalogue), catalogue);
  for (const std::string& warning : report.warnings) warn(warning);
  const int printed = options.json ? print(costJson(report) + "\n", Printed::json) : print(costTable(report));
  return printed == 0 && !options.device.empty() && !report.figures.fits() ? kDoesNotFit : printed;
}

}  // namespace

void addCostCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand(
      "cost",
      "Show whether a model fits, how fast it can run, and what its cache, weights and attention cost");
  auto options = std::make_shared<CostOptions>();
  command
      ->add_option("--model", options->model,
                   "A shape's name (--list), a config.json, or a folder that holds one")
      ->type_name("NAME");
  const auto* tokens =
      command->add_option("--tokens", options->tokens, "Tokens per sequence; default: the model's context")
          ->type_name("N")
          ->check(checkPositiveCount);
  command->add_option("--batch", options->batch, "Sequences at once")
      ->type_name("B")
      ->check(checkPositiveCount);
  command
      ->add_option("--dtype", options->format,
                   "Number format of the cache: " + valuesText(fieldAt("cost.dtype")))
      ->type_name("TYPE");
  command
      ->add_option("--weights-dtype", options->weights,
                   "Number format of the weights: published, fp32, fp16, bf16, fp8, int8, int4, awq, gptq, "
                   "nf4, mxfp4, nvfp4 or a GGUF type such as q4_k_m")
      ->type_name("TYPE");
  command
      ->add_option("--activations-dtype", options->math,
                   "Number format of the products: weights (as the weights' format implies), fp32, fp16, "
                   "bf16, fp8, int8 or fp4")
      ->type_name("TYPE");
  command
      ->add_option("--device", options->device,
                   "A machine's name (--devices) or the start of it; default H200. If you name one and the "
                   "model doesn't fit, the exit code is 3")
      ->type_name("NAME");
  command->add_option("--price", options->price, "Price of a GPU per hour, for the cost of a million tokens")
      ->type_name("AMOUNT")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--block", options->block, "Tokens per cache block")
      ->type_name("TOKENS")
      ->check(checkPositiveCount);
  command->add_option("--tensor-parallel", options->tensorParallel, "GPUs that share every layer")
      ->type_name("T")
      ->check(checkPositiveCount);
  command->add_flag("--list", options->list, "Print the named shapes");
  command->add_flag("--devices", options->devices, "Print the named machines");
  command->add_flag("--json", options->json, "Print JSON, bytes as whole numbers");
  command->callback([options, tokens, &exitCode] {
    options->tokensGiven = tokens->count() > 0;
    exitCode = guarded([&] { return runCost(*options); });
  });
}

}  // namespace headscope::app
