#include "attention/formats/tensor_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "attention/models/layers/attention_file.h"
#include "attention/formats/masks/mask_file.h"
#include "tests/attention/formats/mask_file_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/peak_memory.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_source.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;
using headscope::test::peakMemoryOf;
using headscope::test::smallProblem;

constexpr std::uint64_t kHuge = std::uint64_t{256} << 20, kLittle = std::uint64_t{64} << 20;

class TensorSources : public testing::Test {
 protected:
  /// Writes a file that is extended by `bytes` zeros, which take no disk space.
  fs::path grown(const std::string& name, std::span<const std::uint8_t> start, std::uint64_t bytes) {
    headscope::test::putFile(folder_ / name, start);
    fs::resize_file(folder_ / name, start.size() + bytes);
    return folder_ / name;
  }
  /// The small problem with another tensor of kHuge zeros at the end.
  fs::path problemAnd(const std::string& tensor) {
    auto file = smallProblem();
    file.tensors.erase(tensor);
    const auto small = *formatSafetensors(file);
    std::uint64_t length = 0;
    std::memcpy(&length, small.data(), 8);
    const auto dataAt = small.begin() + 8 + static_cast<std::ptrdiff_t>(length);
    std::string header(small.begin() + 8, dataAt);
    const test::Bytes data(dataAt, small.end());
    header.erase(header.rfind('}'));
    header += ",\"" + tensor + "\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(kHuge / 32) +
              ",8],\"data_offsets\":[" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + kHuge) + "]}}";
    return grown("a.safetensors", headscope::test::safetensorsBytes(header, data, header.size()), kHuge);
  }

  headscope::test::TemporaryFolder folder_;
};

/// Only tensors that are needed take memory, whatever else a file holds.
TEST_F(TensorSources, ReadsOnlyNeededTensors) {
  const fs::path path = problemAnd("snapshot.scores");
  const auto expected = readProblem(headscope::test::sourceOf(smallProblem()), {}, "a");
  const auto peak = peakMemoryOf([&] {
    const auto file = checked(TensorSource::open(path));
    const auto problem = checked(readProblem(*file, {}, "a"));
    EXPECT_EQ(problem->x, expected->x);
    EXPECT_EQ(problem->projections.o.weight, expected->projections.o.weight);
  });
  if (peak) {
    EXPECT_LT(*peak, kLittle);
  }
}

/// A layer can be read from a larger file; a problem refuses tensors with unknown names without reading them.
TEST_F(TensorSources, LeavesUnknownTensorsUnread) {
  const fs::path path = problemAnd("lm_head.weight");
  const auto peak = peakMemoryOf([&] {
    const auto file = checked(TensorSource::open(path));
    EXPECT_TRUE(readLayer(*file, {}, "a").ok());
    EXPECT_THAT(messageOf(readProblem(*file, {}, "a")),
                HasSubstr("a: tensor \"lm_head.weight\" is not a tensor of this file format"));
  });
  if (peak) {
    EXPECT_LT(*peak, kLittle);
  }
}

/// Masks count towards the budget too, whichever program wrote them.
TEST_F(TensorSources, RefusesMasksBeyondBudget) {
  auto file = smallProblem();
  const auto tokens = file.tensors.at("x").shape[0];
  file.tensors["attn_mask"] = {DType::Bool, {tokens, tokens}, test::Bytes(tokens * tokens)};
  std::uint64_t others = 0;
  for (const auto& [name, tensor] : smallProblem().tensors) others += tensor.bytes.size();
  EXPECT_TRUE(readProblem(headscope::test::sourceOf(file), {}, "a", others + tokens * tokens).ok());
  EXPECT_THAT(messageOf(readProblem(headscope::test::sourceOf(file), {}, "a", others + tokens * tokens - 1)),
              HasSubstr("tensor \"attn_mask\" takes"));
}

TEST_F(TensorSources, RefusesTensorsBeyondBudgetBeforeReading) {
  const fs::path path = problemAnd("x");
  const auto peak = peakMemoryOf([&] {
    const auto file = checked(TensorSource::open(path));
    EXPECT_THAT(messageOf(readProblem(*file, {}, "a", kLittle)),
                HasSubstr("tensor \"x\" takes 268435456 bytes of memory, expected at "
                          "most 67107328 after the tensors before it"));
  });
  if (peak) {
    EXPECT_LT(*peak, kLittle);
  }
}

