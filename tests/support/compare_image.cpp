#include "tests/support/compare_image.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "test_paths.h"

namespace headscope::test {
namespace {

struct Difference {
  int largest = 0;
  double mean = 0;
  int x = 0, y = 0;  ///< where the largest is
  render::Image picture;
};

/// Of two images of one size.
Difference differenceOf(const render::Image& actual, const render::Image& golden) {
  Difference result;
  result.picture = actual;
  double sum = 0;
  for (std::size_t i = 0; i < actual.rgba.size(); ++i) {
    const int apart = std::abs(int{actual.rgba[i]} - int{golden.rgba[i]});
    sum += apart;
    if (apart > result.largest) {
      const int index = static_cast<int>(i / 4);
      result.largest = apart;
      result.x = index % actual.width;
      result.y = index / actual.width;
    }
    // Amplified so that a difference of one level can be seen; alpha stays opaque.
    result.picture.rgba[i] =
        i % 4 == 3 ? 255 : static_cast<std::uint8_t>(apart == 0 ? 0 : std::min(255, 64 + 4 * apart));
  }
  if (!actual.rgba.empty()) result.mean = sum / static_cast<double>(actual.rgba.size());
  return result;
}

bool updatesGoldens() {
  const char* value = std::getenv("HEADSCOPE_UPDATE_GOLDENS");
  return value != nullptr && std::string_view(value) == "1";
}

std::string sizeText(const render::Image& image) {
  return std::to_string(image.width) + " × " + std::to_string(image.height);
}

}  // namespace

void writePng(const std::string& path, const render::Image& image) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const auto bytes = render::encodePng(image);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

render::Image readPng(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return render::decodePng({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

::testing::AssertionResult imagesMatch(const render::Image& actual, const std::string& goldenName,
                                       double maxLimit, double meanLimit) {
  const std::string goldenPath = std::string(HEADSCOPE_TEST_DIR) + "/golden_images/" + goldenName + ".png";
  if (updatesGoldens()) {
    writePng(goldenPath, actual);
    return ::testing::AssertionFailure()
           << "rewrote " << goldenPath << "; look at it, then run without HEADSCOPE_UPDATE_GOLDENS";
  }
  const std::string output = std::string(HEADSCOPE_TEST_OUTPUT) + "/" + goldenName;
  const std::string actualPath = output + ".actual.png", differencePath = output + ".difference.png";
  render::Image golden;
  try {
    golden = readPng(goldenPath);
  } catch (const std::runtime_error& error) {
    writePng(actualPath, actual);
    return ::testing::AssertionFailure() << error.what() << "; the actual picture is " << actualPath
                                         << "; HEADSCOPE_UPDATE_GOLDENS=1 takes it over";
  }
  if (actual.width != golden.width || actual.height != golden.height) {
    writePng(actualPath, actual);
    return ::testing::AssertionFailure()
           << goldenName << " is " << sizeText(actual) << " pixels, " << sizeText(golden)
           << " expected; the actual picture is " << actualPath;
  }
  const Difference apart = differenceOf(actual, golden);
  if (apart.largest <= maxLimit && apart.mean <= meanLimit) return ::testing::AssertionSuccess();
  writePng(actualPath, actual);
  writePng(differencePath, apart.picture);
  return ::testing::AssertionFailure()
         << goldenName << " differs from its golden image by at most " << apart.largest << " (limit "
         << maxLimit << ", at pixel " << apart.x << ", " << apart.y << ") and " << apart.mean
         << " on average (limit " << meanLimit << "); actual: " << actualPath
         << ", difference: " << differencePath;
}

}  // namespace headscope::test
