#include <gtest/gtest.h>

#include <limits>

#include "attention/core/random.h"
#include "attention/formats/tables.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_bytes.h"

namespace headscope::attention {
namespace {

Table parsed(std::string_view text) {
  auto table = parseCsv(text, "t.csv");
  EXPECT_TRUE(table.ok()) << table.error().message;
  return table ? *table : Table{};
}

std::string errorOfCsv(std::string_view text) {
  const auto table = parseCsv(text, "t.csv");
  return table ? "no error" : table.error().message;
}

Matrix matrix(std::initializer_list<std::initializer_list<float>> rows) {
  return Matrix(rows);
}

TEST(Csv, ReadsPlainNumbers) {
  const auto table = parsed("1,2,3\n-4,+5.5,6e-1\n");
  EXPECT_EQ(table.values, matrix({{1, 2, 3}, {-4, 5.5F, 0.6F}}));
  EXPECT_THAT(table.names, ElementsAre("", ""));
}

TEST(Csv, DetectsSeparator) {
  const auto expected = matrix({{1, 2}, {3, 4}});
  EXPECT_EQ(parsed("1;2\n3;4").values, expected);
  EXPECT_EQ(parsed("1\t2\n3\t4\n").values, expected);
  EXPECT_EQ(parsed("a,b\t1\t2\nc;d\t3\t4\n").names[1], "c;d");
  EXPECT_THAT(parsed("\"a;b\",1\nc,2\n").names, ElementsAre("a;b", "c"));
}

TEST(Csv, ReadsEveryLineEndingAndByteOrderMark) {
  const auto expected = matrix({{1, 2}, {3, 4}});
  for (const auto* text : {"1,2\n3,4", "1,2\r\n3,4\r\n", "1,2\r3,4\r", "\xEF\xBB\xBF\x31,2\n3,4\n",
                           "\n1,2\n\n3,4\n\n", " 1 , 2 \n 3 ,\t4 \n   \n"}) {
    EXPECT_EQ(parsed(text).values, expected) << text;
  }
}

TEST(Csv, TreatsRowWithoutNumbersAsHeader) {
  EXPECT_EQ(parsed("first,second\n1,2\n").values, matrix({{1, 2}}));
  EXPECT_EQ(parsed("only\n1\n2\n").values, matrix({{1}, {2}}));
  EXPECT_EQ(parsed("name\n1\n2\n").values, matrix({{1}, {2}}));
}

TEST(Csv, TreatsColumnWithoutNumbersAsNames) {
  const auto table = parsed("the,1,2\ncat,3,4\n");
  EXPECT_THAT(table.names, ElementsAre("the", "cat"));
  EXPECT_EQ(table.values, matrix({{1, 2}, {3, 4}}));
  EXPECT_THAT(parsed("word,x\ninf,1\nthe,2\n").names, ElementsAre("inf", "the"));
}

TEST(Csv, HeaderIdentifiesNumericNameColumn) {
  for (const auto* header : {"name", "token", ""}) {
    const auto table = parsed(std::string(header) + ",a\n2024,1\ncat,2\n");
    EXPECT_THAT(table.names, ElementsAre("2024", "cat")) << header;
    EXPECT_EQ(table.values, matrix({{1}, {2}})) << header;
  }
}

TEST(Csv, ReadsQuotedFields) {
  const auto table = parsed("\"say \"\"hi\"\"\",\"1.5\"\n\"two\nlines, \", 2\n");
  EXPECT_THAT(table.names, ElementsAre("say \"hi\"", "two\nlines, "));
  EXPECT_EQ(table.values, matrix({{1.5F}, {2}}));
}

TEST(Csv, RefusesUnclosedAndMisplacedQuotes) {
  EXPECT_EQ(errorOfCsv("1,2\n3,\"4\n"), "t.csv: line 2 opens a quote that is never closed");
  EXPECT_THAT(errorOfCsv("\"1\"x,2\n"), HasSubstr("line 1 has text after a closing quote"));
}

TEST(Csv, RefusesRaggedRows) {
  EXPECT_EQ(errorOfCsv("1,2,3\n4,5\n"), "t.csv: line 2 has 2 fields, expected 3 as in line 1");
  EXPECT_THAT(errorOfCsv("a,b\n\"x\ny\",1\n1,2,3\n"),
              HasSubstr("line 4 has 3 fields, expected 2 as in line 1"));
}

TEST(Csv, RefusesInvalidNumbers) {
  EXPECT_EQ(errorOfCsv("1,2\n3,four\n"), "t.csv: line 2, column 2: found \"four\", expected a finite number");
  EXPECT_EQ(errorOfCsv("1,2\n3,\n"),
            "t.csv: line 2, column 2: found an empty field, expected a finite number");
  EXPECT_THAT(errorOfCsv("1,2\ncat,4\n"), HasSubstr("line 2, column 1: found \"cat\""));
  for (const auto* text :
       {"nan", "NaN", "-nan", "inf", "-Infinity", "1e39", "-1e9999", "0x10", "1,5", "1 2", "--1", "+-1"}) {
    EXPECT_THAT(errorOfCsv(std::string("1;2\n3;") + text), HasSubstr("line 2, column 2: found")) << text;
    EXPECT_THAT(errorOfCsv(std::string("1;2\n") + text + ";4"), HasSubstr("line 2, column 1: found")) << text;
  }
  EXPECT_THAT(errorOfCsv("nan,1\n"), HasSubstr("line 1, column 1: found \"nan\""));
}

TEST(Csv, RoundsTinyNumbersToZero) {
  EXPECT_EQ(parsed("1e-60,-1e-9999,1e-40,1e-99999999999,0e999\n").values, matrix({{0, 0, 1e-40F, 0, 0}}));
  const std::string zeros(400, '0');
  EXPECT_EQ(parsed("0." + zeros + "1,1" + zeros + "e-500,-0.5e-60\n").values, matrix({{0, 0, 0}}));
  for (const std::string& text : {"1" + zeros, std::string("0.1e400"), "0." + zeros + "1e+500"}) {
    EXPECT_THAT(errorOfCsv("1," + text), HasSubstr("line 1, column 2: found")) << text;
  }
}

TEST(Csv, RefusesTextWithoutNumbers) {
  for (const auto* text : {"", "\n\n", "a,b\n", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(errorOfCsv(text), "t.csv: has no row of numbers") << text;
  }
  EXPECT_THAT(errorOfCsv("a\nb\n"), HasSubstr("line 2, column 1: found \"b\""));
}

TEST(Csv, RefusesOtherEncodings) {
  EXPECT_EQ(errorOfCsv(std::string_view("\xFF\xFE\x31\0", 4)), "t.csv: is UTF-16 text, expected UTF-8");
  EXPECT_THAT(errorOfCsv("caf\xE9,1\n"), HasSubstr("is not UTF-8"));
}

TEST(Csv, LimitsColumns) {
  EXPECT_THAT(errorOfCsv(std::string((1 << 20) + 1, ',')), HasSubstr("has more than 1048576 fields"));
}

TEST(Csv, RoundTripsBitForBit) {
  Random random(7);
  Table table;
  table.values.resize(40, 25);
  for (Index i = 0; i < table.values.size(); ++i) {
    // Every exponent, so that no digit of the shortest text may be missing.
    table.values.data()[i] = std::ldexp(random.gaussian(), static_cast<int>(random.next() % 240) - 130);
  }
  table.values(0, 0) = std::numeric_limits<float>::max();
  table.values(0, 1) = std::numeric_limits<float>::denorm_min();
  table.values(0, 2) = -0.0F;
  table.names.assign(40, "");
  EXPECT_EQ(parsed(formatCsv(table)), table);
  table.names[3] = "7";
  table.names[4] = " a \"quoted\",\nname;\t";
  table.names[5] = "nan";
  EXPECT_EQ(parsed(formatCsv(table)), table);
}

TEST(ReadTable, ChoosesFormatByExtension) {
  const headscope::test::TemporaryFolder folder;
  headscope::test::putFile(folder / "t.csv", "1,2\n");
  headscope::test::putFile(folder / "t.NPY", headscope::test::npyBytes<float>("<f4", "(1, 2)", {3, 4}));
  headscope::test::putFile(folder / "bad.npy", "1,2\n");
  EXPECT_EQ(readTable(folder / "t.csv")->values, matrix({{1, 2}}));
  EXPECT_EQ(readTable(folder / "t.NPY")->values, matrix({{3, 4}}));
  const auto bad = readTable(folder / "bad.npy");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, (folder / "bad.npy").string() + ": does not begin as a .npy file does");
  EXPECT_FALSE(readTable(folder.path()).ok());
}

}  // namespace
}  // namespace headscope::attention
