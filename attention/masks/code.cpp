#include "attention/masks/code.h"

#include <fmt/core.h>

#include "attention/masks/patterns/definition.h"
#include "attention/masks/program.h"

namespace headscope::attention {
namespace {

constexpr std::size_t kMaxCode = std::size_t{1} << 23;

Written codeBoth(const Written& a, const Written& b) {
  return written(operations::both.python, {a, b});
}
Written codeEither(const Written& a, const Written& b) {
  return written(operations::either.python, {a, b});
}
Written codeNot(const Written& a) {
  return written(operations::negation.python, {a});
}

/// Writes one head's program as a function body with one assignment per layer, so that the code reads like
/// the list of layers and expressions stay short.
class ProgramCode {
 public:
  ProgramCode(const CodeDialect& dialect, const CodeSizes& sizes, CodeTables& tables)
      : dialect_(dialect), sizes_(sizes), tables_(tables) {}

  std::string body(const MaskProgram& program) {
    const CodePlace place;
    const CodeCells value = list(program, place);
    const Written visible = program.empty()    ? Written{"j >= 0"}
                            : value.decidesAll ? value.visible
                                               : codeEither(value.visible, codeNot(value.decided));
    return lines_ + "return " + visible.text + "\n";
  }

 private:
  /// Writes a list and returns its value: a variable or a single layer's formula.
  CodeCells list(const MaskProgram& program, const CodePlace& place) {
    if (program.empty()) return {};
    CodeCells value = step(program.front(), place);
    if (program.size() == 1) return value;
    const std::string number = ++count_ == 1 ? "" : fmt::format("_{}", count_);
    const std::string visible = "seen" + number, said = "said" + number;
    const auto assign = [&](const CodeCells& next, const std::string& comment) {
      lines_ += visible + " = " + next.visible.text + "  # " + comment + "\n";
      if (!next.decidesAll) lines_ += said + " = " + next.decided.text + "\n";
      return CodeCells{{visible}, {said}, next.decidesAll};
    };
    value = assign(value, nameOf(program.front()));
    for (std::size_t i = 1; i < program.size(); ++i) {
      const Combine join = program[i].combine;
      const char* sign = join == Combine::all ? "& " : join == Combine::any ? "| " : "then ";
      // Writes a group's lines first; they must not use this list's names.
      CodeCells layer = step(program[i], place);
      value = assign(joined(value, layer, join), sign + nameOf(program[i]));
    }
    return value;
  }

  /// Joins two values. A cell that only one of them decides keeps that decision. Visible cells stay a subset
  /// of the decided ones.
  CodeCells joined(const CodeCells& before, const CodeCells& layer, Combine join) {
    if (join == Combine::replace) {
      if (layer.decidesAll) return layer;
      CodeCells out{codeEither(layer.visible, codeBoth(before.visible, codeNot(layer.decided))), {}, true};
      return withDecided(out, before, layer);
    }
    if (join == Combine::any)
      return withDecided({codeEither(before.visible, layer.visible), {}, true}, before, layer);
    Written first = before.visible, second = layer.visible;
    if (!before.decidesAll) first = codeEither(first, codeNot(before.decided));
    if (!layer.decidesAll) second = codeEither(second, codeNot(layer.decided));
    CodeCells out{codeBoth(first, second), {}, true};
    // If neither decides a cell, both are true.
    if (!before.decidesAll && !layer.decidesAll)
      out.visible = codeBoth(out.visible, codeEither(before.decided, layer.decided));
    return withDecided(out, before, layer);
  }

  static CodeCells withDecided(CodeCells out, const CodeCells& before, const CodeCells& layer) {
    out.decidesAll = before.decidesAll || layer.decidesAll;
    if (!out.decidesAll) out.decided = codeEither(before.decided, layer.decided);
    return out;
  }

  CodeCells step(const Step& step, const CodePlace& place) {
    CodeCells value;
    if (!step.group.empty()) {
      value = list(step.group, place);
    } else if (step.rule.pattern->info.takesInner) {
      value.visible = documents(step.rule, place);
    } else {
      value = codeOf(step.rule, place).write();
    }
    if (!step.negated) return value;
    value.visible =
        value.decidesAll ? codeNot(value.visible) : codeBoth(value.decided, codeNot(value.visible));
    return value;
  }

