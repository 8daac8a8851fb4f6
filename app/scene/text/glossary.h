#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::app {

/// A technical term, as the manual's glossary explains it.
struct Term {
  std::string name;     ///< as written inside a sentence: "kv head"
  std::string meaning;  ///< one sentence
  std::string formula;  ///< empty if there is none

  /// The sentence, with the formula below it.
  std::string explained() const;
};

/// The manual's glossary, for tooltips and lessons.
class Glossary {
 public:
  /// Reads the rows of the chapter's table, | term | what it means | formula |. A term with another name in
  /// brackets, "latent attention (MLA)", is found by both names.
  explicit Glossary(std::string_view chapter);

  /// Finds a term by name, in any case, singular or plural; null if there is none.
  const Term* find(std::string_view word) const;
  const std::vector<Term>& terms() const { return terms_; }

 private:
  std::vector<Term> terms_;
};

/// Reads assets/manual/glossary.md. Returns an Error if the file is missing.
attention::Result<Glossary> readGlossary();

}  // namespace headscope::app
