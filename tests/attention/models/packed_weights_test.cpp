// Weights as GPTQ, AWQ, bitsandbytes, compressed-tensors, FP8, Model Optimizer, torchao, HQQ and MLX pack
// them, against their formulas.

#include "attention/models/checkpoint/packed_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/attention/models/packed_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

using namespace test::packing;

using Expected = std::function<float(const Numbers& n, std::uint64_t at, std::uint64_t group)>;
float affine(const Numbers& n, std::uint64_t at, std::uint64_t group) {
  return n.scales[group] * (static_cast<float>(n.q[at]) - static_cast<float>(n.zeros[group]));
}

struct Case {
  const char* name;
  Quantisation how;
  void (*pack)(const Numbers& n, std::uint64_t bits, Tensors& to);
  Expected expected = affine;
};

const Case kCases[] = {
    {"GPTQ",
     {"gptq", 4, 0, true},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) { packGptq(n, bits, 1, to); }},
    {"GPTQ in 3 bits across words",
     {"gptq", 3, 0, false},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) { packGptq(n, bits, 0, to); }},
    {"GPTQ with inputs in another order",
     {"gptq", 8, 0, false},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) {
       packGptq(n, bits, 0, to);
       std::vector<std::int32_t> groups;
       for (std::uint64_t i = 0; i < kIn; ++i) groups.push_back(i % 2);
       to.add("a.g_idx", "I32", {kIn}, groups);
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t group) {
       return affine(n, at, group / 2 * 2 + at % 2);
     }},
    {"AWQ",
     {"awq", 4},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) {
       to.add("a.qweight", "I32", {kIn, kOut * bits / 32},
              packed(shuffled(transposed(n.q, kOut)), kIn, bits));
       to.add("a.qzeros", "I32", {kGroups, kOut * bits / 32},
              packed(shuffled(transposed(n.zeros, kOut)), kGroups, bits));
       to.halves("a.scales", {kGroups, kOut}, transposed(n.scales, kOut));
     }},
    {"compressed-tensors",
     {"compressed-tensors", 4},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) {
       to.add("a.weight_packed", "I32", {kOut, kIn * bits / 32}, packed(n.q, kOut, bits));
       to.add("a.weight_shape", "I64", {2}, std::vector<std::int64_t>{kOut, kIn});
       to.halves("a.weight_scale", {kOut, kGroups}, n.scales);
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t group) {
       return n.scales[group] * (static_cast<float>(n.q[at]) - 8);
     }},
    {"compressed-tensors with zeros",
     {"compressed-tensors", 4},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) {
       to.add("a.weight_packed", "I32", {kOut, kIn * bits / 32}, packed(n.q, kOut, bits));
       to.add("a.weight_zero_point", "I32", {kOut * bits / 32, kGroups},
              transposed(packed(transposed(n.zeros, kOut), kGroups, bits), kGroups));
       to.halves("a.weight_scale", {kOut, kGroups}, n.scales);
     }},
    {"8 bits with a scale for each row",
     {"compressed-tensors", 8},
     [](const Numbers& n, std::uint64_t, Tensors& to) {
       to.add("a.weight", "I8", {kOut, kIn}, bytesOf(n.q));
       to.halves("a.weight_scale", {kOut, 1}, {n.scales.begin(), n.scales.begin() + kOut});
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t) {
       return n.scales[at / kIn] * static_cast<float>(static_cast<std::int8_t>(n.q[at]));
     }},
    {"FP8 in blocks",
     {"fp8", 8},
     [](const Numbers& n, std::uint64_t, Tensors& to) {
       std::vector<std::uint8_t> bits;  // ± 2^k
       for (const std::uint32_t q : n.q)
         bits.push_back(static_cast<std::uint8_t>((q & 1) << 7 | (q % 4 + 6) << 3));
       to.add("a.weight", "F8_E4M3", {kOut, kIn}, bits);
       to.add("a.weight_scale_inv", "F32", {2, 2}, std::vector<float>{1, 2, 3, 4});
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t) {
       const std::uint64_t block = at / kIn / (kOut / 2) * 2 + at % kIn / (kIn / 2);
       return static_cast<float>(block + 1) * std::ldexp(n.q[at] & 1 ? -1.0F : 1.0F, int(n.q[at] % 4) - 1);
     }},
    {"NVFP4 of compressed-tensors",
     {"compressed-tensors", 4},
     [](const Numbers& n, std::uint64_t, Tensors& to) {
       to.add("a.weight_packed", "U8", {kOut, kIn / 2}, pairsOf(n.q));
       to.add("a.weight_scale", "F8_E4M3", {kOut, kGroups}, scaleBytes());
       to.add("a.weight_global_scale", "F32", {1}, std::vector<float>{4});
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t group) {
       return fp4(n, at) * std::ldexp(1.0F, int(group % 4) - 1) / 4;
     }},
    {"NVFP4 of Model Optimizer",
     {"modelopt", 4},
     [](const Numbers& n, std::uint64_t, Tensors& to) {
       to.add("a.weight", "U8", {kOut, kIn / 2}, pairsOf(n.q));
       to.add("a.weight_scale", "F8_E4M3", {kOut, kGroups}, scaleBytes());
       to.add("a.weight_scale_2", "F32", {}, std::vector<float>{0.25F});
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t group) {
       return fp4(n, at) * std::ldexp(1.0F, int(group % 4) - 1) / 4;
     }},
    {"MXFP4",
     {"compressed-tensors", 4},
     [](const Numbers& n, std::uint64_t, Tensors& to) {
       to.add("a.weight_packed", "U8", {kOut, kIn / 2}, pairsOf(n.q));
       std::vector<std::uint8_t> exponents;
       for (std::uint64_t g = 0; g < kOut * kGroups; ++g)
         exponents.push_back(static_cast<std::uint8_t>(125 + g % 5));
       to.add("a.weight_scale", "U8", {kOut, kGroups}, exponents);
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t group) {
       return fp4(n, at) * std::ldexp(1.0F, int(group % 5) - 2);
     }},
    {"torchao's whole numbers",
     {"torchao", 8},
     [](const Numbers& n, std::uint64_t, Tensors& to) {
       to.add("a._weight_qdata", "I8", {kOut, kIn}, bytesOf(n.q));
       to.halves("a._weight_scale", {kOut, kGroups}, n.scales);
       to.add("a._weight_zero_point", "I8", {kOut, kGroups}, bytesOf(n.zeros));
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t group) {
       const auto whole = [](std::uint32_t byte) {
         return static_cast<float>(static_cast<std::int8_t>(byte));
       };
       return n.scales[group] * (whole(n.q[at]) - whole(n.zeros[group]));
     }},
    {"HQQ in 4 bits",
     {"hqq", 4},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) { packHqq(n, bits, 1, to); }},
    {"HQQ in 3 bits",
     {"hqq", 3},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) { packHqq(n, bits, 1, to); }},
    {"HQQ along the first axis",
     {"hqq", 2},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) { packHqq(n, bits, 0, to); },
     [](const Numbers& n, std::uint64_t at, std::uint64_t) { return affine(n, at, at % (kOut * kIn / 32)); }},
    {"MLX",
     {"mlx", 4, kGroup},
     [](const Numbers& n, std::uint64_t bits, Tensors& to) {
       to.add("a.weight", "U32", {kOut, kIn * bits / 32}, packed(n.q, kOut, bits));
       std::vector<float> biases;
       for (std::size_t g = 0; g < n.scales.size(); ++g)
         biases.push_back(-n.scales[g] * static_cast<float>(n.zeros[g]));
       to.halves("a.scales", {kOut, kGroups}, n.scales);
       to.halves("a.biases", {kOut, kGroups}, biases);
     }},
    {"bitsandbytes in 4 bits",
     {"bitsandbytes", 4},
     [](const Numbers& n, std::uint64_t, Tensors& to) {
       std::vector<std::uint8_t> bytes;
       for (std::size_t i = 0; i < n.q.size(); i += 2)
         bytes.push_back(static_cast<std::uint8_t>(n.q[i] << 4 | n.q[i + 1]));
       std::vector<float> table;
       for (int i = 0; i < 16; ++i) table.push_back(static_cast<float>(i) / 8 - 1);
       to.add("a.weight", "U8", {kOut * kIn / 2, 1}, bytes);
       to.add("a.weight.quant_map", "F32", {16}, table);
       const std::string state =
           R"({"quant_type": "nf4", "blocksize": 32, "shape": [16, 64], "dtype": "float16",
                                     "nested_blocksize": 256, "nested_offset": 0.5})";
       to.add("a.weight.quant_state.bitsandbytes__nf4", "U8", {state.size()},
              std::vector<std::uint8_t>(state.begin(), state.end()));
       // Scales packed a second time.
       std::vector<std::uint8_t> scales;
       std::vector<float> values;
       for (std::size_t i = 0; i < 256; ++i) values.push_back(static_cast<float>(i) / 64);
       for (const float scale : n.scales) scales.push_back(static_cast<std::uint8_t>(scale * 64));
       to.add("a.weight.absmax", "U8", {scales.size()}, scales);
       to.add("a.weight.nested_quant_map", "F32", {256}, values);
       to.add("a.weight.nested_absmax", "F32", {1}, std::vector<float>{2});
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t group) {
       return (static_cast<float>(n.q[at]) / 8 - 1) * (2 * n.scales[group] + 0.5F);
     }},
    {"bitsandbytes in 8 bits",
     {"bitsandbytes", 8},
     [](const Numbers& n, std::uint64_t, Tensors& to) {
       to.add("a.weight", "I8", {kOut, kIn}, bytesOf(n.q));
       to.add("a.SCB", "F32", {kOut}, std::vector<float>(kOut, 127));
     },
     [](const Numbers& n, std::uint64_t at, std::uint64_t) {
       return static_cast<float>(static_cast<std::int8_t>(n.q[at]));
     }},
};

