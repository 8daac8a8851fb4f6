#include <fmt/core.h>

#include <cmath>
#include <set>

#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"
#include "attention/models/checkpoint/checkpoint.h"

namespace headscope::attention {
namespace {

constexpr std::uint64_t kMostIndex = std::uint64_t{16} << 20;
constexpr std::uint64_t kMostHeader = 100'000'000;
constexpr JsonBounds kHeaderBounds{8, 20'000'000};

bool endsWithAny(std::string_view name, std::span<const std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

/// Whether a name belongs to numbers that aren't weights: scales, zeros and tables for unpacking.
bool unpacksOthers(std::string_view name) {
  static constexpr std::string_view kEnds[] = {
      "_scales",        ".scales",           ".qzeros",     ".g_idx",        "_scale",
      "_scale_inv",     "_scale_2",          "_zero_point", ".absmax",       ".quant_map",
      ".nested_absmax", ".nested_quant_map", ".inv_freq",   ".weight_shape", "weight_g_idx",
      ".SCB",           ".weight_format",    "__nf4",       "__fp4"};
  return endsWithAny(name, kEnds);
}

/// Whether a tensor of whole numbers holds weights, by the names of the libraries that pack them.
bool holdsPacked(std::string_view name) {
  static constexpr std::string_view kEnds[] = {".weight", ".qweight",  "weight_packed", "_blocks", ".W_q",
                                               "_weight", ".q_weight", ".trellis",      ".codes",  "qdata",
                                               "._data",  "_proj",     ".experts"};
  return endsWithAny(name, kEnds);
}

/// The bits of a dtype such as "U8" or "I64"; 0 if it isn't one of whole numbers.
double bitsOfWord(std::string_view dtype) {
  if (!dtype.starts_with('U') && !dtype.starts_with('I')) return 0;
  return dtype.ends_with("64") ? 64 : dtype.ends_with("32") ? 32 : dtype.ends_with("16") ? 16 : 8;
}

/// "model.layers.0.mlp.up_proj" of "model.layers.0.mlp.up_proj.weight".
std::string_view moduleOf(std::string_view name) {
  return name.substr(0, std::min(name.rfind('.'), name.size()));
}

struct HeaderTensor {
  std::string_view dtype;
  double numbers = 1;
  bool packed = false;
};
using HeaderTensors = std::map<std::string_view, HeaderTensor>;

/// The weights packed into a tensor. A file may mix numbers of bits; the scales tell then how many there are.
double unpacked(const HeaderTensors& tensors, std::string_view name, const HeaderTensor& tensor,
                const Packing& packing) {
  if (name.ends_with("_blocks") && tensor.dtype == "U8") return 2 * tensor.numbers;
  const double bits = bitsOfWord(tensor.dtype) * tensor.numbers;
  for (const char* scales : {".scales", ".weight_scale", ".scale"}) {
    const auto at = tensors.find(std::string(moduleOf(name)) + scales);
    if (packing.group == 0 || at == tensors.end()) continue;
    const double weights = at->second.numbers * static_cast<double>(packing.group), each = bits / weights;
    if (each == std::floor(each) && each >= 2 && each <= 8) return weights;
  }
  return bits / static_cast<double>(packing.bits);
}

/// Adds the weights of a file's tensors; leaves parameters 0 if some can't be counted.
void addWeights(const HeaderTensors& tensors, const Packing& packing, WeightCount& count) {
  std::set<std::string_view> packed;
  for (const auto& [name, tensor] : tensors)
    if (tensor.packed) packed.insert(moduleOf(name));
  double all = 0;
  for (const auto& [name, tensor] : tensors) {
    count.numbers[std::string(tensor.dtype)] += static_cast<std::uint64_t>(tensor.numbers);
    if (tensor.packed) {
      if (packing.bits == 0 && !name.ends_with("_blocks")) return;
      all += unpacked(tensors, name, tensor, packing);
    } else if (bitsOfWord(tensor.dtype) == 0 && tensor.dtype != "BOOL" && tensor.dtype != "F8_E8M0" &&
               !unpacksOthers(name) && (name.ends_with("bias") || !packed.contains(moduleOf(name)))) {
      all += tensor.numbers;
    }
  }
  count.parameters = static_cast<std::uint64_t>(std::min(all, 1e18));
}

Result<WeightCount> countFile(const std::filesystem::path& path, const Packing& packing) {
  const std::string name = shownPath(path.filename());
  const auto file = RegularFile::open(path);
  if (!file) return file.error();
  std::vector<std::uint8_t> start(std::min<std::uint64_t>(kHeaderLengthBytes, file->size()));
  if (const Status read = file->read(0, start); !read) return read.error();
  const auto length = safetensorsHeaderSize(start, file->size(), name);
  if (!length) return length.error();
  if (*length > kMostHeader) return Error{name + ": its header is too long"};
  std::vector<std::uint8_t> header(*length);
  if (const Status read = file->read(kHeaderLengthBytes, header); !read) return read.error();
  auto count = countTensors({reinterpret_cast<const char*>(header.data()), header.size()}, packing, name);
  if (count && count->bytes > file->size())
    return Error{fmt::format("{}: its header names {} bytes of tensors, and the file has {}", name,
                             count->bytes, file->size())};
  return count;
}

}  // namespace

bool isCausalMask(std::string_view name, std::span<const std::uint64_t> shape) {
  return name.ends_with(".bias") && shape.size() == 4 && shape[0] == 1 && shape[1] == 1 &&
         shape[2] == shape[3];
}

Result<WeightCount> countTensors(std::string_view text, const Packing& packing, const std::string& name) {
  const auto parsed = parseJsonTree(text, name, kHeaderBounds);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return Error{name + ": its header is not an object"};
  WeightCount count;
  HeaderTensors tensors;
  for (const auto& [tensor, entry] : parsed->items()) {
    if (tensor == "__metadata__") continue;
    const auto at = [&entry = entry](const char* key) {
      return entry.is_object() && entry.contains(key) && entry[key].is_array();
    };
    const std::string where = name + ": tensor " + quotedText(tensor);
    if (!at("shape") || !at("data_offsets") || entry["data_offsets"].size() != 2 ||
        !entry.contains("dtype") || !entry["dtype"].is_string())
      return Error{where + " lacks its dtype, shape or data_offsets"};
    double numbers = 1;
    std::vector<std::uint64_t> shape;
    for (const auto& size : entry["shape"]) {
      if (!size.is_number_unsigned()) return Error{where + " has a size that is not a whole number"};
      numbers *= size.get<double>();
      shape.push_back(size.get<std::uint64_t>());
    }
    const auto& offsets = entry["data_offsets"];
    if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned() || offsets[0] > offsets[1])
      return Error{where + " has data_offsets that are not a range"};
    if (isCausalMask(tensor, shape)) continue;
    count.bytes =
        saturatingSum({count.bytes, offsets[1].get<std::uint64_t>() - offsets[0].get<std::uint64_t>()});
    const std::string_view dtype = entry["dtype"].get_ref<const std::string&>();
    const bool packed =
        bitsOfWord(dtype) > 0 && shape.size() > 1 && holdsPacked(tensor) && !unpacksOthers(tensor);
    if (numbers <= 1e18) tensors[tensor] = {dtype, numbers, packed};
  }
  addWeights(tensors, packing, count);
  return count;
}

Result<std::optional<WeightCount>> countWeights(const std::filesystem::path& folder, const Packing& packing) {
  for (const char* single : {"model.safetensors", "consolidated.safetensors"}) {
    if (!fileExists(folder / single)) continue;
    const auto count = countFile(folder / single, packing);
    if (!count) return count.error();
    return std::optional(*count);
  }
  const auto index = folder / "model.safetensors.index.json";
  if (!fileExists(index)) return std::optional<WeightCount>();
  const auto bytes = readFile(index, kMostIndex);
  if (!bytes) return bytes.error();
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const auto shards = parseShardIndex(text, "model.safetensors.index.json");
  if (!shards) return shards.error();
  std::set<std::string> files;
  for (const auto& [tensor, file] : *shards) files.insert(file);
  WeightCount all;
  bool known = true;
  for (const std::string& file : files) {
    if (!fileExists(folder / file)) {  // only the index gives the sizes then
      const auto json = parseJsonTree(text, "model.safetensors.index.json");
      const nlohmann::json metadata =
          json && json->contains("metadata") ? (*json)["metadata"] : nlohmann::json();
      const auto said = [&](const char* key) {
        return metadata.is_object() && metadata.contains(key) && metadata[key].is_number_unsigned()
                   ? metadata[key].get<std::uint64_t>()
                   : 0;
      };
      if (said("total_size") == 0) return std::optional<WeightCount>();
      return std::optional(WeightCount{said("total_parameters"), said("total_size"), {}});
    }
    const auto count = countFile(folder / file, packing);
    if (!count) return count.error();
    known = known && count->parameters > 0;
    all.parameters = saturatingSum({all.parameters, count->parameters});
    for (const auto& [dtype, numbers] : count->numbers) all.numbers[dtype] += numbers;
    all.bytes = saturatingSum({all.bytes, count->bytes});
  }
  if (!known) all.parameters = 0;
  return std::optional(all);
}

}  // namespace headscope::attention
