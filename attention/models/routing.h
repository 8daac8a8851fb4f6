#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// The experts of each row and their shares, in the order they were chosen: best score first.
struct Routing {
  Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> experts;  ///< [rows, used]
  Matrix shares;                                                                ///< [rows, used]
};

}  // namespace headscope::attention
