#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "attention/models/layers/attention_file.h"
#include "attention/formats/tensor_source.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_source.h"
#include "tests/support/zip_bytes.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;
using headscope::test::npyBytes;
using headscope::test::putFile;
using headscope::test::putZip;

using Files = std::vector<std::pair<std::string, std::vector<std::uint8_t>>>;

std::string pythonShape(const std::vector<std::uint64_t>& shape) {
  std::string text = "(";
  for (const auto size : shape) text += std::to_string(size) + ", ";
  return text + ")";
}

/// A safetensors file's tensors as numpy.savez writes them, with metadata as single strings.
Files asArrays(const SafetensorsFile& file) {
  Files files;
  for (const auto& [name, tensor] : file.tensors)
    files.push_back({name + ".npy",
                     npyBytes("<f4", pythonShape(tensor.shape), *headscope::test::toFloats(tensor, name))});
  return files;
}

class Npz : public testing::Test {
 protected:
  std::string errorOf(const Files& files) {
    putZip(path_, files);
    return messageOf(TensorSource::open(path_));
  }
  headscope::test::TemporaryFolder folder_;
  fs::path path_ = folder_ / "a.npz";
};

TEST_F(Npz, ReadsLayerLikeSafetensors) {
  const SafetensorsFile plain = headscope::test::smallProblem();
  const auto expected = readProblem(headscope::test::sourceOf(plain), {}, "in");
  for (const bool compressed : {false, true}) {
    Files files = asArrays(plain);
    files.push_back({"heads.npy", npyBytes<std::int64_t>("<i8", "()", {4})});
    files.push_back({"causal.npy", npyBytes<std::uint8_t>("|b1", "()", {1})});
    files.push_back({"window.npy", npyBytes<std::int32_t>("<i4", "()", {2})});
    files.push_back({"softcap.npy", npyBytes<double>("<f8", "()", {2.5})});
    files.push_back({"scale.npy", npyBytes<char32_t>("<U4", "()", {U'0', U'.', U'5', 0})});
    putZip(path_, files, compressed);
    const auto file = checked(TensorSource::open(path_));
    const auto problem = checked(readProblem(*file, {}, "in"));
    EXPECT_EQ(problem->projections.q.weight, expected->projections.q.weight);
    EXPECT_EQ(problem->projections.o.weight, expected->projections.o.weight);
    EXPECT_EQ(problem->x[0], expected->x[0]);
    EXPECT_EQ(problem->config.kvHeads, 2);
    EXPECT_EQ(problem->config.softcap, 2.5F);
    EXPECT_EQ(problem->config.scale, 0.5F);
    EXPECT_EQ(problem->rules.window, 2);
    EXPECT_TRUE(problem->rules.causal);
  }
}

TEST_F(Npz, ReadsPartsInAnyOrder) {
  std::vector<float> values(100000);
  std::iota(values.begin(), values.end(), 0.0F);
  for (const bool compressed : {false, true}) {
    putZip(path_,
           {{"a.npy", npyBytes("<f4", "(100, 1000)", values)},
            {"b.npy", npyBytes<float>("<f4", "(2,)", {7, 8})}},
           compressed);
    const auto file = checked(TensorSource::open(path_));
    for (const std::size_t first : {0u, 5u, 99000u, 400u, 401u, 0u}) {
      std::vector<float> part(1000);
      const std::span bytes(reinterpret_cast<std::uint8_t*>(part.data()), part.size() * sizeof(float));
      ASSERT_TRUE(file->read("a", first * sizeof(float), bytes).ok());
      EXPECT_TRUE(std::equal(part.begin(), part.end(), values.begin() + static_cast<std::ptrdiff_t>(first)))
          << first;
      float other = 0;
      ASSERT_TRUE(file->read("b", 4, {reinterpret_cast<std::uint8_t*>(&other), 4}).ok());
      EXPECT_EQ(other, 8);
    }
    std::uint8_t byte = 0;
    EXPECT_THROW((void)file->read("b", 8, {&byte, 1}), std::invalid_argument);
  }
}

TEST_F(Npz, ReadsTextListsAsMetadata) {
  putZip(path_, {{"tokens.npy", npyBytes<char32_t>("<U3", "(2,)", {U'T', U'h', U'e', U'é', 0, 0})},
                 {"a.npy", npyBytes<float>("<f4", "(1,)", {1})}});
  const auto file = checked(TensorSource::open(path_));
  EXPECT_EQ(file->header().metadata.at("tokens"), R"(["The","é"])");
}

