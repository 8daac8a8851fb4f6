#include "app/scene/text/manual.h"

#include <md4c.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "app/platform/assets.h"
#include "attention/formats/quote.h"
#include "attention/text/ascii.h"

namespace headscope::app {

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(' '), to = text.find_last_not_of(' ');
  return from == std::string_view::npos ? "" : std::string(text.substr(from, to - from + 1));
}

/// The cells of a row of a Markdown table; "\|" is a bar inside a cell.
std::vector<std::string> cellsOf(std::string_view row) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|')
      cell += row[++i];
    else if (row[i] == '|')
      cells.push_back(trimmed(std::exchange(cell, {})));
    else
      cell += row[i];
  }
  return cells;
}

/// Whether `word` is `name` or its plural: "keys" for "key".
bool isCalled(std::string_view word, std::string_view name) {
  return word == name || (word.size() == name.size() + 1 && word.starts_with(name) && word.back() == 's');
}

bool isCalledBy(std::string_view word, const Term& term) {
  const std::string name = attention::lowerCase(term.name);
  const std::size_t bracket = name.find(" (");
  if (bracket == std::string::npos) return isCalled(word, name);
  return isCalled(word, name.substr(0, bracket)) ||
         isCalled(word, std::string_view(name).substr(bracket + 2, name.size() - bracket - 3));
}

}  // namespace

std::string Term::explained() const {
  return formula.empty() ? meaning : meaning + "\n" + formula;
}

Glossary::Glossary(std::string_view chapter) {
  for (std::size_t at = 0; at < chapter.size();) {
    const std::size_t end = std::min(chapter.find('\n', at), chapter.size());
    const std::string_view line = chapter.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("| ") || line.starts_with("| term |")) continue;
    std::vector<std::string> cells = cellsOf(line);
    if (cells.size() == 3) terms_.push_back({std::move(cells[0]), std::move(cells[1]), std::move(cells[2])});
  }
}

const Term* Glossary::find(std::string_view word) const {
  const std::string wanted = attention::lowerCase(word);
  const auto found =
      std::find_if(terms_.begin(), terms_.end(), [&](const Term& term) { return isCalledBy(wanted, term); });
  return found == terms_.end() ? nullptr : &*found;
}

attention::Result<Glossary> readGlossary() {
  try {
    return Glossary(readAssetText("manual/glossary.md"));
  } catch (const std::runtime_error& missing) {
    return attention::Error{missing.what()};
  }
}

namespace {

using BlockKind = MarkdownBlock::Kind;
using SpanKind = RichSpan::Kind;

/// Collects what md4c finds, in order.
class MarkdownReader {
 public:
  void enter(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_H:
        open(BlockKind::heading, static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level));
        break;
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        ++depth_;
        break;
      case MD_BLOCK_LI:
        open(BlockKind::item, depth_);
        break;
      case MD_BLOCK_P:
        // An item's first paragraph is the item itself.
        if (blocks_.empty() || blocks_.back().kind != BlockKind::item || !blocks_.back().spans.empty())
          open(BlockKind::paragraph, depth_);
        break;
      case MD_BLOCK_CODE:
        open(BlockKind::code, 0);
        break;
      case MD_BLOCK_TABLE:
        ++tables_;
        break;
      case MD_BLOCK_TR:
        open(BlockKind::row, 0);
        blocks_.back().table = tables_ - 1;
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        blocks_.back().cells.emplace_back();
        header_ = type == MD_BLOCK_TH;
        break;
      default:
        break;
    }
  }
  void leave(MD_BLOCKTYPE type) {
    if (type == MD_BLOCK_UL || type == MD_BLOCK_OL) --depth_;
    if (type == MD_BLOCK_TH) header_ = false;
  }
  void enterSpan(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_STRONG || type == MD_SPAN_EM) ++bold_;
    if (type == MD_SPAN_CODE) code_ = true;
    if (type == MD_SPAN_A) {
      const MD_ATTRIBUTE& address = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
      target_.assign(address.text, address.size);
    }
    if (type == MD_SPAN_IMG) picture_ = true;
  }
  void leaveSpan(MD_SPANTYPE type) {
    if (type == MD_SPAN_STRONG || type == MD_SPAN_EM) --bold_;
    if (type == MD_SPAN_CODE) code_ = false;
    if (type == MD_SPAN_A) target_.clear();
    if (type == MD_SPAN_IMG) picture_ = false;
  }
  void text(MD_TEXTTYPE type, std::string_view text) {
    if (blocks_.empty() || picture_ || type == MD_TEXT_HTML) return;
    MarkdownBlock& block = blocks_.back();
    if (block.kind == BlockKind::code) {
      block.text += text;
      return;
    }
    if (type == MD_TEXT_SOFTBR || type == MD_TEXT_BR) text = " ";
    if (block.kind == BlockKind::heading) block.text += text;
    auto& spans = block.kind == BlockKind::row && !block.cells.empty() ? block.cells.back() : block.spans;
    const SpanKind kind = !target_.empty()   ? SpanKind::link
                          : code_            ? SpanKind::code
                          : bold_ || header_ ? SpanKind::bold
                                             : SpanKind::plain;
    if (!spans.empty() && spans.back().kind == kind && spans.back().target == target_)
      spans.back().text += text;
    else
      spans.push_back({kind, std::string(text), nullptr, target_});
  }

  std::vector<MarkdownBlock> blocks() && { return std::move(blocks_); }

 private:
  void open(BlockKind kind, int level) {
    blocks_.emplace_back();
    blocks_.back().kind = kind;
    blocks_.back().level = level;
  }

  std::vector<MarkdownBlock> blocks_;
  std::string target_;
  int depth_ = 0, tables_ = 0, bold_ = 0;
  bool code_ = false, header_ = false, picture_ = false;
};

