#include <gtest/gtest.h>

#include <algorithm>

#include "attention/formats/masks/mask_file.h"
#include "attention/masks/compile.h"
#include "render/image.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using attention::MaskConvention;
using test::Outcome;
using test::runHeadscope;

class MaskCommand : public testing::Test {
 protected:
  static Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "mask");
    return runHeadscope(arguments);
  }
  static std::string printed(const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    return outcome.output;
  }
  /// The message on standard error after the program's name. Expects nothing to be printed or written.
  std::string errorOf(const std::vector<std::string>& arguments, int exitCode) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exitCode, exitCode) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(folder_.count(), 0u);
    const std::string front = "headscope: ";
    EXPECT_THAT(outcome.errors, StartsWith(front));
    return outcome.errors.substr(std::min(front.size(), outcome.errors.size()));
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  /// Rows joined by '/'; '#' = visible.
  std::string picture(const std::string& name, MaskConvention convention, std::size_t head = 0) {
    const auto file = attention::readMaskFile(folder_ / name, convention);
    if (!file) return file.error().message;
    const attention::CellTable& cells = *file->cells;
    std::string text;
    for (attention::Index row = 0; row < cells.queries; ++row) {
      std::string line(static_cast<std::size_t>(cells.keys), '.');
      const auto index = head * static_cast<std::size_t>(cells.queries) + static_cast<std::size_t>(row);
      for (const auto& run : cells.rows.at(index)->visible)
        std::fill(line.begin() + run.begin, line.begin() + run.end, '#');
      text += (row > 0 ? "/" : "") + line;
    }
    return text;
  }

  test::TemporaryFolder folder_;
};

TEST_F(MaskCommand, PrintsSummaryOfAMask) {
  EXPECT_EQ(printed({"causal&((window(window=128))|sinks(4))", "--queries", "4096"}),
            "mask: causal & (window(128) | sinks(4))\n"
            "size: 4,096 queries × 4,096 keys, 1 head\n"
            "head 0: j ≤ i ∧ (0 ≤ i − j < 128 ∨ j < 4)\n"
            // Every row sees its last 128 keys and the first 4, if there are that many.
            "  density: 3.17%, 532,026 of 16,777,216 cells\n  rows that see nothing: none\n  keys no query "
            "sees: none\n  future pairs: none\n"
            // Of 32 × 32 blocks: the diagonal, the block before it, and the first column except its first
            // two.
            "  blocks of 128: 0 full, 93 partial, 931 empty\n"
            "  FLOPs saved by skipping empty blocks: 90.92%\n");
}

TEST_F(MaskCommand, CountsBlindRowsUnseenKeysAndLeaks) {
  const std::string text = printed({"!causal & window_both(3)", "--queries", "6"});
  EXPECT_THAT(text, HasSubstr("density: 25.00%, 9 of 36 cells\n"));
  EXPECT_THAT(text, HasSubstr("rows that see nothing: 1 (5)\n"));
  EXPECT_THAT(text, HasSubstr("keys no query sees: 1 (0)\n"));
  EXPECT_THAT(text, HasSubstr("future pairs: 9, the first: query 0 sees key 1\n"));
  EXPECT_THAT(printed({"!full", "--queries", "20", "--keys", "1"}),
              AllOf(HasSubstr("20 queries × 1 key, 1 head, "), HasSubstr("density: 0%"),
                    HasSubstr("rows that see nothing: 20 (0, 1, 2, 3, 4, 5, 6, 7, …)\n"),
                    HasSubstr("0 full, 0 partial, 1 empty\n"), HasSubstr("empty blocks: 100%")));
}

TEST_F(MaskCommand, DescribesHeadsSeparately) {
  const std::string text =
      printed({"causal & heads(kv 1): window(2)", "--queries", "8", "--heads", "6", "--kv-heads", "3"});
  EXPECT_THAT(text, HasSubstr("\nheads 0-1, 4-5: j ≤ i\n"));
  EXPECT_THAT(text, HasSubstr("\nheads 2-3: j ≤ i ∧ 0 ≤ i − j < 2\n"));
  const std::string one = printed({"causal & heads(kv 1): window(2)", "--queries", "8", "--heads", "6",
                                   "--kv-heads", "3", "--head", "3"});
  EXPECT_THAT(one, HasSubstr("\nhead 3: j ≤ i ∧ 0 ≤ i − j < 2\n"));
  EXPECT_THAT(one, Not(HasSubstr("0-1")));
}