TEST(PackedWeights, AreThoseOfTheFormula) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    const auto bits = static_cast<std::uint64_t>(each.how.bits);
    const Numbers numbers(bits);
    Tensors tensors;
    each.pack(numbers, bits, tensors);
    tensors.halves("a.bias", {1}, {1});
    OwnNumbers own;
    ASSERT_EQ(*checked(unpackWeights(tensors.views, each.how, "F", own)), 1u);
    EXPECT_THAT(tensors.views, UnorderedElementsAre(testing::Key("a.bias"), testing::Key("a.weight")));
    const TensorView& weight = tensors.views.at("a.weight");
    ASSERT_EQ(weight.shape, (Shape{kOut, kIn}));
    std::vector<float> found(kOut * kIn);
    ASSERT_TRUE(weight.read(0, found, "a").ok());
    for (std::uint64_t at = 0; at < found.size(); ++at) {
      const float exact = each.expected(numbers, at, at / kIn * kGroups + at % kIn / kGroup);
      const float rounded = weight.kind == "BF16" ? static_cast<float>(Eigen::bfloat16(exact))
                                                  : static_cast<float>(Eigen::half(exact));
      ASSERT_EQ(found[at], rounded) << at;
    }
  }
}

TEST(PackedWeights, OfMlxHaveTheBitsThatTheConfigSays) {
  const auto mlx = std::ranges::find(kCases, std::string("MLX"), &Case::name);
  Tensors tensors;
  mlx->pack(Numbers(4), 4, tensors);
  Quantisation how{"mlx", 8, kGroup};
  OwnNumbers own;
  auto views = tensors.views;
  EXPECT_THAT(messageOf(unpackWeights(views, how, "F", own)),
              HasSubstr("has 8 words a row for 2 groups of 32, 4 bits per weight; MLX's config.json says 8"));
  how.bits = 0;  // layers have bits of their own
  EXPECT_TRUE(unpackWeights(tensors.views, how, "F", own).ok());
}

