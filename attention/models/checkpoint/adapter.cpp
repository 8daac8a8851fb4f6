#include <fmt/core.h>

#include <cmath>

#include "attention/formats/dtype.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/checkpoint/packed_weights.h"
#include "attention/models/config/config_reader.h"

namespace headscope::attention {
namespace {

constexpr std::string_view kAdapterConfig = "adapter_config.json";

Result<ConfigReader> readAdapterConfig(const std::filesystem::path& folder) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
  const auto bytes = readFile(folder / kAdapterConfig, kMost);
  if (!bytes) return bytes.error();
  return ConfigReader::parse({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                             shownPath(folder / kAdapterConfig));
}

/// Finds the tensor that an adapter calls so: a file may leave out the first parts of a name
/// ("transformer.").
TensorView* targetOf(std::string name, std::map<std::string, TensorView>& tensors) {
  for (;;) {
    if (const auto found = tensors.find(name); found != tensors.end()) return &found->second;
    const std::size_t dot = name.find('.');
    if (dot == name.npos) return nullptr;
    name.erase(0, dot + 1);
  }
}

std::vector<float> floatsOf(const TensorView& tensor, const std::string& name, std::optional<Error>& error) {
  std::vector<float> numbers(tensor.numbers());
  const Status read =
      tensor.type ? tensor.read(0, numbers, name) : Status(Error{name + " is " + std::string(tensor.kind)});
  if (!read && !error) error = read.error();
  return numbers;
}

/// The product of B [out, rank] and A [rank, in] times `scale`, added to the target or its transpose, as
/// which it fits; if both do, its transpose if `inFirst`.
Result<MadeWeight> changed(const TensorView& target, const TensorView& a, const TensorView& b, double scale,
                           bool inFirst, const std::string& name) {
  const auto matrix = [](const TensorView& tensor) { return tensor.shape.size() == 2; };
  if (!matrix(a) || !matrix(b) || !matrix(target) || a.shape[0] != b.shape[1] || a.shape[0] == 0)
    return Error{fmt::format("{} has A {} and B {} for a weight {}", name, shapeText(a.shape),
                             shapeText(b.shape), shapeText(target.shape))};
  const std::uint64_t out = b.shape[0], in = a.shape[1], rank = a.shape[0];
  if (out != in) inFirst = target.shape != Shape{out, in};
  if (target.shape != (inFirst ? Shape{in, out} : Shape{out, in}))
    return Error{
        fmt::format("{} is [{}, {}], expected {} as in the model", name, out, in, shapeText(target.shape))};
  if (!target.type || *target.type == WeightType::f64 || kernels::weightBlock(*target.type).numbers != 1)
    return Error{fmt::format("{} changes a weight in {}, expected F32, F16 or BF16", name, target.kind)};
  std::optional<Error> error;
  std::vector<float> first = floatsOf(a, name, error), second = floatsOf(b, name, error);
  if (error) return *error;
  return MadeWeight{
      target.shape[0], target.shape[1], *target.type,
      [=, first = std::move(first), second = std::move(second)](std::uint64_t o, std::span<float> row) {
        (void)target.read(o * row.size(), row, "");
        for (std::uint64_t r = 0; r < rank; ++r)
          for (std::uint64_t i = 0; i < row.size(); ++i)
            row[i] += static_cast<float>(scale) * (inFirst ? second[i * rank + r] * first[r * in + o]
                                                           : second[o * rank + r] * first[r * in + i]);
      }};
}

}  // namespace

bool isAdapter(const std::filesystem::path& folder) {
  return fileExists(folder / kAdapterConfig) && !fileExists(folder / "config.json");
}

Result<std::string> adapterBase(const std::filesystem::path& folder) {
  const auto json = readAdapterConfig(folder);
  if (!json) return json.error();
  const std::string base = json->text("base_model_name_or_path", "");
  if (const Status status = json->status(); !status) return status.error();
  return base;
}

Status addAdapter(const std::map<std::string, TensorView>& changes, const std::filesystem::path& folder,
                  std::map<std::string, TensorView>& tensors, OwnNumbers& own) {
  const auto json = readAdapterConfig(folder);
  if (!json) return json.error();
  json->expect("peft_type", "\"LORA\"");
  json->expect("use_dora", "false");
  json->expect("alpha_pattern", "{}");
  const double alpha = json->positive("lora_alpha", 8.0);
  const bool root = json->flag("use_rslora", false), inFirst = json->flag("fan_in_fan_out", false);
  if (const Status status = json->status(); !status) return status;
  for (const auto& [name, a] : changes) {
    constexpr std::string_view kBefore = "base_model.model.";
    std::string module = name.starts_with(kBefore) ? name.substr(kBefore.size()) : name;
    const std::size_t at = module.find(".lora_");
    const std::string target = at == module.npos ? module : module.substr(0, at) + ".weight";
    TensorView* const found = targetOf(target, tensors);
    if (!found)
      return fileError(folder, fmt::format("changes {}, which the model doesn't have", quotedText(target)));
    if (at == module.npos) {
      if (found->shape != a.shape)
        return fileError(folder, fmt::format("has a {} {}, expected {} as in the model", quotedText(target),
                                             shapeText(a.shape), shapeText(found->shape)));
      *found = a;
      continue;
    }
    std::string other = name;
    const std::size_t letter = std::min(other.find(".lora_A."), other.find(".lora_B."));
    if (letter == other.npos)
      return fileError(folder,
                       fmt::format("has a tensor {}, expected only lora_A and lora_B", quotedText(name)));
    const bool isB = std::exchange(other[letter + 6], name[letter + 6] == 'A' ? 'B' : 'A') == 'B';
    const auto b = changes.find(other);
    if (b == changes.end()) return fileError(folder, "has no tensor " + quotedText(other));
    if (isB) continue;  // with its A
    const auto rank = static_cast<double>(a.shape.empty() ? 1 : std::max<std::uint64_t>(a.shape[0], 1));
    const auto weight =
        changed(*found, a, b->second, alpha / (root ? std::sqrt(rank) : rank), inFirst, quotedText(name));
    if (!weight) return fileError(folder, weight.error().message);
    *found = makeWeight(*weight, own);
  }
  return success();
}

}  // namespace headscope::attention
