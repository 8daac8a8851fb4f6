#include <fmt/core.h>
#include <fmt/format.h>

#include "app/commands/commands.h"
#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/compute/mask/mask_study.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/masks/mask_file.h"
#include "attention/masks/code.h"
#include "attention/masks/compile.h"
#include "attention/masks/statistics.h"
#include "attention/text/ascii.h"

namespace headscope::app {

namespace {

using attention::MaskFormula;
using attention::MaskStatistics;

/// More tokens than any model reads; the block map grows with their square.
constexpr Index kMaxTokens = Index{1} << 20, kMaxHeads = 1024;

struct MaskOptions {
  std::string output, convention, code;
  std::optional<std::string> expression, text;
  std::optional<Index> queries, keys, cache, kvHeads, head;
  Index heads = 1;
  bool list = false;
};

std::string endingOf(const std::string& path) {
  return attention::lowerCase(std::filesystem::path(path).extension().string());
}

/// Refuses options whose values are wrong for any mask.
void checkOptions(const MaskOptions& options) {
  if (!options.expression) refuse("EXPR is missing: a mask such as \"causal & window(128)\", or --list");
  if (options.text && (options.queries || options.keys))
    refuse("--text sets the numbers of queries and keys; expected no --queries or --keys with it");
  if (!options.text && !options.queries) refuse("--queries or --text is missing");
  const std::tuple<const char*, std::optional<Index>, Index, Index> ranges[] = {
      {"--queries", options.queries, 1, kMaxTokens},     {"--keys", options.keys, 1, kMaxTokens},
      {"--cache", options.cache, 0, kMaxTokens},         {"--heads", options.heads, 1, kMaxHeads},
      {"--kv-heads", options.kvHeads, 1, options.heads}, {"--head", options.head, 0, options.heads - 1}};
  for (const auto& [option, value, low, high] : ranges)
    if (value) checkRange(option, *value, low, high);
  if (options.kvHeads && options.heads % *options.kvHeads != 0)
    refuse(
        fmt::format("--kv-heads is {}, expected a divisor of the {} heads", *options.kvHeads, options.heads));
  const std::string ending = endingOf(options.output);
  if (options.output.empty()) {
    if (!options.convention.empty()) refuse("--convention is for a file: -o FILE is missing");
  } else if (!options.code.empty()) {
    refuse("--code prints; expected no -o with it");
  } else if (ending != ".npy" && ending != ".csv" && ending != ".safetensors" && ending != ".png") {
    refuse("-o is " + attention::shownPath(options.output) +
           ", expected a name that ends in .npy, .csv, .safetensors or .png");
  } else if (ending == ".png" && !options.convention.empty()) {
    refuse("--convention is for numbers; a .png shows what is visible");
  }
}

attention::MaskGeometry geometryOf(const MaskOptions& options) {
  attention::MaskGeometry geometry;
  geometry.heads = options.heads;
  geometry.kvHeads = options.kvHeads.value_or(options.heads);
  geometry.cacheLength = options.cache.value_or(0);
  if (options.text) {
    const auto lines = attention::tokenize(*options.text, attention::Tokenization::words);
    if (!lines) refuse("--text: " + lines.error().message);
    if (lines->size() != 1) refuse(fmt::format("--text has {} lines with tokens, expected 1", lines->size()));
    const auto& tokens = lines->front();
    geometry.keys = static_cast<Index>(tokens.size());
    if (geometry.keys > kMaxTokens)
      refuse(fmt::format("--text has {} tokens, expected at most {}", geometry.keys, kMaxTokens));
    if (geometry.cacheLength >= geometry.keys)
      refuse(fmt::format("--cache is {}, expected less than the {} tokens of the text", geometry.cacheLength,
                         geometry.keys));
    geometry.queries = geometry.keys - geometry.cacheLength;
    geometry.structure = attention::structureOf(tokens, tokens, {});
  } else {
    geometry.queries = *options.queries;
    geometry.keys = options.keys.value_or(geometry.queries);
    geometry.structure = attention::structureOf(geometry.queries, geometry.keys, {});
  }
  geometry.keyLength = geometry.keys;
  return geometry;
}

attention::MaskSources readSources(const attention::MaskLayers& layers) {
  attention::MaskSources sources;
  for (const auto& [path, word] : attention::filesOf(layers)) {
    const auto convention = orFail(attention::parseConvention(word));
    const auto file = orFail(attention::readMaskFile(path, convention, defaultLimits().memoryBytes));
    sources.files[attention::fileKey(path, word)] = file.cells;
    for (const std::string& note : maskFileNotes(path, file.largeNumbers, !file.additive.empty())) warn(note);
  }
  return sources;
}

/// One head of a mask, presented as a mask with a single head.
class OneHead final : public MaskFormula {
 public:
  OneHead(const MaskFormula& mask, Index head) : mask_(mask), variant_(mask.variantOf(head)) {}
  Index heads() const override { return 1; }
  Index queries() const override { return mask_.queries(); }
  Index keys() const override { return mask_.keys(); }
  Index variants() const override { return 1; }
  Index variantOf(Index) const override { return 0; }
  void visibleRuns(Index, Index row, attention::KeyRuns& runs) const override {
    mask_.visibleRuns(variant_, row, runs);
  }