MarkdownReader& readerOf(void* user) {
  return *static_cast<MarkdownReader*>(user);
}

}  // namespace

std::vector<MarkdownBlock> parseMarkdown(std::string_view text) {
  MD_PARSER parser{};
  parser.flags = MD_FLAG_TABLES;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* user) {
    readerOf(user).enter(type, detail);
    return 0;
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* user) {
    readerOf(user).leave(type);
    return 0;
  };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* user) {
    readerOf(user).enterSpan(type, detail);
    return 0;
  };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* user) {
    readerOf(user).leaveSpan(type);
    return 0;
  };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* from, MD_SIZE size, void* user) {
    readerOf(user).text(type, {from, size});
    return 0;
  };
  MarkdownReader reader;
  md_parse(text.data(), static_cast<MD_SIZE>(text.size()), &parser, &reader);
  std::vector<MarkdownBlock> blocks = std::move(reader).blocks();
  std::erase_if(blocks, [](const MarkdownBlock& block) {
    return block.spans.empty() && block.text.empty() && block.cells.empty();
  });
  return blocks;
}

std::string anchorOf(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') anchor += '-';
    if (std::isalnum(byte) || byte >= 0x80 || c == '-' || c == '_') anchor += attention::lowerCase(c);
  }
  return anchor;
}

using attention::Error;
using attention::Result;

namespace {

/// In reading order: the pages, what Headscope reads and writes, and further topics.
constexpr std::array<std::string_view, 23> kChapters{
    "heads",    "flow",    "mask",   "map",      "cache", "cost",    "model",      "lab",
    "lessons",  "present", "talk",   "files",    "masks", "figures", "commands",   "keys",
    "settings", "browser", "python", "glossary", "speed", "scenes",  "development"};

bool sameWord(std::string_view a, std::string_view b) {
  return attention::lowerCase(a) == attention::lowerCase(b);
}

/// The text after "# " in the first line.
std::string titleOf(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return std::string(line.substr(std::min(line.find_first_not_of("# "), line.size())));
}

}  // namespace

Result<std::vector<Chapter>> readManual() {
  std::vector<Chapter> chapters;
  try {
    for (const std::string_view key : kChapters) {
      std::string text = readAssetText("manual/" + std::string(key) + ".md");
      std::string title = titleOf(text);
      chapters.push_back({std::string(key), std::move(title), std::move(text)});
    }
  } catch (const std::runtime_error& missing) {
    return Error{missing.what()};
  }
  return chapters;
}

const Chapter* findChapter(const std::vector<Chapter>& manual, std::string_view topic) {
  const auto found = std::find_if(manual.begin(), manual.end(), [&](const Chapter& chapter) {
    return sameWord(chapter.key, topic) || sameWord(chapter.title, topic);
  });
  return found == manual.end() ? nullptr : &*found;
}

Result<std::string> withTables(std::string_view text,
                               const std::function<std::string(std::string_view)>& table) {
  constexpr std::string_view kBegin = "<!-- table: ", kClose = " -->\n", kEnd = "<!-- end -->";
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t begin = text.find(kBegin, at);
    if (begin == std::string_view::npos) return out += text.substr(at);
    const std::size_t close = text.find(kClose, begin), end = text.find(kEnd, begin);
    if (close == std::string_view::npos || end == std::string_view::npos || end < close)
      return Error{attention::quotedText(text.substr(begin, text.find('\n', begin) - begin)) +
                   " has no <!-- end -->"};
    const std::string_view name = text.substr(begin + kBegin.size(), close - begin - kBegin.size());
    out += text.substr(at, close + kClose.size() - at);
    out += table(name);
    at = end;
  }
}

}  // namespace headscope::app
