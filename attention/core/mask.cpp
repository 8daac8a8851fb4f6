#include "attention/core/mask.h"

#include <algorithm>
#include <limits>

namespace headscope::attention {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

float maskValue(const Stack& stack, Index head, Index row, Index j) {
  return stack.at(stack.count() == 1 ? 0 : head, row, j);
}

void requireStackShape(const Stack& stack, const char* name, Index heads, Index queries, Index keys) {
  if (stack.empty()) return;
  const bool fits =
      (stack.count() == 1 || stack.count() == heads) && stack.rows() == queries && stack.cols() == keys;
  if (fits) return;
  const std::string rest = ", " + std::to_string(queries) + ", " + std::to_string(keys) + "]";
  require(false, std::string(name) + " mask is [" + std::to_string(stack.count()) + ", " +
                     std::to_string(stack.rows()) + ", " + std::to_string(stack.cols()) + "], expected [1" +
                     rest + " or [" + std::to_string(heads) + rest);
}

}  // namespace

bool visibleByRule(const AttentionConfig& config, std::optional<Index> keyLength, Index i, Index j) {
  if (keyLength && j >= *keyLength) return false;
  if (config.causal && j > i) return false;
  if (!config.window || j < config.sinks) return true;
  const Index distance = i > j ? i - j : j - i;
  return distance < *config.window;
}

VisibleKeys visibleKeys(const AttentionConfig& config, std::optional<Index> keyLength, Index i, Index keys) {
  Index end = std::min(keys, keyLength.value_or(keys));
  if (config.causal) end = std::min(end, i + 1);
  if (!config.window) return {0, 0, end};
  const Index back = *config.window - 1;
  const Index sinkEnd = std::min(config.sinks, end);
  // Compared by difference, so that the widest window doesn't overflow.
  const Index last = end - 1 - i > back ? i + back + 1 : end;
  const Index begin = std::max<Index>(i - back, 0);
  if (begin >= last) return {sinkEnd, sinkEnd, sinkEnd};
  return {std::min(sinkEnd, begin), begin, std::max(last, sinkEnd)};
}

bool visible(const AttentionConfig& config, const MaskInput& mask, Index head, Index row, Index j) {
  if (!visibleByRule(config, mask.keyLength, config.cacheLength + row, j)) return false;
  if (!mask.masked.empty() && maskValue(mask.masked, head, row, j) != 0) return false;
  return mask.additive.empty() || maskValue(mask.additive, head, row, j) != kMinusInfinity;
}

void requireMaskShape(const AttentionConfig& config, const MaskInput& mask, Index queries, Index keys) {
  requireStackShape(mask.masked, "boolean", config.heads, queries, keys);
  requireStackShape(mask.additive, "additive", config.heads, queries, keys);
  if (mask.keyLength)
    require(*mask.keyLength >= 0 && *mask.keyLength <= keys,
            "key length is " + std::to_string(*mask.keyLength) + ", expected 0 to " + std::to_string(keys));
}

}  // namespace headscope::attention
