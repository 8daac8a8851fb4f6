#pragma once

#include <string>
#include <vector>

namespace headscope::test {

/// Notes what the calling thread opens from now on, until it ends; whether the system lets it. Once a
/// program.
bool watchOpenedFiles();
/// Their paths, in order.
std::vector<std::string> openedFiles();

}  // namespace headscope::test
