#pragma once

#include <map>
#include <string>
#include <vector>

#include "attention/masks/code_dialect.h"

namespace headscope::attention {

/// The arrays used by formulas, each defined once however many heads use it.
class CodeTables {
 public:
  explicit CodeTables(const CodeDialect& dialect) : dialect_(dialect) {}

  /// Returns the name of the array created by `definition`, lines of code with "@" in place of the name. The
  /// name is `name`, numbered from the second array of that name on.
  std::string define(const std::string& name, const std::string& definition);
  const std::string& code() const { return code_; }

 private:
  CodeDialect dialect_;
  std::map<std::string, std::string> names_;  ///< by definition
  std::map<std::string, Index> counts_;       ///< by name
  std::string code_;
};

/// Returns "[7, 16]"; long lists are broken into lines.
std::string codeList(const std::vector<std::string>& items);
std::string codeList(const std::vector<Index>& values);
/// Returns "(0, 4, 9)".
std::string codeTuple(std::initializer_list<Index> values);

}  // namespace headscope::attention
