#include <gtest/gtest.h>

#include <set>

#include "attention/masks/code.h"
#include "attention/masks/compile.h"
#include "attention/masks/program.h"
#include "tests/attention/masks/code_cases.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/attention/masks/random_layers.h"
#include "tests/attention/masks/symbolic_cells.h"
#include "tests/support/matchers.h"

// These tests walk the pattern table, so a new pattern is covered without changing any test.

namespace headscope::attention::test {
namespace {

constexpr MaskCode kLanguages[] = {MaskCode::flexAttention, MaskCode::pytorch, MaskCode::numpy};

/// A pattern with random arguments, and the cells that these name.
struct RandomUse {
  MaskLayers layers;
  MaskSources sources;
};

RandomUse randomUse(RandomLayers& random, const PatternInfo& info, const MaskGeometry& geometry,
                    int depth = 0) {
  RandomUse out;
  out.layers.emplace_back().pattern = random.use(info, depth);
  const auto& arguments = out.layers[0].pattern.arguments;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k]) continue;
    const std::string& text = arguments[k]->text;
    if (info.parameters[k].kind == ParameterKind::name)
      out.sources.paintings[text] = codeCells(1, geometry.queries - 1, geometry.keys - 2, false);
    if (info.parameters[k].kind == ParameterKind::path)
      out.sources.files[fileKey(text, arguments[k + 1]->text)] =
          codeCells(1, geometry.queries, geometry.keys, true);
  }
  return out;
}

TEST(PatternTable, DescribesEveryPattern) {
  std::set<std::string_view> names, titles;
  for (std::size_t k = 0; k < patternTable().size(); ++k) {
    const PatternInfo& info = patternTable()[k];
    SCOPED_TRACE(info.name);
    EXPECT_EQ(static_cast<std::size_t>(info.kind), k);
    EXPECT_EQ(findPattern(info.name)->kind, info.kind);
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_TRUE(titles.insert(info.title).second);
    EXPECT_THAT(std::string(info.help), EndsWith("."));
    EXPECT_FALSE(info.formula.empty());
    EXPECT_FALSE(info.users.empty());
    const Pattern& pattern = patternOf(info.kind);
    // Rows come from exactly one source.
    EXPECT_EQ((pattern.row ? 1 : 0) + (pattern.cells ? 1 : 0) + (info.takesInner ? 1 : 0), 1);
    EXPECT_EQ(info.example.empty(), pattern.cells != nullptr);
    EXPECT_EQ(pattern.where.empty(), pattern.cells == nullptr);
  }
}

TEST(PatternTable, DescribesEveryParameter) {
  for (const PatternInfo& info : patternTable()) {
    std::set<std::string_view> names;
    for (const ParameterInfo& parameter : info.parameters) {
      SCOPED_TRACE(std::string(info.name) + " " + std::string(parameter.name));
      EXPECT_TRUE(names.insert(parameter.name).second);
      EXPECT_FALSE(parameter.meaning.empty());
      const TextPart* part = parameter.fromText;
      const bool isCount = parameter.kind == ParameterKind::count;
      if (isCount) {
        EXPECT_LT(parameter.low, parameter.high);
        EXPECT_LE(parameter.high, kMaxMaskCount);
      }
      if (isCount && !part) {
        EXPECT_LE(parameter.low, parameter.defaultValue);
        EXPECT_LE(parameter.defaultValue, parameter.high);
      }
      if (!part) continue;
      EXPECT_EQ(part->count != nullptr, isCount);
      EXPECT_EQ(part->spans != nullptr, parameter.kind == ParameterKind::spans);
      EXPECT_EQ(part->positions != nullptr,
                parameter.kind == ParameterKind::positions || parameter.kind == ParameterKind::parents);
      // Formulas need a symbol for it.
      EXPECT_TRUE(!isCount || !parameter.symbol.empty());
    }
  }
}

