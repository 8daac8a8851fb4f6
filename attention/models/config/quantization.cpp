#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/config/families.h"
#include "attention/models/config/model_config.h"
#include "attention/models/config/shape_parts.h"

namespace headscope::attention {

namespace {

using Covers = WeightFormatRow::Covers;

/// The weights that share a scale; 0 if a row or matrix does, which files write as -1 or null.
Index groupOf(const ConfigReader& json, Index usual = 0) {
  if (!json.has("group_size")) return json.isNull("group_size") ? 0 : usual;
  const std::vector<Index> group = json.tokens("group_size");  // leaves out -1
  return group.empty() ? 0 : std::min(group[0], kMaxConfigSize);
}

Index bitsOf(const ConfigReader& json, Index usual = 4) {
  return SizeFinder(json).optional({"bits", "w_bit", "nbits", "num_bits"}, usual, 16);
}

/// Whole numbers or floats of `bits`, with `more` bits of scales and zeros in each group.
WeightStorage grouped(std::string name, Index bits, Index group, Index more,
                      MathFormat computes = MathFormat::bf16, Covers covers = Covers::layers) {
  bits = std::max<Index>(bits, 1);
  const bool named4 = name == "nvfp4";
  const double share = group > 0 ? static_cast<double>(more) / static_cast<double>(group) : 0;
  return {.name = std::move(name),
          .bits = static_cast<double>(bits) + share,
          .covers = covers,
          .computes = computes,
          .packedBits = bits,
          .group = group,
          .matrixBytes = named4 ? Index{4} : 0};  // NVFP4's global scale
}

/// A row of kWeightFormats in which `bits` of a weight are packed into whole numbers.
WeightStorage usual(WeightFormat format, Index bits, Index group = 0) {
  WeightStorage stored = storageOf(format);
  stored.packedBits = bits;
  stored.group = group;
  return stored;
}

/// A group of compressed-tensors' layers, by its `weights`.
WeightStorage groupStorage(const ConfigReader& weights) {
  const Index bits = bitsOf(weights, 8);
  if (weights.text("type", "int") == "float") {
    if (bits == 8) return storageOf(WeightFormat::fp8);
    const Index group = groupOf(weights, 16);
    return grouped(group == 32 ? "mxfp4" : "nvfp4", bits, group, 8,
                   group == 32 ? MathFormat::bf16 : MathFormat::fp4);
  }
  if (bits == 8 && groupOf(weights) == 0) return usual(WeightFormat::int8, 8);
  return grouped(fmt::format("int{}", bits), bits, groupOf(weights),
                 weights.flag("symmetric", true) ? 16 : 16 + bits);
}

struct Method {
  std::string_view names;  ///< as in quant_method, separated by spaces
  std::optional<WeightStorage> (*read)(const ConfigReader& json);
};
constexpr Method kMethods[] = {
    // Frantar et al. 2022, GPTQ, and Lin et al. 2023, AWQ: a 16-bit scale and a zero of the weights' bits.
    {"gptq awq gptq_marlin awq_marlin marlin",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       const std::string method = json.text("quant_method", "gptq");
       const Index bits = bitsOf(json), group = groupOf(json, 128);
       WeightStorage stored = grouped(method.find("awq") != method.npos ? "awq" : "gptq", bits, group,
                                      16 + bits, MathFormat::fp16);
       if (json.flag("lm_head", false)) stored.headBits = stored.bits;
       return stored;
     }},
    // Intel's auto-round packs whole numbers as GPTQ does, or floats with scales of 8 bits.
    {"auto-round intel/auto-round auto_round",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       const std::string type = json.text("data_type", "int");
       const Index bits = bitsOf(json);
       if (type.find("fp") == type.npos) return grouped("auto-round", bits, groupOf(json, 128), 16 + bits);
       if (bits == 8 && !type.starts_with("mx")) return storageOf(WeightFormat::fp8);
       return grouped(type.starts_with("nv") ? "nvfp4" : "mxfp4", bits,
                      groupOf(json, type.starts_with("nv") ? 16 : 32), 8);
     }},
    {"fp8 fbgemm_fp8 finegrained_fp8",
     [](const ConfigReader&) -> std::optional<WeightStorage> { return storageOf(WeightFormat::fp8); }},
    {"mxfp4",
     [](const ConfigReader&) -> std::optional<WeightStorage> { return usual(WeightFormat::mxfp4, 4, 32); }},
    // compressed-tensors has groups of layers with their weights' bits. The first group counts.
    {"compressed-tensors",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       const ConfigReader groups = json.object("config_groups");
       for (const std::string& name : groups.names()) {
         WeightStorage stored = groupStorage(groups.object(name).object("weights"));
         // Without a format for its inputs, a layer multiplies in 16 bits ("W8A16").
         if (groups.object(name).isNull("input_activations")) stored.computes = MathFormat::bf16;
         return stored;
       }
       return std::nullopt;
     }},
    // NVIDIA's Model Optimizer. FP8 in MXFP8 has groups of 32 with a scale of 8 bits.
    {"modelopt modelopt_fp4",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       const std::string algorithm = json.text("quant_algo", "FP8");
       if (algorithm.find("MXFP8") != algorithm.npos) return grouped("mxfp8", 8, 32, 8, MathFormat::fp8);
       if (algorithm.find("NVFP4") != algorithm.npos)
         return grouped("nvfp4", 4, groupOf(json, 16), 8,
                        algorithm.find("W4A16") == algorithm.npos ? MathFormat::fp4 : MathFormat::bf16);
       if (algorithm.find("MXFP4") != algorithm.npos) return grouped("mxfp4", 4, 32, 8);
       if (algorithm.starts_with("FP8")) return storageOf(WeightFormat::fp8);
       if (algorithm.starts_with("INT8") || algorithm.starts_with("W8A8"))
         return usual(WeightFormat::int8, 8);
       if (algorithm.starts_with("INT4") || algorithm.starts_with("W4A"))
         return grouped("int4", 4, groupOf(json, 128), 16);
       return std::nullopt;
     }},
    // Dettmers et al. 2023, QLoRA, section 3: a 32-bit scale for 64 weights, which double quantisation
    // stores in 8 bits.
    {"bitsandbytes",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       if (!json.flag("load_in_4bit", json.flag("_load_in_4bit", false))) return usual(WeightFormat::int8, 8);
       WeightStorage stored = usual(WeightFormat::nf4, 4);
       if (!json.flag("bnb_4bit_use_double_quant", false)) stored.bits = 4 + 32.0 / 64;
       return stored;
     }},
    // Apple's MLX: scale and bias of 16 bits, or a scale of 8 bits for floats. Embeddings and head as well.
    {"mlx",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       const std::string mode = json.text("mode", "affine");
       const Index bits = bitsOf(json), group = groupOf(json, 64);
       const bool floats = mode != "affine";
       WeightStorage stored = grouped("mlx " + (floats ? mode : fmt::format("{}-bit", bits)), bits, group,
                                      floats ? 8 : 32, MathFormat::bf16, Covers::matrices);
       for (const std::string& name : json.names())  // a layer with its own groups
         if (json.isObject(name) && groupOf(json.object(name), group) != group) stored.packedBits = 0;
       return stored;
     }},
    // Badri and Shaji 2023, HQQ: a 16-bit scale and zero for each group.
    {"hqq",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       const ConfigReader inner = json.object("quant_config").object("weight_quant_params");
       const Index bits = bitsOf(inner);
       return grouped(fmt::format("hqq {}-bit", bits), bits, groupOf(inner, 64), 32);
     }},
    // torchao names its format by a text, or by a class with its arguments.
    {"torchao",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       const ConfigReader made =
           json.isObject("quant_type") ? json.object("quant_type").object("default") : json;
       const ConfigReader arguments =
           json.isObject("quant_type") ? made.object("_data") : json.object("quant_type_kwargs");
       const std::string type =
           json.isObject("quant_type") ? made.text("_type", "") : json.text("quant_type", "");
       const auto says = [&](std::string_view lower, std::string_view camel) {
         return type.find(lower) != type.npos || type.find(camel) != type.npos;
       };
       if (says("float8", "Float8"))
         return says("int4_weight", "Int4Weight")
                    ? std::optional(grouped("torchao int4", 4, groupOf(arguments, 128), 32))
                    : std::optional(storageOf(WeightFormat::fp8));
       if (says("int4_weight", "Int4Weight") && !says("int8_dynamic", "Int8Dynamic"))
         return grouped("torchao int4", 4, groupOf(arguments, 128), 32);
       if (says("int8_weight", "Int8Weight") || says("int8_dynamic", "Int8Dynamic"))
         return grouped("torchao int8", 8, 0, 0,
                        says("dynamic", "Dynamic") ? MathFormat::int8 : MathFormat::bf16);
       return std::nullopt;
     }},
    // AMD's Quark: "fp8_e4m3", "int4", "uint4", "fp4".
    {"quark",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       const ConfigReader weight = json.object("global_quant_config").object("weight");
       const std::string type = weight.text("dtype", "");
       const auto digit = std::find_if(type.begin(), type.end(), [](char c) { return c >= '2' && c <= '8'; });
       if (digit == type.end()) return std::nullopt;
       const Index bits = *digit - '0', group = groupOf(weight);
       if (type.find("fp") != type.npos)
         return bits == 8 ? grouped("fp8", 8, 0, 0, MathFormat::fp8)
                          : grouped("mxfp4", bits, groupOf(weight, 32), 8);
       return grouped(fmt::format("quark int{}", bits), bits, group,
                      16 + (weight.flag("symmetric", true) ? 0 : bits),
                      bits == 8 ? MathFormat::int8 : MathFormat::bf16);
     }},
    {"eetq experts_int8",
     [](const ConfigReader&) -> std::optional<WeightStorage> { return usual(WeightFormat::int8, 8); }},
    // Wang et al. 2023, BitNet: −1, 0 and 1, four in a byte, unless the model is quantised while it loads.
    {"bitnet",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       if (json.text("quantization_mode", "offline") == "online") return storageOf(WeightFormat::bf16);
       return grouped("bitnet", 2, 0, 0);
     }},
    // Hugging Face's Quanto: "int8", "float8", "int4" and "int2", the last two in groups of 128.
    {"quanto",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       const std::string type = json.text("weights", "int8");
       if (type == "float8") return storageOf(WeightFormat::fp8);
       const Index bits = type == "int4" ? 4 : type == "int2" ? 2 : 8;
       return grouped("quanto " + type, bits, bits < 8 ? 128 : 0, 32);
     }},
    // ExLlama gives the bits of a layer's weight on average, with scales, and those of the head.
    {"exl2 exl3",
     [](const ConfigReader& json) -> std::optional<WeightStorage> {
       WeightStorage stored{
           .name = json.text("quant_method", "exl2"), .covers = Covers::layers, .computes = MathFormat::fp16};
       stored.bits = std::min(json.positive("bits", 4.0), 16.0);
       stored.headBits = std::min(json.positive("head_bits", 6.0), 16.0);
       return stored;
     }},
};

