#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::test {

/// A new empty folder, removed at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    // Throws if a folder can't be made there at all.
    do
      path_ = std::filesystem::temp_directory_path() /
              ("headscope-test-" + std::to_string(std::random_device()()));
    while (!std::filesystem::create_directory(path_));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// The number of files in it.
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

/// Writes directly, so that a test of our own writer doesn't depend on it.
inline void putFile(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}
inline void putFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  putFile(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}
inline std::string fileText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline std::vector<std::uint8_t> fileBytes(const std::filesystem::path& path) {
  const auto text = fileText(path);
  return {text.begin(), text.end()};
}

}  // namespace headscope::test