TEST(PackedWeights, NameTheTensorThatDoesNotFit) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    const auto bits = static_cast<std::uint64_t>(each.how.bits);
    Tensors tensors;
    each.pack(Numbers(bits), bits, tensors);
    for (const auto& [name, tensor] : tensors.views) {
      auto damaged = tensors.views;
      damaged[name].kind = "C64";
      damaged[name].type.reset();
      OwnNumbers own;
      const auto refused = unpackWeights(damaged, each.how, "F", own);
      const bool optional = name.find("shape") != name.npos || name.find("quant_state") != name.npos;
      if (optional) continue;
      EXPECT_THAT(messageOf(refused), StartsWith("F: weight \"a\": tensor \"" + name));
    }
  }
}

TEST(PackedWeights, BlocksHaveSidesOfPowersOfTwo) {
  Tensors tensors;
  tensors.add("a.weight", "F8_E4M3", {6, 1}, std::vector<std::uint8_t>(6, 7 << 3));  // 1
  tensors.add("a.weight_scale_inv", "F32", {2, 1}, std::vector<float>{1, 2});
  OwnNumbers own;
  ASSERT_EQ(messageOf(unpackWeights(tensors.views, {"fp8", 8}, "F", own)), "no error");
  std::vector<float> found(6);
  ASSERT_TRUE(tensors.views.at("a.weight").read(0, found, "a").ok());
  EXPECT_EQ(found, (std::vector<float>{1, 1, 1, 1, 2, 2}));
}

