#include "attention/core/mask.h"

#include <fmt/core.h>

namespace headscope::attention {
namespace {

void requireAdditiveShape(const Stack& stack, Index heads, Index queries, Index keys) {
  if (stack.empty()) return;
  const bool fits =
      (stack.count() == 1 || stack.count() == heads) && stack.rows() == queries && stack.cols() == keys;
  if (fits) return;
  const std::string rest = fmt::format(", {}, {}]", queries, keys);
  require(false, fmt::format("additive mask is [{}, {}, {}], expected [1{} or [{}{}", stack.count(),
                             stack.rows(), stack.cols(), rest, heads, rest));
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
    // Runs never touch, so a row of a block is fully visible only if one run covers it.
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
  require(
      whole && firstRow >= 0 && rows >= 0 && firstRow + rows <= whole->queries() && keys >= 0 &&
          keys <= whole->keys(),
      fmt::format("rows {} to {} and {} keys are not a part of the mask", firstRow, firstRow + rows, keys));
  return std::make_shared<MaskPart>(std::move(whole), firstRow, rows, keys);
}

bool seesFuture(const MaskFormula& mask, Index cacheLength) {
  KeyRuns runs;
  for (Index variant = 0; variant < mask.variants(); ++variant)
    for (Index row = 0; row < mask.queries(); ++row) {
      mask.visibleRuns(variant, row, runs);
      if (!runs.empty() && runs.back().end > cacheLength + row + 1) return true;
    }
  return false;
}

bool visible(const MaskInput& mask, Index head, Index row, Index j) {
  if (mask.formula && !mask.formula->visible(mask.formula->variantOf(head), row, j)) return false;
  return mask.additive.empty() ||
         mask.additive.at(sliceOf(mask.additive, head), row, j) != -std::numeric_limits<float>::infinity();
}

void requireMaskShape(const AttentionConfig& config, const MaskInput& mask, Index queries, Index keys) {
  requireAdditiveShape(mask.additive, config.heads, queries, keys);
  if (!mask.formula) return;
  const MaskFormula& formula = *mask.formula;
  const auto sizes = [](Index heads, Index rows, Index cols) {
    return fmt::format("[{}, {}, {}]", heads, rows, cols);
  };
  require(formula.heads() == config.heads && formula.queries() == queries && formula.keys() == keys,
          "the mask's formula is over " + sizes(formula.heads(), formula.queries(), formula.keys()) +
              ", expected " + sizes(config.heads, queries, keys));
}

}  // namespace headscope::attention