  Written documents(const Rule& rule, const CodePlace& place) {
    RuleCode code = codeOf(rule, place);
    const Written same = code.write().visible;
    if (rule.inner.empty()) return same;
    const std::string own = code.nameOf(kDocument) + "[" + place.i + "]",
                      other = code.nameOf(kDocument) + "[" + place.j + "]",
                      start = code.nameOf(kDocumentStart), number = std::to_string(++documents_);
    const CodePlace inside{"i" + number, "j" + number, &rule.lists->positions, own};
    lines_ += inside.i + " = " + place.i + " - " + start + "[" + own + "]  # inside their documents\n";
    lines_ += inside.j + " = " + place.j + " - " + start + "[" + other + "]\n";
    return codeBoth(same, list(rule.inner, inside).visible);
  }

  RuleCode codeOf(const Rule& rule, const CodePlace& place) {
    return RuleCode(rule, place, dialect_, sizes_, tables_);
  }

  static std::string nameOf(const Step& step) {
    const std::string name = step.group.empty() ? std::string(step.rule.pattern->info.name) : "(…)";
    return (step.negated ? "!" : "") + name;
  }

  const CodeDialect& dialect_;
  const CodeSizes& sizes_;
  CodeTables& tables_;
  std::string lines_;
  Index count_ = 0, documents_ = 0;
};

std::string indented(const std::string& lines) {
  std::string out;
  bool begins = true;
  for (const char c : lines) {
    if (begins && c != '\n') out += "    ";
    out += c;
    begins = c == '\n';
  }
  return out;
}

/// Returns the mask's text as a one-line comment, with control characters replaced and long text cut.
std::string commentText(const MaskLayers& layers) {
  constexpr std::size_t kLongest = 2000;
  std::string text = maskText(layers);
  if (text.empty()) text = "everything";
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  if (text.size() <= kLongest) return text;
  std::size_t length = kLongest;
  // Not in the middle of a UTF-8 sequence.
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return text.substr(0, length) + "…";
}

/// Assembles the parts of the code.
class MaskCodeWriter {
 public:
  MaskCodeWriter(MaskCode language, const MaskGeometry& geometry)
      : language_(language),
        dialect_(language),
        sizes_{geometry.queries, geometry.keys, geometry.cacheLength},
        heads_(geometry.heads),
        tables_(dialect_) {}

  std::string write(const MaskLayers& layers, const MaskPrograms& programs) {
    variants_ = static_cast<Index>(programs.variants.size());
    std::vector<std::string> bodies;
    for (const MaskProgram& program : programs.variants)
      bodies.push_back(ProgramCode(dialect_, sizes_, tables_).body(program));
    std::string functions;
    for (Index variant = 0; variant < variants_; ++variant)
      functions += function(nameOf(variant), bodies[static_cast<std::size_t>(variant)]);
    if (variants_ > 1)
      variantTable_ =
          tables_.define("variant", "@ = " + dialect_.integers(codeList(programs.variantOf)) + "\n");
    std::string code = head(layers) + tables_.code() + (tables_.code().empty() ? "" : "\n") + functions;
    code += language_ == MaskCode::flexAttention ? flexTail() : arrayTail();
    return code;
  }

 private:
  std::string nameOf(Index variant) const {
    if (variants_ > 1) return fmt::format("mask_{}", variant);
    return language_ == MaskCode::flexAttention ? "mask_mod" : "mask";
  }

  std::string sizeText() const { return fmt::format("{}, {}", sizes_.queries, sizes_.keys); }

  std::string head(const MaskLayers& layers) const {
    std::string code =
        fmt::format("# Mask: {}\n# True = visible; {} × {}, {}\n\n", commentText(layers),
                    counted(sizes_.queries, "query"), counted(sizes_.keys, "key"), counted(heads_, "head"));
    code += dialect_.isTorch() ? "import torch\n\n" : "import numpy as np\n\n";
    if (dialect_.onDevice()) code += "device = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n";
    return code;
  }