TEST(PackedWeights, SizesThatOverflowAreRefused) {
  const Case* const each = std::ranges::find(kCases, std::string_view("bitsandbytes in 4 bits"),
                                             [](const Case& c) { return std::string_view(c.name); });
  for (const std::string state : {R"({"blocksize": 18446744073709551615, "shape": [16, 64],)",
                                  R"({"blocksize": 1, "shape": [2147483648, 2147483648],)"}) {
    Tensors tensors;
    each->pack(Numbers(4), 4, tensors);
    const std::string whole = state + R"("nested_blocksize": 18446744073709551615, "nested_offset": 0})";
    tensors.add("a.weight.quant_state.bitsandbytes__nf4", "U8", {whole.size()},
                std::vector<std::uint8_t>(whole.begin(), whole.end()));
    for (const char* none : {"a.weight.absmax", "a.weight.nested_absmax"}) tensors.views[none].shape = {0};
    OwnNumbers own;
    EXPECT_THAT(messageOf(unpackWeights(tensors.views, each->how, "F", own)), HasSubstr("expected"));
  }
}

TEST(Adapter, AddsItsChanges) {
  Tensors base, changes;
  base.add("model.q.weight", "F32", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  base.add("model.c.weight", "F32", {3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});  // [in, out]
  changes.add("base_model.model.lm.model.q.lora_A.weight", "F32", {1, 3}, std::vector<float>{1, 10, 100});
  changes.add("base_model.model.lm.model.q.lora_B.weight", "F32", {2, 1}, std::vector<float>{1, 2});
  changes.add("base_model.model.model.c.lora_A.weight", "F32", {1, 3}, std::vector<float>{1, 10, 100});
  changes.add("base_model.model.model.c.lora_B.weight", "F32", {2, 1}, std::vector<float>{1, 2});
  const headscope::test::TemporaryFolder folder;
  headscope::test::putFile(folder / "adapter_config.json",
                           std::string_view(R"({"peft_type": "LORA", "lora_alpha": 2})"));
  OwnNumbers own;
  ASSERT_EQ(messageOf(addAdapter(changes.views, folder.path(), base.views, own)), "no error");
  const auto values = [&](const char* name) {
    std::vector<float> found(6);
    EXPECT_TRUE(base.views.at(name).read(0, found, name).ok());
    return found;
  };
  EXPECT_EQ(values("model.q.weight"), (std::vector<float>{3, 22, 203, 8, 45, 406}));
  EXPECT_EQ(values("model.c.weight"), (std::vector<float>{3, 6, 23, 44, 205, 406}));
  base.add("model.s.weight", "F32", {2, 2}, std::vector<float>{1, 2, 3, 4});  // square, [in, out]
  Tensors square;
  square.add("model.s.lora_A.weight", "F32", {1, 2}, std::vector<float>{1, 10});
  square.add("model.s.lora_B.weight", "F32", {2, 1}, std::vector<float>{1, 2});
  headscope::test::putFile(
      folder / "adapter_config.json",
      std::string_view(R"({"peft_type": "LORA", "lora_alpha": 1, "fan_in_fan_out": true})"));
  ASSERT_EQ(messageOf(addAdapter(square.views, folder.path(), base.views, own)), "no error");
  std::vector<float> found(4);
  ASSERT_TRUE(base.views.at("model.s.weight").read(0, found, "s").ok());
  EXPECT_EQ(found, (std::vector<float>{2, 4, 13, 24}));
  square.views.erase("model.s.lora_A.weight");
  EXPECT_THAT(messageOf(addAdapter(square.views, folder.path(), base.views, own)),
              HasSubstr("has no tensor \"model.s.lora_A.weight\""));
  base.views.erase("model.c.weight");
  EXPECT_THAT(messageOf(addAdapter(changes.views, folder.path(), base.views, own)),
              HasSubstr("changes \"model.c.weight\", which the model doesn't have"));
  for (const char* config :
       {R"({"peft_type": "IA3"})", R"({"use_dora": true})", R"({"alpha_pattern": {"q": 4}})"}) {
    headscope::test::putFile(folder / "adapter_config.json", std::string_view(config));
    EXPECT_THAT(messageOf(addAdapter({}, folder.path(), base.views, own)), HasSubstr("expected")) << config;
  }
}

}  // namespace
}  // namespace headscope::attention
