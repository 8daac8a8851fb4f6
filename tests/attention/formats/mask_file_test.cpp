#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/core/random.h"
#include "tests/attention/formats/mask_file_fixture.h"
#include "tests/support/float_limits.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"

namespace headscope::attention {
namespace {

using test::Bytes;
using test::bytesOf;
using test::MaskFileTest;
using test::npy;

TEST_F(MaskFileTest, ConventionNamesRoundTrip) {
  for (const auto convention : {MaskConvention::visible, MaskConvention::masked, MaskConvention::additive})
    EXPECT_EQ(*parseConvention(conventionName(convention)), convention);
  EXPECT_EQ(parseConvention("hidden").error().message,
            "the convention is \"hidden\", expected visible, masked or additive");
}

TEST_F(MaskFileTest, ReadsEveryNpyType) {
  const auto check = [&]<typename T>(const std::string& descr, const std::vector<T>& values) {
    const auto path = put("m.npy", npy(descr, "(2, 3)", bytesOf(values)));
    EXPECT_EQ(visible(path), "#.#/..#") << descr;
    EXPECT_EQ(read(path, MaskConvention::masked), ".#./##.") << descr;
  };
  check("|b1", std::vector<std::uint8_t>{1, 0, 1, 0, 0, 1});
  check("|u1", std::vector<std::uint8_t>{1, 0, 1, 0, 0, 1});
  check("|i1", std::vector<std::int8_t>{1, 0, 1, 0, 0, 1});
  check("<i2", std::vector<std::int16_t>{1, 0, 1, 0, 0, 1});
  check("<u2", std::vector<std::uint16_t>{1, 0, 1, 0, 0, 1});
  check("<i4", std::vector<std::int32_t>{1, 0, 1, 0, 0, 1});
  check("<u4", std::vector<std::uint32_t>{1, 0, 1, 0, 0, 1});
  check("<i8", std::vector<std::int64_t>{1, 0, 1, 0, 0, 1});
  check("<u8", std::vector<std::uint64_t>{1, 0, 1, 0, 0, 1});
  check("<f4", std::vector<float>{1, 0, 1, 0, 0, 1});
  check("<f8", std::vector<double>{1, 0, 1, 0, 0, 1});
  check("<f2", std::vector<std::uint16_t>{0x3C00, 0, 0x3C00, 0, 0x8000, 0x3C00});
}

TEST_F(MaskFileTest, ReadsHeadsBatchesAndFortranOrder) {
  const Bytes cells{1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0};
  EXPECT_EQ(visible(put("a.npy", npy("|b1", "(2, 2, 3)", cells))), "#.#/..# ##./.#.");
  EXPECT_EQ(visible(put("b.npy", npy("|b1", "(1, 2, 2, 3)", cells))), "#.#/..# ##./.#.");
  EXPECT_EQ(visible(put("c.npy", npy("|b1", "(1, 4, 3)", cells))), "#.#/..#/##./.#.");
  EXPECT_EQ(visible(put("d.npy", npy("|b1", "(2, 3)", {1, 0, 0, 0, 1, 1}, "True"))), "#.#/..#");
  // [2, 2, 3] with the first axis fastest: head + 2·row + 4·key.
  EXPECT_EQ(visible(put("e.npy", npy("|b1", "(2, 2, 3)", {1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0}, "True"))),
            "#.#/..# ##./.#.");
}

TEST_F(MaskFileTest, ReadsAdditiveMasks) {
  const float lowest = std::numeric_limits<float>::lowest();
  const auto path = put("m.npy", npy("<f4", "(2, 3)", bytesOf<float>({0, -kInfinity, -0.0F, lowest, 0, 0})));
  EXPECT_EQ(additive(path), "#.#/.##");
  EXPECT_TRUE(readMaskFile(path, MaskConvention::additive)->additive.empty());
  // The lowest numbers of float16, bfloat16 and float64, and int8's mask value.
  EXPECT_EQ(additive(put("h.npy", npy("<f2", "(1, 3)", bytesOf<std::uint16_t>({0xFBFF, 0xFC00, 0xF0DF})))),
            "..#");
  EXPECT_EQ(
      additive(put("d.npy", npy("<f8", "(1, 3)",
                                bytesOf<double>({std::numeric_limits<double>::lowest(), -9000, -1e300})))),
      ".#.");
  EXPECT_EQ(additive(put("i.npy", npy("|i1", "(1, 3)", bytesOf<std::int8_t>({-128, -127, 0})))), ".##");
  SafetensorsFile brain;
  brain.tensors["mask"] = NamedTensor{DType::BF16, {1, 2}, bytesOf<std::uint16_t>({0xFF7F, 0xC60C})};
  EXPECT_EQ(additive(put("b.safetensors", brain)), ".#");
}

/// A program that computes in one type may save in another, and −1e4 and −1e9 aren't the lowest number of any
/// type.
TEST_F(MaskFileTest, LargeNegativeNumbersMeanMasked) {
  const auto path =
      put("l.npy",
          npy("<f4", "(1, 6)", bytesOf<float>({-1e9F, -1e4F, -65504, -3.3895314e38F, -1000, -kInfinity})));
  const auto file = checked(readMaskFile(path, MaskConvention::additive));
  EXPECT_EQ(picture(*file->cells), "....#.");
  EXPECT_EQ(file->largeNumbers, 4u);
  EXPECT_EQ(file->additive.at(0, 0, 4), -1000);
  EXPECT_EQ(file->additive.at(0, 0, 0), 0);
  // −1e4 as rounded to bfloat16 and float16.
  SafetensorsFile brain;
  brain.tensors["mask"] = NamedTensor{DType::BF16, {1, 1}, bytesOf<std::uint16_t>({0xC61C})};
  EXPECT_EQ(additive(put("b.safetensors", brain)), ".");
  EXPECT_EQ(additive(put("h.npy", npy("<f2", "(1, 1)", bytesOf<std::uint16_t>({0xF0E2})))), ".");
  EXPECT_EQ(largeNumbersText(1), "a finite number of -1e4 or less is read as masked");
  EXPECT_EQ(largeNumbersText(4), "4 finite numbers of -1e4 or less are read as masked");
}

TEST_F(MaskFileTest, KeepsFiniteValues) {
  const auto path =
      put("m.npy", npy("<f4", "(2, 2, 2)", bytesOf<float>({0, -kInfinity, 2, -0.5F, 0, 0, -kInfinity, 7})));
  const auto file = checked(readMaskFile(path, MaskConvention::additive));
  EXPECT_EQ(picture(*file->cells), "#./## ##/.#");
  ASSERT_EQ(file->additive.count(), 2);
  EXPECT_EQ(Matrix(file->additive[0]), (Matrix{{0, 0}, {2, -0.5F}}));
  EXPECT_EQ(Matrix(file->additive[1]), (Matrix{{0, 0}, {0, 7}}));
}

TEST_F(MaskFileTest, SharesRepeatedRows) {
  const auto path = put("m.npy", npy("|b1", "(3, 2)", {1, 0, 1, 0, 0, 1}));
  const auto file = readMaskFile(path, MaskConvention::visible);
  EXPECT_EQ(file->cells->rows[0], file->cells->rows[1]);
  EXPECT_NE(file->cells->rows[1], file->cells->rows[2]);
}

TEST_F(MaskFileTest, ReadsCsv) {
  EXPECT_EQ(visible(put("a.csv", "1,0,1\n0,0,1\n")), "#.#/..#");
  EXPECT_EQ(visible(put("b.csv", "\xEF\xBB\xBFTrue;FALSE;true\r\nfalse;false;true\r\n")), "#.#/..#");
  EXPECT_EQ(visible(put("c.csv", "1.0\t0.0\n0\t1")), "#./.#");
  EXPECT_EQ(additive(put("d.csv", "0,-inf\n-3.4028234663852886e+38,-1e39\n")), "#./..");
  EXPECT_EQ(
      additive(put("e.csv", "true,false\n")),
      (folder_ / "e.csv").string() + ": holds true and false, expected numbers for the additive convention");
  EXPECT_THAT(visible(put("f.csv", "1,0\n1\n")),
              EndsWith(": line 2 has 1 fields, expected 2 as in the first"));
  EXPECT_THAT(visible(put("g.csv", "a,b\n1,0\n")),
              EndsWith(": line 1, column 1: found \"a\", expected a number, true or false"));
  EXPECT_THAT(visible(put("h.csv", "1,,0\n")),
              EndsWith(": line 1, column 2: found an empty field, expected a number, true or false"));
  EXPECT_THAT(visible(put("i.csv", "\n\n")), EndsWith(": has no row of numbers"));
}

TEST_F(MaskFileTest, ChoosesTensorByName) {
  SafetensorsFile file;
  file.tensors["x"] = NamedTensor{DType::F32, {1}, Bytes(4)};
  file.tensors["bias"] = NamedTensor{DType::U8, {1, 2}, {1, 0}};
  EXPECT_EQ(visible(put("a.safetensors", file)), "#.");
  file.tensors["mask"] = NamedTensor{DType::I16, {1, 2}, {0, 0, 1, 0}};
  EXPECT_EQ(visible(put("b.safetensors", file)), ".#");
  file.tensors["attn_mask"] = NamedTensor{DType::Bool, {1, 1, 1, 2}, {1, 1}};
  EXPECT_EQ(visible(put("c.safetensors", file)), "##");
  SafetensorsFile only;
  only.tensors["whatever"] = NamedTensor{DType::I8, {2, 1}, {1, 0}};
  EXPECT_EQ(visible(put("d.safetensors", only)), "#/.");
  only.tensors["other"] = only.tensors["whatever"];
  EXPECT_THAT(visible(put("e.safetensors", only)),
              EndsWith(": holds 2 tensors, expected one called attn_mask, mask or bias, or only one"));
  EXPECT_THAT(visible(put("f.safetensors", SafetensorsFile{})), HasSubstr(": holds 0 tensors"));
  only.tensors["mask"] = NamedTensor{DType::I8, {2}, {1, 0}};
  EXPECT_THAT(visible(put("g.safetensors", only)), HasSubstr(": tensor \"mask\" has shape [2], expected"));
  EXPECT_THAT(visible(put("h.safetensors", std::string("short"))), HasSubstr("h.safetensors: is 5 bytes"));
}

TEST_F(MaskFileTest, ReportsErrorsWithLocation) {
  const auto error = [&](const Bytes& bytes, MaskConvention convention = MaskConvention::visible) {
    const auto path = put("m.npy", bytes);
    const std::string message = read(path, convention), front = path.string() + ": ";
    EXPECT_THAT(message, StartsWith(front));
    return message.substr(std::min(front.size(), message.size()));
  };
  EXPECT_EQ(error(npy("<f4", "(2, 2)", bytesOf<float>({0, 1, 0.5F, 1}))), "[1, 0] is 0.5, expected 0 or 1");
  EXPECT_EQ(error(npy("<i8", "(1, 2, 2)", bytesOf<std::int64_t>({0, 1, 0, -1}))),
            "[0, 1, 1] is -1, expected 0 or 1");
  EXPECT_EQ(error(npy("|b1", "(1, 2)", {0, 2})), "[0, 1] is 2, expected 0 or 1");
  EXPECT_EQ(error(npy("<f4", "(1, 2)", bytesOf<float>({0, NAN}))), "[0, 1] is NaN, expected 0 or 1");
  EXPECT_EQ(error(npy("<f4", "(1, 2)", bytesOf<float>({0, -kInfinity}))),
            "[0, 1] is -inf or below -3.4e38, expected 0 or 1");
  const auto convention = MaskConvention::additive;
  EXPECT_EQ(error(npy("<f4", "(1, 2)", bytesOf<float>({0, NAN})), convention),
            "[0, 1] is NaN, expected a number or -inf");
  EXPECT_EQ(error(npy("<f4", "(1, 2)", bytesOf<float>({kInfinity, 0})), convention),
            "[0, 0] is infinite or beyond 3.4e38, expected a number or -inf");
  EXPECT_EQ(error(npy("<f8", "(1, 1)", bytesOf<double>({1e300})), convention),
            "[0, 0] is infinite or beyond 3.4e38, expected a number or -inf");
  EXPECT_EQ(error(npy("|b1", "(1, 1)", {1}), convention),
            "holds true and false, expected numbers for the additive convention");
  const std::string axes = ", expected [queries, keys], [heads, queries, keys] or a batch of 1 before them";
  EXPECT_EQ(error(npy("|b1", "(3,)", {1, 0, 1})), "has shape [3]" + axes);
  EXPECT_EQ(error(npy("|b1", "(1, 1, 1, 1, 2)", {1, 0})), "has shape [1, 1, 1, 1, 2]" + axes);
  EXPECT_EQ(error(npy("|b1", "(2, 1, 1, 1)", {1, 0})),
            "has shape [2, 1, 1, 1], a batch of 2, expected a batch of 1");
  EXPECT_EQ(error(npy("|b1", "(0, 4)", {})), "has shape (0, 4), expected at least one value");
  EXPECT_EQ(error(npy("|b1", "(4294967296, 4294967296)", {1})),
            "has shape (4294967296, 4294967296), more than can be addressed");
  EXPECT_EQ(error(npy("|b1", "(4294967295, 4294967295)", {1})).substr(0, 33),
            "holds 1 bytes of data, expected 1");
  EXPECT_EQ(error(npy("<c8", "(1, 1)", Bytes(8))),
            "has values of type \"<c8\", expected booleans, whole numbers or little-endian floats "
            "(|b1, |u1, <i8, <f4, …)");
  EXPECT_THAT(error(npy(">i4", "(1, 1)", Bytes(4))), StartsWith("has values of type \">i4\""));
  EXPECT_EQ(error(Bytes{1, 2, 3}), "does not begin as a .npy file does");
  EXPECT_EQ(visible("m.png"), "m.png: ends in \".png\", expected .npy, .csv or .safetensors");
  EXPECT_THAT(visible(folder_ / "none.npy"), HasSubstr("none.npy: cannot be opened"));
}

TEST_F(MaskFileTest, RefusesTooManyRows) {
  const auto path = put("m.npy", npy("|b1", "(16777217, 1)", Bytes(16777217)));
  EXPECT_EQ(visible(path),
            path.string() + ": has shape [16777217, 1], expected at most 16777216 rows over all heads");
}

TEST_F(MaskFileTest, ReportsPossibleConventions) {
  EXPECT_EQ(conventions(put("a.npy", npy("|b1", "(1, 2)", {1, 0}))), "visible masked");
  EXPECT_EQ(conventions(put("b.npy", npy("|u1", "(1, 2)", {1, 0}))), "visible masked additive");
  EXPECT_EQ(conventions(put("c.npy", npy("<f4", "(1, 2)", bytesOf<float>({0, -kInfinity})))), "additive");
  EXPECT_EQ(conventions(put("d.csv", "true,false\n")), "visible masked");
  EXPECT_THAT(conventions(put("e.npy", npy("<f4", "(1, 2)", bytesOf<float>({0, NAN})))),
              HasSubstr("[0, 1] is NaN"));
  EXPECT_THAT(conventions(folder_ / "none.npy"), HasSubstr("cannot be opened"));
}

using Rows = std::vector<std::string>;

/// A mask given by its cells, [heads, queries, keys], one string per row: '#' = visible.
class PictureMask : public MaskFormula {
 public:
  explicit PictureMask(std::vector<std::vector<std::string>> heads) : heads_(std::move(heads)) {
    for (std::size_t head = 0; head < heads_.size(); ++head) {
      const auto same = std::find(heads_.begin(), heads_.end(), heads_[head]) - heads_.begin();
      if (same == static_cast<std::ptrdiff_t>(head)) firsts_.push_back(same);
    }
  }
  Index heads() const override { return std::ssize(heads_); }
  Index queries() const override { return std::ssize(heads_[0]); }
  Index keys() const override { return std::ssize(heads_[0][0]); }
  Index variants() const override { return std::ssize(firsts_); }
  Index variantOf(Index head) const override {
    for (std::size_t k = 0; k < firsts_.size(); ++k)
      if (heads_[static_cast<std::size_t>(firsts_[k])] == heads_[static_cast<std::size_t>(head)])
        return static_cast<Index>(k);
    return -1;
  }
  void visibleRuns(Index variant, Index row, KeyRuns& runs) const override {
    const std::string& cells = heads_[static_cast<std::size_t>(firsts_[static_cast<std::size_t>(variant)])]
                                     [static_cast<std::size_t>(row)];
    runs.clear();
    for (std::size_t key = 0; key < cells.size(); ++key) {
      const auto at = static_cast<Index>(key);
      if (cells[key] != '#') continue;
      if (runs.empty() || runs.back().end != at) runs.push_back({at, at});
      runs.back().end = at + 1;
    }
  }