TEST(PatternTable, PatternTextsRoundTrip) {
  RandomLayers random(1);
  for (const PatternInfo& info : patternTable()) {
    for (int round = 0; round < 40; ++round) {
      Layer layer;
      layer.pattern = random.use(info, 2);
      const std::string text = maskText({layer});
      const ParsedMask read = parseMask(text);
      ASSERT_FALSE(read.error) << text << ": " << read.error->message;
      EXPECT_EQ(read.layers, MaskLayers{layer}) << text;
    }
  }
}

TEST(PatternTable, EveryPatternPrintsFormulaAndCode) {
  RandomLayers random(2);
  const MaskGeometry geometry = codeGeometry(60, 60);
  for (const PatternInfo& info : patternTable()) {
    int printed = 0;
    for (int round = 0; round < 30; ++round) {
      const RandomUse use = randomUse(random, info, geometry);
      const std::string text = maskText(use.layers);
      EXPECT_THAT(maskFormula(use.layers, 0, 0, 0), Not(::testing::AnyOf("", HasSubstr("$")))) << text;
      for (const MaskCode language : kLanguages) {
        const auto code = maskCode(language, use.layers, geometry, use.sources);
        if (!code) continue;
        ++printed;
        EXPECT_THAT(*code, HasSubstr("q_idx, kv_idx):\n"));
        EXPECT_THAT(*code, HasSubstr("return "));
        EXPECT_THAT(*code, Not(HasSubstr("$"))) << text;
        // "@" is a placeholder for an array's name.
        EXPECT_THAT(*code, Not(HasSubstr("@"))) << text;
      }
    }
    EXPECT_GT(printed, 0) << info.name;
  }
}

/// Compares the rows of one rule with the cells of its tree. Returns the number of cells.
int expectCellsOfRows(const RandomUse& use, const MaskGeometry& geometry) {
  const auto programs = resolveMask(use.layers, geometry, use.sources);
  if (!programs) return 0;
  const auto mask = compiled(use.layers, geometry, use.sources);
  for (Index head = 0; head < geometry.heads; ++head) {
    const auto variant = static_cast<std::size_t>(programs->variantOf[static_cast<std::size_t>(head)]);
    const Rule& rule = programs->variants[variant].at(0).rule;
    const SymbolicCells cells(rule, {geometry.queries, geometry.keys, geometry.cacheLength});
    const MaskPicture picture = pictureOf(*mask, head);
    for (Index row = 0; row < geometry.queries; ++row) {
      std::string wanted;
      for (Index key = 0; key < geometry.keys; ++key)
        wanted += cells.visible(row, key) || !cells.says(row, key) ? '#' : '.';
      EXPECT_EQ(picture[static_cast<std::size_t>(row)], wanted)
          << maskText(use.layers) << ", head " << head << ", row " << row << " of " << geometry.queries
          << " × " << geometry.keys << " after " << geometry.cacheLength;
      if (::testing::Test::HasFailure()) return 0;
    }
  }
  return static_cast<int>(geometry.heads * geometry.queries * geometry.keys);
}

TEST(PatternTable, RowsMatchCellsOfTheExpression) {
  RandomLayers random(3);
  const MaskGeometry geometries[] = {codeGeometry(60, 60, 0, 3), codeGeometry(9, 60, 51),
                                     codeGeometry(20, 55, 40, 2), codeGeometry(60, 31, 4),
                                     codeGeometry(3, 3)};
  for (const PatternInfo& info : patternTable()) {
    int cells = 0;
    for (int round = 0; round < 15; ++round) {
      for (const MaskGeometry& geometry : geometries) {
        cells += expectCellsOfRows(randomUse(random, info, geometry), geometry);
        if (HasFailure()) return;
      }
    }
    EXPECT_GT(cells, 5 * 60 * 60) << info.name;
  }
}

