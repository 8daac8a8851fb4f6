#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "attention/formats/masks/mask_file.h"
#include "attention/formats/safetensors.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {

using Bytes = std::vector<std::uint8_t>;

/// The bytes of a .npy file from its parts, as specified by the format.
inline Bytes npy(const std::string& descr, const std::string& shape, const Bytes& data,
                 const std::string& fortran = "False") {
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  const std::string start =
      std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header;
  Bytes bytes(start.begin(), start.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

template <typename T>
Bytes bytesOf(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A folder for mask files, whose contents are compared as pictures.
class MaskFileTest : public testing::Test {
 protected:
  std::filesystem::path put(const std::string& name, const Bytes& bytes) {
    headscope::test::putFile(folder_ / name, bytes);
    return folder_ / name;
  }
  std::filesystem::path put(const std::string& name, const std::string& text) {
    headscope::test::putFile(folder_ / name, text);
    return folder_ / name;
  }
  std::filesystem::path put(const std::string& name, const SafetensorsFile& file) {
    return put(name, *formatSafetensors(file));
  }

  /// Heads separated by a space, rows by '/': '#' = visible, '.' = masked, '?' = neither or both.
  static std::string picture(const CellTable& table) {
    std::string text;
    EXPECT_EQ(std::ssize(table.rows), table.heads * table.queries);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (row > 0) text += static_cast<Index>(row) % table.queries == 0 ? " " : "/";
      std::string cells(static_cast<std::size_t>(table.keys), '?');
      const auto fill = [&](const KeyRuns& runs, char c) {
        for (const KeyRun& run : runs)
          for (Index key = run.begin; key < run.end; ++key) {
            char& cell = cells.at(static_cast<std::size_t>(key));
            cell = cell == '?' ? c : '?';
          }
      };
      fill(table.rows[row]->visible, '#');
      fill(table.rows[row]->masked, '.');
      text += cells;
    }
    return text;
  }
  static std::string read(const std::filesystem::path& path, MaskConvention convention) {
    const auto file = readMaskFile(path, convention);
    return file ? picture(*file->cells) : file.error().message;
  }
  static std::string visible(const std::filesystem::path& path) {
    return read(path, MaskConvention::visible);
  }
  static std::string additive(const std::filesystem::path& path) {
    return read(path, MaskConvention::additive);
  }
  static std::string conventions(const std::filesystem::path& path) {
    const auto possible = possibleConventions(path);
    if (!possible) return possible.error().message;
    std::string text;
    for (const auto convention : *possible) text += (text.empty() ? "" : " ") + conventionName(convention);
    return text;
  }

  headscope::test::TemporaryFolder folder_;
};

}  // namespace headscope::attention::test
