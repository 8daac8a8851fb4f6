#pragma once

#include <filesystem>

namespace headscope::app {

int childMain(int argc, char** argv);
int platformFailures(const std::filesystem::path& folder);

}  // namespace headscope::app
