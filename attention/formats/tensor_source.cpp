#include "attention/formats/tensor_source.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "attention/formats/quote.h"
#include "attention/formats/torch/torch_file.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

/// Of "attention" and "attn".
constexpr std::string_view kAttentionEndings[] = {"",     "s",     "_weight",  "_weights",       "_probs",
                                                  "_map", "_maps", "_pattern", "_output_weights"};
constexpr std::string_view kOtherAttention[] = {"attention_probabilities",
                                                "attention_matrix",
                                                "softmax_output",
                                                "kq_soft_max",
                                                "kq_soft_max_ext",
                                                "weights",
                                                "pattern",
                                                "array",
                                                "arr"};

struct RoleNames {
  TensorRole role;
  std::string_view names[3];
};
constexpr RoleNames kRoles[] = {{TensorRole::queries, {"q", "query", "queries"}},
                                {TensorRole::keys, {"k", "key", "keys"}},
                                {TensorRole::values, {"v", "value", "values"}}};

template <typename Names>
bool isOneOf(const Names& names, std::string_view word) {
  return std::find(std::begin(names), std::end(names), word) != std::end(names);
}

/// Removes the leading digits from `text` and returns them without leading zeros.
std::string_view cutDigits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && isDigit(text[length])) ++length;
  auto digits = text.substr(0, length);
  text.remove_prefix(length);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

std::optional<TensorRole> tensorRoleOf(std::string_view word) {
  constexpr std::string_view kStates = "_states";
  if (word.ends_with(kStates)) word.remove_suffix(kStates.size());
  for (const RoleNames& one : kRoles)
    if (isOneOf(one.names, word)) return one.role;
  if (isOneOf(kOtherAttention, word)) return TensorRole::attention;
  for (const std::string_view begin : {"attention", "attn"})
    if (word.starts_with(begin) && isOneOf(kAttentionEndings, word.substr(begin.size())))
      return TensorRole::attention;
  return std::nullopt;
}

std::vector<std::string_view> splitName(std::string_view name) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("./", at), name.size());
    words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::optional<Index> numberInName(std::string_view word) {
  Index value = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || word[0] == '-' || code != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return value;
}

bool naturalLess(std::string_view a, std::string_view b) {
  const auto wholeA = a, wholeB = b;
  while (!a.empty() && !b.empty()) {
    if (isDigit(a.front()) && isDigit(b.front())) {
      const auto numberA = cutDigits(a), numberB = cutDigits(b);
      if (numberA.size() != numberB.size()) return numberA.size() < numberB.size();
      if (numberA != numberB) return numberA < numberB;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  // "layer.03" and "layer.3" have the same number but are different names.
  return wholeA < wholeB;
}

namespace {

bool beginsWith(std::span<const std::uint8_t> bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char c, std::uint8_t byte) { return static_cast<std::uint8_t>(c) == byte; });
}

}  // namespace

Result<TensorSource> TensorSource::open(const std::filesystem::path& path) {
  auto file = RegularFile::open(path);
  if (!file) return file.error();
  std::array<std::uint8_t, 8> start{};
  const auto begin = std::span(start).first(std::min<std::uint64_t>(start.size(), file->size()));
  if (const auto status = file->read(0, begin); !status) return status.error();
  const std::string name = shownPath(path);
  const auto opened = [&]() -> Result<TensorSource> {
    bool torch = beginsAsOldTorchFile(begin);
    if (hasZipSignature(begin)) {
      auto archive = ZipArchive::open(path);
      if (!archive) return archive.error();
      torch = isTorchArchive(*archive);
      if (!torch) {
        auto layout = readNpzLayout(*archive, path);
        if (!layout) return layout.error();
        return TensorSource(*std::move(layout), *std::move(archive));
      }
    }
    if (beginsWith(begin, "GGUF"))
      return fileError(path, "is a GGUF file, expected safetensors, NumPy's .npz or PyTorch's .pt");
    auto layout = torch                            ? readTorchLayout(*file)
                  : beginsWith(begin, "\x93NUMPY") ? readNpyLayout(*file, name)
                                                   : readSafetensorsHeader(*file, name);
    if (!layout) return layout.error();
    return TensorSource(*std::move(layout), *std::move(file));
  };
  auto source = opened();
  if (!source) return source;
  if (const auto status = source->rewrite(name); !status) return status.error();
  return source;
}

Status TensorSource::rewrite(const std::string& name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  std::uint64_t all = 0;
  for (const auto& [tensor, order] : layout_.orders) {
    TensorEntry& entry = layout_.header.tensors.at(tensor);
    const std::uint64_t whole = *byteExtent(entry.dtype, entry.shape), stored = entry.end - entry.begin;
    if (whole > kMost || stored > kMost || (all += whole) > kMost)
      return Error{
          fmt::format("{}: tensor {} is transposed, part of another one or big-endian, and with those before "
                      "it takes more "
                      "than 1 GiB: save it with .contiguous() or numpy.ascontiguousarray()",
                      name, quotedText(tensor))};
    std::vector<std::uint8_t> bytes(stored);
    if (const auto status = read(tensor, 0, bytes); !status) return status;
    rewritten_[tensor] = std::make_shared<const std::vector<std::uint8_t>>(
        order.rowByRow(bytes, byteSize(entry.dtype), entry.shape));
    entry.begin = 0;
    entry.end = whole;
  }
  return success();
}

