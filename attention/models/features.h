#pragma once

#include <filesystem>
#include <memory>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// What an encoder that isn't computed here made of its input, such as Whisper's of sound: the memory of a
/// decoder that reads it, [m, width]. Of a safetensors, .npz or .npy file the tensor [m, width] or
/// [1, m, width] that is called encoder_last_hidden_state, last_hidden_state, encoder_hidden_states, features
/// or array, else the only one. Errors, each in a sentence: those of TensorSource; no such tensor, or one of
/// another shape; values that aren't finite; as many rows as memory can't hold.
Result<std::shared_ptr<const Matrix>> readFeatures(const std::filesystem::path& path, Index width);

}  // namespace headscope::attention
