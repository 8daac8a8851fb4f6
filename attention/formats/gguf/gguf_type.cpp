#include "attention/formats/gguf/gguf_type.h"

#include <algorithm>
#include <iterator>

namespace headscope::attention {
namespace {

using Type = WeightType;
constexpr std::optional<WeightType> kNotRead;

// Numbers, names and sizes from github.com/ggml-org/ggml, docs/gguf.md and include/ggml.h, including types
// that were withdrawn after files had used them.
constexpr GgufType kGgufTypes[] = {
    {0, "F32", Type::f32, {1, 4}},          {1, "F16", Type::f16, {1, 2}},
    {2, "Q4_0", Type::q4_0, {32, 18}},      {3, "Q4_1", Type::q4_1, {32, 20}},
    {6, "Q5_0", Type::q5_0, {32, 22}},      {7, "Q5_1", Type::q5_1, {32, 24}},
    {8, "Q8_0", Type::q8_0, {32, 34}},      {9, "Q8_1", kNotRead, {32, 36}},
    {10, "Q2_K", Type::q2_k, {256, 84}},    {11, "Q3_K", Type::q3_k, {256, 110}},
    {12, "Q4_K", Type::q4_k, {256, 144}},   {13, "Q5_K", Type::q5_k, {256, 176}},
    {14, "Q6_K", Type::q6_k, {256, 210}},   {15, "Q8_K", kNotRead, {256, 292}},
    {16, "IQ2_XXS", kNotRead, {256, 66}},   {17, "IQ2_XS", kNotRead, {256, 74}},
    {18, "IQ3_XXS", kNotRead, {256, 98}},   {19, "IQ1_S", kNotRead, {256, 50}},
    {20, "IQ4_NL", Type::iq4_nl, {32, 18}}, {21, "IQ3_S", kNotRead, {256, 110}},
    {22, "IQ2_S", kNotRead, {256, 82}},     {23, "IQ4_XS", Type::iq4_xs, {256, 136}},
    {24, "I8", kNotRead, {1, 1}},           {25, "I16", kNotRead, {1, 2}},
    {26, "I32", kNotRead, {1, 4}},          {27, "I64", kNotRead, {1, 8}},
    {28, "F64", Type::f64, {1, 8}},         {29, "IQ1_M", kNotRead, {256, 56}},
    {30, "BF16", Type::bf16, {1, 2}},       {31, "Q4_0_4_4", kNotRead, {32, 18}},
    {32, "Q4_0_4_8", kNotRead, {32, 18}},   {33, "Q4_0_8_8", kNotRead, {32, 18}},
    {34, "TQ1_0", kNotRead, {256, 54}},     {35, "TQ2_0", kNotRead, {256, 66}},
    {36, "IQ4_NL_4_4", kNotRead, {32, 18}}, {37, "IQ4_NL_4_8", kNotRead, {32, 18}},
    {38, "IQ4_NL_8_8", kNotRead, {32, 18}}, {39, "MXFP4", Type::mxfp4, {32, 17}},
    {40, "NVFP4", kNotRead, {64, 36}},
};

}  // namespace

const GgufType* ggufType(std::uint32_t id) {
  const auto* const found = std::find_if(std::begin(kGgufTypes), std::end(kGgufTypes),
                                         [&](const GgufType& type) { return type.id == id; });
  return found == std::end(kGgufTypes) ? nullptr : found;
}

}  // namespace headscope::attention