 private:
  std::vector<std::vector<std::string>> heads_;
  std::vector<std::ptrdiff_t> firsts_;
};

class MaskWriteTest : public test::MaskFileTest {};

TEST_F(MaskWriteTest, RoundTripsMasks) {
  Random random(5);
  for (int round = 0; round < 12; ++round) {
    const std::size_t heads = 1 + random.next() % 3, queries = 1 + random.next() % 5,
                      keys = 1 + random.next() % 9;
    std::vector<std::vector<std::string>> cells(heads,
                                                std::vector<std::string>(queries, std::string(keys, '.')));
    for (auto& head : cells)
      for (auto& row : head)
        for (char& cell : row) cell = random.next() % 2 == 0 ? '#' : '.';
    if (round % 2 == 0) std::fill(cells.begin(), cells.end(), cells[0]);
    const PictureMask mask(cells);
    std::string expected;
    for (std::size_t head = 0; head < (mask.variants() == 1 ? 1 : heads); ++head)
      for (std::size_t row = 0; row < queries; ++row)
        expected += (row > 0 ? "/" : head > 0 ? " " : "") + cells[head][row];
    for (const char* name : {"m.npy", "m.safetensors", "m.csv"}) {
      for (const auto convention :
           {MaskConvention::visible, MaskConvention::masked, MaskConvention::additive}) {
        const auto status = writeMaskFile(folder_ / name, mask, convention);
        if (name[2] == 'c' && mask.variants() > 1) {
          EXPECT_THAT(status.error().message, HasSubstr("m.csv: a .csv file holds one table"));
          continue;
        }
        ASSERT_TRUE(status.ok()) << status.error().message;
        EXPECT_EQ(read(folder_ / name, convention), expected) << name << " " << conventionName(convention);
      }
    }
  }
  EXPECT_EQ(folder_.count(), 3u) << "a temporary file was left behind";
}

TEST_F(MaskWriteTest, WritesFilesForOtherPrograms) {
  const PictureMask mask(std::vector<Rows>{Rows{"#.", "##"}});
  ASSERT_TRUE(writeMaskFile(folder_ / "m.npy", mask, MaskConvention::masked).ok());
  const Bytes npyFile = headscope::test::fileBytes(folder_ / "m.npy");
  EXPECT_EQ(npyFile.size() % 64, 4u);
  const std::string text(npyFile.begin(), npyFile.end());
  EXPECT_THAT(text, HasSubstr("{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }"));
  EXPECT_EQ(text.substr(text.size() - 4), (std::string{0, 1, 0, 0}));
  ASSERT_TRUE(writeMaskFile(folder_ / "m.csv", mask, MaskConvention::additive).ok());
  EXPECT_EQ(headscope::test::fileText(folder_ / "m.csv"), "0,-inf\n0,0\n");
  ASSERT_TRUE(writeMaskFile(folder_ / "v.csv", mask, MaskConvention::visible).ok());
  EXPECT_EQ(headscope::test::fileText(folder_ / "v.csv"), "1,0\n1,1\n");
  const PictureMask two(std::vector<Rows>{Rows{"#.", "##"}, Rows{"##", "##"}});
  ASSERT_TRUE(writeMaskFile(folder_ / "m.safetensors", two, MaskConvention::additive).ok());
  const auto file = checked(headscope::test::readSafetensors(folder_ / "m.safetensors"));
  EXPECT_EQ(file->metadata.at("convention"), "additive");
  const NamedTensor& tensor = file->tensors.at("attn_mask");
  EXPECT_EQ(tensor.dtype, DType::F32);
  EXPECT_THAT(tensor.shape, ElementsAre(2, 2, 2));
  EXPECT_THAT(*headscope::test::toFloats(tensor, "t"), ElementsAre(0, -kInfinity, 0, 0, 0, 0, 0, 0));
}

/// Sees everything, at any size.
class WideMask : public MaskFormula {
 public:
  WideMask(Index queries, Index keys) : queries_(queries), keys_(keys) {}
  Index heads() const override { return 1; }
  Index queries() const override { return queries_; }
  Index keys() const override { return keys_; }
  Index variants() const override { return 1; }
  Index variantOf(Index) const override { return 0; }
  void visibleRuns(Index, Index, KeyRuns& runs) const override { runs.assign(1, {0, keys_}); }

