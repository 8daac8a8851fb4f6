#pragma once

#include <map>
#include <string>
#include <vector>

#include "attention/masks/code_dialect.h"

namespace headscope::attention {

/// The arrays that formulas look up, each defined once however many heads use it.
class CodeTables {
 public:
  explicit CodeTables(const CodeDialect& dialect) : dialect_(dialect) {}

  /// The name of the array that `definition` makes: lines of code with "@" for the name. `name` is what it is
  /// called, numbered from the second of that name on.
  std::string define(const std::string& name, const std::string& definition);
  const std::string& code() const { return code_; }

 private:
  CodeDialect dialect_;
  std::map<std::string, std::string> names_;  ///< by definition
  std::map<std::string, Index> counts_;       ///< by name
  std::string code_;
};

/// "[7, 16]", broken into lines where it is long.
std::string codeList(const std::vector<std::string>& items);
std::string codeList(const std::vector<Index>& values);
/// "(0, 4, 9)".
std::string codeTuple(std::initializer_list<Index> values);

}  // namespace headscope::attention
