#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace headscope::attention::test {

/// The rows of a list in plain_models.json. A row with a "base" adds to that row or overrides parts of it.
/// Throws std::invalid_argument if a row has a part that no row has, such as "plian".
std::vector<nlohmann::json> plainRows(const std::string& list);

/// Throws std::invalid_argument if an object of `part`, at any depth, has a name that `known` lacks there;
/// only "why" is allowed besides. `at` is the part's place, for the message.
void requireKnown(const nlohmann::json& part, const nlohmann::json& known, const std::string& at);

/// A part of a row, whose absent fields are defaults. Throws std::invalid_argument for fields that T lacks.
template <typename T>
T partOf(const nlohmann::json& row, const std::string& name) {
  requireKnown(row.at(name), T{}, row.at("name").get<std::string>() + ": " + name);
  return row.at(name).get<T>();
}

}  // namespace headscope::attention::test
