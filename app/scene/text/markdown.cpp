#include "app/scene/text/markdown.h"

#include <md4c.h>

#include <cctype>

#include "attention/text/ascii.h"

namespace headscope::app {

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

}  // namespace headscope::app
