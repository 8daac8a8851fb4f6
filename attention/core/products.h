#pragma once

#include <stop_token>

#include "attention/core/tensor.h"

namespace headscope::attention {

// Dense products in one place. Written where they are used, Eigen would compile each separately, a second
// apiece and without the processor's wide instructions. All throw std::invalid_argument, naming both inner
// sizes, if these differ.

/// Returns x·y for x [rows, inner] and y [inner, cols], by the kernels. Incomplete once `stop` is requested.
Matrix product(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& y,
               const std::stop_token& stop = {});
/// Returns x·wᵀ for x [rows, inner] and w [cols, inner]; otherwise like product().
Matrix timesTransposed(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& w,
                       const std::stop_token& stop = {});

/// Returns a·b in double precision.
Eigen::MatrixXd productInDouble(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// Returns aᵀ·a in double precision.
Eigen::MatrixXd gramInDouble(const Eigen::MatrixXd& a);

}  // namespace headscope::attention
