#include <gtest/gtest.h>

#include "attention/masks/expression.h"
#include "tests/support/matchers.h"

namespace headscope::attention {
namespace {

std::string formula(const std::string& text, Index head = 0, Index kvHead = 0, Index sequence = 0) {
  const ParsedMask mask = parseMask(text);
  EXPECT_FALSE(mask.error) << text;
  return maskFormula(mask.layers, head, kvHead, sequence);
}

TEST(MaskFormulaText, UsesSymbolsAndNumbers) {
  EXPECT_EQ(formula(""), "true");
  EXPECT_EQ(formula("causal & (window(128) | sinks(4))"), "j ≤ i ∧ (0 ≤ i − j < 128 ∨ j < 4)");
  EXPECT_EQ(formula("(causal | sinks(4)) & window(3)"), "(j ≤ i ∨ j < 4) ∧ 0 ≤ i − j < 3");
  EXPECT_EQ(formula("causal & sinks(4) | full"), "j ≤ i ∧ j < 4 ∨ true");
  EXPECT_EQ(formula("!causal & !(full | sinks(1))"), "¬(j ≤ i) ∧ ¬(true ∨ j < 1)");
  EXPECT_EQ(formula("streaming(sinks=2, window=6)"), "j ≤ i ∧ (j < 2 ∨ i − j < 6)");
  EXPECT_EQ(formula("prefix_lm"), "j < P ∨ j ≤ i");
  EXPECT_EQ(formula("prefix_lm(9)"), "j < 9 ∨ j ≤ i");
  EXPECT_EQ(formula("dilated(window=9, step=3)"), "|i − j| ≤ 9 ∧ (i − j) mod 3 = 0");
  EXPECT_EQ(formula("fixed(block=6, summary=1)"), "j ≤ i ∧ (⌊i/6⌋ = ⌊j/6⌋ ∨ j mod 6 ≥ 6 − 1)");
  EXPECT_EQ(formula("globals"), "i ∈ G ∨ j ∈ G");
  EXPECT_EQ(formula("globals([0, 11])"), "i ∈ {0, 11} ∨ j ∈ {0, 11}");
  EXPECT_EQ(formula("image([3-9, 14])"), "j ≤ i ∨ i, j in the same image of {3–9, 14}");
}

TEST(MaskFormulaText, CoversEveryPattern) {
  for (const PatternInfo& info : patternTable()) {
    if (info.example.empty()) continue;
    const std::string text = formula(std::string(info.example));
    EXPECT_FALSE(text.empty());
    if (info.kind != PatternKind::full) {
      EXPECT_THAT(text, HasSubstr("j")) << info.name;
    }
  }
}

TEST(MaskFormulaText, DependsOnHeadAndSequence) {
  const std::string text =
      "causal & heads(even): window([2, 4, 8]) & sequences(1): sinks(1) & heads(kv 1): full";
  EXPECT_EQ(formula(text, 0), "j ≤ i ∧ 0 ≤ i − j < 2");
  EXPECT_EQ(formula(text, 2), "j ≤ i ∧ 0 ≤ i − j < 8");
  EXPECT_EQ(formula(text, 4), "j ≤ i ∧ 0 ≤ i − j < 4");
  EXPECT_EQ(formula(text, 1), "j ≤ i");
  EXPECT_EQ(formula(text, 1, 1), "j ≤ i ∧ true");
  EXPECT_EQ(formula(text, 1, 0, 1), "j ≤ i ∧ j < 1");
  EXPECT_EQ(formula("off: causal"), "true");
  EXPECT_EQ(formula("off: causal | sinks(2)"), "j < 2");
  EXPECT_EQ(formula("sinks(2) & !(off: causal)"), "j < 2");
}

TEST(MaskFormulaText, WritesThenInWords) {
  EXPECT_EQ(formula("causal then painted(\"p1\")"), "j ≤ i, then painted “p1” where painted");
  EXPECT_EQ(formula("causal & full then file(\"m.npy\", masked)"),
            "j ≤ i ∧ true, then file “m.npy” where the file says");
  EXPECT_EQ(formula("(causal then painted(\"p1\")) & sinks(4)"),
            "(j ≤ i, then painted “p1” where painted) ∧ j < 4");
}

TEST(MaskFormulaText, PrimesMarkPositionsInsideDocuments) {
  EXPECT_EQ(formula("documents"), "doc(i) = doc(j)");
  EXPECT_EQ(formula("documents(causal & (window(3) | sinks(1)))"),
            "doc(i) = doc(j) ∧ j′ ≤ i′ ∧ (0 ≤ i′ − j′ < 3 ∨ j′ < 1)");
  EXPECT_EQ(formula("documents(causal | full, starts=[7, 16])"),
            "doc(i) = doc(j) from {7, 16} ∧ (j′ ≤ i′ ∨ true)");
}

}  // namespace
}  // namespace headscope::attention
