#pragma once

#include <filesystem>
#include <functional>
#include <map>

#include "attention/models/checkpoint/tensor_view.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

/// Numbers that a checkpoint doesn't store as they are read. They stay where they are if this is moved.
using OwnNumbers = std::vector<std::vector<std::uint8_t>>;

/// A weight [out, in] that is made row by row.
struct MadeWeight {
  std::uint64_t out = 0, in = 0;
  WeightType type = WeightType::f16;  ///< or bf16 or f32
  std::function<void(std::uint64_t o, std::span<float> row)>
      row{};  ///< writes [in]; called by several threads
};
/// Makes the weight, rounding to nearest.
TensorView makeWeight(const MadeWeight& weight, OwnNumbers& own);

/// Replaces the tensors that GPTQ, AWQ, bitsandbytes, compressed-tensors, FP8, Model Optimizer, Quark,
/// torchao, HQQ or MLX made of a weight by the weight itself, [out, in] in F16 or BF16, as that library
/// dequantises it. Returns how many, or an Error that names a tensor which doesn't fit, or says that the
/// weights take more memory than the machine has.
Result<std::size_t> unpackWeights(std::map<std::string, TensorView>& tensors, const Quantisation& how,
                                  const std::filesystem::path& folder, OwnNumbers& own);

/// Adds the changes of a LoRA adapter of PEFT, whose tensors are `changes`, to a model's tensors: W + alpha /
/// rank · B·A (Hu et al. 2021, section 4.1), or alpha / √rank with use_rslora. Tensors that the adapter has
/// whole replace the model's. Returns an Error for adapters of other kinds and for changes to tensors that
/// the model doesn't have.
Status addAdapter(const std::map<std::string, TensorView>& changes, const std::filesystem::path& folder,
                  std::map<std::string, TensorView>& tensors, OwnNumbers& own);

}  // namespace headscope::attention