Status TensorSource::read(const std::string& tensor, std::uint64_t offset, std::span<std::uint8_t> to) const {
  const TensorEntry& entry = header().tensors.at(tensor);
  const std::uint64_t size = entry.end - entry.begin;
  require(
      offset <= size && to.size() <= size - offset,
      fmt::format("bytes [{}, +{}] of tensor {}, which has {}", offset, to.size(), quotedText(tensor), size));
  if (const auto kept = rewritten_.find(tensor); kept != rewritten_.end()) {
    std::copy_n(kept->second->data() + offset, to.size(), to.data());
    return success();
  }
  if (archive_) return archive_->read(members_.at(tensor), entry.begin + offset, to);
  return file_->read(layout_.dataBegin + entry.begin + offset, to);
}

Status TensorSource::readFloats(const std::string& tensor, std::uint64_t first, std::span<float> to,
                                const std::string& at) const {
  /// Values read and converted at a time.
  constexpr std::size_t kValues = std::size_t{1} << 16;
  const DType dtype = header().tensors.at(tensor).dtype;
  const std::size_t size = byteSize(dtype);
  std::vector<std::uint8_t> buffer(std::min(to.size(), kValues) * size);
  for (std::size_t done = 0; done < to.size(); done += kValues) {
    const std::span<float> part = to.subspan(done, std::min(kValues, to.size() - done));
    const auto bytes = std::span(buffer).first(part.size() * size);
    if (const auto status = read(tensor, (first + done) * size, bytes); !status) return status;
    if (const auto status = convertToFloats(dtype, bytes, part, at); !status) return status;
  }
  return success();
}

const TensorEntry* TensorReader::find(const std::string& tensor) {
  asked_.insert(tensor);
  const auto& tensors = file_.header().tensors;
  const auto at = tensors.find(tensor);
  return at == tensors.end() ? nullptr : &at->second;
}

Result<const TensorEntry*> TensorReader::get(const std::string& tensor, std::size_t least, std::size_t most,
                                             const std::string& expected) {
  const auto* found = find(tensor);
  if (!found) return Error{name_ + ": has no tensor " + quotedText(tensor) + ", expected " + expected};
  const auto& shape = found->shape;
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (shape.size() < least || shape.size() > most || empty) return wrongShape(tensor, shape, expected);
  return found;
}

Status TensorReader::take(const std::string& tensor, std::uint64_t bytes) {
  if (bytes > budget_ - taken_)
    return Error{fmt::format("{} takes {} bytes of memory, expected at most {}{}", at(tensor), bytes,
                             budget_ - taken_, taken_ > 0 ? " after the tensors before it" : "")};
  taken_ += bytes;
  return success();
}

Result<std::vector<std::uint8_t>> TensorReader::bytes(const std::string& tensor, const TensorEntry& found) {
  const std::uint64_t size = found.end - found.begin;
  if (const auto status = take(tensor, size); !status) return status.error();
  std::vector<std::uint8_t> bytes(size);
  if (const auto status = file_.read(tensor, 0, bytes); !status) return status.error();
  return bytes;
}

Result<std::vector<float>> TensorReader::floats(const std::string& tensor, const TensorEntry& found) {
  // Without any data, this only checks that the type is floating-point.
  if (const auto status = convertToFloats(found.dtype, {}, {}, at(tensor)); !status) return status.error();
  const std::size_t size = byteSize(found.dtype), count = (found.end - found.begin) / size;
  if (const auto status = take(tensor, count * sizeof(float)); !status) return status.error();
  std::vector<float> values(count);
  if (const auto status = file_.readFloats(tensor, 0, values, at(tensor)); !status) return status.error();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return values;
  const auto flat = static_cast<std::size_t>(bad - values.begin());
  return Error{fmt::format("{} is {} at {}, expected finite values", at(tensor), nonFiniteName(*bad),
                           positionText(flat, found.shape))};
}

Error TensorReader::wrongShape(const std::string& tensor, const Shape& shape,
                               const std::string& expected) const {
  return Error{at(tensor) + " is " + shapeText(shape) + ", expected " + expected};
}

Status TensorReader::checkNames(const std::vector<std::string_view>& passedOver) const {
  for (const auto& [tensor, entry] : file_.header().tensors) {
    const bool known = tensor.starts_with("expect.") || tensor.starts_with(kSnapshotPrefix) ||
                       asked_.contains(tensor) ||
                       (passesOtherParts_ && tensor.find('.') != std::string::npos) ||
                       std::find(passedOver.begin(), passedOver.end(), tensor) != passedOver.end();
    if (known) continue;
    const std::string near = suggestion(tensor, {asked_.begin(), asked_.end()});
    return Error{at(tensor) + " is not a tensor of this file format" +
                 (near.empty() ? fmt::format(", expected one of {}", fmt::join(asked_, ", ")) : near)};
  }
  return success();
}

}  // namespace headscope::attention
