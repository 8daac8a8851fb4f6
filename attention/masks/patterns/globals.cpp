#include <fmt/core.h>

#include "attention/core/random.h"
#include "attention/masks/patterns/definition.h"

namespace headscope::attention {

// Tokens that see all tokens and are seen by all.

namespace {

constexpr ParameterInfo kPositions = readFrom(text_parts::globals, "positions", ParameterKind::positions, "G",
                                              "positions of the global tokens");
constexpr std::array kGlobals{kPositions};
constexpr std::array kLongformer{
    wholeNumber("window", 1, 4, "keys seen on each side, including the query's own"), kPositions};

constexpr LookupTable kIsGlobal{
    .name = "is_global",
    .define =
        [](const TableSource& source) {
          const auto& positions = source.rule.lists->positions;
          limitCode(static_cast<Index>(positions.size()), kMaxSpelledOut, "the number of global tokens is");
          const std::string length = std::to_string(source.sizes.positions());
          return "@ = " + source.dialect.zeros(length, "bool") + "\n" +
                 (positions.empty() ? "" : "@[" + codeList(positions) + "] = True\n");
        },
    .value =
        [](const Rule& rule, const RowPlace&, Index token, Index) {
          const auto& positions = rule.lists->positions;
          return Index{std::binary_search(positions.begin(), positions.end(), token)};
        },
};

Truth global(const Number& i, const Number& j) {
  return called("{i} ∈ {positions}", holds(kIsGlobal, i)) | called("{j} ∈ {positions}", holds(kIsGlobal, j));
}

template <std::size_t kParameter>
Result<RuleLists> globalLists(const Given& given) {
  auto positions = given.positions(kParameter, given.geometry.keys, "keys");
  if (!positions) return positions.error();
  return RuleLists{.positions = std::move(positions).value()};
}

/// Appends all keys for a global token; for other tokens the global keys and keys begin … end−1.
void globalsRow(const Rule& rule, const RowPlace& at, Index begin, Index end, KeyRuns& out) {
  const auto& globals = rule.lists->positions;
  if (std::binary_search(globals.begin(), globals.end(), at.position)) return appendRun(out, 0, at.keys);
  // Inside documents(…), global tokens may lie beyond the document's keys.
  const auto last = std::lower_bound(globals.begin(), globals.end(), at.keys);
  const auto within = std::lower_bound(globals.begin(), last, begin);
  for (auto global = globals.begin(); global != within; ++global) appendRun(out, *global, *global + 1);
  appendRun(out, begin, end);
  for (auto global = within; global != last; ++global) appendRun(out, *global, *global + 1);
}

}  // namespace

constinit const Pattern patterns::globals{
    .info = {.name = "globals",
             .title = "Global tokens",
             .help = "A few tokens see all others and are seen by all.",
             .formula = "i ∈ G or j ∈ G",
             .users = "Longformer, ETC",
             .example = "globals([0, 11])",
             .parameters = kGlobals},
    .visible = global,
    .row = [](const Rule& rule, const RowPlace& at,
              KeyRuns& out) { globalsRow(rule, at, at.keys, at.keys, out); },
    .lists = globalLists<0>,
};

/// Beltagy et al. 2020, "Longformer: The Long-Document Transformer".
constinit const Pattern patterns::longformer{
    .info = {.name = "longformer",
             .title = "Global tokens + window",
             .help = "Each query sees the keys nearer than W and the global ones, which see all.",
             .formula = "|i − j| < W or i ∈ G or j ∈ G",
             .users = "Longformer",
             .example = "longformer(window=3, positions=[0, 11])",
             .parameters = kLongformer},
    .visible = [](const Number& i,
                  const Number& j) { return (abs(i - j) < parameter("window")) | global(i, j); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index i = at.position, window = rule.counts[0];
          globalsRow(rule, at, std::clamp<Index>(i - window + 1, 0, at.keys), std::min(i + window, at.keys),
                     out);
        },
    .lists = globalLists<1>,
};

namespace {

constexpr std::array kBigbirdNumbers{
    wholeNumber("block", 1, 4, "tokens per block"), wholeNumber("window", 0, 1, "blocks seen on each side"),
    wholeNumber("global", 0, 1,
                "global blocks at the start and at the end, which see all and are seen by all"),
    wholeNumber("random", 0, 1, "random blocks that each block of queries sees", 4096),
    wholeNumber("seed", 0, 1, "seed of the random blocks")};

/// The parameters by name.
struct BigBird {
  Index block, window, global, random, seed;
  explicit BigBird(const Rule& rule)
      : block(rule.counts[0]),
        window(rule.counts[1]),
        global(rule.counts[2]),
        random(rule.counts[3]),
        seed(rule.counts[4]) {}
};

/// The global and window blocks that a row of blocks sees: 0 … globalEnd−1, begin … end−1 and from
/// globalBegin on, with globalEnd ≤ begin ≤ end ≤ globalBegin.
struct SeenBlocks {
  Index blocks, globalEnd, globalBegin, begin, end;
  SeenBlocks(const BigBird& b, Index blockRow, Index count)
      : blocks(count),
        globalEnd(std::min(b.global, blocks)),
        globalBegin(std::max(globalEnd, blocks - b.global)),
        begin(std::clamp(blockRow - b.window, globalEnd, globalBegin)),
        end(std::clamp(blockRow + b.window + 1, begin, globalBegin)) {}
  /// False for rows beyond the last block of keys.
  bool isGlobal(Index block) const { return block < globalEnd || (block >= globalBegin && block < blocks); }
};

Index blocksOf(Index keys, Index block) {
  return (keys + block - 1) / block;
}

/// Draws `count` distinct numbers less than `below`, ascending, by Floyd's method (Bentley & Floyd 1987).
void drawDistinct(Index count, Index below, std::uint64_t seed, std::vector<Index>& out) {
  thread_local std::vector<bool> drawn;
  if (drawn.size() < static_cast<std::size_t>(below)) drawn.resize(static_cast<std::size_t>(below));
  Random random(seed);
  for (Index last = below - count; last < below; ++last) {
    auto pick = static_cast<Index>(random.next() % static_cast<std::uint64_t>(last + 1));
    if (drawn[static_cast<std::size_t>(pick)]) pick = last;
    drawn[static_cast<std::size_t>(pick)] = true;
    out.push_back(pick);
  }
  for (const Index pick : out) drawn[static_cast<std::size_t>(pick)] = false;
  std::sort(out.begin(), out.end());
}

/// Replaces `out` with the random blocks that row of blocks `blockRow` sees in addition to its window and the
/// global blocks: ascending, the same for all its rows, fewer than requested if there aren't enough.
void randomBlocks(const BigBird& bird, Index blockRow, Index keys, std::vector<Index>& out) {
  out.clear();
  const SeenBlocks seen(bird, blockRow, blocksOf(keys, bird.block));
  if (seen.isGlobal(blockRow)) return;
  const Index others = seen.globalBegin - seen.globalEnd - (seen.end - seen.begin);
  const Index count = std::min(bird.random, others);
  if (count == 0) return;
  const std::uint64_t seed =
      mixSeed(static_cast<std::uint64_t>(bird.seed), static_cast<std::uint64_t>(blockRow));
  drawDistinct(count, others, seed, out);
  for (Index& block : out) {
    block += seen.globalEnd;
    if (block >= seen.begin) block += seen.end - seen.begin;
  }
}

void bigBirdRow(const Rule& rule, const RowPlace& at, KeyRuns& out) {
  const BigBird bird(rule);
  const Index blockRow = at.position / bird.block;
  const Index count = blocksOf(at.keys, bird.block);
  const SeenBlocks seen(bird, blockRow, count);
  if (seen.isGlobal(blockRow)) return appendRun(out, 0, at.keys);
  thread_local std::vector<Index> blocks;
  randomBlocks(bird, blockRow, at.keys, blocks);
  const auto append = [&](Index begin, Index end) {
    appendRun(out, begin * bird.block, std::min(end * bird.block, at.keys));
  };
  append(0, seen.globalEnd);
  const auto middle = std::lower_bound(blocks.begin(), blocks.end(), seen.begin);
  for (auto block = blocks.begin(); block != middle; ++block) append(*block, *block + 1);
  append(seen.begin, seen.end);
  for (auto block = middle; block != blocks.end(); ++block) append(*block, *block + 1);
  append(seen.globalBegin, count);
}

/// The keys and positions of a document, or of the whole text without documents.
struct DocumentSizes {
  Index keys, positions;
};
std::vector<DocumentSizes> documentSizes(const TableSource& source) {
  const std::vector<Index> whole{0};
  const auto& starts = source.starts ? *source.starts : whole;
  std::vector<DocumentSizes> sizes;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const bool last = i + 1 == starts.size();
    sizes.push_back({(last ? source.sizes.keys : starts[i + 1]) - starts[i],
                     (last ? source.sizes.positions() : starts[i + 1]) - starts[i]});
  }
  return sizes;
}

/// Writes the global blocks; inside documents(…), for each document.
std::string defineGlobalBlocks(const TableSource& source) {
  const BigBird bird(source.rule);
  if (bird.global == 0) return "";
  const Index blocks = blocksOf(source.sizes.positions(), bird.block);
  const std::vector<DocumentSizes> documents = documentSizes(source);
  const auto count = static_cast<Index>(documents.size());
  limitCode(count, kMaxTableCells / std::max<Index>(1, blocks),
            fmt::format("the number of documents with {} blocks is", blocks));
  std::vector<std::string> items;
  for (std::size_t document = 0; document < documents.size(); ++document) {
    const SeenBlocks seen(bird, 0, blocksOf(documents[document].keys, bird.block));
    const std::string number = source.starts ? fmt::format("{}, ", document) : "";
    if (seen.globalEnd > 0) items.push_back(fmt::format("({}0, {})", number, seen.globalEnd));
    if (seen.globalBegin < seen.blocks)
      items.push_back(fmt::format("({}{}, {})", number, seen.globalBegin, seen.blocks));
  }
  const std::string index = source.starts ? "number, " : "";
  return source.filled(source.starts ? codeTuple({count, blocks}) : std::to_string(blocks), "bool", items,
                       index + "first, end", "[" + index + "first:end] = True");
}

constexpr LookupTable kGlobalBlocks{
    .name = "global_blocks",
    .define = defineGlobalBlocks,
    .value =
        [](const Rule& rule, const RowPlace& at, Index block, Index) {
          const BigBird bird(rule);
          return Index{SeenBlocks(bird, block, blocksOf(at.keys, bird.block)).isGlobal(block)};
        },
    .perDocument = true,
};

/// Writes the random blocks of every row of blocks; inside documents(…), for each document.
std::string defineRandomBlocks(const TableSource& source) {
  const BigBird bird(source.rule);
  if (bird.random == 0) return "";
  const Index positions = source.sizes.positions(), blocks = blocksOf(positions, bird.block);
  const std::vector<DocumentSizes> sizes = documentSizes(source);
  const auto documents = static_cast<Index>(sizes.size());
  limitCode(documents, kMaxTableCells / std::max<Index>(1, blocks * blocks),
            fmt::format("the number of documents with {} blocks is", blocks));
  std::vector<std::string> items;
  std::vector<Index> drawn;
  Index spelledOut = 0;
  for (std::size_t document = 0; document < sizes.size(); ++document) {
    for (Index row = 0; row * bird.block < sizes[document].positions; ++row) {
      randomBlocks(bird, row, sizes[document].keys, drawn);
      limitCode(spelledOut += static_cast<Index>(drawn.size()), kMaxSpelledOut,
                "the number of random blocks is");
      if (drawn.empty()) continue;
      const std::string number = source.starts ? fmt::format("{}, ", document) : "";
      items.push_back(fmt::format("({}{}, {})", number, row, codeList(drawn)));
    }
  }
  if (items.empty()) return "";
  const std::string index = source.starts ? "number, row, blocks" : "row, blocks";
  const std::string shape =
      source.starts ? codeTuple({documents, blocks, blocks}) : codeTuple({blocks, blocks});
  return source.filled(shape, "bool", items, index, "[" + index + "] = True");
}

constexpr LookupTable kRandomBlocks{
    .name = "random_blocks",
    .define = defineRandomBlocks,
    .value =
        [](const Rule& rule, const RowPlace& at, Index blockRow, Index block) {
          std::vector<Index> drawn;
          randomBlocks(BigBird(rule), blockRow, at.keys, drawn);
          return Index{std::binary_search(drawn.begin(), drawn.end(), block)};
        },
    .perDocument = true,
};

Truth bigBirdVisible(const Number& i, const Number& j) {
  const Number I = i / parameter("block"), J = j / parameter("block");
  return (abs(I - J) <= parameter("window")) |
         called("⌊{i}/{block}⌋ among the first or last {global}", holds(kGlobalBlocks, I)) |
         called("⌊{j}/{block}⌋ among the first or last {global}", holds(kGlobalBlocks, J)) |
         called("⌊{j}/{block}⌋ ∈ R(⌊{i}/{block}⌋), {random} random of seed {seed}",
                holds(kRandomBlocks, I, J));
}

}  // namespace

/// Zaheer et al. 2020, "Big Bird: Transformers for Longer Sequences"; the first and the last blocks are
/// global as in its published code.
constinit const Pattern patterns::bigBird{
    .info = {.name = "bigbird",
             .title = "BigBird",
             .help = "Blocks see their neighbours, the global blocks at both ends and a few drawn at random.",
             .formula = "blocks I, J: |I − J| ≤ w or I ∈ G or J ∈ G or J ∈ R(I), G: g at each end",
             .users = "BigBird",
             .example = "bigbird(block=2, window=1, global=1, random=2, seed=3)",
             .parameters = kBigbirdNumbers},
    .visible = bigBirdVisible,
    .row = bigBirdRow,
};

}  // namespace headscope::attention
