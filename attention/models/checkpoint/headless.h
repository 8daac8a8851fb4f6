#pragma once

#include <functional>
#include <string>

#include "attention/models/config/families.h"

namespace headscope::attention {

/// Why a checkpoint makes no predictions; empty if it makes some. `has`: whether a tensor exists under one of
/// the head's prefixes.
std::string whyHeadless(const TensorNames& names, const ModelConfig& config,
                        const std::function<bool(const std::string&)>& has);

}  // namespace headscope::attention
