#include "tests/support/compare_image.h"

#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "test_paths.h"

namespace headscope::test {
namespace {

/// The largest difference between the channels of a pixel, ignoring alpha.
int apartAt(const render::Image& a, const render::Image& b, std::size_t pixel) {
  int most = 0;
  for (std::size_t i = 4 * pixel; i < 4 * pixel + 3; ++i)
    most = std::max(most, std::abs(int{a.rgba[i]} - int{b.rgba[i]}));
  return most;
}

/// Unmarks a pixel and all marked pixels connected to it, diagonally too. Returns how many there were.
int takeCluster(std::vector<bool>& marked, int width, int height, int x, int y) {
  std::vector<std::pair<int, int>> open{{x, y}};
  const auto at = [&](int column, int row) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(column);
  };
  marked[at(x, y)] = false;
  int taken = 0;
  while (!open.empty()) {
    const auto [column, row] = open.back();
    open.pop_back();
    ++taken;
    for (int v = std::max(0, row - 1); v <= std::min(height - 1, row + 1); ++v)
      for (int u = std::max(0, column - 1); u <= std::min(width - 1, column + 1); ++u)
        if (marked[at(u, v)]) {
          marked[at(u, v)] = false;
          open.emplace_back(u, v);
        }
  }
  return taken;
}

bool updatesGoldens() {
  const char* value = std::getenv("HEADSCOPE_UPDATE_GOLDENS");
  return value != nullptr && std::string_view(value) == "1";
}

std::string sizeText(const render::Image& image) {
  return std::to_string(image.width) + " × " + std::to_string(image.height);
}

}  // namespace

Difference differenceOf(const render::Image& actual, const render::Image& golden, int steps) {
  if (actual.width != golden.width || actual.height != golden.height)
    throw std::invalid_argument("pictures of " + sizeText(actual) + " and " + sizeText(golden) +
                                " can't be compared");
  Difference result;
  result.picture = actual;
  std::vector<bool> marked(actual.rgba.size() / 4);
  for (std::size_t pixel = 0; pixel < marked.size(); ++pixel) {
    const int apart = apartAt(actual, golden, pixel);
    marked[pixel] = apart > steps;
    result.pixels += apart > steps;
    // Amplified, so that even a difference of one step is visible.
    const auto tone = static_cast<std::uint8_t>(apart == 0 ? 0 : std::min(255, 64 + 4 * apart));
    std::fill_n(&result.picture.rgba[4 * pixel], 3, tone);
    result.picture.rgba[4 * pixel + 3] = 255;
  }
  for (int y = 0; y < actual.height && result.pixels > 0; ++y)
    for (int x = 0; x < actual.width; ++x) {
      if (!marked[static_cast<std::size_t>(y) * static_cast<std::size_t>(actual.width) +
                  static_cast<std::size_t>(x)])
        continue;
      const int taken = takeCluster(marked, actual.width, actual.height, x, y);
      if (taken <= result.cluster) continue;
      result.cluster = taken;
      result.x = x;
      result.y = y;
    }
  return result;
}

render::Image cropped(const render::Image& image, int left, int top, int right, int bottom) {
  left = std::clamp(left, 0, image.width);
  top = std::clamp(top, 0, image.height);
  render::Image part;
  part.width = std::clamp(right, left, image.width) - left;
  part.height = std::clamp(bottom, top, image.height) - top;
  const auto row = 4 * static_cast<std::ptrdiff_t>(image.width);
  for (int y = top; y < top + part.height; ++y) {
    const auto from = image.rgba.begin() + y * row + 4 * left;
    part.rgba.insert(part.rgba.end(), from, from + 4 * part.width);
  }
  return part;
}

void writePng(const std::string& path, const render::Image& image) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const auto bytes = render::encodePng(image);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

render::Image decodePng(std::span<const std::uint8_t> bytes) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> freed(&png, png_image_free);
  const auto check = [&png](int done) {
    if (!done) throw std::runtime_error(std::string("cannot read PNG: ") + png.message);
  };
  check(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()));
  png.format = PNG_FORMAT_RGBA;
  render::Image image{static_cast<int>(png.width), static_cast<int>(png.height), {}};
  image.rgba.resize(PNG_IMAGE_SIZE(png));
  check(png_image_finish_read(&png, nullptr, image.rgba.data(), 0, nullptr));
  return image;
}

render::Image readPng(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return decodePng({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

::testing::AssertionResult imagesMatch(const render::Image& actual, const std::string& goldenName,
                                       const Fuzz& fuzz) {
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
  const Difference apart = differenceOf(actual, golden, fuzz.steps);
  if (apart.within(fuzz)) return ::testing::AssertionSuccess();
  writePng(actualPath, actual);
  writePng(differencePath, apart.picture);
  return ::testing::AssertionFailure()
         << goldenName << " differs from its golden image by more than " << fuzz.steps << " of 255 in "
         << apart.pixels << " pixels (limit " << fuzz.pixels << "), of which " << apart.cluster
         << " touch (limit " << fuzz.cluster << ", at pixel " << apart.x << ", " << apart.y
         << "); actual: " << actualPath << ", difference: " << differencePath;
}

}  // namespace headscope::test
