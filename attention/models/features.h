#pragma once

#include <filesystem>
#include <memory>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Reads the output of an encoder that isn't computed here, such as Whisper's for audio: the memory [m,
/// width] of the decoder that reads it. In a safetensors, .npz or .npy file it is the tensor [m, width] or
/// [1, m, width] called encoder_last_hidden_state, last_hidden_state, encoder_hidden_states, features or
/// array, or else the only tensor. Returns an Error of TensorSource, or if there is no such tensor, its shape
/// is wrong, it has more than 65,536 rows, or a value isn't finite.
Result<std::shared_ptr<const Matrix>> readFeatures(const std::filesystem::path& path, Index width);

}  // namespace headscope::attention