/// The method's name. MLX and early bitsandbytes don't write it.
std::string methodOf(const ConfigReader& json, std::string_view key) {
  const bool bits = json.has("load_in_4bit") || json.has("load_in_8bit");
  const bool mlx = key == "quantization" || (json.has("bits") && json.has("group_size"));
  return json.text("quant_method", bits ? "bitsandbytes" : mlx ? "mlx" : "");
}

std::optional<WeightStorage> readMethod(const ConfigReader& json, const std::string& name) {
  for (const Method& method : kMethods)
    if (isListed(method.names, name)) return method.read(json);
  return std::nullopt;
}

/// Whether a list of modules that stay as they are has every layer's attention: "re:.*self_attn.*".
bool leavesAttention(const ConfigReader& json) {
  for (const char* key : {"ignore", "modules_to_not_convert", "exclude_modules", "exclude"})
    if (json.isList(key))
      for (const std::string& name : json.texts(key))
        if (name.find("attn") != name.npos && name.find('*') != name.npos) return true;
  return false;
}

WeightStorage typeOf(const std::string& type) {
  return storageOf(type == "float32"   ? WeightFormat::fp32
                   : type == "float16" ? WeightFormat::fp16
                                       : WeightFormat::bf16);
}

constexpr const char* kQuantised[] = {"quantization", "quantization_config", "compression_config"};

