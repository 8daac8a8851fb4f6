#include "attention/masks/structure.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headscope::attention::test {
namespace {

using Positions = std::vector<Index>;

std::vector<Token> tokensOf(const std::string& text, Tokenization how = Tokenization::words) {
  const auto lines = tokenize(text, how);
  EXPECT_TRUE(lines);
  return lines->empty() ? std::vector<Token>{} : lines->front();
}

TextStructure structureOfText(const std::string& text, const TextMarks& marks = {},
                              Tokenization how = Tokenization::words) {
  const auto tokens = tokensOf(text, how);
  return structureOf(tokens, tokens, marks);
}

Positions sentences(const std::string& text, Tokenization how = Tokenization::words) {
  return structureOfText(text, {}, how).documentStarts;
}

TEST(Structure, DecimalPointEndsNoDocument) {
  EXPECT_EQ(structureOfText("It is 3.14 today. Or 2.71").documentStarts, (Positions{0, 5}));
}

TEST(Structure, DecimalPointEndsNoDocumentInCharactersAndBytes) {
  for (const Tokenization how : {Tokenization::characters, Tokenization::bytes}) {
    EXPECT_EQ(sentences("Pi is 3.14. Or 2.71", how), (Positions{0, 12}));
    EXPECT_EQ(sentences("1.2.3 4. 5", how), (Positions{0, 9})) << "a space stands behind the last one";
    EXPECT_EQ(sentences("a.5 5.a 3..4", how), (Positions{0, 2, 6, 11}));
  }
  EXPECT_EQ(sentences("page 3. 14 more"), (Positions{0, 3})) << "by words the space is no token";
}

TEST(TextStructure, SentencesEndAtPunctuation) {
  EXPECT_EQ(sentences("The cat sat"), Positions{0});
  EXPECT_EQ(sentences("The cat sat."), Positions{0});
  EXPECT_EQ(sentences("It sat. Did it? Yes! And then… no"), (Positions{0, 3, 6, 8, 11}));
  EXPECT_EQ(sentences("What?! No... really"), (Positions{0, 3, 7}));
  EXPECT_EQ(sentences("... and so"), (Positions{0, 3}));
  EXPECT_EQ(sentences("one, two; three: four"), Positions{0});
  EXPECT_EQ(sentences("猫。犬！"), (Positions{0, 2}));
  EXPECT_EQ(sentences(""), Positions{0});
}

TEST(TextStructure, ClosingMarksBelongToTheSentence) {
  EXPECT_EQ(sentences("(It sat.) So did we"), (Positions{0, 5}));
  EXPECT_EQ(sentences("“No.” He left. Why"), (Positions{0, 4, 7}));
  EXPECT_EQ(sentences("Hi. Ho", Tokenization::characters), (Positions{0, 4}));
}

TEST(TextStructure, FirstSentenceIsThePrefix) {
  const TextStructure two = structureOfText("Say it. I say it now.");
  EXPECT_EQ(two.prefixLength, 3);
  EXPECT_EQ(two.treePrefix, 3);
  const TextStructure one = structureOfText("I say it right now");
  EXPECT_EQ(one.prefixLength, 2);
  EXPECT_EQ(one.treePrefix, 2);
}

TEST(TextStructure, SentencesAfterThePrefixAreBranches) {
  EXPECT_EQ(structureOfText("Say it. I do. You do too").parents, (Positions{-1, 0, 1, -1, 3, 4}));
  EXPECT_EQ(structureOfText("a b c d").parents, (Positions{-1, 0}));
  TextMarks marks;
  marks.treePrefix = 4;
  EXPECT_EQ(structureOfText("Say it. I do. You do too", marks).parents, (Positions{-1, 0, -1, 2, 3}));
}

TEST(TextStructure, BracketsEncloseImages) {
  EXPECT_EQ(structureOfText("look [ a b c ] there").images, (KeyRuns{{2, 5}}));
  EXPECT_EQ(structureOfText("look [ a b ] there").images, KeyRuns{});
  EXPECT_EQ(structureOfText("( a b c ) and < d e f g >").images, (KeyRuns{{1, 4}, {7, 11}}));
  EXPECT_EQ(structureOfText("no brackets here at all").images, KeyRuns{});
  // The outer brackets contain the image.
  EXPECT_EQ(structureOfText("( a [ b c d ] e )").images, (KeyRuns{{1, 8}}));
  EXPECT_EQ(structureOfText("( [ a b c ] [ d e f ] )").images, (KeyRuns{{1, 11}}));
  // Brackets without a partner.
  EXPECT_EQ(structureOfText("( a b c").images, KeyRuns{});
  EXPECT_EQ(structureOfText("a b c )").images, KeyRuns{});
  EXPECT_EQ(structureOfText("( a [ b c )").images, (KeyRuns{{1, 5}}));
  EXPECT_EQ(structureOfText("( a b c ) d )").images, (KeyRuns{{1, 4}}));
  EXPECT_EQ(structureOfText("( [ a b c ) ]").images, (KeyRuns{{1, 5}}));
  EXPECT_EQ(structureOfText("( a b ] c )").images, (KeyRuns{{1, 5}}));
}

TEST(TextStructure, HandlesManyBracketsQuickly) {
  std::vector<Token> tokens;
  for (int k = 0; k < 200000; ++k) tokens.push_back({"(", true});
  for (int k = 0; k < 200000; ++k) tokens.push_back({"]", true});
  EXPECT_EQ(structureOf(tokens, tokens, {}).images, KeyRuns{});
}

TEST(TextStructure, GridsAreNearlySquare) {
  for (Index tokens = 1; tokens < 400; ++tokens) {
    const TextStructure structure = structureOf(tokens, tokens, {});
    const Index height = structure.gridHeight, width = structure.gridWidth;
    EXPECT_GE(height * width, tokens);
    EXPECT_LT((height - 1) * width, tokens);
    EXPECT_GE(width, height);
    EXPECT_LE(width - height, 1) << tokens;
    EXPECT_EQ(width, static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(tokens)))));
  }
  EXPECT_EQ(structureOf(0, 0, {}).gridWidth, 1);
  EXPECT_EQ(structureOf(0, 0, {}).gridHeight, 1);
  TextMarks marks;
  marks.gridHeight = 3;
  EXPECT_EQ(structureOf(20, 20, marks).gridWidth, 7);
  marks.gridWidth = 2;
  EXPECT_EQ(structureOf(20, 20, marks).gridHeight, 3);
  marks.gridHeight.reset();
  EXPECT_EQ(structureOf(20, 20, marks).gridHeight, 10);
  marks.gridWidth = -5;
  EXPECT_EQ(structureOf(20, 20, marks).gridWidth, 1);
}

