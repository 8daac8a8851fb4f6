#include "attention/formats/tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "attention/core/random.h"
#include "attention/formats/npy.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_bytes.h"

namespace headscope::attention {
namespace {

Table parsed(std::string_view text) {
  return *checked(parseCsv(text, "t.csv"));
}

std::string errorOfCsv(std::string_view text) {
  return messageOf(parseCsv(text, "t.csv"));
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

TEST(Csv, RefusesInvalidNumbers) {
  for (const auto* text :
       {"nan", "NaN", "-nan", "inf", "-Infinity", "1e39", "-1e9999", "0x10", "1,5", "1 2", "--1", "+-1"}) {
    EXPECT_THAT(errorOfCsv(std::string("1;2\n3;") + text), HasSubstr("line 2, column 2: found")) << text;
    EXPECT_THAT(errorOfCsv(std::string("1;2\n") + text + ";4"), HasSubstr("line 2, column 1: found")) << text;
  }
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

using Bytes = std::vector<std::uint8_t>;

/// The bytes of a .npy file from its parts, as specified by the format.
Bytes npy(int major, const std::string& header, const Bytes& data) {
  Bytes bytes{0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(major), 0};
  for (std::size_t i = 0; i < (major == 1 ? 2u : 4u); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(header.size() >> (8 * i)));
  }
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

template <typename T>
Bytes bytesOf(std::initializer_list<T> values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

Table parsed(const Bytes& bytes) {
  return *checked(parseNpy(bytes, "t.npy"));
}

std::string errorOfNpy(const Bytes& bytes) {
  return messageOf(parseNpy(bytes, "t.npy"));
}

const Matrix kTwoByThree{{1, 2, 3}, {4, 5, 6}};

TEST(Npy, ReadsEveryVersion) {
  const auto data = bytesOf<float>({1, 2, 3, 4, 5, 6});
  for (const int major : {1, 2, 3}) {
    const auto table = parsed(npy(major, dict("<f4", "(2, 3)"), data));
    EXPECT_EQ(table.values, kTwoByThree) << major;
    EXPECT_THAT(table.names, ElementsAre("", ""));
  }
}

TEST(Npy, ReadsEveryType) {
  EXPECT_EQ(parsed(npy(1, dict("<f8", "(2, 3)"), bytesOf<double>({1, 2, 3, 4, 5, 6}))).values, kTwoByThree);
  EXPECT_EQ(parsed(npy(1, dict("<i4", "(2, 3)"), bytesOf<std::int32_t>({1, 2, 3, 4, 5, 6}))).values,
            kTwoByThree);
  EXPECT_EQ(parsed(npy(1, dict("<i8", "(2, 3)"), bytesOf<std::int64_t>({1, 2, 3, 4, 5, 6}))).values,
            kTwoByThree);
  // 1, −2 and 0.5 as IEEE 754 halves.
  const auto halves = npy(1, dict("<f2", "(3,)"), bytesOf<std::uint16_t>({0x3C00, 0xC000, 0x3800}));
  EXPECT_EQ(parsed(halves).values, (Matrix{{1, -2, 0.5F}}));
}

TEST(Npy, ReadsFortranOrder) {
  const auto data = bytesOf<float>({1, 4, 2, 5, 3, 6});
  EXPECT_EQ(parsed(npy(1, dict("<f4", "(2, 3)", "True"), data)).values, kTwoByThree);
}

TEST(Npy, TreatsOneDimensionAsRow) {
  EXPECT_EQ(parsed(npy(1, dict("<f4", "(3,)"), bytesOf<float>({7, 8, 9}))).values, (Matrix{{7, 8, 9}}));
}

TEST(Npy, ReadsKeysInAnyOrder) {
  const auto data = bytesOf<float>({1, 2});
  EXPECT_EQ(parsed(npy(1, "{\"shape\":(1,2),'fortran_order':True,'descr':\"<f4\"}", data)).values,
            (Matrix{{1, 2}}));
}

TEST(Npy, RefusesEveryTruncation) {
  for (const int major : {1, 2}) {
    const auto whole = npy(major, dict("<f4", "(1, 2)"), bytesOf<float>({1, 2}));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_THAT(errorOfNpy(part), StartsWith("t.npy: ")) << length;
    }
    auto longer = whole;
    longer.push_back(0);
    EXPECT_THAT(errorOfNpy(longer), HasSubstr("holds 9 bytes of data, expected 8 for <f4 (1, 2)"));
  }
}

TEST(Npy, RefusesUnsupportedVersions) {
  const auto data = bytesOf<float>({1, 2});
  EXPECT_THAT(errorOfNpy(npy(4, dict("<f4", "(1, 2)"), data)), HasSubstr("has version 4.0"));
  auto minor = npy(1, dict("<f4", "(1, 2)"), data);
  minor[7] = 1;
  EXPECT_THAT(errorOfNpy(minor), HasSubstr("has version 1.1"));
}

TEST(Npy, RefusesUnsupportedTypes) {
  for (const auto* type : {">f4", "|b1", "<c8", "<U5", "|O", "<f16", ""}) {
    EXPECT_THAT(errorOfNpy(npy(1, dict(type, "(1, 2)"), {})),
                HasSubstr(std::string("has values of type \"") + type))
        << type;
  }
  EXPECT_THAT(errorOfNpy(npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", {})),
              HasSubstr("expected a simple type"));
}

TEST(Npy, RefusesAbsurdShapes) {
  for (const auto* shape :
       {"(18446744073709551615, 2)", "(4294967296, 4294967296)", "(9223372036854775807,)"}) {
    EXPECT_THAT(errorOfNpy(npy(1, dict("<f4", shape), {})), HasSubstr("more than can be addressed")) << shape;
  }
  EXPECT_THAT(errorOfNpy(npy(1, dict("<f4", "(1000000000, 1000000000)"), {})),
              HasSubstr("holds 0 bytes of data"));
  EXPECT_THAT(errorOfNpy(npy(1, dict("<f4", "(0, 3)"), {})), HasSubstr("expected at least one value"));
  EXPECT_THAT(errorOfNpy(npy(1, dict("<f4", "()"), {})), HasSubstr("has 0 dimensions, expected 1 or 2"));
  EXPECT_THAT(errorOfNpy(npy(1, dict("<f4", "(1, 1, 1)"), {})),
              HasSubstr("has 3 dimensions, expected 1 or 2"));
  for (const auto* shape :
       {"(-1, 2)", "(18446744073709551616,)", "[1, 2]", "(1.5,)", "(1 2)", "(1, 2", "(,)", "7"}) {
    EXPECT_THAT(errorOfNpy(npy(1, dict("<f4", shape), {})), HasSubstr("expected a tuple of whole numbers"))
        << shape;
  }
}

TEST(Npy, RefusesTooManyRows) {
  const Bytes data((std::size_t{1} << 24) * 2 + 2);
  EXPECT_THAT(errorOfNpy(npy(1, dict("<f2", "(16777217, 1)"), data)), HasSubstr("expected at most 16777216"));
}

TEST(Npy, RefusesDamagedHeaders) {
  for (const auto* header :
       {"", "{", "x", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4'",
        "{'descr' '<f4'}", "{'descr: 1}", "{'shape': (1,), 'shape': (1,)}", "{'other': 1}",
        "{'fortran_order': 1}", "{'descr': '<f4' 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x"}) {
    EXPECT_THAT(errorOfNpy(npy(1, header, bytesOf<float>({1}))), HasSubstr("its header")) << header;
  }
  auto longHeader = npy(2, dict("<f4", "(1,)"), bytesOf<float>({1}));
  longHeader[11] = 0xFF;
  EXPECT_THAT(errorOfNpy(longHeader), HasSubstr("declares a header of"));
}

TEST(Npy, RefusesNonFiniteValues) {
  EXPECT_EQ(errorOfNpy(npy(1, dict("<f4", "(2, 2)"), bytesOf<float>({1, 2, NAN, 4}))),
            "t.npy: row 2, column 1 is NaN, expected a finite number");
  // In Fortran order, the third value in the file is the second of the first row.
  EXPECT_THAT(errorOfNpy(npy(1, dict("<f4", "(2, 2)", "True"), bytesOf<float>({1, 2, INFINITY, 4}))),
              HasSubstr("row 1, column 2 is infinite"));
  EXPECT_THAT(errorOfNpy(npy(1, dict("<f8", "(1, 2)"), bytesOf<double>({1, 1e300}))),
              HasSubstr("row 1, column 2 is infinite or beyond 3.4e38"));
}

TEST(Npy, RoundTripsWithAlignedData) {
  std::string file = npyPreamble("<f4", {2, 3});
  EXPECT_EQ(file.size() % 64, 0u) << "the data is not aligned";
  EXPECT_EQ(file.back(), '\n');
  const std::size_t header = static_cast<std::uint8_t>(file[8]) + 256u * static_cast<std::uint8_t>(file[9]);
  EXPECT_EQ(10 + header, file.size());
  file.append(reinterpret_cast<const char*>(kTwoByThree.data()), 6 * sizeof(float));
  EXPECT_EQ(parsed(Bytes{file.begin(), file.end()}).values, kTwoByThree);
}

}  // namespace
}  // namespace headscope::attention