/// The methods whose weights a checkpoint's reader unpacks, and the values of fields that it knows.
struct Unpacked {
  std::string_view method, field = {}, values = {}, usual = {};
};
constexpr Unpacked kUnpacked[] = {
    {"gptq", "checkpoint_format", "gptq gptq_v2", "gptq"},
    {"awq", "version", "gemm GEMM", "gemm"},
    {"bitsandbytes"},
    {"compressed-tensors", "format",
     "pack-quantized int-quantized float-quantized naive-quantized nvfp4-pack-quantized mxfp4-pack-quantized "
     "mxfp8-quantized mixed-precision",
     "pack-quantized"},
    {"fp8"},
    {"fbgemm_fp8"},
    {"modelopt", "quant_algo", "FP8 NVFP4 W4A16_NVFP4 MXFP4 MXFP8 MIXED_PRECISION", "FP8"},
    {"quark"},
    {"torchao"},
    {"hqq"},
    {"mlx", "mode", "affine", "affine"}};

/// auto-round packs as GPTQ or AWQ do ("auto_round:auto_gptq"), or in ways of its own, which are returned.
std::string autoRoundOf(const ConfigReader& json) {
  const std::string packing = json.text("packing_format", "auto_round:auto_gptq");
  return packing.ends_with("gptq") ? "gptq" : packing.ends_with("awq") ? "awq" : packing;
}

}  // namespace

