#include <gtest/gtest.h>

#include "app/compute/cache/cache_studies.h"
#include "tests/app/compute/layer/snapshot_support.h"

namespace headscope::app {
namespace {

/// Four heads of size 16.
app::Setup fourHeads(const std::string& text) {
  app::Setup setup = test::plainSetup(text);
  setup.model.heads = setup.model.kvHeads = 4;
  setup.model.headDim = 16;
  setup.model.modelDim = 64;
  return setup;
}

TEST(CacheCost, CountsEveryLineOfTheBatch) {
  const Snapshot one = test::computed(fourHeads("a b c d e")),
                 two = test::computed(fourHeads("a b c d e\nf g"));
  EXPECT_EQ(cacheBytes(one, 4, 5, 4), 2560);
  EXPECT_EQ(cacheBytes(two, 4, 5, 4), 5120);
  EXPECT_EQ(cacheBytes(two, 1, 1, 2), 2 * 16 * 2 * 2);
  EXPECT_EQ(cacheFormula(one, 5, 4), "+512 B per token = 2 · 4 kv heads · 16 · 4 B");
  EXPECT_EQ(cacheFormula(two, 5, 4), "+1 KiB per token = 2 · 4 kv heads · 16 · 4 B · 2 lines");
}

TEST(CacheCost, CrossAttentionFillsCacheOnce) {
  app::Setup setup = fourHeads("a b c");
  setup.input.cross = true;
  setup.input.contextText = "u v w x y";
  EXPECT_EQ(cacheFormula(test::computed(setup), 5, 4),
            "2.5 KiB, filled once = 2 · 4 kv heads · 16 · 4 B · 5 tokens");
  setup.model.kvHeads = 1;
  setup.input.contextText = "u";
  EXPECT_EQ(cacheFormula(test::computed(setup), 1, 2),
            "64 B, filled once = 2 · 1 kv head · 16 · 2 B · 1 token");
}

}  // namespace
}  // namespace headscope::app
