#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "attention/core/random.h"
#include "tests/attention/formats/mask_file_fixture.h"
#include "tests/support/float_limits.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"

namespace headscope::attention {
namespace {

using test::Bytes;
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
  const auto file = headscope::test::readSafetensors(folder_ / "m.safetensors");
  ASSERT_TRUE(file.ok()) << file.error().message;
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