TEST_F(Npz, NamesUnreadableArrays) {
  const std::vector<float> one{1};
  EXPECT_THAT(
      errorOf({{"w.npy", npyBytes("|O", "(1,)", one)}}),
      AllOf(StartsWith(path_.string() + ": array \"w\" has values of type \"|O\", expected"), EndsWith(")")));
  EXPECT_THAT(errorOf({{"w.npy", npyBytes("<f4", "(2,)", one)}}),
              HasSubstr("holds 4 bytes of data, expected 8"));
  EXPECT_THAT(errorOf({{"w.npy", npyBytes("<f4", "(9223372036854775807, 9)", one)}}),
              HasSubstr("can be addressed"));
  EXPECT_THAT(errorOf({{"w.npy", {1, 2, 3}}}), HasSubstr("does not begin as a .npy file does"));
  EXPECT_THAT(errorOf({{"w.npy", npyBytes("<U99999999999", "(1,)", one)}}), HasSubstr("array \"w\" "));
  EXPECT_THAT(errorOf({{"readme.txt", {1, 2, 3}}}),
              EndsWith("is a zip archive without arrays (.npy), expected safetensors or NumPy's .npz"));
}

TEST_F(Npz, NamesOtherFormats) {
  putFile(path_, std::string_view("GGUF\3\0\0\0", 8));
  EXPECT_THAT(TensorSource::open(path_).error().message, HasSubstr("is a GGUF file"));
}

TEST_F(Npz, ReportsDamageOnRead) {
  std::vector<float> values(5000);
  std::iota(values.begin(), values.end(), 0.0F);
  putZip(path_, {{"a.npy", npyBytes("<f4", "(5000,)", values)}}, true);
  const std::vector<std::uint8_t> whole = headscope::test::fileBytes(path_);
  int damaged = 0;
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    std::vector<std::uint8_t> bytes = whole;
    bytes[at] ^= 0x55;
    putFile(path_, bytes);
    const auto file = TensorSource::open(path_);
    if (!file) {
      EXPECT_THAT(file.error().message, StartsWith(path_.string() + ": "));
      ++damaged;
      continue;
    }
    std::vector<std::uint8_t> read(20000);
    if (!file->header().tensors.contains("a") ||
        file->header().tensors.at("a").end - file->header().tensors.at("a").begin != read.size())
      continue;
    if (const auto status = file->read("a", 0, read); !status) {
      EXPECT_THAT(status.error().message, StartsWith(path_.string() + ": "));
      ++damaged;
    }
  }
  EXPECT_GT(damaged, 10);
  for (const std::size_t length : {whole.size() / 2, whole.size() - 1, std::size_t{9}}) {
    putFile(path_, std::span(whole).first(length));
    EXPECT_THAT(TensorSource::open(path_).error().message, HasSubstr("is damaged or not a zip archive: "))
        << length;
  }
}

TEST_F(Npz, RefusesEmptyArrayFile) {
  putZip(path_, {{"a.npy", {}}});
  EXPECT_THAT(messageOf(TensorSource::open(path_)), StartsWith(path_.string() + ": array \"a\" "));
}

TEST_F(Npz, RefusesArchiveOfOnlyScalars) {
  putZip(path_, {{"scale.npy", npyBytes("<f4", "()", std::vector<float>(1))}});
  EXPECT_THAT(messageOf(TensorSource::open(path_)), HasSubstr("only texts and single numbers"));
}

TEST_F(Npz, RefusesWrongStoredSize) {
  putZip(path_, {{"a.npy", npyBytes("<f4", "(4,)", std::vector<float>(4))}}, false);
  std::vector<std::uint8_t> bytes = headscope::test::fileBytes(path_);
  const std::string_view record("PK\1\2");
  const auto at = std::search(bytes.begin(), bytes.end(), record.begin(), record.end());
  ASSERT_NE(at, bytes.end());
  std::fill_n(at + 20, 4, std::uint8_t{0});  // the stored size, in the directory
  putFile(path_, bytes);
  EXPECT_THAT(messageOf(TensorSource::open(path_)), HasSubstr("bytes are stored as 0"));
}

TEST_F(Npz, ReadsSingleNpyAsTensor) {
  path_ = folder_ / "a.npy";
  putFile(path_, npyBytes<float>("<f4", "(2, 2)", {1, 2, 3, 4}));
  const auto file = checked(TensorSource::open(path_));
  float last = 0;
  ASSERT_TRUE(file->read("array", 12, {reinterpret_cast<std::uint8_t*>(&last), 4}).ok());
  EXPECT_EQ(last, 4);
  putFile(path_, npyBytes<float>("<c8", "(1,)", {1, 2}));
  EXPECT_THAT(TensorSource::open(path_).error().message, HasSubstr("has values of type \"<c8\""));
}

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
  const auto file = checked(TensorSource::open(folder / "a.npz"));
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
}  // namespace headscope::attention
