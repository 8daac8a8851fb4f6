#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "attention/core/random.h"
#include "attention/formats/safetensors.h"

namespace headscope::test {

/// A tensor of normally distributed random values, the same for the same seed.
inline attention::NamedTensor gaussianTensor(std::vector<std::uint64_t> shape, std::uint64_t seed) {
  std::size_t size = 1;
  for (const auto length : shape) size *= length;
  attention::Random random(seed);
  std::vector<float> values(size);
  for (auto& value : values) value = random.gaussian();
  return attention::fromFloats(values, std::move(shape));
}

template <typename T>
attention::NamedTensor tensorOf(attention::DType dtype, std::vector<std::uint64_t> shape,
                                const std::vector<T>& values) {
  attention::NamedTensor tensor{dtype, std::move(shape),
                                std::vector<std::uint8_t>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

/// Four query heads and two kv heads of size 4 on width 8, with three tokens.
inline attention::SafetensorsFile smallProblem() {
  attention::SafetensorsFile file;
  file.metadata = {{"heads", "4"}, {"kv_heads", "2"}, {"head_dim", "4"}};
  file.tensors["x"] = gaussianTensor({3, 8}, 1);
  file.tensors["q_proj.weight"] = gaussianTensor({16, 8}, 2);
  file.tensors["k_proj.weight"] = gaussianTensor({8, 8}, 3);
  file.tensors["v_proj.weight"] = gaussianTensor({8, 8}, 4);
  file.tensors["o_proj.weight"] = gaussianTensor({8, 16}, 5);
  return file;
}

}  // namespace headscope::test
