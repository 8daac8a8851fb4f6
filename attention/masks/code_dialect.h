#pragma once

#include <string>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Languages a mask can be copied as.
enum class MaskCode { flexAttention, pytorch, numpy };

/// How one library says things.
class CodeDialect {
 public:
  explicit CodeDialect(MaskCode language) : language_(language) {}

  bool isTorch() const { return language_ != MaskCode::numpy; }
  /// Tables of a mask_mod lie where the mask is computed.
  bool onDevice() const { return language_ == MaskCode::flexAttention; }
  /// "torch.zeros(24, dtype=torch.int64)"
  std::string zeros(const std::string& shape, const char* type) const {
    return module() + ".zeros(" + shape + ", dtype=" + dtype(type) + ")";
  }
  /// An array of whole numbers from a Python expression for a list.
  std::string integers(const std::string& list) const {
    return module() + (isTorch() ? ".tensor(" : ".array(") + list + ", dtype=" + dtype("int64") + ")";
  }
  std::string arange(Index count) const { return module() + ".arange(" + std::to_string(count) + ")"; }
  std::string module() const { return isTorch() ? "torch" : "np"; }

 private:
  std::string dtype(const std::string& type) const {
    return type == "bool" && !isTorch() ? "bool" : module() + "." + type;
  }

  MaskCode language_;
};

}  // namespace headscope::attention
