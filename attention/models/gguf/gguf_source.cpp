#include "attention/models/gguf/gguf_source.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxParts = 1024;

struct GgufPart {
  MappedFile file;
  GgufHeader header;
};

Result<GgufPart> openPart(const fs::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  auto header = parseGgufHeader(file->bytes(), shownPath(path));
  // If the file was truncated meanwhile, report that rather than its consequences.
  if (const Status status = file->intact(); !status) return status.error();
  if (!header) return header.error();
  return GgufPart{std::move(*file), std::move(*header)};
}

std::int64_t wholeOr(const GgufHeader& header, const char* key, std::int64_t otherwise) {
  const GgufValue* const value = header.find(key);
  return value ? value->integer().value_or(-1) : otherwise;
}

/// The end of a part's file name, "-00002-of-00003.gguf" for part 1 of 3; parts count from 0.
std::string partEnding(std::int64_t part, std::int64_t parts) {
  return fmt::format("-{:05}-of-{:05}.gguf", part + 1, parts);
}

/// Adds the tensors of a part. Returns an Error if another part has one of them too.
Status addTensors(const GgufPart& part, std::map<std::string, TensorView>& tensors) {
  for (const auto& [name, tensor] : part.header.tensors)
    if (!tensors
             .emplace(name, TensorView{tensor.type->name, tensor.type->use, tensor.shape,
                                       part.file.bytes().data() + tensor.begin, tensor.bytes})
             .second)
      return fileError(part.file.path(), "has tensor " + quotedText(name) + ", which another part has too");
  return success();
}

/// Opens all parts in order; `opened` is one of them.
Result<std::vector<GgufPart>> allParts(GgufPart opened) {
  const std::int64_t parts = wholeOr(opened.header, "split.count", 1),
                     own = wholeOr(opened.header, "split.no", 0);
  const fs::path path = opened.file.path();
  std::vector<GgufPart> all;
  if (parts < 2 && own == 0) {
    all.push_back(std::move(opened));
    return all;
  }
  const std::string file = path.filename().string();
  if (parts < 1 || parts > kMaxParts || own < 0 || own >= parts)
    return fileError(
        path, fmt::format("says it is part {} of {}, expected one of 1 to {}", own + 1, parts, kMaxParts));
  const std::string ending = partEnding(own, parts);
  if (!file.ends_with(ending))
    return fileError(path, "is one of several files of a model, and its name doesn't end in " + ending);
  for (std::int64_t i = 0; i < parts; ++i) {
    if (i == own) {
      all.push_back(std::move(opened));
      continue;
    }
    const fs::path other =
        path.parent_path() / (file.substr(0, file.size() - ending.size()) + partEnding(i, parts));
    if (!fileExists(other))
      return fileError(other, fmt::format("is missing, expected all {} files of the model", parts));
    auto part = openPart(other);
    if (!part) return part.error();
    if (wholeOr(part->header, "split.count", 1) != parts || wholeOr(part->header, "split.no", 0) != i)
      return fileError(part->file.path(), fmt::format("doesn't say that it is part {} of {}", i + 1, parts));
    all.push_back(std::move(*part));
  }
  return all;
}

}  // namespace

bool isGguf(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  const auto file = RegularFile::open(path);
  std::array<std::uint8_t, 4> start{};
  return file && file->size() >= start.size() && file->read(0, start) && hasGgufMagic(start);
}

Result<GgufSource> GgufSource::open(const fs::path& path) {
  auto opened = openPart(path);
  if (!opened) return opened.error();
  auto parts = allParts(std::move(*opened));
  if (!parts) return parts.error();
  GgufSource source{shownPath(path), {}, parts->front().header, {}};
  for (GgufPart& part : *parts) {
    if (const Status status = addTensors(part, source.tensors); !status) return status.error();
    source.files.push_back(std::move(part.file));
  }
  const auto count = static_cast<std::int64_t>(source.tensors.size());
  if (const std::int64_t said = wholeOr(source.header, "split.tensors.count", count); said != count)
    return fileError(path, fmt::format("says its parts have {} tensors, and they have {}", said, count));
  return source;
}

Status GgufSource::intact() const {
  for (const MappedFile& file : files)
    if (const Status status = file.intact(); !status) return status;
  return success();
}

namespace {

/// What a file that isn't a model's holds.
constexpr std::pair<std::string_view, const char*> kNoModels[] = {
    {"adapter", "an adapter (LoRA), which changes a model"},
    {"mmproj", "the part of a model that reads pictures or sounds"},
    {"imatrix", "statistics for quantising a model"}};

}  // namespace

GgufMetadata::GgufMetadata(const GgufSource& source) : source_(source) {
  const std::string type(text("general.type").value_or(""));
  for (const auto& [name, what] : kNoModels)
    if (type == name || (type.empty() && name == "mmproj" && text("general.architecture") == "clip"))
      fail(fmt::format("holds {}, expected a model's own file", what));
  architecture_ = text("general.architecture").value_or("");
  if (architecture_.empty()) fail("lacks the metadata \"general.architecture\", a text such as \"llama\"");
}

const GgufValue* GgufMetadata::find(const std::string& key) const {
  const GgufValue* const own = source_.header.find(architecture_ + "." + key);
  return own ? own : source_.header.find(key);
}

std::string GgufMetadata::at(const std::string& key) const {
  return quotedText(
      source_.header.find(key) || key.find("ggml") != std::string::npos ? key : architecture_ + "." + key);
}

void GgufMetadata::fail(const std::string& message) {
  if (!error_) error_ = Error{source_.name + ": " + message};
}

template <typename Value>
Value GgufMetadata::read(const std::string& key, Value (GgufValue::*as)() const, const char* expected) {
  const GgufValue* const found = find(key);
  if (!found) return {};
  Value value = (found->*as)();
  if (!value) fail(at(key) + " is " + found->described() + ", expected " + expected);
  return value;
}

std::optional<std::int64_t> GgufMetadata::integer(const std::string& key) {
  return read(key, &GgufValue::integer, "a whole number");
}
std::optional<double> GgufMetadata::number(const std::string& key) {
  const auto value = read(key, &GgufValue::number, "a number");
  if (!value || std::isfinite(*value)) return value;
  fail(fmt::format("{} is {}, expected a finite number", at(key), *value));
  return std::nullopt;
}
std::optional<bool> GgufMetadata::flag(const std::string& key) {
  return read(key, &GgufValue::flag, "true or false");
}
std::optional<std::string_view> GgufMetadata::text(const std::string& key) {
  const auto value = read(key, &GgufValue::text, "a text");
  if (!value || validateUtf8(*value)) return value;
  fail(at(key) + " is " + quotedText(*value) + ", expected UTF-8");
  return std::nullopt;
}
std::optional<std::vector<std::string_view>> GgufMetadata::texts(const std::string& key) {
  return read(key, &GgufValue::texts, "a list of texts");
}
std::optional<std::vector<std::int64_t>> GgufMetadata::integers(const std::string& key) {
  return read(key, &GgufValue::integers, "a list of whole numbers");
}
std::optional<std::vector<double>> GgufMetadata::numbers(const std::string& key) {
  return read(key, &GgufValue::numbers, "a list of numbers");
}

}  // namespace headscope::attention
