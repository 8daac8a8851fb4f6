#pragma once

#include <string>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// The languages a mask can be exported to.
enum class MaskCode { flexAttention, pytorch, numpy };

/// The spelling of operations in one library.
class CodeDialect {
 public:
  explicit CodeDialect(MaskCode language) : language_(language) {}

  bool isTorch() const { return language_ != MaskCode::numpy; }
  /// Whether tables must be moved to the device that computes the mask, as for a mask_mod.
  bool onDevice() const { return language_ == MaskCode::flexAttention; }
  /// Returns "torch.zeros(24, dtype=torch.int64)".
  std::string zeros(const std::string& shape, const char* type) const {
    return module() + ".zeros(" + shape + ", dtype=" + dtype(type) + ")";
  }
  /// Returns an array of integers made from a Python list expression.
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
