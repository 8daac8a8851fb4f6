#include "app/commands/bench/bench.h"

#include <fmt/core.h>

#include "app/commands/bench/growth.h"
#include "app/commands/commands.h"
#include "app/compute/figures/picture_file.h"
#include "app/compute/layer/snapshot.h"

namespace headscope::app {

namespace {

using attention::Error;
using attention::Index;
using attention::Result;

struct BenchOptions {
  Index modelDim = 512, heads = 8, tokens = 512, cached = 8192, mapTokens = 32768;
  std::optional<Index> kvHeads, headDim;
  bool causal = false, lessons = false, json = false, byThreads = false;
  std::string model, cachedAs = "fp32", output;
  std::optional<Index> growth;  ///< maximum tokens
  int rounds = 5;
  std::vector<std::string> only;
};

/// Larger sizes are typing errors, and their products would overflow.
constexpr Index kMax = Index{1} << 20;

Result<BenchShape> shapeOf(const BenchOptions& options) {
  const Index heads = options.heads, kvHeads = options.kvHeads.value_or(heads);
  const std::pair<const char*, Index> sizes[] = {{"--model-dim", options.modelDim},
                                                 {"--heads", heads},
                                                 {"--kv-heads", kvHeads},
                                                 {"--tokens", options.tokens},
                                                 {"--cached", options.cached},
                                                 {"--map-tokens", options.mapTokens},
                                                 {"--head-dim", options.headDim.value_or(1)}};
  for (const auto& [name, value] : sizes)
    if (value < 1 || value > kMax) return Error{fmt::format("{} is {}, expected 1 to {}", name, value, kMax)};
  if (!options.headDim && options.modelDim % heads != 0)
    return Error{fmt::format("--model-dim is {}, which --heads {} doesn't divide: give --head-dim too",
                             options.modelDim, heads)};
  BenchShape shape;
  shape.config.modelDim = options.modelDim;
  shape.config.heads = heads;
  shape.config.kvHeads = kvHeads;
  shape.config.headDim = options.headDim.value_or(options.modelDim / heads);
  shape.causal = options.causal;
  shape.tokens = options.tokens;
  shape.cached = options.cached;
  const auto as = std::find(kCacheTypeNames.begin(), kCacheTypeNames.end(), options.cachedAs);
  shape.cachedAs = static_cast<attention::CacheType>(as - kCacheTypeNames.begin());
  shape.mapTokens = options.mapTokens;
  if (const auto status = attention::validate(shape.config); !status) return status.error();
  return shape;
}

BenchParts partsOf(const std::vector<std::string>& only) {
  if (only.empty()) return {};
  BenchParts parts{false, false, false, false, false};
  for (const std::string& part : only) {
    parts.forward |= part == "forward";
    parts.decode |= part == "decode";
    parts.map |= part == "map";
    parts.window |= part == "window";
  }
  return parts;
}

int printReport(const BenchReport& report, bool json) {
  return json ? print(benchJson(report), Printed::json) : print(benchTable(report));
}

attention::Status checkRounds(int rounds) {
  if (rounds >= 1 && rounds <= 1000) return attention::success();
  return Error{fmt::format("--rounds is {}, expected 1 to 1000", rounds)};
}

int benchWholeModel(const BenchOptions& options) {
  if (options.tokens < 1 || options.tokens > kMax)
    return usage({fmt::format("--tokens is {}, expected 1 to {}", options.tokens, kMax)});
  const Result<BenchReport> report =
      benchModel(options.model, options.tokens, partsOf(options.only), options.rounds);
  return report ? printReport(*report, options.json) : fail(report.error());
}

int benchGrowth(const BenchOptions& options) {
  if (*options.growth < 64 || *options.growth > kMax)
    return usage({fmt::format("--growth is {}, expected 64 to {}", *options.growth, kMax)});
  if (!options.output.empty())
    if (const auto format = pictureFormat(options.output); !format) return usage(format.error());
  const Limits limits = defaultLimits();
  const Growth growth =
      measureGrowth(*options.growth, partsOf(options.only), static_cast<double>(limits.memoryBytes), warn);
  if (!options.output.empty()) {
    const MemoryBudget memory(limits.memoryBytes);
    if (const auto status = writePicture(options.output, growthFigure(growth), {}, memory); !status)
      return fail(status.error());
  }
  return print(growthTable(growth));
}

int runBenchCommand(const BenchOptions& options) {
  if (!options.output.empty() && !options.growth)
    return usage({"-o is the figure of --growth, which is missing"});
  if (options.growth) return benchGrowth(options);
  if (const auto rounds = checkRounds(options.rounds); !rounds) return usage(rounds.error());
  if (options.lessons) return printReport(benchLessons(options.rounds), options.json);
  if (!options.model.empty()) return benchWholeModel(options);
  const Result<BenchShape> shape = shapeOf(options);
  if (!shape) return usage(shape.error());
  const BenchParts parts = partsOf(options.only);
  const double bytes = benchBytes(*shape, parts);
  const auto budget = static_cast<double>(defaultLimits().memoryBytes);
  if (bytes > budget)
    return fail({"measuring this would need " + bytesText(bytes) + "; the budget is " + bytesText(budget) +
                 ", so use fewer tokens or heads"});
  if (options.byThreads) return print(threadsText(measureThreads(*shape, parts, options.rounds, warn)));
  return printReport(runBench(*shape, parts, options.rounds), options.json);
}

}  // namespace

void addBenchCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("bench", "Measure how fast this machine computes and draws a layer");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("--model-dim", options->modelDim, "Width of the input and the output")
      ->capture_default_str();
  command->add_option("--heads", options->heads, "Query heads")->capture_default_str();
  command->add_option("--kv-heads", options->kvHeads, "Key and value heads; default: same as query heads");
  command->add_option("--head-dim", options->headDim, "Size of a head; default: model dim / heads");
  command->add_option("--tokens", options->tokens, "Tokens of the forward pass and in the window")
      ->capture_default_str();
  command->add_flag("--causal", options->causal, "Use a causal mask");
  command->add_option("--cached", options->cached, "Tokens a decode step attends to")->capture_default_str();
  command->add_option("--cached-as", options->cachedAs, "Number format of that cache: fp32, fp16 or bf16")
      ->check(CLI::IsMember(std::vector<std::string>(kCacheTypeNames.begin(), kCacheTypeNames.end())))
      ->capture_default_str();
  command->add_option("--map-tokens", options->mapTokens, "Length of the head on the map")
      ->capture_default_str();
  command
      ->add_option("--model", options->model,
                   "A checkpoint's folder: measure a pass over --tokens and a decode step of it instead")
      ->check(checkFileName);
  command->add_flag("--lessons", options->lessons,
                    "Measure how long every lesson step takes to appear instead");
  command->add_flag("--by-threads", options->byThreads,
                    "Measure forward pass, decode step and exact overview on 1, 2, 4 … threads instead");
  command->add_option("--growth", options->growth,
                      "Measure how time and memory grow up to this many tokens and 64 heads instead");
  command->add_option("-o,--output", options->output, "With --growth: the SVG, PNG or PDF to write");
  command->add_option("--rounds", options->rounds, "Number of rounds; each measures everything once")
      ->capture_default_str();
  command
      ->add_option(
          "--only", options->only,
          "Measure only these: any of forward, decode, map and window; with --model, forward and decode")
      ->delimiter(',')
      ->check(CLI::IsMember({"forward", "decode", "map", "window"}));
  command->add_flag("--json", options->json, "Print JSON instead of a table");
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runBenchCommand(*options); }); });
}

}  // namespace headscope::app
