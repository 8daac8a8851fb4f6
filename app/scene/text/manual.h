#pragma once

#include <functional>

#include "app/scene/text/rich_text.h"

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

/// A block of a Markdown text, set below the one before.
struct MarkdownBlock {
  enum class Kind { heading, paragraph, item, code, row };
  Kind kind = Kind::paragraph;
  int level = 0;                             ///< of a heading, from 1; of an item, its depth from 1
  std::vector<RichSpan> spans;               ///< except in code and rows
  std::string text;                          ///< of code; of a heading, its words
  std::vector<std::vector<RichSpan>> cells;  ///< of a row
  int table = -1;                            ///< of a row: the index of its table in the text
};

/// Parses CommonMark with tables. Leaves out pictures and HTML; emphasis becomes bold.
std::vector<MarkdownBlock> parseMarkdown(std::string_view text);

/// Returns the anchor that GitHub gives a heading: "What models cost" is "what-models-cost".
std::string anchorOf(std::string_view heading);

/// A chapter of the manual: a Markdown file of assets/manual/.
struct Chapter {
  std::string key;  ///< its file's name without the extension; a page's chapter has the page's key
  std::string title;
  std::string text;  ///< Markdown
};

/// Reads all chapters in reading order. Returns an Error if a file is missing.
attention::Result<std::vector<Chapter>> readManual();

/// Finds a chapter by its key or title, in any case; null if there is none.
const Chapter* findChapter(const std::vector<Chapter>& manual, std::string_view topic);

/// Returns the Markdown with every table between `<!-- table: NAME -->` and `<!-- end -->` replaced by
/// table(NAME). Returns an Error if a table has no end.
attention::Result<std::string> withTables(std::string_view text,
                                          const std::function<std::string(std::string_view)>& table);

}  // namespace headscope::app
