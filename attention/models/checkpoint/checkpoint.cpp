#include "attention/models/checkpoint/checkpoint.h"

#include <fmt/core.h>

#include <cmath>
#include <ranges>
#include <system_error>

#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"
#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {
namespace {

constexpr std::size_t kMaxShards = 1024;

/// Whether a name can only be a file in the folder itself.
bool isPlainName(const std::string& name) {
  return !name.empty() && name != "." && name.find("..") == std::string::npos &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

}  // namespace

Result<std::map<std::string, std::string>> parseShardIndex(std::string_view text, const std::string& name) {
  const auto parsed = parseJsonTree(text, name);
  if (!parsed) return parsed.error();
  const nlohmann::json& json = *parsed;
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    return Error{name + ": has no weight_map, expected an object that names each tensor's file"};
  std::map<std::string, std::string> files;
  std::set<std::string> shards;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    const std::string at = name + ": tensor " + quotedText(tensor);
    if (!file.is_string()) return Error{at + " has no file name"};
    const std::string& shard = file.get_ref<const std::string&>();
    if (!isPlainName(shard))
      return Error{at + " is in " + quotedText(shard) + ", expected a file in the same folder"};
    files.emplace(tensor, shard);
    shards.insert(shard);
  }
  if (files.empty()) return Error{name + ": its weight_map is empty, expected each tensor's file"};
  if (shards.size() > kMaxShards)
    return Error{fmt::format("{}: names {} files, expected at most {}", name, shards.size(), kMaxShards)};
  return files;
}

namespace {

constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{16} << 20;

std::optional<WeightType> weightType(DType dtype) {
  if (dtype == DType::F32) return WeightType::f32;
  if (dtype == DType::F16) return WeightType::f16;
  if (dtype == DType::BF16) return WeightType::bf16;
  if (dtype == DType::F64) return WeightType::f64;
  return std::nullopt;
}

/// All tensors of a mapped file.
Result<std::map<std::string, TensorView>> tensorsOf(const MappedFile& file) {
  const std::string at = shownPath(file.path());
  const auto bytes = file.bytes();
  const auto length = safetensorsHeaderSize(bytes, bytes.size(), at);
  if (!length) return length.error();
  const std::uint64_t dataBegin = kHeaderLengthBytes + *length;
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + kHeaderLengthBytes, *length);
  auto header = parseSafetensorsHeader(json, bytes.size() - dataBegin, at);
  // If the file was truncated meanwhile, report that rather than its consequences.
  if (const Status status = file.intact(); !status) return status.error();
  if (!header) return header.error();
  std::map<std::string, TensorView> tensors;
  for (auto& [tensor, entry] : header->tensors)
    tensors.emplace(tensor, TensorView{name(entry.dtype), weightType(entry.dtype), std::move(entry.shape),
                                       bytes.data() + dataBegin + entry.begin, entry.end - entry.begin});
  addOtherNames(header->metadata, tensors);
  return tensors;
}

/// Joins the two byte tensors of experts in MXFP4, X_blocks [..., rows, blocks, 16] and X_scales [..., rows,
/// blocks], into one tensor X [..., rows, 32 · blocks]. Leaves tensors that don't fit together unchanged, and
/// any that aren't the family's experts: their scales wouldn't be read.
void joinScales(std::map<std::string, TensorView>& tensors, const TensorNames& names) {
  constexpr std::string_view kBlocks = "_blocks";
  if (names.expertGateUp.empty()) return;
  std::vector<std::string> stems;
  for (const std::string_view expert : {names.expertGateUp, names.expertDown})
    for (const auto& [name, view] : tensors)
      if (name.ends_with("." + std::string(expert) + std::string(kBlocks)))
        stems.push_back(name.substr(0, name.size() - kBlocks.size()));
  for (const std::string& stem : stems) {
    const auto blocks = tensors.find(stem + std::string(kBlocks)), scales = tensors.find(stem + "_scales");
    std::vector<std::uint64_t> shape = blocks->second.shape;
    if (shape.size() < 2 || shape.back() != 16 || scales == tensors.end() || tensors.contains(stem)) continue;
    shape.pop_back();
    if (scales->second.shape != shape || blocks->second.kind != "U8" || scales->second.kind != "U8") continue;
    shape.back() *= 32;
    tensors.emplace(stem, TensorView{"MXFP4", WeightType::mxfp4_apart, shape, blocks->second.data,
                                     blocks->second.bytes + scales->second.bytes, scales->second.data});
    tensors.erase(blocks);
    tensors.erase(scales);
  }
}

}  // namespace

