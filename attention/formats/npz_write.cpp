#include "attention/formats/npz_write.h"

#include <fmt/core.h>
#include <zip.h>

#include "attention/formats/files/regular_file.h"
#include "attention/formats/npy_header.h"
#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

/// As long for any number of characters below 10¹⁰, so that it can be written again once the number is known.
std::string textPreamble(std::uint64_t characters) {
  return npyPreamble(fmt::format("<U{}", characters), {});
}

}  // namespace

std::filesystem::path NpzWriter::beside(const std::string& name) const {
  std::filesystem::path part = path_;
  return part.replace_filename("." + path_.filename().string() + "." + name);
}

NpzWriter::~NpzWriter() {
  std::error_code ignored;
  for (const Part& part : parts_) std::filesystem::remove(part.path, ignored);
}

std::size_t NpzWriter::add(const std::string& name, const std::string& preamble) {
  Part& part = parts_.emplace_back(Part{name, beside(name + ".npy"), {}});
  part.file.open(part.path, std::ios::binary);
  part.file << preamble;
  return parts_.size() - 1;
}

std::size_t NpzWriter::addNumbers(const std::string& name, const std::vector<std::uint64_t>& shape) {
  return add(name, npyPreamble("<f4", shape));
}

void NpzWriter::put(std::size_t array, std::span<const float> values) {
  parts_.at(array).file.write(reinterpret_cast<const char*>(values.data()),
                              static_cast<std::streamsize>(values.size_bytes()));
}

std::size_t NpzWriter::addText(const std::string& name) {
  const std::size_t array = add(name, textPreamble(0));
  parts_[array].isText = true;
  return array;
}

void NpzWriter::put(std::size_t array, std::string_view text) {
  Part& part = parts_.at(array);
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) {
    const DecodedCodePoint one = decodeUtf8(text, at);
    characters += one.value;
    at += one.length;
  }
  part.characters += characters.size();
  part.file.write(reinterpret_cast<const char*>(characters.data()),
                  static_cast<std::streamsize>(characters.size() * sizeof(char32_t)));
}

Status NpzWriter::finishParts() {
  for (Part& part : parts_) {
    if (part.isText) part.file.seekp(0) << textPreamble(part.characters);
    part.file.close();
    if (!part.file) return fileError(path_, "cannot be written: there is no space for its arrays beside it");
  }
  return success();
}

Status NpzWriter::finish() {
  if (const Status status = finishParts(); !status) return status;
  const auto failed = [&](const std::string& why) { return fileError(path_, "cannot be written: " + why); };
  const std::filesystem::path whole = beside("whole");
  int fault = 0;
  zip_t* const archive = zip_open(whole.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &fault);
  if (!archive) return failed("a file beside it can't be made");
  bool added = true;
  for (const Part& part : parts_) {
    zip_source_t* const file = zip_source_file(archive, part.path.c_str(), 0, -1);
    const bool adds =
        file && zip_file_add(archive, (part.name + ".npy").c_str(), file, ZIP_FL_ENC_UTF_8) >= 0;
    if (file && !adds) zip_source_free(file);
    added = added && adds;
  }
  if (!added || zip_close(archive) != 0) {
    const std::string why = zip_strerror(archive);
    zip_discard(archive);
    return failed(why);
  }
  // A link stays a link, and a file keeps its permissions.
  std::error_code code, ignored;
  const auto target =
      std::filesystem::exists(path_, ignored) ? std::filesystem::canonical(path_, ignored) : path_;
  if (const auto old = std::filesystem::status(target, ignored); std::filesystem::exists(old))
    std::filesystem::permissions(whole, old.permissions(), ignored);
  std::filesystem::rename(whole, target, code);
  if (!code) return success();
  std::filesystem::remove(whole, ignored);
  return failed(code.message());
}

}  // namespace headscope::attention
