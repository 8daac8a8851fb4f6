#include "attention/formats/masks/mask_names.h"

#include <algorithm>

namespace headscope::attention {
namespace {

constexpr std::string_view kMultiheadAttention = "torch.nn.MultiheadAttention",
                           kDotProductAttention = "scaled_dot_product_attention",
                           kHuggingFace = "Hugging Face";

Shape shapeOf(const MaskShape& form, const MaskSizes& sizes) {
  Shape shape;
  for (const char axis : form.axes) shape.push_back(asSize(sizeOf(axis, sizes)));
  return shape;
}

/// Shapes with a single axis are for inputs without a batch.
bool fits(const MaskShape& form, const MaskSizes& sizes) {
  return form.axes.size() > 1 || !sizes.batched;
}

}  // namespace

/// Two PyTorch functions take an attn_mask and interpret booleans in opposite ways. Shapes with two or three
/// axes are MultiheadAttention's; only scaled_dot_product_attention takes four.
const std::vector<MaskName>& maskNames() {
  using enum MaskConvention;
  static const std::vector<MaskName> kNames{
      {"mask",
       {{"nm", masked, ""},
        {"hnm", masked, ""},
        {"1nm", masked, ""},
        {"bhnm", masked, ""},
        {"b1nm", masked, ""}},
       false},
      {"attn_mask",
       {{"nm", masked, kMultiheadAttention},
        {"Bnm", masked, kMultiheadAttention},
        {"bhnm", visible, kDotProductAttention},
        {"b1nm", visible, kDotProductAttention},
        {"1hnm", visible, kDotProductAttention},
        {"11nm", visible, kDotProductAttention}},
       true},
      {"key_padding_mask", {{"bm", masked, kMultiheadAttention}, {"m", masked, kMultiheadAttention}}, true},
      {"attention_mask",
       {{"bm", visible, kHuggingFace},
        {"m", visible, kHuggingFace},
        {"bhnm", visible, kHuggingFace},
        {"b1nm", visible, kHuggingFace},
        {"1hnm", visible, kHuggingFace},
        {"11nm", visible, kHuggingFace}},
       true},
  };
  return kNames;
}

Index sizeOf(char axis, const MaskSizes& sizes) {
  switch (axis) {
    case 'b':
      return sizes.batch;
    case 'h':
      return sizes.heads;
    case 'B':
      return sizes.batch * sizes.heads;
    case 'n':
      return sizes.queries;
    case 'm':
      return sizes.keys;
    default:
      return 1;
  }
}

const MaskShape* formOf(const MaskName& mask, const Shape& shape, const MaskSizes& sizes) {
  for (const MaskShape& form : mask.shapes)
    if (fits(form, sizes) && shapeOf(form, sizes) == shape) return &form;
  return nullptr;
}

std::string expectedShapes(const MaskName& mask, const MaskSizes& sizes) {
  std::vector<std::string> texts;
  for (const MaskShape& form : mask.shapes) {
    std::string text = shapeText(shapeOf(form, sizes));
    // List the same shape for a batch of one and for no batch only once.
    const bool spoken = fits(form, sizes) && (sizes.batched || form.axes.size() < 4) && form.axes != "1nm";
    if (spoken && std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i)
    all += (i == 0 ? "" : i + 1 == texts.size() ? " or " : ", ") + texts[i];
  return all;
}

}  // namespace headscope::attention
