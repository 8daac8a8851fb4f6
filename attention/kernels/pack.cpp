#include <algorithm>

#include "attention/kernels/score_rules.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/pack.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

size_t widthOfPanel() {
  return panelColumns();
}

void packKeyPanels(const float* k, size_t rowStride, size_t keys, size_t headDim, size_t first, size_t count,
                   float* panels) {
  const size_t panel = panelColumns();
  for (size_t key = first; key < first + count; key += panel)
    packPanel(k + key * rowStride, rowStride, std::min(panel, keys - key), panel, headDim,
              panels + key * headDim);
}

void packValuePanels(const float* v, size_t rowStride, size_t keys, size_t headDim, size_t first,
                     size_t count, float* panels) {
  const size_t panel = panelColumns(), all = roundedUp(keys, panel);
  // The last call also fills the padding of the last panel.
  const size_t end = first + count == keys ? all : first + count;
  for (size_t column = 0; column < headDim; column += panel)
    for (size_t key = first; key < end; ++key) {
      float* const to = panels + column * all + key * panel;
      const size_t filled = key < keys ? std::min(panel, headDim - column) : 0;
      std::copy_n(v + key * rowStride + column, filled, to);
      std::fill(to + filled, to + panel, 0.0f);
    }
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(widthOfPanel);
HWY_EXPORT(packKeyPanels);
HWY_EXPORT(packValuePanels);

std::size_t wholePanels(std::size_t count) {
  const std::size_t panel = panelWidth();
  return (count + panel - 1) / panel * panel;
}

}  // namespace

std::size_t panelWidth() {
  return HWY_DYNAMIC_DISPATCH(widthOfPanel)();
}

std::size_t keyPanelFloats(std::size_t keys, std::size_t headDim) {
  return wholePanels(keys) * headDim;
}

std::size_t valuePanelFloats(std::size_t keys, std::size_t headDim) {
  return wholePanels(keys) * wholePanels(headDim);
}

void packKeys(const float* k, std::size_t rowStride, std::size_t keys, std::size_t headDim, std::size_t first,
              std::size_t count, float* panels) {
  HWY_DYNAMIC_DISPATCH(packKeyPanels)(k, rowStride, keys, headDim, first, count, panels);
}

void packValues(const float* v, std::size_t rowStride, std::size_t keys, std::size_t headDim,
                std::size_t first, std::size_t count, float* panels) {
  HWY_DYNAMIC_DISPATCH(packValuePanels)(v, rowStride, keys, headDim, first, count, panels);
}

}  // namespace headscope::attention::kernels
#endif
