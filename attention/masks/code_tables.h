#pragma once

#include <map>
#include <string>
#include <vector>

#include "attention/masks/code.h"

namespace headscope::attention {

/// How one library says things.
class CodeDialect {
 public:
  explicit CodeDialect(MaskCode language) : language_(language) {}

  bool isTorch() const { return language_ != MaskCode::numpy; }
  /// Tables of a mask_mod lie where the mask is computed.
  bool onDevice() const { return language_ == MaskCode::flexAttention; }
  /// "torch.zeros(24, dtype=torch.int64)"
  std::string zeros(const std::string& shape, const char* type) const {
    return module() + ".zeros(" + shape + ", dtype=" + dtype(type) + ")";
  }
  /// An array of whole numbers from a Python expression for a list.
  std::string integers(const std::string& list) const {
    return module() + (isTorch() ? ".tensor(" : ".array(") + list + ", dtype=" + dtype("int64") + ")";
  }
  std::string arange(Index count) const { return module() + ".arange(" + std::to_string(count) + ")"; }
  std::string module() const { return isTorch() ? "torch" : "np"; }

 private:
  std::string dtype(const std::string& type) const {
    return type == "bool" && !isTorch() ? "bool" : module() + "." + type;
  }

  MaskCode language_;
};

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