TEST_F(TensorSources, RefusesInvalidFileByItsHeader) {
  // Sixteen zeros denote an empty header.
  const fs::path path = grown("a.safetensors", test::Bytes(16), kHuge);
  const auto peak = peakMemoryOf([&] {
    EXPECT_THAT(messageOf(TensorSource::open(path)), HasSubstr("its header is not a JSON object"));
  });
  if (peak) {
    EXPECT_LT(*peak, kLittle);
  }
}

TEST_F(TensorSources, ReadsPartsOfTensors) {
  const auto file = smallProblem();
  const TensorSource source = headscope::test::sourceOf(file);
  for (const auto& [name, tensor] : file.tensors) {
    std::vector<std::uint8_t> bytes(tensor.bytes.size() - 4);
    ASSERT_TRUE(source.read(name, 4, bytes).ok());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), tensor.bytes.begin() + 4)) << name;
    EXPECT_THROW((void)source.read(name, 5, bytes), std::invalid_argument);
  }
}

using MaskFiles = test::MaskFileTest;

/// A .npy file of booleans without its data.
test::Bytes npyStart(const std::string& shape) {
  test::Bytes bytes = test::npy("|b1", shape, test::Bytes(1));
  bytes.pop_back();
  return bytes;
}

/// A mask's cells are read row by row, and only their runs are kept.
TEST_F(MaskFiles, ReadsRowByRow) {
  const std::string shape = "(4096, 65536)";
  const auto empty = npyStart(shape);
  const auto npy = put("a.npy", empty);
  fs::resize_file(npy, empty.size() + kHuge);
  const std::string header = "{\"mask\":{\"dtype\":\"BOOL\",\"shape\":[4096,65536],\"data_offsets\":[0," +
                             std::to_string(kHuge) + "]}}";
  auto start = headscope::test::safetensorsBytes(header, 1);
  start.pop_back();
  const auto tensors = put("a.safetensors", start);
  fs::resize_file(tensors, start.size() + kHuge);
  for (const auto& path : {npy, tensors}) {
    const auto peak = peakMemoryOf([&] {
      const auto file = checked(readMaskFile(path, MaskConvention::masked));
      EXPECT_EQ(file->cells->rows[4095]->visible, KeyRuns(1, {0, 65536}));
    });
    if (peak) {
      EXPECT_LT(*peak, kLittle) << path;
    }
  }
}

TEST_F(MaskFiles, RefusesInvalidFileByItsHeader) {
  const auto wrong = put("a.npy", npyStart("(4096, 65537)"));
  fs::resize_file(wrong, kHuge);
  const auto peak = peakMemoryOf([&] {
    EXPECT_THAT(messageOf(readMaskFile(wrong, MaskConvention::masked)),
                HasSubstr("bytes of data, expected 268439552"));
  });
  if (peak) {
    EXPECT_LT(*peak, kLittle);
  }
}

/// Numbers that aren't stored row by row are kept in memory, and so are additive masks; both count towards
/// the budget.
TEST_F(MaskFiles, StaysWithinBudget) {
  const auto fortran = put("a.npy", test::npy("<f4", "(64, 64)", test::Bytes(64 * 64 * 4), "True"));
  EXPECT_TRUE(readMaskFile(fortran, MaskConvention::masked, 1 << 16).ok());
  EXPECT_THAT(
      readMaskFile(fortran, MaskConvention::masked, 1 << 13).error().message,
      HasSubstr("holds 16384 bytes in Fortran order, which take as much memory, expected at most 8192"));
  const auto additive =
      put("b.npy", test::npy("<f4", "(64, 64)", test::bytesOf(std::vector<float>(4096, 0.5F))));
  EXPECT_TRUE(readMaskFile(additive, MaskConvention::additive, 1 << 16).ok());
  EXPECT_THAT(readMaskFile(additive, MaskConvention::additive, 1 << 13).error().message,
              HasSubstr("values to add that take 16384 bytes, expected at most 8192"));
}

}  // namespace
}  // namespace headscope::attention
