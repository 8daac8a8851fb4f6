#pragma once

#include <zip.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace headscope::test {

/// Writes a zip archive of the given files.
inline void putZip(const std::filesystem::path& path,
                   const std::vector<std::pair<std::string, std::vector<std::uint8_t>>>& files,
                   bool compressed = false) {
  std::filesystem::remove(path);  // libzip can't replace a file on Windows
  int code = 0;
  zip_t* const archive = zip_open(path.string().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive) throw std::runtime_error("cannot write " + path.string());
  for (const auto& [name, bytes] : files) {
    zip_source_t* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const auto at = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    const auto method = compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
    if (at < 0 || zip_set_file_compression(archive, static_cast<zip_uint64_t>(at), method, 0) != 0)
      throw std::runtime_error("cannot add " + name);
  }
  if (zip_close(archive) != 0) throw std::runtime_error("cannot write " + path.string());
}

/// The bytes of a .npy file: a header with `descr` and the shape as Python writes it, then the values.
template <typename T>
std::vector<std::uint8_t> npyBytes(const std::string& descr, const std::string& shape,
                                   const std::vector<T>& values, bool fortranOrder = false) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortranOrder ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string text = std::string("\x93NUMPY\1") + '\0' + static_cast<char>(header.size() & 0xFF) +
                     static_cast<char>(header.size() >> 8) + header;
  const auto* const data = reinterpret_cast<const char*>(values.data());
  text.append(data, values.size() * sizeof(T));
  return {text.begin(), text.end()};
}

}  // namespace headscope::test
