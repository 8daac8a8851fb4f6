#include <gtest/gtest.h>

#include <set>

#include "app/scene/text/manual.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

TEST(Glossary, FindsTermsByAnyCasePluralOrAbbreviation) {
  const Glossary glossary(
      "# Glossary\n\n| term | what it means | formula |\n|---|---|---|\n"
      "| kv head | A head's keys. | ⌊h·G/H⌋ |\n| latent attention (MLA) | One vector. | |\n"
      "| copying score | How far. | Σ Re λ / Σ \\|λ\\| |\n");
  ASSERT_EQ(glossary.terms().size(), 3u);
  for (const char* word : {"kv head", "KV heads", "KV HEAD"}) {
    ASSERT_TRUE(glossary.find(word)) << word;
    EXPECT_EQ(glossary.find(word)->explained(), "A head's keys.\n⌊h·G/H⌋");
  }
  for (const char* word : {"Latent attention", "MLA"}) {
    ASSERT_TRUE(glossary.find(word)) << word;
    EXPECT_EQ(glossary.find(word)->explained(), "One vector.");
  }
  EXPECT_EQ(glossary.find("copying score")->formula, "Σ Re λ / Σ |λ|");
  for (const char* word : {"", "s", "head", "latent", "term"}) EXPECT_FALSE(glossary.find(word)) << word;
}

TEST(Glossary, ManualDefinesEachTermInASentence) {
  const auto read = readGlossary();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_GE(read->terms().size(), 50u);
  std::set<std::string> names;
  for (const Term& term : read->terms()) {
    EXPECT_TRUE(names.insert(term.name).second) << term.name;
    EXPECT_TRUE(term.meaning.ends_with(".")) << term.name;
    EXPECT_LE(term.meaning.size(), 140u) << term.name;
  }
  for (const char* label : {"Heads", "KV heads", "Head dim"}) EXPECT_TRUE(read->find(label)) << label;
  EXPECT_THAT(read->find("residual stream")->meaning, HasSubstr("layer"));
}

}  // namespace
}  // namespace headscope::app
