#pragma once

#include <stop_token>

#include "attention/core/tensor.h"

namespace headscope::attention {

// Dense products in one place: written where they are wanted, Eigen compiles each anew, a second apiece and
// without the processor's wide instructions.

/// x·y of x [rows, inner] and y [inner, cols] by the kernels; incomplete once `stop` is requested. Throws
/// std::invalid_argument, naming both, where the inner sizes differ; so do all of these.
Matrix product(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& y,
               const std::stop_token& stop = {});
/// x·wᵀ of x [rows, inner] and w [cols, inner].
Matrix timesTransposed(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& w,
                       const std::stop_token& stop = {});

/// a·b in double precision.
Eigen::MatrixXd productInDouble(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// aᵀ·a in double precision.
Eigen::MatrixXd gramInDouble(const Eigen::MatrixXd& a);

}  // namespace headscope::attention