 private:
  Index queries_, keys_;
};

TEST_F(MaskWriteTest, RefusesOversizedAndEmptyMasks) {
  const auto error = [&](const std::string& name, Index queries, Index keys, MaskConvention convention) {
    const auto status = writeMaskFile(folder_ / name, WideMask(queries, keys), convention);
    return status ? "no error" : status.error().message.substr((folder_ / name).string().size());
  };
  const Index huge = Index{1} << 40;
  const std::string most = ", expected at most 4294967296";
  EXPECT_EQ(error("m.npy", 65536, 65537, MaskConvention::visible), ": would be 4295032832 bytes" + most);
  EXPECT_EQ(error("m.safetensors", 32768, 32769, MaskConvention::additive),
            ": would be 4295098368 bytes" + most);
  EXPECT_EQ(error("m.npy", huge, huge, MaskConvention::visible),
            ": would be 18446744073709551615 bytes" + most);
  EXPECT_EQ(error("m.npy", 0, 4, MaskConvention::visible), ": the mask has no cells");
  EXPECT_THAT(error("m.txt", 1, 1, MaskConvention::visible), HasSubstr("ends in \".txt\""));
  EXPECT_THAT(error("none/m.npy", 1, 1, MaskConvention::visible), HasSubstr("cannot be written"));
  EXPECT_EQ(folder_.count(), 0u);
}

TEST_F(MaskWriteTest, WritesLargeMasksInParts) {
  ASSERT_TRUE(writeMaskFile(folder_ / "m.npy", WideMask(3000, 2000), MaskConvention::visible).ok());
  const Bytes bytes = headscope::test::fileBytes(folder_ / "m.npy");
  ASSERT_GT(bytes.size(), 6000000u);
  EXPECT_EQ(std::count(bytes.end() - 6000000, bytes.end(), 1), 6000000);
}

}  // namespace
}  // namespace headscope::attention