Quantisation readQuantisation(const ConfigReader& json) {
  for (const char* key : kQuantised) {
    if (!json.isObject(key)) continue;
    // Fields that only say how the weights were made aren't reported as unread.
    const ConfigReader how = json.fresh().object(key);
    Quantisation found{.method = methodOf(how, key)};
    if (found.method.starts_with("modelopt")) found.method = "modelopt";  // also modelopt_fp4, modelopt_mixed
    if (found.method.ends_with("auto-round") || found.method == "auto_round") found.method = autoRoundOf(how);
    // The names of gpt-oss's experts say enough.
    if (found.method == "mxfp4" && json.text("model_type", "") == families::gptOss.name) return {};
    const auto row = std::ranges::find(kUnpacked, found.method, &Unpacked::method);
    if (row == std::end(kUnpacked)) {
      json.fail(
          fmt::format("{} says the weights are quantised by {}, expected GPTQ, AWQ, bitsandbytes, "
                      "compressed-tensors, FP8, Model Optimizer, Quark, torchao, HQQ or MLX, weights in F32, "
                      "F16 or BF16, or a GGUF file{}",
                      json.at(key), quotedText(found.method),
                      found.method == "mxfp4" ? ", or gpt-oss with its experts in MXFP4" : ""));
      return {};
    }
    const std::string value = row->field.empty() ? "" : how.text(row->field, row->usual);
    if (!row->field.empty() && !isListed(row->values, value))
      how.refuse(row->field, quotedText(value), "one of " + std::string(row->values));
    found.zerosLessOne = value == "gptq";
    const ConfigReader groups = how.object("config_groups");
    const std::vector<std::string> names = groups.names();
    const ConfigReader weights = names.empty() ? how : groups.object(names[0]).object("weights");
    found.bits = bitsOf(weights);
    found.group = groupOf(weights, found.method == "mlx" ? 64 : 0);
    for (const std::string& name : how.names())  // MLX's layers with bits of their own
      if (found.method == "mlx" && how.isObject(name)) found.bits = 0;
    if (const Status status = how.status(); !status) json.fail(status.error().message);
    return found;
  }
  return {};
}

void readWeightFormat(const ConfigReader& root, const ConfigReader& json, ModelShape& shape) {
  shape.weights = typeOf(json.text(json.has("dtype") ? "dtype" : "torch_dtype",
                                   root.text(root.has("dtype") ? "dtype" : "torch_dtype", "bfloat16")));
  for (const char* key : kQuantised) {
    const ConfigReader& holds = root.isObject(key) ? root : json;
    if (!holds.isObject(key)) continue;
    const ConfigReader quantization = holds.object(key);
    const std::string method = methodOf(quantization, key);
    const auto stored = readMethod(quantization, method);
    if (stored) {
      shape.weights = *stored;
      if (shape.experts > 0 && leavesAttention(quantization)) shape.weights.covers = Covers::experts;
    } else {
      shape.weights.known = false;
      shape.notes.push_back(fmt::format("its {} ({}) is not known{}{}", key, quotedText(method),
                                        kCountedInstead, shape.weights.name));
    }
    if (quantization.has("kv_cache_quant_algo") || quantization.has("kv_cache_scheme"))
      shape.notes.push_back(fmt::format("its {} stores the cache in 8 bits: choose fp8 for it", key));
    return;
  }
}

}  // namespace headscope::attention
