#include "attention/formats/npz_write.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "attention/formats/npz_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

TEST(NpzWrite, RoundTripsArraysAndText) {
  const headscope::test::TemporaryFolder folder;
  const std::vector<float> numbers{1, 2, -3.5f, std::numeric_limits<float>::infinity(), 0, 6};
  ASSERT_TRUE(writeNpz(folder / "a.npz", {{.name = "numbers", .shape = {1, 2, 3}, .numbers = numbers},
                                          {.name = "about", .text = "a “text” ☃"}})
                  .ok());
  const auto file = NpzFile::open(folder / "a.npz");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->header().metadata.at("about"), "a “text” ☃");
  const auto& tensor = file->header().tensors.at("numbers");
  EXPECT_EQ(tensor.shape, (std::vector<std::uint64_t>{1, 2, 3}));
  std::vector<std::uint8_t> bytes(numbers.size() * sizeof(float));
  ASSERT_TRUE(file->read("numbers", 0, bytes).ok());
  EXPECT_EQ(std::memcmp(bytes.data(), numbers.data(), bytes.size()), 0);
  EXPECT_FALSE(writeNpz(folder / "missing" / "a.npz", {}).ok());
}

}  // namespace
}  // namespace headscope::attention::test
