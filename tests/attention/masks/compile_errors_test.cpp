#include <gtest/gtest.h>

#include "tests/attention/masks/mask_support.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

std::string errorAt24(const std::string& text) {
  return errorOf(text, geometryOf(24, 24, 0, 8));
}

/// The error for a pattern with arguments that the text form itself would refuse.
std::string errorOfUse(PatternKind kind, std::vector<std::optional<Argument>> arguments) {
  Layer layer;
  layer.pattern = {kind, std::move(arguments), {}};
  return messageOf(compileMask({layer}, geometryOf(24, 24)));
}

std::optional<Argument> values(std::vector<Index> given) {
  return Argument{std::move(given), ""};
}

TEST(CompileMaskErrors, ReportsUnorderedLists) {
  EXPECT_EQ(errorOfUse(PatternKind::packed, {values({16, 7})}),
            "packed's starts hold 7 after 16, expected ascending positions");
  EXPECT_EQ(errorOfUse(PatternKind::packed, {values({7, 7})}),
            "packed's starts hold 7 after 7, expected ascending positions");
  EXPECT_EQ(errorOfUse(PatternKind::globals, {values({-2, 7})}),
            "globals' positions hold -2, expected 0 or more");
  EXPECT_EQ(errorOfUse(PatternKind::image, {values({3, 9, 5, 12})}),
            "image's spans hold 5-12 after 3-9, expected ascending spans that don't overlap");
  EXPECT_EQ(errorOfUse(PatternKind::image, {values({9, 3})}),
            "image's spans hold 9-3, expected the first position before the last");
  EXPECT_EQ(errorOfUse(PatternKind::image, {values({1, 3, 5})}),
            "image's spans contain a span without a last position");
  EXPECT_EQ(errorOfUse(PatternKind::intervals, {values({0, 5}), values({9, 12, 3, 10})}), "no error");
}

TEST(CompileMaskErrors, ReportsInvalidCounts) {
  EXPECT_EQ(errorOfUse(PatternKind::window, {values({0})}), "window is 0, expected 1 to 1073741824");
  EXPECT_EQ(errorOfUse(PatternKind::dilated, {values({4}), values({0})}),
            "dilated's step is 0, expected 1 to 1073741824");
  EXPECT_EQ(errorOfUse(PatternKind::window, {values({})}), "window has no value, expected at least one");
  // Omitted arguments have the table's default.
  EXPECT_EQ(errorOfUse(PatternKind::dilated, {}), "no error");
  EXPECT_EQ(errorOfUse(PatternKind::neighborhood, {values({0}), values({3})}),
            "neighborhood's height is 0, expected 1 to 1073741824");
}

TEST(CompileMaskErrors, ReportsInconsistentCounts) {
  for (const std::string name : {"neighborhood", "neighborhood_z"}) {
    EXPECT_EQ(errorAt24(name + "(kernel=4)"), name + "'s kernel is 4, expected 1, 3, 5, …");
    EXPECT_EQ(errorAt24(name + "(kernel=5)"), "no error");
  }
}

TEST(CompileMaskErrors, ReportsInvalidTrees) {
  EXPECT_EQ(errorOfUse(PatternKind::tree, {values({20}), values({-2})}),
            "tree's parents hold -2, expected -1 for the prefix or a node");
  MaskGeometry marked = geometryOf(6, 6);
  marked.structure.treePrefix = 2;
  marked.structure.parents = {1, 0};
  EXPECT_EQ(errorOf("tree", marked), "tree's parents form a cycle: 0 → 1 → 0");
}

TEST(CompileMaskErrors, ReportsPatternsInvalidInsideDocuments) {
  // Omitted arguments would be read off the whole text.
  for (const auto& [name, missing] : {std::pair<std::string, std::string>{"packed", "starts"},
                                      {"tree", "prefix"},
                                      {"image", "spans"},
                                      {"globals", "positions"},
                                      {"prefix_lm", "prefix"},
                                      {"padding", "length"},
                                      {"shared_prefix", "starts"},
                                      {"intervals", "queries"},
                                      {"neighborhood", "height"},
                                      {"block_diffusion", "half"},
                                      {"longformer", "positions"}})
    EXPECT_EQ(errorAt24("documents(causal & (full | " + name + "), starts=[4])"),
              "documents(…) holds " + name + " without its " + missing +
                  ", which is otherwise taken from the whole text; expected " + name + "(" + missing + "=…)");
}

TEST(CompileMaskErrors, ReportsUnusablePaintingsAndFiles) {
  const MaskGeometry geometry = geometryOf(9, 9, 0, 4);
  MaskSources sources;
  sources.files[fileKey("mask.npy", "visible")] = cellsOf({MaskPicture(8, "#.#.#.#.")});
  const MaskPicture fits(9, "#.#.#.#.#");
  sources.files[fileKey("heads.npy", "masked")] = cellsOf({fits, fits, fits});
  sources.files[fileKey("fits.npy", "masked")] = cellsOf({fits});
  sources.paintings["gone"] = nullptr;
  EXPECT_EQ(errorOf("painted(\"p1\")", geometry, sources), "there is no painting \"p1\"");
  EXPECT_EQ(errorOf("painted(\"gone\")", geometry, sources), "there is no painting \"gone\"");
  EXPECT_EQ(errorOf("file(\"mask.npy\", visible)", geometry, sources), "mask.npy is 8 × 8, expected 9 × 9");
  EXPECT_EQ(errorOf("file(\"mask.npy\", masked)", geometry, sources), "mask.npy has not been read as masked");
  EXPECT_EQ(errorOf("file(\"heads.npy\", masked)", geometry, sources),
            "heads.npy has 3 heads, expected 1 or 4");
  EXPECT_EQ(errorOf("file(\"fits.npy\", masked)", geometry, sources), "no error");
  EXPECT_EQ(errorOf("off: painted(\"p1\") & heads(9): painted(\"p1\")", geometry, sources), "no error");
  Layer painted, file;
  painted.pattern = defaultUse(PatternKind::painted);
  file.pattern = defaultUse(PatternKind::file);
  EXPECT_EQ(compileMask({painted}, geometry, sources).error().message,
            "painted has no name, expected painted(\"…\")");
  EXPECT_EQ(compileMask({file}, geometry, sources).error().message,
            "file has no path or no convention, expected file(\"…\", visible), masked or additive");
}

}  // namespace
}  // namespace headscope::attention::test
