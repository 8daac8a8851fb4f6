#include "attention/formats/torch/torch_file.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "attention/formats/quote.h"
#include "attention/formats/torch/pickle.h"

namespace headscope::attention {
namespace {

constexpr std::uint64_t kMostPickle = std::uint64_t{1} << 24;
constexpr std::string_view kPickle = "data.pkl";

/// The numbers of a storage in the file.
struct Storage {
  std::uint64_t begin = 0, bytes = 0;
};
using Kind = PickleValue::Kind;
using Storages = std::map<std::string, Storage>;

/// What a pickle's value holds, by name.
struct Contents {
  std::map<std::string, PickledTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Whether a value is a list of numbers and texts, which aren't too long together.
bool isPlain(const PickleValue& list) {
  std::uint64_t length = 0;
  return list.kind == Kind::list && !list.items.empty() &&
         std::ranges::all_of(list.items, [&](const PickleValue* item) {
           length += item->text.size();
           return (item->kind == Kind::text || item->kind == Kind::number) && length <= kMostPickle;
         });
}

std::string json(const PickleValue& list) {
  nlohmann::json items = nlohmann::json::array();
  for (const PickleValue* item : list.items)
    if (item->kind == Kind::text)
      items.push_back(item->text);
    else
      items.push_back(item->number);
  return items.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Collects what a value holds; a value may hold itself.
class Collector {
 public:
  Result<Contents> collect(const PickleValue& value) {
    const bool list = value.kind == Kind::list, tensor = value.kind == Kind::tensor;
    if (!add(value, list ? "attention" : tensor ? "array" : "", 0))
      return Error{"holds too many values, or holds them too deep"};
    return std::move(contents_);
  }

 private:
  bool add(const PickleValue& value, const std::string& name, int depth) {
    constexpr int kDeepest = 16;
    constexpr std::size_t kMostValues = std::size_t{1} << 18;
    if (depth > kDeepest || ++values_ > kMostValues || name.size() > kMostName) return false;
    if (value.kind == Kind::tensor) contents_.tensors.emplace(name, value.tensor);
    if (value.kind == Kind::text || value.kind == Kind::number) return keep(name, keyOf(value));
    if (isPlain(value)) return keep(name, json(value));
    const bool pairs = value.kind == Kind::dictionary;
    for (std::size_t i = 0; i < value.items.size(); i += pairs ? 2 : 1) {
      const std::string key = pairs ? keyOf(*value.items[i]) : std::to_string(i);
      if (!add(*value.items[pairs ? i + 1 : i], name.empty() ? key : name + "." + key, depth + 1))
        return false;
    }
    return true;
  }

  bool keep(const std::string& name, std::string text) {
    texts_ += text.size();
    contents_.metadata.emplace(name, std::move(text));
    return texts_ <= kMostPickle;
  }

  static std::string keyOf(const PickleValue& key) {
    return key.kind == Kind::number ? std::to_string(key.number) : key.text;
  }

  static constexpr std::size_t kMostName = 1024;
  Contents contents_;
  std::uint64_t values_ = 0, texts_ = 0;
};

/// Adds a tensor that lies in one of the storages. Messages name no file.
Status place(const std::string& name, const PickledTensor& tensor, const Storages& storages, bool bigEndian,
             SafetensorsLayout& layout) {
  const std::string at = "tensor " + quotedText(name);
  const auto& type = tensor.type;
  const auto storage = storages.find(tensor.storage);
  const auto bytes = type ? byteExtent(*type, tensor.shape) : std::nullopt;
  if (!type || storage == storages.end() || !bytes) return Error{at + " has no numbers in the file"};
  const std::uint64_t size = byteSize(*type), numbers = storage->second.bytes / size;
  if (*bytes > storage->second.bytes)
    return Error{fmt::format("{} is {}, but only {} numbers are stored: save it with .contiguous()", at,
                             shapeText(tensor.shape), numbers)};
  // The last number, in steps that can't overflow: none reaches beyond the storage.
  std::uint64_t last = tensor.first;
  for (std::size_t axis = 0; axis < tensor.shape.size() && *bytes > 0; ++axis) {
    const std::uint64_t steps = tensor.shape[axis] - 1, stride = tensor.strides[axis];
    if (stride > 0 && steps > numbers / stride)
      last = numbers;
    else
      last += steps * stride;
    if (last >= numbers) break;
  }
  if (last >= numbers && *bytes > 0)
    return Error{fmt::format("{} is {} from number {} of {}: more than there are", at,
                             shapeText(tensor.shape), tensor.first, numbers)};
  const std::uint64_t begin = storage->second.begin + (*bytes > 0 ? tensor.first * size : 0);
  StoredOrder order{tensor.strides, bigEndian && size > 1};
  const bool plain = order.isPlain(tensor.shape);
  const std::uint64_t stored = plain || *bytes == 0 ? *bytes : (last - tensor.first + 1) * size;
  layout.header.tensors[name] = {*type, tensor.shape, begin, begin + stored};
  if (!plain && *bytes > 0) layout.orders[name] = std::move(order);
  return success();
}

Result<SafetensorsLayout> layoutOf(Contents contents, const Storages& storages, bool bigEndian) {
  SafetensorsLayout layout;
  layout.header.metadata = std::move(contents.metadata);
  for (const auto& [name, tensor] : contents.tensors)
    if (const auto status = place(name, tensor, storages, bigEndian, layout); !status) return status.error();
  if (layout.header.tensors.empty()) return Error{"holds no tensors"};
  return layout;
}

/// Finds where a zip archive's uncompressed members begin, which libzip doesn't say: each follows a header of
/// 30 bytes, its name and a field of any length (APPNOTE.TXT, 4.3.7), and may be followed by a descriptor.
Result<std::map<std::string, Storage>> membersOf(const RegularFile& file, const ZipArchive& archive) {
  std::map<std::string, std::uint64_t> sizes;
  for (const auto& member : archive.members()) {
    if (!member.stored) return Error{"has compressed numbers, expected them as torch.save() writes them"};
    sizes[member.name] = member.size;
  }
  constexpr std::uint64_t kHeader = 30;
  std::map<std::string, Storage> members;
  std::uint64_t at = 0;
  const auto read = [&](std::uint64_t from, std::span<std::uint8_t> to) {
    return from <= file.size() && to.size() <= file.size() - from && file.read(from, to).ok();
  };
  const auto begins = [&](std::uint64_t from, std::uint8_t kind) {
    std::array<std::uint8_t, 4> sign{};
    return read(from, sign) && sign[0] == 'P' && sign[1] == 'K' && (kind == 0 || sign[2] == kind);
  };
  while (begins(at, 3)) {
    std::array<std::uint8_t, kHeader> header{};
    if (!read(at, header)) return Error{"is damaged"};
    std::string name(load<std::uint16_t>(&header[26]), '\0');
    if (!read(at + kHeader, {reinterpret_cast<std::uint8_t*>(name.data()), name.size()}))
      return Error{"is damaged"};
    const auto size = sizes.find(name);
    const std::uint64_t begin = at + kHeader + name.size() + load<std::uint16_t>(&header[28]);
    if (size == sizes.end() || begin > file.size() || size->second > file.size() - begin)
      return Error{"is damaged"};
    members[name] = {begin, size->second};
    at = begin + size->second;
    if (begins(at, 7)) at += begins(at + 16, 0) ? 16 : 24;  // sizes of 4 or 8 bytes
  }
  return members;
}

Result<SafetensorsLayout> readArchive(const RegularFile& file, const ZipArchive& archive) {
  auto members = membersOf(file, archive);
  if (!members) return members.error();
  const auto pickle =
      std::ranges::find_if(*members, [](const auto& each) { return each.first.ends_with(kPickle); });
  if (pickle == members->end() || pickle->second.bytes > kMostPickle)
    return Error{"has no pickle that can be read"};
  std::vector<std::uint8_t> bytes(pickle->second.bytes);
  if (const auto status = file.read(pickle->second.begin, bytes); !status) return status.error();
  PickleReader reader(bytes);
  const auto value = reader.next();
  if (!value) return value.error();
  auto contents = Collector().collect(**value);
  if (!contents) return contents.error();
  const std::string folder = pickle->first.substr(0, pickle->first.size() - kPickle.size());
  Storages storages;
  for (const auto& [name, member] : *members)
    if (name.starts_with(folder + "data/")) storages[name.substr(folder.size() + 5)] = member;
  const auto order = members->find(folder + "byteorder");
  return layoutOf(*std::move(contents), storages,
                  order != members->end() && order->second.bytes == 3);  // "big"
}

/// Five pickles (a magic number, a version, the system, the value, the storages' keys), then for each key the
/// number of numbers and these.
Result<SafetensorsLayout> readOld(const RegularFile& file) {
  std::vector<std::uint8_t> bytes(std::min(file.size(), kMostPickle));
  if (const auto status = file.read(0, bytes); !status) return status.error();
  PickleReader reader(bytes);
  const PickleValue* values[5];
  for (const PickleValue*& value : values) {
    const auto next = reader.next();
    if (!next) return next.error();
    value = *next;
  }
  auto contents = Collector().collect(*values[3]);
  if (!contents) return contents.error();
  std::map<std::string, std::uint64_t> sizes;
  for (const auto& [name, tensor] : contents->tensors)
    if (tensor.type) sizes[tensor.storage] = byteSize(*tensor.type);
  Storages storages;
  std::uint64_t at = reader.at();
  for (const PickleValue* key : values[4]->items) {
    std::array<std::uint8_t, 8> count{};
    if (count.size() > file.size() - at || !sizes.contains(key->text)) return Error{"is damaged"};
    if (const auto status = file.read(at, count); !status) return status.error();
    at += count.size();
    const std::uint64_t numbers = load<std::uint64_t>(count.data()), size = sizes[key->text];
    if (numbers > (file.size() - at) / size) return Error{"ends before its numbers do"};
    storages[key->text] = {at, numbers * size};
    at += numbers * size;
  }
  return layoutOf(*std::move(contents), storages, false);
}

}  // namespace

std::optional<std::string> pickledTexts(std::span<const std::uint8_t> pickle) {
  PickleReader reader(pickle);
  const auto value = reader.next();
  if (!value || !isPlain(**value)) return std::nullopt;
  return json(**value);
}

bool beginsAsOldTorchFile(std::span<const std::uint8_t> start) {
  // A pickle of protocol 2 with PyTorch's magic number.
  constexpr std::uint8_t kStart[] = {0x80, 2, 0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46};
  return start.size() >= std::size(kStart) && std::equal(std::begin(kStart), std::end(kStart), start.begin());
}

bool isTorchArchive(const ZipArchive& archive) {
  return std::ranges::any_of(archive.members(), [](const auto& member) {
    return member.name == kPickle || member.name.ends_with("/" + std::string(kPickle));
  });
}

Result<SafetensorsLayout> readTorchLayout(const RegularFile& file) {
  std::array<std::uint8_t, 8> start{};
  if (file.size() >= start.size())
    if (const auto status = file.read(0, start); !status) return status.error();
  const bool old = beginsAsOldTorchFile(start);
  const auto archive = old ? Result<ZipArchive>(Error{}) : ZipArchive::open(file.path());
  if (!old && !archive) return archive.error();
  auto layout = old ? readOld(file) : readArchive(file, *archive);
  if (!layout) return fileError(file.path(), layout.error().message);
  return layout;
}

}  // namespace headscope::attention