  std::string function(const std::string& name, const std::string& body) const {
    const bool direct = name == "mask_mod";
    const std::string cached = std::to_string(sizes_.cacheLength);
    const std::string position = sizes_.cacheLength == 0 ? "i, j = q_idx, kv_idx\n"
                                                         : "i, j = q_idx + " + cached + ", kv_idx  # " +
                                                               cached + " tokens are cached\n";
    return "\ndef " + name + (direct ? "(b, h, q_idx, kv_idx):\n" : "(q_idx, kv_idx):\n") +
           indented(withinTables() + position + body) + "\n";
  }

  /// create_block_mask may evaluate cells of whole blocks beyond the mask, which the arrays don't have.
  std::string withinTables() const {
    if (!dialect_.onDevice() || tables_.code().empty()) return "";
    return fmt::format(
        "q_idx, kv_idx = q_idx.clamp(max={}), kv_idx.clamp(max={})  # lengths are rounded up to blocks\n",
        sizes_.queries - 1, sizes_.keys - 1);
  }

  std::string flexTail() const {
    std::string code;
    if (variants_ > 1) {
      std::string body = "which = " + variantTable_ + "[h]\n";
      for (Index variant = 0; variant < variants_; ++variant)
        body +=
            fmt::format("{}(which == {}) & {}(q_idx, kv_idx){}", variant == 0 ? "seen = " : "seen = seen | (",
                        variant, nameOf(variant), variant == 0 ? "\n" : ")\n");
      code += "\ndef mask_mod(b, h, q_idx, kv_idx):\n" + indented(body + "return seen\n") + "\n";
    }
    const std::string heads = variants_ > 1 ? std::to_string(heads_) : "None";
    return fmt::format(
        "{}\n"
        "# from torch.nn.attention.flex_attention import create_block_mask, flex_attention\n"
        "# block_mask = create_block_mask(mask_mod, B=None, H={}, Q_LEN={}, KV_LEN={}, device=device)\n"
        "# output = flex_attention(query, key, value, block_mask=block_mask)\n",
        code, heads, sizes_.queries, sizes_.keys);
  }

  std::string arrayTail() const {
    const std::string target = dialect_.isTorch() ? "attn_mask" : "visible";
    const auto whole = [&](Index variant) {
      return dialect_.module() + ".broadcast_to(" + nameOf(variant) + "(q_idx, kv_idx), (" + sizeText() +
             "))";
    };
    std::string code = "\nq_idx = " + dialect_.arange(sizes_.queries) +
                       "[:, None]\nkv_idx = " + dialect_.arange(sizes_.keys) + "[None, :]\n";
    if (variants_ == 1) {
      code += target + " = " + whole(0) + "\n";
    } else {
      code += target + " = " + dialect_.module() + ".stack([\n";
      for (Index variant = 0; variant < variants_; ++variant) code += "    " + whole(variant) + ",\n";
      code += "])[" + variantTable_ + "]\n";
    }
    const std::string shape = variants_ == 1 ? "[queries, keys]" : "[heads, queries, keys]";
    if (!dialect_.isTorch())
      return code + "# visible is " + shape + ", True = visible; ~visible is what is masked\n";
    return code + "# " + shape +
           ", True = visible, as torch.nn.functional.scaled_dot_product_attention takes it.\n"
           "# torch.nn.MultiheadAttention takes True = masked: attn_mask=~attn_mask\n";
  }

  MaskCode language_;
  CodeDialect dialect_;
  CodeSizes sizes_;
  Index heads_, variants_ = 0;
  CodeTables tables_;
  std::string variantTable_;
};

}  // namespace

Result<std::string> maskCode(MaskCode language, const MaskLayers& layers, const MaskGeometry& geometry,
                             const MaskSources& sources) {
  const auto programs = resolveMask(layers, geometry, sources);
  if (!programs) return programs.error();
  try {
    std::string code = MaskCodeWriter(language, geometry).write(layers, *programs);
    if (code.size() <= kMaxCode) return code;
    return Error{fmt::format("the code would be {} bytes long, expected at most {}", code.size(), kMaxCode)};
  } catch (const CodeLimit& limit) {
    return Error{limit.what()};
  }
}

}  // namespace headscope::attention
