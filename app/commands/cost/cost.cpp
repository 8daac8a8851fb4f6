#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/cost/output.h"
#include "app/commands/report.h"
#include "app/compute/cost/cost_catalogue.h"
#include "app/platform/configuration.h"
#include "app/scene/text/byte_text.h"
#include "attention/models/model_shape_reader.h"
#include "attention/text/suggestion.h"

namespace headscope::app {
namespace {

using attention::CostRequest;
using attention::Error;
using attention::ModelShape;
using attention::NumberFormat;

struct CostOptions {
  std::string model, format = "bf16";
  Index tokens = 0, batch = 1, block = 16, tensorParallel = 1;
  bool tokensGiven = false, list = false, json = false;
};

attention::Result<ModelShape> shapeNamed(const std::string& model, const CostCatalogue& catalogue) {
  if (const ModelShape* found = attention::findShape(catalogue.shapes, model)) return *found;
  std::error_code ignored;
  const std::filesystem::path path(model);
  if (std::filesystem::is_directory(path, ignored)) return attention::readModelShape(path / "config.json");
  if (path.extension() == ".json" || std::filesystem::exists(path, ignored))
    return attention::readModelShape(path);
  std::vector<std::string_view> names;
  for (const ModelShape& shape : catalogue.shapes) names.push_back(shape.name);
  return Error{"there is no model " + attention::quotedText(model) +
               ", expected a name that --list prints, or a config.json" +
               attention::suggestion(model, names)};
}

attention::Result<CostRequest> requestOf(const CostOptions& options, const ModelShape& shape) {
  CostRequest request;
  const auto& names = attention::kNumberFormatNames;
  const auto format = std::find(names.begin(), names.end(), options.format);
  if (format == names.end())
    return Error{"--dtype is " + attention::quotedText(options.format) + ", expected one of " +
                 fmt::format("{}", fmt::join(names, ", "))};
  request.format = static_cast<NumberFormat>(format - names.begin());
  request.tokens = options.tokensGiven ? options.tokens : shape.context;
  request.batch = options.batch;
  request.block = options.block;
  request.tensorParallel = options.tensorParallel;
  if (const auto fits = attention::splits(shape, request.tensorParallel); !fits) return fits.error();
  return request;
}

int printList(const CostCatalogue& catalogue, bool json) {
  return json ? print(listJson(catalogue) + "\n", Printed::json) : print(listTable(catalogue));
}

int runCost(const CostOptions& options) {
  const CostCatalogue catalogue = loadCatalogue(configurationFolder());
  for (const std::string& problem : catalogue.problems) warn(problem);
  if (options.list && !options.model.empty()) return usage({"expected either --list or --model"});
  if (options.list) return printList(catalogue, options.json);
  if (options.model.empty()) return usage({"expected --model NAME or --list"});
  const auto shape = shapeNamed(options.model, catalogue);
  if (!shape) return fail(shape.error());
  const auto request = requestOf(options, *shape);
  if (!request) return usage(request.error());
  const CostReport report = costReport(*shape, *request);
  for (const std::string& warning : report.warnings) warn(warning);
  return options.json ? print(costJson(report) + "\n", Printed::json) : print(costTable(report));
}

}  // namespace

void addCostCommand(CLI::App& app, int& exitCode) {
  CLI::App* command =
      app.add_subcommand("cost", "What a model's KV cache, weights and attention cost, from its shape");
  auto options = std::make_shared<CostOptions>();
  command
      ->add_option("--model", options->model,
                   "A shape's name (--list), a config.json, or a folder that holds one")
      ->type_name("NAME");
  const auto* tokens =
      command->add_option("--tokens", options->tokens, "Tokens per sequence; default: the model's context")
          ->type_name("N")
          ->check(countsSomething);
  command->add_option("--batch", options->batch, "Sequences at once")->type_name("B")->check(countsSomething);
  command->add_option("--dtype", options->format, "fp32, fp16, bf16, fp8, int8 or int4; of cache and weights")
      ->type_name("TYPE");
  command->add_option("--block", options->block, "Tokens per cache block")
      ->type_name("TOKENS")
      ->check(countsSomething);
  command->add_option("--tensor-parallel", options->tensorParallel, "GPUs that share every layer")
      ->type_name("T")
      ->check(countsSomething);
  command->add_flag("--list", options->list, "Print the shapes that have names");
  command->add_flag("--json", options->json, "Print JSON, bytes as whole numbers");
  command->callback([options, tokens, &exitCode] {
    options->tokensGiven = tokens->count() > 0;
    exitCode = guarded([&] { return runCost(*options); });
  });
}

}  // namespace headscope::app
