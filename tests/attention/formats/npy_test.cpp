#include "attention/formats/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "attention/formats/tables.h"
#include "tests/support/matchers.h"

namespace headscope::attention {
namespace {

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
  auto table = parseNpy(bytes, "t.npy");
  EXPECT_TRUE(table.ok()) << table.error().message;
  return table ? *table : Table{};
}

std::string errorOfNpy(const Bytes& bytes) {
  const auto table = parseNpy(bytes, "t.npy");
  return table ? "no error" : table.error().message;
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
  EXPECT_EQ(parsed({file.begin(), file.end()}).values, kTwoByThree);
}

}  // namespace
}  // namespace headscope::attention
