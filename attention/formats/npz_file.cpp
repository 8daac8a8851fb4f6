#include "attention/formats/npz_file.h"

#include <fmt/core.h>
#include <zip.h>

#include <nlohmann/json.hpp>

#include "attention/formats/npy.h"
#include "attention/formats/quote.h"
#include "attention/formats/torch/torch_file.h"
#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

constexpr std::uint64_t kMostTextBytes = std::uint64_t{1} << 24;

/// Adds a tensor to `to`, with the order of its numbers if that's another one. Messages name no file.
Status addTensor(NpyHeader header, const std::string& name, SafetensorsLayout& to) {
  const bool bigEndian = header.descr.starts_with('>');
  if (bigEndian) header.descr[0] = '<';
  constexpr DType kTypes[] = {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I64,
                              DType::I32, DType::I16, DType::I8,   DType::U8,  DType::Bool};
  const auto type = npyType(header, kTypes, "floats, whole numbers or booleans (<f4, <f2, <f8, <i8, |b1, …)");
  if (!type) return type.error();
  if (const auto status = checkNpyExtent(header, byteSize(*type)); !status) return status.error();
  to.header.tensors[name] = {*type, header.shape, header.dataBegin, header.dataBegin + header.dataSize};
  StoredOrder order = header.fortranOrder ? StoredOrder::fortran(header.shape, bigEndian)
                                          : StoredOrder::rows(header.shape, bigEndian);
  if (!order.isPlain(header.shape)) to.orders[name] = std::move(order);
  return success();
}

/// Returns the bytes per text of an array such as "<U12" or "|S12"; nullopt for other arrays.
std::optional<std::uint64_t> textBytes(std::string_view descr) {
  if (!descr.starts_with("<U") && !descr.starts_with("|S")) return std::nullopt;
  std::uint64_t length = 0;
  for (const char c : descr.substr(2)) {
    if (c < '0' || c > '9' || length > kMostTextBytes) return std::nullopt;
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return descr[1] == 'U' ? 4 * length : length;
}

/// Strips NumPy's zero padding; invalid code points become U+FFFD.
std::string utf8Of(std::string_view descr, std::span<const std::uint8_t> codes) {
  std::string text;
  if (descr[1] == 'S') text.assign(codes.begin(), codes.end());
  for (std::size_t at = 0; descr[1] == 'U' && at + 4 <= codes.size(); at += 4) {
    std::uint32_t code = 0;
    std::memcpy(&code, codes.data() + at, sizeof code);
    const bool character = code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
    appendUtf8(character ? static_cast<char32_t>(code) : U'\xFFFD', text);
  }
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

/// Formats a single number as metadata; "" for half precision, too coarse for any option.
std::string numberText(DType type, std::span<const std::uint8_t> bytes) {
  if (type == DType::F16 || type == DType::BF16) return {};
  if (type == DType::Bool) return bytes[0] ? "True" : "False";
  std::string text;
  withReaderOf(type, [&](auto read) { text = fmt::format("{}", +read(bytes.data())); });
  return text;
}

/// Adds texts to the metadata.
Status addText(const ZipArchive& archive, std::size_t member, const std::string& name,
               const NpyHeader& header, NpzLayout& layout) {
  const std::uint64_t length = *textBytes(header.descr);
  if (length == 0) return success();
  if (const auto status = checkNpyExtent(header, length); !status) return status;
  if (header.dataSize > kMostTextBytes)
    return Error{fmt::format("takes {} bytes, expected at most {}", header.dataSize, kMostTextBytes)};
  std::vector<std::uint8_t> codes(header.dataSize);
  if (const auto status = archive.read(member, header.dataBegin, codes); !status) return status;
  if (header.shape.empty()) {
    layout.header.metadata[name] = utf8Of(header.descr, codes);
    return success();
  }
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t at = 0; at < codes.size(); at += length)
    list.push_back(utf8Of(header.descr, std::span(codes).subspan(at, length)));
  layout.header.metadata[name] = list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return success();
}

Status addArray(const ZipArchive& archive, std::size_t member, const std::string& name, NpzLayout& layout) {
  const std::uint64_t size = archive.members()[member].size;
  // Headers usually take some hundred bytes; read more only if one is longer.
  std::vector<std::uint8_t> start(std::min<std::uint64_t>(size, 4096));
  if (const auto status = archive.read(member, 0, start); !status) return status;
  auto header = parseNpyHeader(start, size);
  if (!header && size > start.size()) {
    start.resize(std::min(size, kMaxNpyHeader));
    if (const auto status = archive.read(member, 0, start); !status) return status;
    header = parseNpyHeader(start, size);
  }
  if (!header) return header.error();
  if (textBytes(header->descr)) return addText(archive, member, name, *header, layout);
  // A list of tokens that can't be read is no reason to refuse the numbers beside it.
  if (header->descr == "|O" && name.ends_with("tokens")) {
    std::vector<std::uint8_t> pickle(std::min(header->dataSize, kMostTextBytes));
    if (const auto status = archive.read(member, header->dataBegin, pickle); !status) return status;
    layout.header.metadata[name] = pickledTexts(pickle).value_or("");
    return success();
  }
  if (const auto status = addTensor(*header, name, layout); !status) return status;
  const TensorEntry& entry = layout.header.tensors[name];
  if (entry.shape.empty() && entry.dtype != DType::F16) {
    std::vector<std::uint8_t> value(header->dataSize);
    if (const auto status = archive.read(member, header->dataBegin, value); !status) return status;
    if (layout.orders.erase(name) > 0) std::ranges::reverse(value);  // big-endian
    layout.header.metadata[name] = numberText(entry.dtype, value);
    layout.header.tensors.erase(name);
    return success();
  }
  layout.members[name] = member;
  return success();
}

}  // namespace

Result<NpzLayout> readNpzLayout(const ZipArchive& archive, const std::filesystem::path& path) {
  constexpr std::string_view kEnding = ".npy";
  const auto& members = archive.members();
  NpzLayout layout;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i].name.ends_with(kEnding)) continue;
    const std::string name = members[i].name.substr(0, members[i].name.size() - kEnding.size());
    if (const auto status = addArray(archive, i, name, layout); !status)
      return fileError(path, "array " + quotedText(name) + " " + status.error().message);
  }
  if (layout.header.tensors.empty() && layout.header.metadata.empty())
    return fileError(path, "is a zip archive without arrays (.npy), expected safetensors or NumPy's .npz");
  if (layout.header.tensors.empty())
    return fileError(path, "has only texts and single numbers, expected arrays of numbers");
  return layout;
}

Result<SafetensorsLayout> readNpyLayout(const RegularFile& file, const std::string& name) {
  std::vector<std::uint8_t> start(std::min(file.size(), kMaxNpyHeader));
  if (const auto status = file.read(0, start); !status) return status.error();
  const auto header = parseNpyHeader(start, file.size());
  if (!header) return Error{name + ": " + header.error().message};
  SafetensorsLayout layout;
  if (const auto status = addTensor(*header, "array", layout); !status)
    return Error{name + ": " + status.error().message};
  return layout;
}

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
  zip_t* const archive = zip_open(whole.string().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &fault);
  if (!archive) return failed("a file beside it can't be made");
  bool added = true;
  for (const Part& part : parts_) {
    zip_source_t* const file = zip_source_file(archive, part.path.string().c_str(), 0, -1);
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