/// Inside documents(…), a pattern with its arguments is the same as over a text of the document's length.
TEST(PatternTable, PatternsRestartInEachDocument) {
  constexpr Index kStarts[] = {0, 9, 13, 40};
  for (const PatternInfo& info : patternTable()) {
    if (info.takesInner || info.example.empty()) continue;
    SCOPED_TRACE(info.name);
    const MaskGeometry geometry = codeGeometry(40, 40);
    const std::string text = "documents(" + std::string(info.example) + ", starts=[9, 13])";
    const auto mask = compiled(text, geometry);
    const auto programs = checked(resolveMask(parseMask(text).layers, geometry, {}));
    const Rule& inner = programs->variants[0].at(0).rule.inner.at(0).rule;
    const MaskPicture rows = pictureOf(*mask);
    for (std::size_t document = 0; document < 3; ++document) {
      const Index start = kStarts[document], length = kStarts[document + 1] - start;
      const SymbolicCells cells(inner, {length, length, 0});
      for (Index i = 0; i < length; ++i) {
        std::string wanted(40, '.');
        for (Index j = 0; j < length; ++j)
          if (cells.visible(i, j)) wanted[static_cast<std::size_t>(start + j)] = '#';
        ASSERT_EQ(rows[static_cast<std::size_t>(start + i)], wanted)
            << "query " << i << " of document " << document;
      }
    }
  }
}

// A pattern that only the tests define: its definition is all that rows and texts need.

constexpr std::array kParameters{wholeNumber("chunk", 1, 4, "tokens a chunk"),
                                 wholeNumber("left", 0, 1, "chunks seen before the query's own")};

/// Zhang et al. 2020, "Unified Streaming and Non-streaming Two-pass End-to-end Model for Speech Recognition".
constinit const Pattern kChunkWindow{
    .info = {.name = "chunk_window", .title = "Chunks and those before", .parameters = kParameters},
    .visible =
        [](const Number& i, const Number& j) {
          return atMostBack(i / parameter("chunk"), j / parameter("chunk"), parameter("left"));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index chunk = rule.counts[0], own = at.position / chunk * chunk;
          appendWithin(out, own - rule.counts[1] * chunk, own + chunk, at.keys);
        },
};

TEST(PatternDefinition, SufficesForFormulaCodeAndRows) {
  PatternUse use;
  use.arguments = {Argument{{5}, ""}, Argument{{2, 7}, ""}};
  const auto formula = [&](Index head) { return patternFormula(kChunkWindow, use, head, "").text; };
  EXPECT_EQ(formula(0), "0 ≤ ⌊i/5⌋ − ⌊j/5⌋ ≤ 2");
  EXPECT_EQ(formula(1), "0 ≤ ⌊i/5⌋ − ⌊j/5⌋ ≤ 7");

  Rule rule;
  rule.pattern = &kChunkWindow;
  rule.counts = {5, 2};
  const CodeSizes sizes{30, 40, 10};
  for (const MaskCode language : kLanguages) {
    const CodeDialect dialect(language);
    CodeTables tables(dialect);
    EXPECT_EQ(RuleCode(rule, {}, dialect, sizes, tables).write().visible.text,
              "(j // 5 <= i // 5) & (i // 5 - j // 5 <= 2)");
  }

  const SymbolicCells cells(rule, sizes);
  RowEvaluator evaluator;
  KeyRuns runs;
  for (Index row = 0; row < sizes.queries; ++row) {
    evaluator.visibleRuns({Step{Combine::all, false, rule, {}}}, {row, row + 10, sizes.keys, 10}, runs);
    ASSERT_TRUE(wellFormed(runs, sizes.keys));
    for (Index key = 0; key < sizes.keys; ++key) {
      const bool within = std::any_of(runs.begin(), runs.end(),
                                      [&](const KeyRun& run) { return run.begin <= key && key < run.end; });
      ASSERT_EQ(within, cells.visible(row, key)) << row << ", " << key;
    }
  }
}

}  // namespace
}  // namespace headscope::attention::test
