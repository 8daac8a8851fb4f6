#include "attention/models/checkpoint/checkpoint.h"

#include <algorithm>
#include <system_error>

#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors_header.h"
#include "attention/models/checkpoint/other_folders.h"
#include "attention/models/checkpoint/shard_index.h"
#include "attention/models/checkpoint/stored_names.h"
#include "attention/models/config/families.h"

namespace headscope::attention {
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

}  // namespace headscope::attention
