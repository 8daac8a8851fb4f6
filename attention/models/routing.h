#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Which of a mixture's experts each row went to, and with what share; the largest share first.
struct Routing {
  Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> experts;  ///< [rows, used]
  Matrix shares;                                                                ///< [rows, used]
};

}  // namespace headscope::attention