TEST_F(MaskCommand, CacheLengthSetsFirstQueryPosition) {
  const std::string taken = ", first query at position 0 (--cache is not given)\n";
  EXPECT_THAT(printed({"causal", "--queries", "2", "--keys", "5"}),
              AllOf(HasSubstr("2 queries × 5 keys, 1 head" + taken), HasSubstr("3 of 10 cells")));
  EXPECT_THAT(printed({"causal", "--queries", "2", "--keys", "5", "--cache", "0"}),
              AllOf(Not(HasSubstr("first query")), HasSubstr("3 of 10 cells")));
  EXPECT_THAT(printed({"causal", "--queries", "2", "--keys", "5", "--cache", "3"}),
              AllOf(HasSubstr("3 tokens cached"), Not(HasSubstr("first query")), HasSubstr("9 of 10 cells")));
  EXPECT_THAT(printed({"causal", "--queries", "5", "--keys", "2"}),
              AllOf(HasSubstr(taken), HasSubstr("9 of 10 cells")));
  EXPECT_THAT(printed({"causal", "--queries", "5"}), Not(HasSubstr("first query")));
  // Numbers and code go to the output, and the rule about positions to standard error.
  const Outcome code = runHeadscope({"mask", "causal", "--queries", "2", "--keys", "5", "--code", "numpy"});
  EXPECT_EQ(code.errors,
            "headscope: causal masks compare positions, j ≤ i; with 2 queries over 5 keys, the first query "
            "is at i = "
            "0 (--cache "
            "is not given)\n");
  EXPECT_THAT(code.output, HasSubstr("i, j = q_idx, kv_idx\n"));
}

TEST_F(MaskCommand, DerivesStructureFromText) {
  // Three sentences of 2, 3 and 4 tokens.
  const std::string text = printed({"documents", "--text", "One. Two too! Three and three?"});
  EXPECT_THAT(text, AllOf(HasSubstr("9 queries × 9 keys"), HasSubstr("29 of 81 cells")));
  EXPECT_THAT(printed({"documents", "--text", "One. Two too! Three and three?", "--cache", "5"}),
              AllOf(HasSubstr("4 queries × 9 keys, 1 head, 5 tokens cached"), HasSubstr("16 of 36 cells")));
}

TEST_F(MaskCommand, ReportsOmittedLayers) {
  EXPECT_THAT(printed({"causal & off: sinks(2)", "--queries", "4"}),
              HasSubstr("omitted: off: sinks(2) (switched off)\n"));
  EXPECT_THAT(printed({"causal & (full | off: sinks(2))", "--queries", "4"}),
              HasSubstr("omitted: off: sinks(2) (switched off)\n"));
}

TEST_F(MaskCommand, WritesFilesAndNamesTheConvention) {
  const std::string causal = "#../##./###";
  EXPECT_EQ(printed({"causal", "--queries", "3", "-o", at("m.npy")}),
            at("m.npy") + ": 3 × 3, convention visible (true = visible)\n");
  EXPECT_EQ(picture("m.npy", MaskConvention::visible), causal);
  EXPECT_EQ(printed({"causal", "--queries", "3", "-o", at("m.csv"), "--convention", "additive"}),
            at("m.csv") + ": 3 × 3, convention additive (0 = visible, -inf = masked)\n");
  EXPECT_EQ(test::fileText(folder_ / "m.csv"), "0,-inf,-inf\n0,0,-inf\n0,0,0\n");
  EXPECT_EQ(printed({"causal", "--queries", "3", "-o", at("m.safetensors"), "--convention", "masked"}),
            at("m.safetensors") + ": 3 × 3, convention masked (true = masked)\n");
  EXPECT_EQ(picture("m.safetensors", MaskConvention::masked), causal);
  // Written masks can be read again.
  EXPECT_EQ(printed({"!file(\"" + at("m.csv") + "\", additive)", "--queries", "3", "-o", at("n.csv")}),
            at("n.csv") + ": 3 × 3, convention visible (1 = visible)\n");
  EXPECT_EQ(test::fileText(folder_ / "n.csv"), "0,1,1\n0,0,1\n0,0,0\n");
}

