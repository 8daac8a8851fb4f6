#pragma once

#include "attention/formats/tensor_source.h"
#include "tests/support/memory_file.h"

namespace headscope::test {

/// A file with these tensors.
inline attention::TensorSource sourceOf(const attention::SafetensorsFile& file) {
  const MemoryFile memory(*attention::formatSafetensors(file));
  return *attention::TensorSource::open(memory.path());
}

}  // namespace headscope::test
