#include "app/scene/text/rich_text.h"

#include <gtest/gtest.h>

#include "tests/support/plain_text.h"

namespace headscope::app {
namespace {

using Kind = RichSpan::Kind;
using test::plainText;

RichText parsed(std::string_view text) {
  auto rich = parseRichText(text);
  EXPECT_TRUE(rich) << (rich ? "" : rich.error().message);
  return rich ? *std::move(rich) : RichText{};
}

std::string problemOf(std::string_view text) {
  const auto rich = parseRichText(text);
  return rich ? "" : rich.error().message;
}

TEST(RichText, ParsesMarkedWords) {
  const RichText text = parsed("Row [it](query) **wants** [The](key), see `W[0]` [1](mark)");
  ASSERT_EQ(text.size(), 1u);
  const std::vector<std::pair<Kind, std::string>> expected{
      {Kind::plain, "Row "}, {Kind::query, "it"}, {Kind::plain, " "},      {Kind::bold, "wants"},
      {Kind::plain, " "},    {Kind::key, "The"},  {Kind::plain, ", see "}, {Kind::code, "W[0]"},
      {Kind::plain, " "},    {Kind::mark, "1"}};
  ASSERT_EQ(text[0].size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(text[0][i].kind, expected[i].first) << i;
    EXPECT_EQ(text[0][i].text, expected[i].second) << i;
  }
}

TEST(RichText, BoldTextMayContainColours) {
  const RichText text = parsed("**the row of [it](query), all** of it");
  ASSERT_EQ(text[0].size(), 4u);
  EXPECT_EQ(text[0][0].kind, Kind::bold);
  EXPECT_EQ(text[0][1].kind, Kind::query);
  EXPECT_EQ(text[0][2].kind, Kind::bold);
  EXPECT_EQ(text[0][3].kind, Kind::plain);
}

TEST(RichText, EmptyLineEndsAParagraph) {
  const RichText text = parsed("one\ntwo\n\nthree");
  ASSERT_EQ(text.size(), 2u);
  EXPECT_EQ(plainText(text), "one two\nthree");
}

TEST(RichText, KeepsEscapedSignsAndPlainBrackets) {
  EXPECT_EQ(plainText(parsed(R"(5 \* 3 costs \$2, shape [8, 12, 12])")), "5 * 3 costs $2, shape [8, 12, 12]");
}

TEST(RichText, ParsesFormulasAsTrees) {
  const auto formula = parseFormula(R"(w_j = \frac{e^{s_j}}{\sum_k e^{s_k}})");
  ASSERT_TRUE(formula);
  ASSERT_EQ(formula->children.size(), 3u);
  EXPECT_EQ(formula->children[0].kind, FormulaNode::Kind::scripts);
  const FormulaNode& fraction = formula->children[2];
  ASSERT_EQ(fraction.kind, FormulaNode::Kind::fraction);
  const FormulaNode& below = fraction.children[1];
  ASSERT_EQ(below.children.size(), 2u);
  EXPECT_EQ(below.children[0].kind, FormulaNode::Kind::sum);
  EXPECT_FALSE(below.children[0].children[0].empty());
  EXPECT_TRUE(below.children[0].children[1].empty());
}

TEST(RichText, SpacesBinaryButNotUnarySigns) {
  EXPECT_EQ(plainText(parsed("$e^0=1$")), "e^0 = 1");
  EXPECT_EQ(plainText(parsed("$a+b*c$")), "a + b · c");
  EXPECT_EQ(plainText(parsed("$-2 = (-1) \\cdot -x$")), "−2 = (−1) · −x");
  EXPECT_EQ(plainText(parsed("$\\ln -x$")), "ln −x");
  EXPECT_EQ(plainText(parsed("weighs $=1$")), "weighs = 1");
}

TEST(RichText, ReportsUnclosedAndUnknownMarkup) {
  EXPECT_EQ(problemOf("so **bold"), "** at \"**bold\" doesn't close");
  EXPECT_NE(problemOf("see `W[0]").find("doesn't close"), std::string::npos);
  EXPECT_NE(problemOf("half $a + b").find("doesn't close"), std::string::npos);
  EXPECT_NE(problemOf("$\\frac{a}{b$").find("{ that doesn't close"), std::string::npos);
  EXPECT_NE(problemOf("$a}$").find("} that nothing opens"), std::string::npos);
  EXPECT_NE(problemOf("$a_1_2$").find("two of ^ or _"), std::string::npos);
  EXPECT_NE(problemOf("$^2$").find("nothing in front"), std::string::npos);
  EXPECT_NE(problemOf("$\\foo$").find("\\foo, which isn't known"), std::string::npos);
  EXPECT_NE(problemOf("[it](quarry)").find("expected query, key, value or mark"), std::string::npos);
}

TEST(RichText, RefusesDeepFormulasAndReadsLongText) {
  std::string deep = "$";
  for (int i = 0; i < 5000; ++i) deep += "{";
  EXPECT_NE(problemOf(deep + "$").find("nested more than 16 deep"), std::string::npos);
  std::string roots = "$";
  for (int i = 0; i < 5000; ++i) roots += "\\sqrt";
  EXPECT_NE(problemOf(roots + "$"), "");
  const std::string words(200'000, '[');
  EXPECT_EQ(plainText(parsed(words)), words);
}

}  // namespace
}  // namespace headscope::app