TEST_F(MaskCommand, WritesAllHeadsOrOne) {
  const std::vector<std::string> mask{"causal & heads(1): window(1)", "--queries", "2", "--heads", "2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), mask.begin(), mask.end());
    return more;
  };
  EXPECT_THAT(errorOf(with({"-o", at("m.csv")}), 2), HasSubstr("2 different masks"));
  EXPECT_THAT(errorOf(with({"-o", at("m.png")}), 2), HasSubstr("choose with --head"));
  EXPECT_EQ(printed(with({"-o", at("m.npy")})),
            at("m.npy") + ": 2 heads of 2 × 2, convention visible (true = visible)\n");
  EXPECT_EQ(picture("m.npy", MaskConvention::visible, 0), "#./##");
  EXPECT_EQ(picture("m.npy", MaskConvention::visible, 1), "#./.#");
  printed(with({"-o", at("m.csv"), "--head", "1"}));
  EXPECT_EQ(test::fileText(folder_ / "m.csv"), "1,0\n0,1\n");
}

TEST_F(MaskCommand, DrawsCells) {
  EXPECT_EQ(printed({"causal", "--queries", "3", "--keys", "5", "--cache", "2", "-o", at("m.png")}),
            at("m.png") + ": 3 × 5, light = visible\n");
  const render::Image image = test::decodePng(test::fileBytes(folder_ / "m.png"));
  ASSERT_EQ(image.width, 5);
  ASSERT_EQ(image.height, 3);
  for (int row = 0; row < 3; ++row)
    for (int col = 0; col < 5; ++col)
      EXPECT_EQ(image.rgba[static_cast<std::size_t>(4 * (row * 5 + col))] > 128, col <= row + 2);
}

TEST_F(MaskCommand, PoolsLargeMasksInPictures) {
  EXPECT_EQ(printed({"sinks(1) | dilated(window=0)", "--queries", "9000", "--keys", "8193", "--cache", "0",
                     "-o", at("m.png")}),
            at("m.png") + ": 9000 × 8193, light = visible, a pixel is 3 × 3 cells\n");
  const render::Image image = test::decodePng(test::fileBytes(folder_ / "m.png"));
  ASSERT_EQ(image.width, 2731);
  ASSERT_EQ(image.height, 3000);
  const auto light = [&](int row, int col) {
    return int{image.rgba[4 * (static_cast<std::size_t>(row) * 2731 + static_cast<std::size_t>(col))]};
  };
  // 5 of 9 cells, 3 of 9, none, and again 3 of 9.
  EXPECT_GT(light(0, 0), light(1, 0));
  EXPECT_GT(light(1, 0), light(1, 2) + 40);
  EXPECT_EQ(light(2999, 0), light(1, 0));
  EXPECT_EQ(light(1000, 1000), light(1, 0));
}

TEST_F(MaskCommand, HandlesMasksLargerThanMemory) {
  // Neither 32,768² cells nor their shares would fit into this address space.
  const auto bounded = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "mask");
#ifdef HEADSCOPE_SANITIZE_BUILD
    return runHeadscope(arguments);
#else
    return runHeadscope(arguments, "ulimit -v 1000000; ");
#endif
  };
  const Outcome report = bounded({"causal & longformer(window=512)", "--queries", "32768"});
  EXPECT_EQ(report.exitCode, 0) << report.errors;
  EXPECT_THAT(report.output, HasSubstr("of 1,073,741,824 cells"));
  const Outcome drawn = bounded({"causal & longformer(window=512)", "--queries", "32768", "-o", at("m.png")});
  EXPECT_EQ(drawn.exitCode, 0) << drawn.errors;
  EXPECT_THAT(drawn.output, HasSubstr("a pixel is 8 × 8 cells"));
}

TEST_F(MaskCommand, PrintsCode) {
  EXPECT_THAT(printed({"causal", "--queries", "8", "--code", "flex"}),
              HasSubstr("def mask_mod(b, h, q_idx, kv_idx):"));
  EXPECT_THAT(printed({"causal", "--queries", "8", "--code", "torch"}), HasSubstr("attn_mask = torch."));
  EXPECT_THAT(printed({"causal", "--queries", "8", "--code", "numpy"}), HasSubstr("visible = np."));
  EXPECT_THAT(errorOf({"causal", "--queries", "8", "--code", "jax"}, 2), HasSubstr("--code"));
}

