#pragma once

#include <algorithm>
#include <string_view>

#include "attention/models/config/config_reader.h"

namespace headscope::attention {

/// How a family treats the config.json fields that its published code knows or that files in circulation
/// have. Each list holds names separated by spaces. A family's reader and its fields are in the same file.
struct ConfigFields {
  std::string_view read = {};     ///< read by the family's reader
  std::string_view ignored = {};  ///< no effect on what is computed here: training, generation, other heads
  /// "name=JSON": only this value is supported; "name=@other": only the value of the other field.
  std::string_view fixed = {};
  const ConfigFields* base = nullptr;  ///< more known fields
};

/// The fields of all families, the base of their own lists.
extern const ConfigFields kSharedFields;
/// The fields of rope_scaling and rope_parameters.
extern const ConfigFields kRopeFields;

/// Calls visit(name, text after "=") for each entry of such a list.
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

/// Whether such a list has an entry of that name.
bool isListed(std::string_view list, std::string_view name);
/// Whether any of the lists has the field.
bool knows(const ConfigFields& fields, std::string_view name);
/// Whether the family's own reader takes the field, as opposed to the code shared by all families.
bool readsItself(const ConfigFields& fields, std::string_view name);

/// Reports fields with unsupported values in `json`. Returns the names of fields on no list, such as "foo" or
/// "rope_scaling.bar". The object `nested` has the same fields.
std::vector<std::string> checkFields(const ConfigReader& json, const ConfigFields& fields,
                                     std::string_view nested);

}  // namespace headscope::attention
