// HEADSCOPE_TARGET restricts the test programs to an instruction set, as it does the program.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "attention/core/machine.h"

namespace headscope::test {
namespace {

bool restrictTarget() {
  const char* const name = std::getenv("HEADSCOPE_TARGET");
  const attention::Status held = attention::restrictInstructionSet(name ? name : "");
  if (held) return true;
  std::cerr << "HEADSCOPE_TARGET: " << held.error().message << "\n";
  std::exit(2);
}

/// Initialised before the tests' own constants are computed.
[[maybe_unused, gnu::init_priority(200)]] const struct Held { bool held = restrictTarget(); } kHeld;

}  // namespace
}  // namespace headscope::test
