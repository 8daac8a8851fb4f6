#pragma once

#include <string>
#include <vector>

namespace headscope::test {

/// Records the paths that the calling thread opens from now until it ends. Returns false if the system
/// doesn't allow it. Call at most once per program.
bool watchOpenedFiles();
/// The recorded paths, in order.
std::vector<std::string> openedFiles();

}  // namespace headscope::test