 private:
  const MaskFormula& mask_;
  Index variant_;
};

std::string sizeText(const MaskFormula& mask) {
  const std::string size = fmt::format("{} × {}", mask.queries(), mask.keys());
  return mask.variants() == 1 ? size : fmt::format("{} heads of {}", mask.heads(), size);
}

int writePicture(const MaskOptions& options, const MaskFormula& mask) {
  orFail(writeMaskPicture(options.output, mask, mask.variantOf(0)));
  const std::string cells = std::to_string(cellsPerPixel(mask));
  return print(attention::shownPath(options.output) + ": " + sizeText(mask) + ", light = visible" +
               (cells == "1" ? "" : ", a pixel is " + cells + " × " + cells + " cells") + "\n");
}

int writeNumbers(const MaskOptions& options, const MaskFormula& mask) {
  const auto convention = options.convention.empty() ? attention::MaskConvention::visible
                                                     : *attention::parseConvention(options.convention);
  orFail(attention::writeMaskFile(options.output, mask, convention));
  const bool text = endingOf(options.output) == ".csv";
  const std::string meaning = convention == attention::MaskConvention::additive
                                  ? "0 = visible, -inf = masked"
                                  : (text ? "1 = " : "true = ") + attention::conventionName(convention);
  return print(attention::shownPath(options.output) + ": " + sizeText(mask) + ", convention " +
               attention::conventionName(convention) + " (" + meaning + ")\n");
}

int writeMask(const MaskOptions& options, const MaskFormula& mask) {
  const std::string ending = endingOf(options.output);
  if (options.head) {
    const OneHead one(mask, *options.head);
    return ending == ".png" ? writePicture(options, one) : writeNumbers(options, one);
  }
  if (mask.variants() > 1 && (ending == ".png" || ending == ".csv"))
    refuse(fmt::format("the heads have {} different masks, and a {} file holds one: choose with --head",
                       mask.variants(), ending));
  return ending == ".png" ? writePicture(options, mask) : writeNumbers(options, mask);
}

attention::MaskCode languageOf(const std::string& word) {
  if (word == "torch") return attention::MaskCode::pytorch;
  return word == "numpy" ? attention::MaskCode::numpy : attention::MaskCode::flexAttention;
}

constexpr Index kBlockSize = 128;

std::string countOf(Index value) {
  return countText(static_cast<std::uint64_t>(value));
}

/// "12.50%". Only nothing is "0%", and only everything is "100%".
std::string shareText(double share) {
  if (share <= 0) return "0%";
  if (share >= 1) return "100%";
  if (share > 0.9999) return "more than 99.99%";
  if (share < 0.0001) return "less than 0.01%";
  return fmt::format("{:.2f}%", share * 100);
}

/// "3 (0, 5, 6)", listing the first few; "none" if the count is 0.
std::string somePositions(Index count, const std::vector<Index>& first) {
  constexpr std::size_t kMax = 8;
  if (count == 0) return "none";
  const auto shown = std::span(first).first(std::min(first.size(), kMax));
  const bool more = static_cast<Index>(shown.size()) < count;
  return fmt::format("{} ({}{})", countOf(count), fmt::join(shown, ", "), more ? ", …" : "");
}

std::string futureText(const MaskStatistics& statistics) {
  if (!statistics.firstFuture) return "none";
  return fmt::format("{}, the first: query {} sees key {}", countText(statistics.future),
                     statistics.firstFuture->query, statistics.firstFuture->key);
}

std::string variantReport(const attention::MaskFormula& mask, Index variant, Index cacheLength) {
  const MaskStatistics statistics = attention::measureMask(mask, variant, cacheLength);
  const attention::BlockMap blocks = attention::mapBlocks(mask, variant, kBlockSize);
  const std::string of =
      statistics.sampled ? " in " + countedText(statistics.rowsCounted, "sampled row") : "";
  std::string text = "  density: " + shareText(statistics.density()) + ", " + countText(statistics.visible) +
                     " of " + countText(statistics.cells) + " cells" + of + "\n";
  text += "  rows that see nothing: " + somePositions(statistics.emptyRows, statistics.firstEmptyRows) + of +
          "\n";
  text += "  keys no query sees: " +
          (statistics.unseenKeys < 0 ? "not counted, rows were sampled"
                                     : somePositions(statistics.unseenKeys, statistics.firstUnseenKeys)) +
          "\n";
  text += "  future pairs: " + futureText(statistics) + of + "\n";
  text += fmt::format("  blocks of {}: {} full, {} partial, {} empty\n", kBlockSize, countOf(blocks.full),
                      countOf(blocks.partial), countOf(blocks.empty));
  text += "  FLOPs saved by skipping empty blocks: " + shareText(1 - blocks.computedShare()) + "\n";
  return text;
}

/// "heads 0-2, 5".
std::string headsText(const std::vector<Index>& heads) {
  std::string text = attention::nounFor(heads.size(), "head") + " ";
  for (std::size_t i = 0; i < heads.size();) {
    std::size_t last = i;
    while (last + 1 < heads.size() && heads[last + 1] == heads[last] + 1) ++last;
    text += (i == 0 ? "" : ", ") + std::to_string(heads[i]);
    if (last > i) text += fmt::format("-{}", heads[last]);
    i = last + 1;
  }
  return text;
}

/// Everything printed about a mask: its text, omitted layers, and for every group of heads with the same mask
/// (only `head`'s if given) formula, density, empty rows, unseen keys, future pairs and blocks. If
/// `cacheGiven` is false and queries and keys differ in number, also the first query's position.
std::string maskReport(const attention::MaskLayers& layers, const attention::MaskGeometry& geometry,
                       const attention::MaskFormula& mask, std::optional<Index> head, bool cacheGiven) {
  std::string size = countedText(mask.queries(), "query") + " × " + countedText(mask.keys(), "key") + ", " +
                     countedText(mask.heads(), "head");
  if (geometry.cacheLength > 0) size += ", " + countedText(geometry.cacheLength, "token") + " cached";
  if (geometry.queries != geometry.keys && !cacheGiven)
    size += ", first query at position 0 (--cache is not given)";
  std::string text = "mask: " + (layers.empty() ? "everything" : maskText(layers)) + "\nsize: " + size + "\n";
  for (const auto& [layer, reason] : omittedLayers(layers, geometry))
    text += "omitted: " + layer + " (" + reason + ")\n";
  for (Index variant = 0; variant < mask.variants(); ++variant) {
    std::vector<Index> heads;
    for (Index h = 0; h < mask.heads(); ++h)
      if (mask.variantOf(h) == variant && (!head || *head == h)) heads.push_back(h);
    if (heads.empty()) continue;
    const Index kvHead = geometry.kvHeadOf(heads[0]);
    text += headsText(heads) + ": " + maskFormula(layers, heads[0], kvHead, geometry.sequence) + "\n";
    text += variantReport(mask, variant, geometry.cacheLength);
  }
  return text;
}

/// Lists all patterns with their formulas, parameters and limits.
std::string patternList() {
  std::string text;
  for (const attention::PatternInfo& info : attention::patternTable()) {
    text += std::string(info.name) + ": " + std::string(info.formula) + "\n";
    text += "  " + std::string(info.title) + "; " + std::string(info.users) + "\n";
    text += "  " + std::string(info.help) + "\n";
    if (info.takesInner) text += "  first, a mask over positions inside the document; default full\n";
    for (const auto& parameter : info.parameters) text += "  " + parameterText(parameter) + "\n";
    if (!info.example.empty()) text += "  for example " + std::string(info.example) + "\n";
  }
  return text;
}

int runMask(const MaskOptions& options) {
  if (options.list) return print(patternList());
  checkOptions(options);
  const attention::MaskGeometry geometry = geometryOf(options);
  const attention::ParsedMask parsed = attention::parseMask(*options.expression);
  if (parsed.error)
    return fail(
        {parsed.error->message + "\n" + attention::caretText(*options.expression, parsed.error->offset)});
  orFail(attention::checkHeads(parsed.layers, geometry.heads, geometry.kvHeads));
  const attention::MaskSources sources = readSources(parsed.layers);
  const auto mask = orFail(attention::compileMask(parsed.layers, geometry, sources));
  const bool written = !options.output.empty() || !options.code.empty();
  if (written && geometry.queries != geometry.keys && !options.cache)
    warn(attention::positionRule(geometry.queries, geometry.keys, geometry.cacheLength) +
         " (--cache is not given)");
  if (!options.output.empty()) return writeMask(options, *mask);
  if (options.code.empty())
    return print(maskReport(parsed.layers, geometry, *mask, options.head, options.cache.has_value()));
  return print(orFail(attention::maskCode(languageOf(options.code), parsed.layers, geometry, sources)));
}

}  // namespace

Command maskCommand() {
  const auto o = std::make_shared<MaskOptions>();
  Command command{"mask", "Summarise a mask, or write it as a file or as code"};
  command.options = {
      Option("EXPR", "The mask, such as \"causal & (window(128) | sinks(4))\"", &o->expression),
      Option("--queries N", "Number of queries", &o->queries),
      Option("--keys M", "Number of keys; default: same as queries", &o->keys),
      Option("--cache C", "Cached tokens before the first query; default 0", &o->cache),
      Option("--text",
             "A line of text in place of --queries: its words are the tokens and "
             "define documents, prefix, images …",
             &o->text),
      Option("--heads H", "Query heads", &o->heads, kShown),
      Option("--kv-heads G", "Key and value heads; default: same as heads", &o->kvHeads),
      Option("--head h", "Only this head", &o->head),
      Option("-o,--output FILE", "Write a .npy, .csv, .safetensors or .png", &o->output, kFileName),
      Option("--convention",
             "Meaning of the file's numbers: visible (true = visible), masked (true = masked) or "
             "additive (0 and -inf); default visible",
             &o->convention, {.words = {"visible", "masked", "additive"}}),
      Option("--code", "Print code that builds the mask: flex, torch or numpy", &o->code,
             {.words = {"flex", "torch", "numpy"}}),
      Option("--list", "Print every pattern with its formula and parameters", &o->list)};
  command.run = [o] { return runMask(*o); };
  return command;
}

std::string parameterText(const attention::ParameterInfo& parameter) {
  using Kind = attention::ParameterKind;
  std::string text(parameter.name);
  if (parameter.kind == Kind::count) {
    text += parameter.step == 1 ? fmt::format(": {} to {}", parameter.low, parameter.high)
                                : fmt::format(": {}, {}, … {}", parameter.low, parameter.low + parameter.step,
                                              parameter.high);
    if (!parameter.notAbove.empty()) text += fmt::format(" and at most {}", parameter.notAbove);
    if (!parameter.fromText) text += fmt::format(", default {}", parameter.defaultValue);
  } else if (parameter.kind == Kind::positions) {
    text += ": [0, 11]";
  } else if (parameter.kind == Kind::spans) {
    text += ": [0-3, 8-11]";
  } else if (parameter.kind == Kind::parents) {
    text += ": [-1, 0, 0]";
  } else {
    text += parameter.kind == Kind::convention ? ": visible, masked or additive" : ": \"…\"";
  }
  if (parameter.fromText) text += ", default: from the text";
  return text + "; " + std::string(parameter.meaning);
}

}  // namespace headscope::app
