#include "attention/masks/expression.h"

#include <gtest/gtest.h>

#include "tests/attention/masks/random_layers.h"
#include "tests/support/matchers.h"

namespace headscope::attention {
namespace {

MaskLayers parsed(const std::string& text) {
  const ParsedMask mask = parseMask(text);
  EXPECT_FALSE(mask.error) << text << ": " << mask.error->message;
  return mask.layers;
}

/// The error message, or "no error".
std::string errorOf(const std::string& text) {
  const ParsedMask mask = parseMask(text);
  if (!mask.error) return "no error";
  EXPECT_TRUE(mask.layers.empty()) << text;
  EXPECT_LE(mask.error->offset, text.size()) << text;
  return mask.error->message;
}

/// The text from the error's position on.
std::string placeOf(const std::string& text) {
  const ParsedMask mask = parseMask(text);
  return mask.error ? text.substr(mask.error->offset) : "no error";
}

/// The text's canonical form. Expects that form to be stable.
std::string printed(const std::string& text) {
  const std::string once = maskText(parsed(text));
  EXPECT_EQ(maskText(parsed(once)), once) << text;
  EXPECT_EQ(parsed(once), parsed(text)) << text;
  return once;
}

Layer use(PatternKind kind) {
  Layer layer;
  layer.pattern = defaultUse(kind);
  return layer;
}
Layer joined(Combine join, Layer layer) {
  layer.combine = join;
  return layer;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(MaskText, EmptyTextGivesNoLayers) {
  EXPECT_TRUE(parsed("").empty());
  EXPECT_TRUE(parsed(" \n\t\r\n").empty());
  EXPECT_EQ(maskText({}), "");
}

TEST(MaskText, PatternExamplesRoundTrip) {
  for (const PatternInfo& info : patternTable()) {
    if (info.example.empty()) continue;
    const MaskLayers layers = parsed(std::string(info.example));
    ASSERT_EQ(layers.size(), 1u) << info.name;
    EXPECT_EQ(layers[0].pattern.kind, info.kind);
    EXPECT_EQ(layers[0].pattern.arguments.size(), info.parameters.size());
    printed(std::string(info.example));
  }
}

TEST(MaskText, PatternNamesParseWithoutArguments) {
  for (const PatternInfo& info : patternTable()) {
    const bool text = info.kind == PatternKind::painted || info.kind == PatternKind::file;
    if (text) continue;
    const std::string name(info.name);
    EXPECT_EQ(parsed(name)[0].pattern, defaultUse(info.kind)) << name;
    EXPECT_EQ(parsed(name + "()"), parsed(name)) << name;
  }
}

TEST(MaskText, AndBindsTighterThanOrThanThen) {
  const Layer a = use(PatternKind::full), b = use(PatternKind::causal), c = use(PatternKind::window),
              d = use(PatternKind::sinks);
  // The layers before form one list; those after keep their brackets as a group.
  EXPECT_EQ(parsed("full & causal | window then sinks"),
            (MaskLayers{a, b, joined(Combine::any, c), joined(Combine::replace, d)}));
  Layer group;
  group.group = {b, c};
  EXPECT_EQ(parsed("full | causal & window"), (MaskLayers{a, joined(Combine::any, group)}));
  EXPECT_EQ(parsed("full | (causal & window)"), (MaskLayers{a, joined(Combine::any, group)}));
  EXPECT_EQ(parsed("full | causal & window | sinks"),
            (MaskLayers{a, joined(Combine::any, group), joined(Combine::any, d)}));
  group.group = {b, joined(Combine::any, c)};
  EXPECT_EQ(parsed("full then causal | window"), (MaskLayers{a, joined(Combine::replace, group)}));
  EXPECT_EQ(parsed("full & (causal | window)"), (MaskLayers{a, group}));
}

TEST(MaskText, DropsRedundantBrackets) {
  EXPECT_EQ(printed("((causal))"), "causal");
  EXPECT_EQ(printed("((causal & full)) & sinks(4)"), "causal & full & sinks(4)");
  EXPECT_EQ(printed("!((causal))"), "!causal");
  EXPECT_EQ(printed("(full | causal) & sinks(4)"), "(full | causal) & sinks(4)");
  EXPECT_EQ(printed("(full & causal) | sinks(4)"), "full & causal | sinks(4)");
  EXPECT_EQ(printed("((full | causal) & sinks(2) | packed) & full"),
            "((full | causal) & sinks(2) | packed) & full");
  EXPECT_EQ(printed("causal | (full | packed)"), "causal | (full | packed)");
  EXPECT_EQ(printed("causal | full & packed"), "causal | (full & packed)");
  EXPECT_EQ(printed("causal & (packed)"), "causal & packed");
  // Two names make two layers.
  EXPECT_EQ(printed("\"a\": (\"b\": causal)"), "\"a\": (\"b\": causal)");
  EXPECT_EQ(printed("!(!causal)"), "!(!causal)");
}

TEST(MaskText, ReadsPrefixesInAnyOrder) {
  const MaskLayers layers =
      parsed("off: sequences(1-2, 5): \"my \\\"layer\\\\\": heads(0-3, 6, even, odd, kv 1): !causal");
  ASSERT_EQ(layers.size(), 1u);
  const Layer& layer = layers[0];
  EXPECT_EQ(layer.name, "my \"layer\\");
  EXPECT_FALSE(layer.on);
  EXPECT_TRUE(layer.negated);
  using Kind = HeadSet::Kind;
  EXPECT_EQ(layer.heads->items,
            (std::vector<HeadSet::Item>{
                {Kind::range, 0, 3}, {Kind::range, 6, 6}, {Kind::even}, {Kind::odd}, {Kind::kvHead, 1}}));
  EXPECT_EQ(layer.sequences->items, (std::vector<HeadSet::Item>{{Kind::range, 1, 2}, {Kind::range, 5, 5}}));
  EXPECT_EQ(maskText(layers),
            "\"my \\\"layer\\\\\": off: heads(0-3, 6, even, odd, kv 1): sequences(1-2, 5): !causal");
}

TEST(MaskText, PrintsSingleParameterBareAndOthersNamed) {
  EXPECT_EQ(printed("window(window=128)"), "window(128)");
  EXPECT_EQ(printed("window"), "window(4)");
  EXPECT_EQ(printed("window([8])"), "window(8)");
  EXPECT_EQ(printed("window([2, 4,8])"), "window([2, 4, 8])");
  EXPECT_EQ(printed("streaming(4, 128)"), "streaming(sinks=4, window=128)");
  EXPECT_EQ(printed("streaming(window=128)"), "streaming(sinks=1, window=128)");
  EXPECT_EQ(printed("streaming(4, window=128)"), "streaming(sinks=4, window=128)");
  EXPECT_EQ(printed("prefix_lm"), "prefix_lm");
  EXPECT_EQ(printed("prefix_lm(prefix=9)"), "prefix_lm(9)");
  EXPECT_EQ(printed("longformer(3)"), "longformer(window=3)");
  EXPECT_EQ(printed("globals(0)"), "globals([0])");
  EXPECT_EQ(printed("globals([])"), "globals([])");
  EXPECT_EQ(printed("image([3 - 9, 14-14, 20])"), "image([3-9, 14, 20])");
  EXPECT_EQ(printed("image(3-9)"), "image([3-9])");
  EXPECT_EQ(printed("tree(parents=[-1, 0, - 1])"), "tree(parents=[-1, 0, -1])");
  EXPECT_EQ(printed("painted(name=\"p1\")"), "painted(\"p1\")");
  EXPECT_EQ(printed("file(convention=masked, path=\"m.npy\")"), "file(\"m.npy\", masked)");
}

TEST(MaskText, DocumentsContainAMask) {
  const MaskLayers layers = parsed("documents(causal & window(3) | sinks(1), starts=[7, 16])");
  EXPECT_EQ(layers[0].pattern.inner, parsed("causal & window(3) | sinks(1)"));
  EXPECT_THAT(layers[0].pattern.arguments[0]->values, ElementsAre(7, 16));
  EXPECT_EQ(printed("documents(full, [7])"), "documents(full, starts=[7])");
  EXPECT_EQ(printed("documents([7])"), "documents(starts=[7])");
  EXPECT_EQ(printed("documents(starts=7)"), "documents(starts=[7])");
  EXPECT_EQ(printed("documents"), "documents");
  EXPECT_EQ(printed("documents((full then causal))"), "documents(full then causal)");
  EXPECT_EQ(printed("documents(documents(causal))"), "documents(documents(causal))");
}

TEST(MaskText, IgnoresSpacesAndLineBreaks) {
  EXPECT_EQ(parsed("  causal\n\t&window ( 8 )\r\n|\nheads ( 0 - 3 ) : sinks(4)"),
            parsed("causal & window(8) | heads(0-3): sinks(4)"));
}

/// refusals.json has those in UTF-8.
TEST(MaskText, ReportsErrorsWithPosition) {
  EXPECT_EQ(errorOf("\"\xC3(\": causal"), "the text in quotes is not UTF-8: it has the byte \\xc3");
  EXPECT_EQ(placeOf("\"\xC3(\": causal"), "\xC3(\": causal");
  EXPECT_EQ(errorOf("causal \xFF"), "\"\\xff\" is not allowed in a mask");
  EXPECT_EQ(placeOf("causal \xFF"), "\xFF");
}

TEST(MaskText, EnforcesItsLimits) {
  const auto nested = [](int depth) { return repeated("(", depth) + "causal" + repeated(")", depth); };
  EXPECT_EQ(printed(nested(64)), "causal");
  EXPECT_EQ(errorOf(nested(65)), "more than 64 brackets are nested");
  EXPECT_EQ(errorOf(nested(10000)), "more than 64 brackets are nested");
  EXPECT_EQ(errorOf(repeated("(", 10000)), "more than 64 brackets are nested");
  EXPECT_EQ(errorOf(repeated("documents(", 10000)), "more than 64 brackets are nested");
  EXPECT_EQ(errorOf(repeated("!", 10000) + "causal"), "\"!\" appears twice before one layer");
  EXPECT_EQ(errorOf(repeated("\"a\":", 10000) + "causal"), "a layer has two names");
  // Closed brackets don't count.
  EXPECT_EQ(parsed("full" + repeated(" & ((causal))", 100)).size(), 101u);
  EXPECT_EQ(parsed("full" + repeated(" & documents(causal)", 100)).size(), 101u);
  EXPECT_EQ(parsed("full" + repeated(" & full", 4095)).size(), 4096u);
  EXPECT_EQ(errorOf("full" + repeated(" & full", 4096)), "the mask has more than 4096 layers");
  EXPECT_EQ(errorOf(repeated("(full & ", 20) + "full" + repeated(" & full", 4096)),
            "the mask has more than 4096 layers");
  EXPECT_EQ(errorOf(std::string((1 << 20) + 1, ' ')),
            "the mask is 1048577 bytes long, expected at most 1048576");
  EXPECT_TRUE(parsed(std::string(1 << 20, ' ')).empty());
}

TEST(MaskText, RandomLayersRoundTrip) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const MaskLayers layers = test::RandomLayers(seed).list(3);
    const std::string text = maskText(layers);
    const ParsedMask back = parseMask(text);
    ASSERT_FALSE(back.error) << text << "\n" << caretText(text, back.error->offset) << back.error->message;
    // The first layer of a list isn't joined to anything.
    EXPECT_EQ(back.layers, layers) << text;
    EXPECT_EQ(maskText(back.layers), text);
  }
}

TEST(MaskText, LeadingGroupPrintsAsItsLayers) {
  Layer group;
  group.group = parsed("full | causal");
  Layer outer;
  outer.group = {group};
  const MaskLayers layers{outer, use(PatternKind::packed)};
  EXPECT_EQ(maskText(layers), "(full | causal) & packed");
  EXPECT_EQ(parsed(maskText(layers)), parsed("(full | causal) & packed"));
  EXPECT_EQ(layerText(group), "(full | causal)");
  group.negated = true;
  EXPECT_EQ(layerText(group), "!(full | causal)");
  group.group = {use(PatternKind::causal)};
  EXPECT_EQ(layerText(group), "!causal");
}

TEST(MaskText, HeadSetsContainNamedHeads) {
  const HeadSet set = *parsed("heads(0-1, 6, kv 2): full")[0].heads;
  std::vector<Index> in;
  for (Index head = 0; head < 8; ++head)
    if (set.contains(head, head / 2)) in.push_back(head);
  EXPECT_THAT(in, ElementsAre(0, 1, 4, 5, 6));
  const HeadSet even = *parsed("heads(even): full")[0].heads, odd = *parsed("heads(odd): full")[0].heads;
  for (Index head = 0; head < 8; ++head) {
    EXPECT_EQ(even.contains(head, 0), head % 2 == 0);
    EXPECT_EQ(odd.contains(head, 0), head % 2 == 1);
  }
}

TEST(MaskText, ChecksHeadsAgainstTheModel) {
  const auto check = [](const std::string& text) {
    const Status status = checkHeads(parsed(text), 8, 2);
    return status ? "fits" : status.error().message;
  };
  EXPECT_EQ(check("heads(0-7): causal & heads(even, kv 1): full"), "fits");
  EXPECT_EQ(check("heads(6-8): causal"), "heads(…) names head 8, expected 0 to 7");
  EXPECT_EQ(check("full & (causal | heads(kv 2): full)"), "heads(…) names kv head 2, expected 0 to 1");
  EXPECT_EQ(check("documents(heads(9): causal)"), "heads(…) names head 9, expected 0 to 7");
  EXPECT_EQ(check("off: (causal | heads(9): full)"), "fits");
  EXPECT_EQ(check("sequences(9): causal"), "fits");
}

TEST(MaskText, PutsCaretUnderTheError) {
  EXPECT_EQ(caretText("causal & windwo(8)", 9), "causal & windwo(8)\n         ^");
  EXPECT_EQ(caretText("", 0), "\n^");
  EXPECT_EQ(caretText("causal &", 8), "causal &\n        ^");
  EXPECT_EQ(caretText("causal &", 800), "causal &\n        ^");
  // Lines become one; a wide character takes two columns, a combining mark none.
  EXPECT_EQ(caretText("causal\n& x", 9), "causal & x\n         ^");
  EXPECT_EQ(caretText("\"注意e\u0301\": x", 13), "\"注意e\u0301\": x\n         ^");
  EXPECT_EQ(caretText("\xFF x", 2), "? x\n  ^");
}

TEST(MaskText, CutsLongTextsAroundTheError) {
  const std::string text = repeated("causal & ", 100) + "x" + repeated(" & causal", 100);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{300}, std::size_t{900}, text.size()}) {
    const std::string both = caretText(text, offset);
    const std::size_t end = both.find('\n');
    const std::string line = both.substr(0, end), caret = both.substr(end + 1);
    EXPECT_LE(line.size(), 90u);
    const std::size_t cut = std::string("…").size();
    // "…" takes one column and three bytes.
    const std::size_t at = caret.size() - 1 + (line.starts_with("…") ? cut - 1 : 0);
    EXPECT_EQ(caret, std::string(caret.size() - 1, ' ') + "^");
    if (offset < text.size()) {
      EXPECT_EQ(line.substr(at, 5), text.substr(offset, 5)) << offset;
    }
  }
}

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
