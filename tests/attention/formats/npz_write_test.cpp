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
  {
    NpzWriter writer(folder / "a.npz");
    const std::size_t array = writer.addNumbers("numbers", {1, 2, 3}), about = writer.addText("about");
    writer.put(about, std::string_view("a “text”"));
    writer.put(array, std::span(numbers).first(4));
    writer.put(array, std::span(numbers).subspan(4));
    writer.put(about, std::string_view(" ☃"));
    ASSERT_TRUE(writer.finish().ok());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1) << "nothing else is left";
  const auto file = NpzFile::open(folder / "a.npz");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->header().metadata.at("about"), "a “text” ☃");
  const auto& tensor = file->header().tensors.at("numbers");
  EXPECT_EQ(tensor.shape, (std::vector<std::uint64_t>{1, 2, 3}));
  std::vector<std::uint8_t> bytes(numbers.size() * sizeof(float));
  ASSERT_TRUE(file->read("numbers", 0, bytes).ok());
  EXPECT_EQ(std::memcmp(bytes.data(), numbers.data(), bytes.size()), 0);
  NpzWriter nowhere(folder / "missing" / "a.npz");
  nowhere.addText("about");
  EXPECT_FALSE(nowhere.finish().ok());
}

}  // namespace
}  // namespace headscope::attention::test
