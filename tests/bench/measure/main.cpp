// The program with the command bench, which measures how fast this machine computes and draws.

#include <fmt/core.h>

#include "app/commands/commands.h"
#include "app/commands/program.h"
#include "app/compute/figures/picture_file.h"
#include "app/compute/layer/snapshot.h"
#include "tests/bench/measure/bench.h"
#include "tests/bench/measure/growth.h"

namespace headscope::app {

namespace {

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

BenchShape shapeOf(const BenchOptions& options) {
  const Index heads = options.heads, kvHeads = options.kvHeads.value_or(heads);
  const std::pair<const char*, Index> sizes[] = {{"--model-dim", options.modelDim},
                                                 {"--heads", heads},
                                                 {"--kv-heads", kvHeads},
                                                 {"--tokens", options.tokens},
                                                 {"--cached", options.cached},
                                                 {"--map-tokens", options.mapTokens},
                                                 {"--head-dim", options.headDim.value_or(1)}};
  for (const auto& [name, value] : sizes) checkRange(name, value, 1, kMax);
  if (!options.headDim && options.modelDim % heads != 0)
    refuse(fmt::format("--model-dim is {}, which --heads {} doesn't divide: give --head-dim too",
                       options.modelDim, heads));
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
  orRefuse(attention::validate(shape.config));
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

int benchGrowth(const BenchOptions& options) {
  checkRange("--growth", *options.growth, 64, kMax);
  if (!options.output.empty()) orRefuse(pictureFormat(options.output));
  const Limits limits = defaultLimits();
  const Growth growth =
      measureGrowth(*options.growth, partsOf(options.only), static_cast<double>(limits.memoryBytes), warn);
  if (!options.output.empty())
    orFail(writePicture(options.output, growthFigure(growth), {}, MemoryBudget(limits.memoryBytes)));
  return print(growthTable(growth));
}

int runBenchCommand(const BenchOptions& options) {
  if (!options.output.empty() && !options.growth) refuse("-o is the figure of --growth, which is missing");
  if (options.growth) return benchGrowth(options);
  checkRange("--rounds", options.rounds, 1, 1000);
  const BenchParts parts = partsOf(options.only);
  if (options.lessons) return printReport(benchLessons(options.rounds), options.json);
  if (!options.model.empty()) {
    checkRange("--tokens", options.tokens, 1, kMax);
    return printReport(orFail(benchModel(options.model, options.tokens, parts, options.rounds)),
                       options.json);
  }
  const BenchShape shape = shapeOf(options);
  const double bytes = benchBytes(shape, parts);
  const auto budget = static_cast<double>(defaultLimits().memoryBytes);
  if (bytes > budget)
    failWith("measuring this would need " + bytesText(bytes) + "; the budget is " + bytesText(budget) +
             ", so use fewer tokens or heads");
  if (options.byThreads) return print(threadsText(measureThreads(shape, parts, options.rounds, warn)));
  return printReport(runBench(shape, parts, options.rounds), options.json);
}

Command benchCommand() {
  const auto o = std::make_shared<BenchOptions>();
  Command command{"bench", "Measure how fast this machine computes and draws a layer"};
  command.options = {
      Option("--model-dim", "Width of the input and the output", &o->modelDim, kShown),
      Option("--heads", "Query heads", &o->heads, kShown),
      Option("--kv-heads", "Key and value heads; default: same as query heads", &o->kvHeads),
      Option("--head-dim", "Size of a head; default: model dim / heads", &o->headDim),
      Option("--tokens", "Tokens of the forward pass and in the window", &o->tokens, kShown),
      Option("--causal", "Use a causal mask", &o->causal),
      Option("--cached", "Tokens a decode step attends to", &o->cached, kShown),
      Option("--cached-as", "Number format of that cache: fp32, fp16 or bf16", &o->cachedAs,
             {.words = wordsOf(kCacheTypeNames), .shown = true}),
      Option("--map-tokens", "Length of the head on the map", &o->mapTokens, kShown),
      Option("--model", "A checkpoint's folder: measure a pass over --tokens and a decode step of it instead",
             &o->model, kFileName),
      Option("--lessons", "Measure how long every lesson step takes to appear instead", &o->lessons),
      Option("--by-threads",
             "Measure forward pass, decode step and exact overview on 1, 2, 4 … threads instead",
             &o->byThreads),
      Option("--growth", "Measure how time and memory grow up to this many tokens and 64 heads instead",
             &o->growth),
      Option("-o,--output", "With --growth: the SVG, PNG or PDF to write", &o->output),
      Option("--rounds", "Number of rounds; each measures everything once", &o->rounds, kShown),
      Option("--only",
             "Measure only these: any of forward, decode, map and window; with --model, forward and decode",
             &o->only, {.words = {"forward", "decode", "map", "window"}, .commas = true}),
      Option("--json", "Print JSON instead of a table", &o->json)};
  command.run = [o] { return runBenchCommand(*o); };
  return command;
}

}  // namespace
}  // namespace headscope::app

int main(int argc, char** argv) {
  return headscope::app::runProgram(argc, argv, HEADSCOPE_VERSION, {headscope::app::benchCommand()});
}
