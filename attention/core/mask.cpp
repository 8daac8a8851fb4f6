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

bool MaskFormula::visible(Index variant, Index row, Index key) const {
  KeyRuns runs;
  visibleRuns(variant, row, runs);
  return std::any_of(runs.begin(), runs.end(),
                     [&](const KeyRun& r) { return r.begin <= key && key < r.end; });
}

BlockKind MaskFormula::block(Index variant, Index rowBegin, Index rowEnd, Index keyBegin,
                             Index keyEnd) const {
  if (rowBegin >= rowEnd || keyBegin >= keyEnd) return BlockKind::none;
  bool any = false, all = true;
  KeyRuns runs;
  for (Index row = rowBegin; row < rowEnd && !(any && !all); ++row) {
    visibleRuns(variant, row, runs);
    // Runs never touch, so a block's row is full only where a single run holds it.
    const auto first = std::partition_point(runs.begin(), runs.end(),
                                            [&](const KeyRun& run) { return run.end <= keyBegin; });
    const bool touched = first != runs.end() && first->begin < keyEnd;
    any = any || touched;
    all = all && touched && first->begin <= keyBegin && first->end >= keyEnd;
  }
  return all ? BlockKind::all : any ? BlockKind::mixed : BlockKind::none;
}

namespace {

class MaskPart final : public MaskFormula {
 public:
  MaskPart(std::shared_ptr<const MaskFormula> whole, Index firstRow, Index rows, Index keys)
      : whole_(std::move(whole)), firstRow_(firstRow), rows_(rows), keys_(keys) {}
  Index heads() const override { return whole_->heads(); }
  Index queries() const override { return rows_; }
  Index keys() const override { return keys_; }
  Index variants() const override { return whole_->variants(); }
  Index variantOf(Index head) const override { return whole_->variantOf(head); }
  void visibleRuns(Index variant, Index row, KeyRuns& runs) const override {
    whole_->visibleRuns(variant, firstRow_ + row, runs);
    while (!runs.empty() && runs.back().begin >= keys_) runs.pop_back();
    if (!runs.empty()) runs.back().end = std::min(runs.back().end, keys_);
  }

 private:
  std::shared_ptr<const MaskFormula> whole_;
  Index firstRow_, rows_, keys_;
};

}  // namespace

std::shared_ptr<const MaskFormula> maskPart(std::shared_ptr<const MaskFormula> whole, Index firstRow,
                                            Index rows, Index keys) {
  require(whole && firstRow >= 0 && rows >= 0 && firstRow + rows <= whole->queries() && keys >= 0 &&
              keys <= whole->keys(),
          "rows " + std::to_string(firstRow) + " to " + std::to_string(firstRow + rows) + " and " +
              std::to_string(keys) + " keys are not a part of the mask");
  return std::make_shared<MaskPart>(std::move(whole), firstRow, rows, keys);
}

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
  if (mask.formula && !mask.formula->visible(mask.formula->variantOf(head), row, j)) return false;
  if (!mask.masked.empty() && maskValue(mask.masked, head, row, j) != 0) return false;
  return mask.additive.empty() || maskValue(mask.additive, head, row, j) != kMinusInfinity;
}

void requireMaskShape(const AttentionConfig& config, const MaskInput& mask, Index queries, Index keys) {
  requireStackShape(mask.masked, "boolean", config.heads, queries, keys);
  requireStackShape(mask.additive, "additive", config.heads, queries, keys);
  if (mask.formula) {
    const MaskFormula& formula = *mask.formula;
    require(formula.heads() == config.heads && formula.queries() == queries && formula.keys() == keys,
            "the mask's formula is over [" + std::to_string(formula.heads()) + ", " +
                std::to_string(formula.queries()) + ", " + std::to_string(formula.keys()) + "], expected [" +
                std::to_string(config.heads) + ", " + std::to_string(queries) + ", " + std::to_string(keys) +
                "]");
  }
  if (mask.keyLength)
    require(*mask.keyLength >= 0 && *mask.keyLength <= keys,
            "key length is " + std::to_string(*mask.keyLength) + ", expected 0 to " + std::to_string(keys));
}

}  // namespace headscope::attention
