#pragma once

#include <nlohmann/json.hpp>

namespace headscope::attention::test {

/// The rows of a list in plain_models.json. A row with a "base" adds to that row or overrides parts of it.
std::vector<nlohmann::json> plainRows(const std::string& list);

}  // namespace headscope::attention::test
