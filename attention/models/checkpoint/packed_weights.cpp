#include <fmt/core.h>

#include <Eigen/Core>

#include "attention/core/machine.h"
#include "attention/core/parallel.h"
#include "attention/core/tensor.h"
#include "attention/formats/dtype.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/models/checkpoint/packed_parts.h"
#include "attention/models/config/config_reader.h"

namespace headscope::attention {
namespace {

/// Whole numbers of `bits` in words of 32 bits, the lowest bits first, along the second or the first axis.
struct Words {
  const std::uint8_t* data = nullptr;
  std::uint64_t columns = 0, bits = 4;
  bool down = false;         ///< the first axis is packed
  bool interleaved = false;  ///< AWQ's order: 0, 2, 4, 6, 1, 3, 5, 7

  /// Number `packed` along the packed axis, at `other` of the other axis.
  std::uint32_t at(std::uint64_t packed, std::uint64_t other) const {
    constexpr std::uint64_t kPlaces[] = {0, 4, 1, 5, 2, 6, 3, 7};
    if (interleaved) packed = packed / 8 * 8 + kPlaces[packed % 8];
    const std::uint64_t bit = packed * bits, word = bit / 32, shift = bit % 32;
    const auto wordAt = [&](std::uint64_t w) {
      return std::uint64_t{
          load<std::uint32_t>(data + 4 * (down ? w * columns + other : other * columns + w))};
    };
    std::uint64_t value = wordAt(word) >> shift;
    if (shift + bits > 32) value |= wordAt(word + 1) << (32 - shift);
    return static_cast<std::uint32_t>(value & ((std::uint64_t{1} << bits) - 1));
  }
};

/// Frantar et al. 2022, GPTQ: scale · (q − zero) for each group of inputs, as AutoGPTQ's and GPTQModel's
/// dequantize_weight(). Lin et al. 2023, AWQ: the same with outputs packed, as AutoAWQ's dequantize_gemm().
Plan gptqOrAwq(Parts& parts, bool awq) {
  const auto [rows, columns] = sides(parts, ".qweight");
  const auto bits = static_cast<std::uint64_t>(awq ? 4 : parts.how().bits);
  if (bits < 2 || bits > 8) return parts.fail(fmt::format("says {} bits, expected 2 to 8", bits)), Plan();
  const std::uint64_t in = awq ? rows : rows * 32 / bits, out = awq ? columns * 8 : columns;
  const std::uint64_t groups = sides(parts, ".scales").first;
  const auto scales = parts.floats(".scales", {groups, out});
  const Words q{parts.get(".qweight", "I32", {rows, columns}).data, columns, bits, !awq, awq};
  const std::uint64_t zeroWords = dividedUp(out * bits, 32);
  const Words zeros{parts.get(".qzeros", "I32", {groups, zeroWords}).data, zeroWords, bits, false, awq};
  std::vector<std::uint32_t> groupOf(in);
  const TensorView* const ordered = parts.find(".g_idx");
  if (ordered) (void)parts.get(".g_idx", "I32", {in});
  for (std::uint64_t i = 0; i < in && !parts.error(); ++i) {
    groupOf[i] = ordered ? load<std::uint32_t>(ordered->data + 4 * i)
                         : static_cast<std::uint32_t>(i / dividedUp(in, groups));
    if (groupOf[i] >= groups) parts.fail(fmt::format("has group {} of {}", groupOf[i], groups));
  }
  const std::uint32_t more = !awq && parts.how().zerosLessOne ? 1 : 0;
  return {out, in, typeBy(parts.find(".scales")), [=](std::uint64_t o, std::span<float> row) {
            for (std::uint64_t i = 0; i < row.size(); ++i) {
              const std::uint64_t g = groupOf[i];
              const std::uint32_t zero = zeros.at(o, g) + more;
              const std::uint32_t number = awq ? q.at(o, i) : q.at(i, o);
              row[i] = scales[g * out + o] * (static_cast<float>(number) - static_cast<float>(zero));
            }
          }};
}

/// Dettmers et al. 2023, QLoRA, equations 5 and 6: a table's value times the block's largest, which may be
/// packed itself. The first of two numbers is in a byte's upper half.
Plan fourBits(Parts& parts) {
  constexpr std::uint64_t kMostState = 4096;
  for (const char* type : {"nf4", "fp4"}) {
    const TensorView* const state = parts.find(std::string(".weight.quant_state.bitsandbytes__") + type);
    if (!state || state->bytes > kMostState) continue;
    const auto json = parseJsonTree(
        {reinterpret_cast<const char*>(state->data), static_cast<std::size_t>(state->bytes)}, "quant_state");
    const auto whole = [&](const nlohmann::json& at) {
      return at.is_number_unsigned() ? at.get<std::uint64_t>() : 0;
    };
    if (!json || !json->is_object()) break;
    const nlohmann::json shape = json->value("shape", nlohmann::json());
    const std::uint64_t block = whole(json->value("blocksize", nlohmann::json()));
    if (!shape.is_array() || shape.size() != 2 || block == 0) break;
    const std::uint64_t out = whole(shape[0]), in = whole(shape[1]);
    const auto numbers = byteExtent(DType::U8, {out, in});
    if (!numbers || *numbers == 0) break;
    const std::uint64_t blocks = dividedUp(*numbers, block), bytes = dividedUp(*numbers, 2);
    const std::uint8_t* const q = parts.get(".weight", "U8", {bytes, 1}).data;
    const std::vector<float> table = parts.floats(".weight.quant_map", {16});
    std::vector<float> most;
    if (!parts.find(".weight.nested_absmax")) {
      most = parts.floats(".weight.absmax", {blocks});
    } else {
      const std::uint64_t each = whole(json->value("nested_blocksize", nlohmann::json()));
      const nlohmann::json offset = json->value("nested_offset", nlohmann::json(0.0));
      if (each == 0 || !offset.is_number()) break;
      const TensorView& packed = parts.get(".weight.absmax", "U8", {blocks});
      const auto values = parts.floats(".weight.nested_quant_map", {256});
      const auto scales = parts.floats(".weight.nested_absmax", {dividedUp(blocks, each)});
      for (std::uint64_t b = 0; b < blocks && !parts.error(); ++b)
        most.push_back(values[packed.data[b]] * scales[b / each] + offset.get<float>());
    }
    const bool bf16 = json->value("dtype", nlohmann::json()) == nlohmann::json("bfloat16");
    return {out, in, bf16 ? WeightType::bf16 : WeightType::f16, [=](std::uint64_t o, std::span<float> row) {
              for (std::uint64_t i = 0, at = o * row.size(); i < row.size(); ++i, ++at)
                row[i] = table[q[at / 2] >> (at % 2 == 0 ? 4 : 0) & 15] * most[at / block];
            }};
  }
  return parts.fail(fmt::format("has no quant_state of {} that can be read", quotedText(parts.stem()))),
         Plan();
}

/// Dettmers et al. 2022, LLM.int8(), section 3: q · (the row's largest) / 127.
Plan eightBits(Parts& parts) {
  const auto [out, in] = sides(parts, ".weight");
  const std::uint8_t* const q = parts.get(".weight", "I8", {out, in}).data;
  const std::vector<float> most = parts.floats(".SCB", {out});
  return {out, in, WeightType::f16, [=, in = in](std::uint64_t o, std::span<float> row) {
            for (std::uint64_t i = 0; i < in; ++i)
              row[i] = static_cast<float>(static_cast<std::int8_t>(q[o * in + i])) * most[o] * (1 / 127.0F);
          }};
}

/// compressed-tensors' unpack_from_int32() and dequantize(): scale · (q − zero), where q is stored with half
/// of its range added, and so is zero.
Plan packedInWords(Parts& parts) {
  const auto [out, words] = sides(parts, ".weight_packed");
  const auto bits = static_cast<std::uint64_t>(parts.how().bits);
  if (bits != 4 && bits != 8) return parts.fail(fmt::format("says {} bits, expected 4 or 8", bits)), Plan();
  const std::uint64_t groups = sides(parts, ".weight_scale").second;
  std::uint64_t in = words * 32 / bits;
  if (const TensorView* const shape = parts.find(".weight_shape");
      shape && shape->bytes == 16 && shape->kind == "I64") {
    const std::uint64_t said = load<std::uint64_t>(shape->data + 8);
    if (said > in || said + 32 / bits <= in) return parts.fail("has a weight_shape that doesn't fit"), Plan();
    in = said;
  }
  if (parts.find(".weight_g_idx")) return parts.fail("has groups in another order (weight_g_idx)"), Plan();
  const auto scales = parts.floats(".weight_scale", {out, groups});
  const Words q{parts.get(".weight_packed", "I32", {out, words}).data, words, bits};
  const std::uint64_t each = dividedUp(in, groups);
  std::optional<Words> zeros;
  if (parts.find(".weight_zero_point"))
    zeros = Words{parts.get(".weight_zero_point", "I32", {dividedUp(out * bits, 32), groups}).data, groups,
                  bits, true};
  const auto usual = static_cast<float>(1U << (bits - 1));
  return {out, in, typeBy(parts.find(".weight_scale")), [=](std::uint64_t o, std::span<float> row) {
            for (std::uint64_t i = 0; i < row.size(); ++i) {
              const std::uint64_t g = i / each;
              const float zero = zeros ? static_cast<float>(zeros->at(o, g)) : usual;
              row[i] = scales[o * groups + g] * (static_cast<float>(q.at(i, o)) - zero);
            }
          }};
}

/// MLX's mlx.core.dequantize(): scale · q + bias for each group of inputs.
Plan mlx(Parts& parts) {
  const auto [out, words] = sides(parts, ".weight");
  const std::uint64_t groups = sides(parts, ".scales").second,
                      in = groups * static_cast<std::uint64_t>(parts.how().group);
  const std::uint64_t bits = in > 0 ? words * 32 / in : 0;
  if (bits < 2 || bits > 8 || words * 32 % in != 0)
    return parts.fail(fmt::format("tensor {} has {} words for {} groups of {}: expected 2 to 8 bits",
                                  quotedText(parts.stem() + ".weight"), words, groups, parts.how().group)),
           Plan();
  if (parts.how().bits > 0 && static_cast<Index>(bits) != parts.how().bits)
    return parts.fail(
               fmt::format("tensor {} has {} words a row for {} groups of {}, {} bits per weight; MLX's "
                           "config.json says {}",
                           quotedText(parts.stem() + ".weight"), words, groups, parts.how().group, bits,
                           parts.how().bits)),
           Plan();
  const auto scales = parts.floats(".scales", {out, groups}), biases = parts.floats(".biases", {out, groups});
  const Words q{parts.get(".weight", "U32", {out, words}).data, words, bits};
  const std::uint64_t group = in / groups;
  return {out, in, typeBy(parts.find(".scales")),
          [=, groups = groups](std::uint64_t o, std::span<float> row) {
            for (std::uint64_t i = 0; i < row.size(); ++i) {
              const std::uint64_t at = o * groups + i / group;
              row[i] = scales[at] * static_cast<float>(q.at(i, o)) + biases[at];
            }
          }};
}

/// A form of packed weights: the ends of two names that only it has, and how to read it.
struct Form {
  std::string_view methods, numbers, beside;
  Plan (*plan)(Parts& parts);
};
constexpr Form kForms[] = {
    {"gptq", ".qweight", ".scales", [](Parts& parts) { return gptqOrAwq(parts, false); }},
    {"awq", ".qweight", ".scales", [](Parts& parts) { return gptqOrAwq(parts, true); }},
    {"bitsandbytes", ".weight", ".weight.absmax", fourBits},
    {"bitsandbytes", ".weight", ".SCB", eightBits},
    {"compressed-tensors", ".weight_packed", ".weight_scale",
     [](Parts& parts) {
       return parts.find(".weight_packed")->kind == "I32"
                  ? packedInWords(parts)
                  : scaledFloats(parts, ".weight_packed", ".weight_scale");
     }},
    {"compressed-tensors fp8 fbgemm_fp8 modelopt quark", ".weight", ".weight_scale",
     [](Parts& parts) { return scaledFloats(parts, ".weight", ".weight_scale"); }},
    {"fp8", ".weight", ".weight_scale_inv",
     [](Parts& parts) { return scaledFloats(parts, ".weight", ".weight_scale_inv"); }},
    {"torchao", "._weight_qdata", "._weight_scale", torchao},
    {"hqq", ".W_q", ".scale", hqq},
    {"mlx", ".weight", ".scales", mlx},
};

/// Whether a name's end belongs to what a form leaves beside a weight. Scales of activations and of a packed
/// cache are among them: activations stay floats here.
bool isPart(std::string_view end) {
  constexpr std::string_view kEnds =
      ".weight .qweight .qzeros .scales .biases .g_idx .SCB .weight_format .weight_packed .weight_scale "
      ".weight_scale_inv .weight_scale_2 .weight_global_scale .weight_shape .weight_zero_point .input_scale "
      ".input_global_scale .input_zero_point .input_scale_ub .k_scale .v_scale ._weight_qdata ._weight_scale "
      "._weight_zero_point .W_q .nbits .group_size .shape .scale .zero .axis .packing .unpack_view_dtype "
      ".view_as_float .quant_scale .quant_zero .compute_dtype .offload_meta .encoded_state_dict "
      ".stores_quant_config .channel_wise .optimize .round_zero";
  return isListed(kEnds, end) || end.starts_with(".weight.");
}

}  // namespace

const TensorView& Parts::get(const std::string& end, std::string_view kind, const Shape& shape) {
  static const TensorView kNone{};
  const TensorView* const found = find(end);
  const std::string at = "tensor " + quotedText(stem_ + end);
  if (!found)
    fail("has no " + at + ", expected one of " + shapeText(shape));
  else if (found->shape != shape || (!kind.empty() && found->kind != kind))
    fail(fmt::format("{} is {} of {}, expected {} of {}", at, shapeText(found->shape), found->kind,
                     shapeText(shape), kind.empty() ? "F32, F16 or BF16" : kind));
  else
    return *found;
  return kNone;
}

std::vector<float> Parts::floats(const std::string& end, const Shape& shape) {
  const TensorView& found = get(end, "", shape);
  if (!found.data || !found.type) {
    fail(fmt::format("tensor {} is {}, expected F32, F16 or BF16", quotedText(stem_ + end), found.kind));
    return {};
  }
  std::vector<float> numbers(found.numbers());
  if (const Status read = found.read(0, numbers, quotedText(stem_ + end)); !read) fail(read.error().message);
  return numbers;
}

std::pair<std::uint64_t, std::uint64_t> sides(Parts& parts, const std::string& end) {
  const TensorView* const found = parts.find(end);
  if (found && found->shape.size() == 2 && found->shape[0] > 0 && found->shape[1] > 0)
    return {found->shape[0], found->shape[1]};
  parts.fail(fmt::format("tensor {} is {}, expected a matrix", quotedText(parts.stem() + end),
                         found ? shapeText(found->shape) : "missing"));
  return {1, 1};
}

TensorView makeWeight(const MadeWeight& weight, OwnNumbers& own) {
  const std::uint64_t size = weight.type == WeightType::f32 ? 4 : 2;
  std::vector<std::uint8_t>& bytes = own.emplace_back(weight.out * weight.in * size);
  const auto put = [&](std::uint64_t place, auto number) {
    std::memcpy(bytes.data() + place * size, &number, sizeof number);
  };
  constexpr std::uint64_t kRows = 16;  // of a task
  forEach(static_cast<Index>(dividedUp(weight.out, kRows)), {}, [&](Index part) {
    const auto task = static_cast<std::uint64_t>(part);
    std::vector<float> row(weight.in);
    for (std::uint64_t o = task * kRows; o < std::min(weight.out, (task + 1) * kRows); ++o) {
      weight.row(o, row);
      for (std::uint64_t i = 0, at = o * weight.in; i < weight.in; ++i, ++at)
        weight.type == WeightType::f32   ? put(at, row[i])
        : weight.type == WeightType::f16 ? put(at, Eigen::half(row[i]).x)
                                         : put(at, Eigen::bfloat16(row[i]).value);
    }
  });
  const char* const kind = size == 4 ? "F32" : weight.type == WeightType::f16 ? "F16" : "BF16";
  return {kind, weight.type, {weight.out, weight.in}, bytes.data(), bytes.size()};
}

Result<std::size_t> unpackWeights(std::map<std::string, TensorView>& tensors, const Quantisation& how,
                                  const std::filesystem::path& folder, OwnNumbers& own) {
  std::vector<std::pair<std::string, Plan>> packed;
  for (const Form& form : kForms)
    for (const auto& [name, tensor] : tensors) {
      if (!isListed(form.methods, how.method) || !name.ends_with(form.numbers)) continue;
      const std::string stem = name.substr(0, name.size() - form.numbers.size());
      if (!tensors.contains(stem + std::string(form.beside))) continue;
      Parts parts(tensors, stem, how);
      Plan plan = form.plan(parts);
      if (parts.error())
        return fileError(folder, fmt::format("weight {}: {}", quotedText(stem), parts.error()->message));
      packed.emplace_back(stem, std::move(plan));
    }
  std::uint64_t bytes = 0;
  for (const auto& [stem, plan] : packed) bytes = saturatingSum({bytes, 2 * plan.out * plan.in});
  const std::uint64_t memory = machineMemory();
  if (bytes > memory)
    return fileError(folder,
                     fmt::format("takes {:.1f} GB unpacked, more than the {:.1f} GB of memory here: a GGUF "
                                 "file stays packed",
                                 static_cast<double>(bytes) / 1e9, static_cast<double>(memory) / 1e9));
  for (const auto& [stem, plan] : packed) {
    TensorView made = makeWeight(plan, own);
    for (auto at = tensors.lower_bound(stem + "."); at != tensors.end() && at->first.starts_with(stem + ".");)
      at = isPart(at->first.substr(stem.size())) ? tensors.erase(at) : std::next(at);
    tensors[stem + ".weight"] = std::move(made);
  }
  return packed.size();
}

}  // namespace headscope::attention
