#include "attention/models/checkpoint/weight_count.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attention/core/saturating.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors_header.h"
#include "attention/models/checkpoint/shard_index.h"

namespace headscope::attention {

namespace {

constexpr std::uint64_t kMostHeader = 100'000'000, kMaxIndex = std::uint64_t{16} << 20;
constexpr JsonBounds kHeaderBounds{8, 20'000'000};

/// Whether a name belongs to numbers that aren't weights: scales, zeros and tables for unpacking.
bool unpacksOthers(std::string_view name) {
  static constexpr std::string_view kEnds[] = {".qzeros",
                                               ".scales",
                                               ".g_idx",
                                               "_scales",
                                               ".weight_scale",
                                               ".weight_scale_inv",
                                               ".weight_scale_2",
                                               ".input_scale",
                                               ".absmax",
                                               ".quant_map",
                                               ".nested_absmax",
                                               ".nested_quant_map",
                                               ".bitsandbytes__nf4",
                                               ".bitsandbytes__fp4",
                                               ".weight_zero_point",
                                               ".weight_shape",
                                               ".weight_g_idx",
                                               ".inv_freq",
                                               ".k_scale",
                                               ".v_scale",
                                               ".SCB"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return name.ends_with(end); });
}

/// The weights packed into one number of a tensor.
double weightsInOne(const nlohmann::json& all, const std::string& name, std::string_view dtype, double bits) {
  const double word = dtype == "I32" || dtype == "U32" ? 32 : dtype == "I64" ? 64 : 8;
  if (name.ends_with(".qweight") || name.ends_with(".weight_packed"))
    return word / std::max(1.0, std::floor(bits));
  if (name.ends_with("_blocks") && dtype == "U8") return 2;
  const bool fourBits = all.contains(name + ".absmax") || all.contains(name + "_scale_2");
  return dtype == "U8" && fourBits ? 2 : 1;
}

Result<WeightCount> countFile(const std::filesystem::path& path, double bits) {
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
  auto count = countTensors({reinterpret_cast<const char*>(header.data()), header.size()}, bits, name);
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

Result<WeightCount> countTensors(std::string_view text, double bits, const std::string& name) {
  const auto parsed = parseJsonTree(text, name, kHeaderBounds);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return Error{name + ": its header is not an object"};
  WeightCount count;
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
    if (unpacksOthers(tensor) || numbers > 1e18) continue;
    const double packed = weightsInOne(*parsed, tensor, entry["dtype"].get_ref<const std::string&>(), bits);
    count.parameters = saturatingSum({count.parameters, static_cast<std::uint64_t>(numbers * packed)});
  }
  return count;
}

Result<std::optional<WeightCount>> countWeights(const std::filesystem::path& folder, double bits) {
  const auto index = folder / "model.safetensors.index.json", single = folder / "model.safetensors";
  if (fileExists(single)) {
    const auto count = countFile(single, bits);
    if (!count) return count.error();
    return std::optional(*count);
  }
  if (!fileExists(index)) return std::optional<WeightCount>();
  const auto bytes = readFile(index, kMaxIndex);
  if (!bytes) return bytes.error();
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const auto shards = parseShardIndex(text, "model.safetensors.index.json");
  if (!shards) return shards.error();
  std::vector<std::string> files;
  for (const auto& [tensor, file] : *shards) files.push_back(file);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  WeightCount all;
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
      return std::optional(WeightCount{said("total_parameters"), said("total_size")});
    }
    const auto count = countFile(folder / file, bits);
    if (!count) return count.error();
    all.parameters = saturatingSum({all.parameters, count->parameters});
    all.bytes = saturatingSum({all.bytes, count->bytes});
  }
  return std::optional(all);
}

}  // namespace headscope::attention