std::uint64_t TensorView::numbers() const {
  std::uint64_t count = 1;
  for (const std::uint64_t side : shape) count *= side;
  return count;
}

Status TensorView::read(std::uint64_t first, std::span<float> values, const std::string& name) const {
  require(type.has_value(), name + " has numbers of an unsupported type");
  const std::uint8_t* const from = data + kernels::weightBytes(*type, first);
  if (*type == WeightType::f64) return convertToFloats(DType::F64, {from, 8 * values.size()}, values, name);
  kernels::unpackWeights(*type, from, values.size(), values.data(),
                         scales ? scales + first / kernels::weightBlock(*type).numbers : nullptr);
  return success();
}

Result<Checkpoint> Checkpoint::open(const std::filesystem::path& folder, const TensorNaming& naming) {
  Checkpoint checkpoint(folder);
  const auto single = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
  if (!fileExists(single) && !fileExists(index)) return withoutWeights(folder);
  const Status status = fileExists(single) ? checkpoint.addSingle(single) : checkpoint.addShards(index);
  if (!status) return status.error();
  if (const Status whole = refuseAdapters(checkpoint.tensors_, folder); !whole) return whole.error();
  checkpoint.notes_ = unwrapNames(checkpoint.tensors_, naming);
  if (fileExists(folder / "adapter_model.safetensors"))
    checkpoint.notes_.emplace_back("The folder also has a PEFT adapter, which isn't applied.");
  joinScales(checkpoint.tensors_, naming.names);
  return checkpoint;
}

Status Checkpoint::addSingle(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  auto tensors = tensorsOf(*file);
  if (!tensors) return tensors.error();
  tensors_ = std::move(*tensors);
  files_.push_back(std::move(*file));
  return success();
}

Status Checkpoint::addShards(const std::filesystem::path& index) {
  const auto text = readFile(index, kMaxIndexBytes);
  if (!text) return text.error();
  const auto shardOf =
      parseShardIndex({reinterpret_cast<const char*>(text->data()), text->size()}, shownPath(index));
  if (!shardOf) return shardOf.error();
  std::map<std::string, std::map<std::string, TensorView>> shards;
  for (const auto& [tensor, shard] : *shardOf) {
    if (!shards.contains(shard)) {
      if (!fileExists(folder_ / shard))
        return fileError(index, "names " + quotedText(shard) + ", which is missing from the folder");
      auto file = MappedFile::open(folder_ / shard);
      if (!file) return file.error();
      auto tensors = tensorsOf(*file);
      if (!tensors) return tensors.error();
      shards.emplace(shard, std::move(*tensors));
      files_.push_back(std::move(*file));
    }
    const auto& tensors = shards.at(shard);
    const auto found = tensors.find(tensor);
    if (found == tensors.end())
      return fileError(index, "says tensor " + quotedText(tensor) + " is in " + quotedText(shard) +
                                  ", which doesn't have it");
    tensors_.emplace(tensor, found->second);
  }
  for (const auto& [shard, tensors] : shards)
    for (const auto& [tensor, view] : tensors)
      if (const auto at = shardOf->find(tensor); at != shardOf->end() && at->second != shard)
        return fileError(index, "says tensor " + quotedText(tensor) + " is in " + quotedText(at->second) +
                                    ", but " + quotedText(shard) + " has one too");
  return success();
}

std::uint64_t Checkpoint::bytes() const {
  std::uint64_t sum = 0;
  for (const MappedFile& file : files_) sum += file.bytes().size();
  return sum;
}

Status Checkpoint::intact() const {
  for (const MappedFile& file : files_)
    if (const Status status = file.intact(); !status) return status;
  return success();
}

namespace {

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
  const auto bytes = readFile(index, kMaxIndexBytes);
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
