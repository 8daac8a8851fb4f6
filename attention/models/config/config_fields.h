#pragma once

#include <algorithm>
#include <string_view>

#include "attention/models/config/config_reader.h"

namespace headscope::attention {

/// What is done with the fields of a config.json that a family's published code knows, or files in
/// circulation have: names, separated by spaces. A family's reader and its row here stand side by side in one
/// file.
struct ConfigFields {
  std::string_view read = {};     ///< taken by the family's reader
  std::string_view ignored = {};  ///< change nothing that is computed here: training, generation, other heads
  /// "name=JSON": no other value is understood; "name=@other": nor one that differs from the other field's.
  std::string_view fixed = {};
  const ConfigFields* base = nullptr;  ///< whose fields are known too
};

/// The fields of all families, the base of the others.
extern const ConfigFields kSharedFields;
/// Those of rope_scaling and rope_parameters.
extern const ConfigFields kRopeFields;

/// Each name of such a list, with what follows "=".
template <class Visit>
void forEachField(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(' '));
    const auto equals = word.find('=');
    if (!word.empty())
      visit(word.substr(0, equals), equals == word.npos ? std::string_view() : word.substr(equals + 1));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
  }
}

/// Whether the field is on any of the lists.
bool knows(const ConfigFields& fields, std::string_view name);
/// Whether the family's own reader takes the field, rather than what all families share.
bool readsItself(const ConfigFields& fields, std::string_view name);

/// Refuses, by name, every field that has another value than the one that is understood. Gives the names of
/// the fields that are on no list: "foo", "rope_scaling.bar". The object `nested` has the same fields.
std::vector<std::string> checkFields(const ConfigReader& json, const ConfigFields& fields,
                                     std::string_view nested);

}  // namespace headscope::attention
