#pragma once

#include <cstdlib>
#include <string>

#include "tests/attention/models/golden_models.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {

/// A Python that has NumPy, or "". A machine may have several Pythons.
inline std::string pythonWithNumpy() {
  static const std::string found = [] {
    for (const std::string python : {"python3", "/usr/bin/python3"})
      if (std::system((python + " -c 'import numpy' >/dev/null 2>&1").c_str()) == 0) return python;
    return std::string();
  }();
  return found;
}

/// Runs write_gguf.py with the arguments `words`, which are documented there. Returns whether it succeeded.
inline bool writeGguf(const std::string& python, const std::string& words) {
  const std::string script = std::string(HEADSCOPE_TEST_DIR) + "/attention/models/gguf/write_gguf.py";
  return std::system(("PYTHONDONTWRITEBYTECODE=1 " + python + " '" + script + "' " + words).c_str()) == 0;
}

}  // namespace headscope::attention::test