TEST(TextStructure, PairsSentencesOfTwoTexts) {
  const auto queries = tokensOf("Hello. How is it? Fine"), keys = tokensOf("Bonjour. Ça va");
  const TextStructure structure = structureOf(queries, keys, {});
  EXPECT_EQ(structure.querySegments, (Positions{0, 2, 6}));
  EXPECT_EQ(structure.keySegments, (KeyRuns{{0, 2}, {2, 4}}));
  EXPECT_EQ(structure.documentStarts, (Positions{0, 2}));
  EXPECT_EQ(structure.parents.size(), 2u);
}

TEST(TextStructure, WithoutTextThereIsOneDocument) {
  const TextStructure structure = structureOf(5, 9, {});
  TextStructure wanted;
  wanted.documentStarts = {0};
  wanted.prefixLength = wanted.treePrefix = 4;
  wanted.globals = {0};
  wanted.parents = {-1, 0, 1, 2, 3};
  wanted.gridHeight = wanted.gridWidth = 3;
  wanted.querySegments = {0};
  wanted.keySegments = {{0, 9}};
  EXPECT_EQ(structure, wanted);
  const TextStructure nothing = structureOf(0, 0, {});
  EXPECT_EQ(nothing.documentStarts, Positions{0});
  EXPECT_TRUE(nothing.globals.empty());
  EXPECT_TRUE(nothing.parents.empty());
  EXPECT_TRUE(nothing.keySegments.empty());
}

TEST(TextStructure, MarksOverrideTheText) {
  TextMarks marks;
  marks.documentStarts = Positions{2, 4};
  marks.prefixLength = 5;
  marks.images = KeyRuns{{0, 2}, {2, 3}};
  marks.globals = Positions{1, 3};
  marks.treePrefix = 3;
  marks.parents = Positions{-1, 0, 0};
  const TextStructure structure = structureOfText("Say it. I [ do so ] now", marks);
  EXPECT_EQ(structure.documentStarts, (Positions{0, 2, 4}));
  EXPECT_EQ(structure.prefixLength, 5);
  EXPECT_EQ(structure.images, (KeyRuns{{0, 2}, {2, 3}}));
  EXPECT_EQ(structure.globals, (Positions{1, 3}));
  EXPECT_EQ(structure.treePrefix, 3);
  // Nodes after the marked ones are children of their predecessors.
  EXPECT_EQ(structure.parents, (Positions{-1, 0, 0, 2, 3, 4}));
  // With marked parents, unmarked nodes continue their predecessors and sentences start no branches.
  marks.treePrefix = 0;
  marks.parents = Positions{-1, 0};
  EXPECT_EQ(structureOfText("Say it. I do", marks).parents, (Positions{-1, 0, 1, 2, 3}));
  marks.globals = Positions{};
  EXPECT_TRUE(structureOfText("Say it. I do", marks).globals.empty());
}

TEST(TextStructure, CutsMarksBeyondTheText) {
  TextMarks marks;
  marks.documentStarts = Positions{2, 3, 90};
  marks.prefixLength = 90;
  marks.images = KeyRuns{{1, 90}, {95, 99}};
  marks.globals = Positions{-1, 1, 90};
  marks.treePrefix = 2;
  marks.parents = Positions{-1, 90, 0};
  const TextStructure structure = structureOfText("a b c d", marks);
  EXPECT_EQ(structure.documentStarts, (Positions{0, 2, 3}));
  EXPECT_EQ(structure.prefixLength, 4);
  EXPECT_EQ(structure.images, (KeyRuns{{1, 4}}));
  EXPECT_EQ(structure.globals, (Positions{1}));
  EXPECT_EQ(structure.parents, (Positions{-1, 0}));
  marks.treePrefix = 90;
  EXPECT_EQ(structureOfText("a b c d", marks).treePrefix, 4);
  EXPECT_TRUE(structureOfText("a b c d", marks).parents.empty());
}

}  // namespace
}  // namespace headscope::attention::test