TEST_F(MaskCommand, ListsEveryPattern) {
  const std::string list = printed({"--list"});
  for (const attention::PatternInfo& info : attention::patternTable()) {
    EXPECT_THAT("\n" + list,
                HasSubstr("\n" + std::string(info.name) + ": " + std::string(info.formula) + "\n"));
    EXPECT_THAT(list, HasSubstr("\n  " + std::string(info.help) + "\n"));
  }
  EXPECT_THAT(list,
              HasSubstr("  window: 1 to 1073741824, default 4; keys seen, including the query's own\n"));
  EXPECT_THAT(
      list,
      HasSubstr("  prefix: 0 to 1073741824, default: from the text; first tokens, which see each other\n"));
}

TEST_F(MaskCommand, PointsAtMaskErrors) {
  EXPECT_EQ(errorOf({"causal & windwo(8)", "--queries", "8"}, 1),
            "\"windwo\" is not a pattern; did you mean window?\ncausal & windwo(8)\n         ^\n");
  EXPECT_EQ(errorOf({"window(0)", "--queries", "8"}, 1),
            "window is 0, expected 1 to 1073741824\n"
            "window(0)\n"
            "       ^\n");
  EXPECT_EQ(errorOf({"causal & (full", "--queries", "8"}, 1),
            "a closing bracket is missing\n"
            "causal & (full\n"
            "         ^\n");
}

TEST_F(MaskCommand, ReportsFailures) {
  EXPECT_EQ(errorOf({"heads(4): causal", "--queries", "8", "--heads", "4"}, 1),
            "heads(…) names head 4, expected 0 to 3\n");
  EXPECT_EQ(errorOf({"painted(\"p\")", "--queries", "8"}, 1), "there is no painting \"p\"\n");
  EXPECT_THAT(errorOf({"file(\"none.npy\", masked)", "--queries", "8"}, 1),
              HasSubstr("none.npy: cannot be opened"));
  EXPECT_THAT(errorOf({"causal", "--queries", "8", "-o", at("none/m.npy")}, 1),
              HasSubstr("cannot be written"));
  EXPECT_THAT(errorOf({"causal", "--queries", "65536", "--keys", "65537", "-o", at("m.npy")}, 1),
              HasSubstr("m.npy: would be 4295032832 bytes, expected at most 4294967296"));
}

TEST_F(MaskCommand, WrongUsageExitsWithCode2) {
  const auto usage = [&](const std::vector<std::string>& arguments) {
    const std::string error = errorOf(arguments, 2);
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
    return error;
  };
  EXPECT_THAT(usage({}), HasSubstr("EXPR is missing"));
  EXPECT_THAT(usage({"causal"}), HasSubstr("--queries or --text is missing"));
  EXPECT_THAT(usage({"causal", "--text", "a b", "--queries", "2"}), HasSubstr("--text sets the numbers"));
  EXPECT_THAT(usage({"causal", "--text", ""}), HasSubstr("--text has 0 lines with tokens, expected 1"));
  EXPECT_THAT(usage({"causal", "--text", "a\nb"}), HasSubstr("--text has 2 lines with tokens, expected 1"));
  EXPECT_THAT(usage({"causal", "--text", "a b", "--cache", "2"}),
              HasSubstr("--cache is 2, expected less than the 2 tokens"));
  EXPECT_THAT(usage({"causal", "--queries", "0"}), HasSubstr("--queries is 0, expected 1 to 1048576"));
  EXPECT_THAT(usage({"causal", "--queries", "1048577"}), HasSubstr("expected 1 to 1048576"));
  EXPECT_THAT(usage({"causal", "--queries", "x"}), HasSubstr("--queries"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "--keys", "-1"}), HasSubstr("--keys is -1"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "--cache", "-1"}), HasSubstr("--cache is -1"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "--heads", "0"}),
              HasSubstr("--heads is 0, expected 1 to 1024"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "--heads", "4", "--kv-heads", "3"}),
              HasSubstr("--kv-heads is 3, expected a divisor of the 4 heads"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "--head", "1"}), HasSubstr("--head is 1, expected 0 to 0"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "-o", at("m.txt")}),
              HasSubstr("expected a name that ends in"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "--convention", "masked"}), HasSubstr("-o FILE is missing"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "--convention", "odd", "-o", at("m.npy")}),
              HasSubstr("odd"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "--convention", "masked", "-o", at("m.png")}),
              HasSubstr("--convention is for numbers"));
  EXPECT_THAT(usage({"causal", "--queries", "8", "--code", "flex", "-o", at("m.npy")}),
              HasSubstr("--code prints"));
  EXPECT_THAT(usage({"causal", "full", "--queries", "8"}), HasSubstr("full"));
}

}  // namespace
}  // namespace headscope::app
