#include "attention/formats/npz_write.h"

#include <fmt/core.h>
#include <zip.h>

#include <cstring>
#include <memory>

#include "attention/formats/files/file_io.h"
#include "attention/formats/npy_header.h"
#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

std::vector<std::uint8_t> npyOf(const NpzArray& array) {
  std::vector<std::uint8_t> bytes;
  const auto append = [&](const void* data, std::size_t size) {
    const auto* const first = static_cast<const std::uint8_t*>(data);
    bytes.insert(bytes.end(), first, first + size);
  };
  if (array.text.empty()) {
    const std::string front = npyPreamble("<f4", array.shape);
    append(front.data(), front.size());
    append(array.numbers.data(), array.numbers.size() * sizeof(float));
    return bytes;
  }
  std::u32string characters;
  for (std::size_t at = 0; at < array.text.size();) {
    const DecodedCodePoint one = decodeUtf8(array.text, at);
    characters += one.value;
    at += one.length;
  }
  const std::string front = npyPreamble(fmt::format("<U{}", characters.size()), {});
  append(front.data(), front.size());
  append(characters.data(), characters.size() * sizeof(char32_t));
  return bytes;
}

/// Holds a reference to libzip's source, which keeps it alive.
struct Source {
  zip_source_t* source;
  ~Source() { zip_source_free(source); }
};

}  // namespace

Status writeNpz(const std::filesystem::path& path, const std::vector<NpzArray>& arrays) {
  const Error failed{"the archive can't be built in memory"};
  std::vector<std::vector<std::uint8_t>> files;
  for (const NpzArray& array : arrays) files.push_back(npyOf(array));
  Source made{zip_source_buffer_create(nullptr, 0, 0, nullptr)};
  if (!made.source) return failed;
  zip_source_keep(made.source);
  zip_t* const archive = zip_open_from_source(made.source, ZIP_TRUNCATE, nullptr);
  if (!archive) {
    zip_source_free(made.source);
    return failed;
  }
  bool added = true;
  for (std::size_t i = 0; i < files.size() && added; ++i) {
    zip_source_t* const file = zip_source_buffer(archive, files[i].data(), files[i].size(), 0);
    added = file && zip_file_add(archive, (arrays[i].name + ".npy").c_str(), file, ZIP_FL_ENC_UTF_8) >= 0;
    if (file && !added) zip_source_free(file);
  }
  if (!added || zip_close(archive) != 0) {
    zip_discard(archive);
    return failed;
  }
  zip_stat_t about;
  if (zip_source_stat(made.source, &about) != 0 || zip_source_open(made.source) != 0) return failed;
  std::vector<std::uint8_t> bytes(about.size);
  const zip_int64_t read = zip_source_read(made.source, bytes.data(), bytes.size());
  zip_source_close(made.source);
  if (read != static_cast<zip_int64_t>(bytes.size())) return failed;
  return writeFile(path, bytes);
}

}  // namespace headscope::attention
