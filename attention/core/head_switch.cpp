#include "attention/core/head_switch.h"

namespace headscope::attention {

void switchHeads(Stack& headOutput, const HeadSwitch& how, Index rows) {
  for (std::size_t head = 0; head < how.scale.size(); ++head)
    headOutput[static_cast<Index>(head)] *= how.scale[head];
  if (rows == 0) return;
  for (const Index head : how.mean) {
    const Eigen::RowVectorXf mean = headOutput[head].topRows(rows).colwise().mean();
    headOutput[head].rowwise() = mean;
  }
}

}  // namespace headscope::attention
