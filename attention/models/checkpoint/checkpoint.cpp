#include "attention/models/checkpoint/checkpoint.h"

#include <fmt/core.h>

#include <ranges>
#include <system_error>

#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"
#include "attention/formats/torch/torch_file.h"
#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/checkpoint/packed_weights.h"

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

/// Where the tensors of a mapped file lie.
Result<SafetensorsLayout> layoutOf(const MappedFile& file) {
  if (file.path().extension() == ".bin") {
    const auto opened = RegularFile::open(file.path());
    return opened ? readTorchLayout(*opened) : Result<SafetensorsLayout>(opened.error());
  }
  const std::string at = shownPath(file.path());
  const auto bytes = file.bytes();
  const auto length = safetensorsHeaderSize(bytes, bytes.size(), at);
  if (!length) return length.error();
  const std::uint64_t dataBegin = kHeaderLengthBytes + *length;
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + kHeaderLengthBytes, *length);
  auto header = parseSafetensorsHeader(json, bytes.size() - dataBegin, at);
  if (!header) return header.error();
  return SafetensorsLayout{std::move(*header), dataBegin};
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

Result<Checkpoint> Checkpoint::open(const std::filesystem::path& folder, const TensorNaming& naming,
                                    const Quantisation& how, const std::filesystem::path& adapter) {
  Checkpoint checkpoint(folder);
  Status status = withoutWeights(folder);  // unless one of these is there
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const std::filesystem::path single = folder / name, index = folder / (std::string(name) + ".index.json");
    if (!fileExists(single) && !fileExists(index)) continue;
    status = fileExists(single) ? checkpoint.addSingle(single) : checkpoint.addShards(index);
    break;
  }
  if (!status) return status.error();
  if (const Status whole = refuseAdapters(checkpoint.tensors_, folder); !whole) return whole.error();
  const auto unpacked = unpackWeights(checkpoint.tensors_, how, folder, checkpoint.own_);
  if (!unpacked) return unpacked.error();
  if (*unpacked > 0)
    checkpoint.notes_.push_back(
        fmt::format("The weights are packed by {} and were unpacked to 16 bits.", how.method));
  if (!adapter.empty()) {
    const std::filesystem::path pickle = adapter / "adapter_model.bin",
                                plain = adapter / "adapter_model.safetensors";
    const auto changes = checkpoint.map(!fileExists(plain) && fileExists(pickle) ? pickle : plain);
    if (!changes) return changes.error();
    status = addAdapter(*changes, adapter, checkpoint.tensors_, checkpoint.own_);
    if (!status) return status.error();
    checkpoint.notes_.push_back(
        fmt::format("The adapter's changes are added to the weights of {}.", shownPath(folder.filename())));
  }
  for (std::string& note : unwrapNames(checkpoint.tensors_, naming))
    checkpoint.notes_.push_back(std::move(note));
  if (adapter.empty() && fileExists(folder / "adapter_model.safetensors"))
    checkpoint.notes_.emplace_back("The folder also has a PEFT adapter, which isn't applied.");
  joinScales(checkpoint.tensors_, naming.names);
  return checkpoint;
}

Result<std::map<std::string, TensorView>> Checkpoint::map(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  auto layout = layoutOf(*file);
  // If the file was truncated meanwhile, report that rather than its consequences.
  if (const Status status = file->intact(); !status) return status.error();
  if (!layout) return layout.error();
  std::map<std::string, TensorView> tensors;
  std::uint64_t rewritten = 0;
  for (auto& [tensor, entry] : layout->header.tensors) {
    const std::uint8_t* data = file->bytes().data() + layout->dataBegin + entry.begin;
    std::uint64_t bytes = entry.end - entry.begin;
    if (const auto order = layout->orders.find(tensor); order != layout->orders.end()) {
      // Several may lie on the same numbers.
      if ((rewritten += *byteExtent(entry.dtype, entry.shape)) > file->bytes().size())
        return fileError(path,
                         "has more numbers in another order than its size, expected contiguous tensors");
      own_.push_back(order->second.rowByRow({data, static_cast<std::size_t>(bytes)}, byteSize(entry.dtype),
                                            entry.shape));
      data = own_.back().data();
      bytes = own_.back().size();
    }
    tensors.emplace(
        tensor, TensorView{name(entry.dtype), weightType(entry.dtype), std::move(entry.shape), data, bytes});
  }
  addOtherNames(layout->header.metadata, tensors);
  files_.push_back(std::move(*file));
  return tensors;
}

Status Checkpoint::addSingle(const std::filesystem::path& path) {
  auto tensors = map(path);
  if (!tensors) return tensors.error();
  tensors_ = std::move(*tensors);
  return success();
}

namespace {

/// Returns an Error if some of the files that an index names are missing, as after a download that was cut
/// off.
Status checkShards(const std::filesystem::path& index, const std::filesystem::path& folder,
                   const std::map<std::string, std::string>& shardOf) {
  std::set<std::string> all, missing;
  for (const auto& [tensor, shard] : shardOf) {
    all.insert(shard);
    if (!fileExists(folder / shard)) missing.insert(shard);
  }
  if (missing.empty()) return success();
  return fileError(
      index, fmt::format("names {} files of weights, and {} of them {} in the folder: {} is missing; "
                         "finish the download",
                         all.size(), all.size() - missing.size(),
                         all.size() - missing.size() == 1 ? "is" : "are", quotedText(*missing.begin())));
}

}  // namespace

Status Checkpoint::addShards(const std::filesystem::path& index) {
  const auto text = readFile(index, kMaxIndexBytes);
  if (!text) return text.error();
  const auto shardOf =
      parseShardIndex({reinterpret_cast<const char*>(text->data()), text->size()}, shownPath(index));
  if (!shardOf) return shardOf.error();
  if (const Status whole = checkShards(index, folder_, *shardOf); !whole) return whole;
  std::map<std::string, std::map<std::string, TensorView>> shards;
  for (const auto& [tensor, shard] : *shardOf) {
    if (!shards.contains(shard)) {
      auto tensors = map(folder_ / shard);
      if (!tensors) return tensors.error();
      shards.emplace(shard, std::move(*tensors));
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

}  // namespace headscope::attention
