#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::app {

/// A term of the field, as the manual's glossary explains it.
struct Term {
  std::string name;     ///< as it is written inside a sentence: "kv head"
  std::string meaning;  ///< one sentence
  std::string formula;  ///< empty where it has none

  /// The sentence, and the formula below it.
  std::string explained() const;
};

/// The manual's glossary, for tooltips and lessons.
class Glossary {
 public:
  /// The rows of the chapter's table, | term | what it means | formula |. A term with another name in
  /// brackets, "latent attention (MLA)", is found by both.
  explicit Glossary(std::string_view chapter);

  /// The term that is called so, in any case, in the singular or the plural; null if there is none.
  const Term* find(std::string_view word) const;
  const std::vector<Term>& terms() const { return terms_; }

 private:
  std::vector<Term> terms_;
};

/// Reads assets/manual/glossary.md. An error names a file that is missing.
attention::Result<Glossary> readGlossary();

}  // namespace headscope::app
