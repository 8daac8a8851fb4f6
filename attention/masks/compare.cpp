#include "attention/masks/compare.h"

#include <fmt/core.h>

#include <limits>

#include "attention/core/receipt.h"

namespace headscope::attention {
namespace {

float relativeChange(float change, float size) {
  if (change == 0) return 0;
  return size == 0 ? std::numeric_limits<float>::infinity() : change / size;
}

void requireSameShape(const Stack& a, const Stack& b, const char* what) {
  require(a.count() == b.count() && a.rows() == b.rows() && a.cols() == b.cols(),
          fmt::format("{} differ in shape: [{}, {}, {}] and [{}, {}, {}]", what, a.count(), a.rows(),
                      a.cols(), b.count(), b.rows(), b.cols()));
}

}  // namespace

MaskComparison compareMasks(const MaskedHeads& a, const MaskedHeads& b) {
  requireSameShape(a.weights, b.weights, "the weights under both masks");
  requireSameShape(a.outputs, b.outputs, "the outputs under both masks");
  const Index heads = a.weights.count(), rows = a.weights.rows();
  MaskComparison comparison;
  comparison.movedMass = comparison.entropyChange = comparison.outputChange = Matrix::Zero(heads, rows);
  for (Index head = 0; head < heads; ++head) {
    const MatrixView before = a.weights[head], after = b.weights[head];
    for (Index row = 0; row < rows; ++row) {
      comparison.movedMass(head, row) = (after.row(row) - before.row(row)).cwiseAbs().sum() / 2;
      comparison.entropyChange(head, row) = rowEntropy(after.row(row)) - rowEntropy(before.row(row));
      const auto from = a.outputs[head].row(row);
      comparison.outputChange(head, row) =
          relativeChange((from - b.outputs[head].row(row)).norm(), from.norm());
    }
  }
  return comparison;
}

}  // namespace headscope::attention
