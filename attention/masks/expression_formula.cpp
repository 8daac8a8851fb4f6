#include <algorithm>

#include "attention/masks/patterns/definition.h"

namespace headscope::attention {
namespace {

Written joined(const Written& a, const Written& b, Combine combine) {
  const Operation& operation = combine == Combine::all ? operations::both : operations::either;
  return written(operation.symbols, {a, b});
}

std::string number(Index value) {
  return value < 0 ? "−" + std::to_string(-value) : std::to_string(value);
}

/// Returns "{0, 11}"; long lists are cut. A span counts as one item.
std::string listText(const std::vector<Index>& values, bool spans) {
  constexpr std::size_t kMax = 8;
  const std::size_t step = spans ? 2 : 1;
  std::string text = "{";
  for (std::size_t i = 0; i + step <= values.size(); i += step) {
    if (i / step == kMax) return text + ", …}";
    text += (i == 0 ? "" : ", ") + number(values[i]);
    if (spans && values[i] != values[i + 1]) text += "–" + number(values[i + 1]);
  }
  return text + "}";
}

/// Writes a pattern's tree in symbols, with one head's arguments.
class PatternFormula {
 public:
  PatternFormula(const PatternInfo& info, const PatternUse& use, Index head, const std::string& prime)
      : info_(info), use_(use), head_(head), i_("i" + prime), j_("j" + prime) {}

  Written write(const Symbolic& node) const {
    switch (node.kind) {
      case Symbolic::Kind::query:
        return {i_};
      case Symbolic::Kind::key:
        return {j_};
      case Symbolic::Kind::row:
        return {"row(" + i_ + ")"};
      case Symbolic::Kind::cached:
        return {"C"};
      case Symbolic::Kind::positions:
        return {"n"};
      case Symbolic::Kind::always:
        return {"true"};
      case Symbolic::Kind::literal:
        return {number(node.number)};
      case Symbolic::Kind::parameter:
        return {parameter(node.name)};
      case Symbolic::Kind::operation:
        return written(node.operation->symbols, operands(node));
      case Symbolic::Kind::lookup:
        return lookup(node);
      case Symbolic::Kind::words:
        return {words(node.name)};
    }
    return {};
  }

 private:
  std::vector<Written> operands(const Symbolic& node) const {
    std::vector<Written> parts;
    for (const Symbolic& operand : node.operands) parts.push_back(write(operand));
    return parts;
  }

  Written lookup(const Symbolic& node) const {
    std::string index;
    for (const Written& part : operands(node)) index += (index.empty() ? "" : ", ") + part.text;
    return {std::string(node.table->name) + "(" + index + ")"};
  }

  std::string words(std::string_view text) const {
    std::string out, optional;
    bool isOptional = false, isGiven = true;
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string& target = isOptional ? optional : out;
      if (text[at] == '[') {
        isOptional = isGiven = true;
      } else if (text[at] == ']') {
        if (isGiven) out += optional;
        optional.clear();
        isOptional = false;
      } else if (text[at] == '{') {
        const std::size_t end = text.find('}', at);
        const std::string_view name = text.substr(at + 1, end - at - 1);
        target += name == "i" ? i_ : name == "j" ? j_ : parameter(name);
        if (name != "i" && name != "j") isGiven = isGiven && argument(name);
        at = end;
      } else {
        target += text[at];
      }
    }
    return out;
  }

  std::size_t indexOf(std::string_view name) const {
    const std::size_t index = info_.indexOf(name);
    require(index < info_.parameters.size(),
            "a formula names a parameter that its pattern lacks: " + std::string(name));
    return index;
  }

  const Argument* argument(std::string_view name) const {
    const std::size_t index = indexOf(name);
    return index < use_.arguments.size() && use_.arguments[index] ? &*use_.arguments[index] : nullptr;
  }

  /// Returns this head's count, the list or the string; the symbol if the value comes from the marked text.
  std::string parameter(std::string_view name) const {
    const ParameterInfo& info = info_.parameters[indexOf(name)];
    const Argument* given = argument(name);
    if (!given || (info.kind == ParameterKind::count && given->values.empty()))
      return std::string(info.symbol);
    if (info.kind == ParameterKind::count)
      return number(given->values[static_cast<std::size_t>(head_) % given->values.size()]);
    const bool isList = info.kind == ParameterKind::positions || info.kind == ParameterKind::spans ||
                        info.kind == ParameterKind::parents;
    return isList ? listText(given->values, info.kind == ParameterKind::spans) : given->text;
  }

  const PatternInfo& info_;
  const PatternUse& use_;
  Index head_;
  std::string i_, j_;
};

/// Writes the formulas of lists of layers, skipping layers that don't apply.
class MaskFormulaWriter {
 public:
  MaskFormulaWriter(Index head, Index kvHead, Index sequence)
      : head_(head), kvHead_(kvHead), sequence_(sequence) {}

  /// Returns nothing if no layer applies.
  std::optional<Written> write(const MaskLayers& layers, const std::string& prime) const {
    std::optional<Written> all;
    for (const Layer& layer : layers) {
      auto next = write(layer, prime);
      if (!next) continue;
      if (!all) {
        all = std::move(next);
      } else if (layer.combine == Combine::replace) {
        all =
            Written{all->text + ", then " + inside(*next, Precedence::any) + where(layer), Precedence::then};
      } else {
        all = joined(*all, *next, layer.combine);
      }
    }
    return all;
  }

 private:
  std::optional<Written> write(const Layer& layer, const std::string& prime) const {
    if (!layer.appliesTo(head_, kvHead_, sequence_)) return std::nullopt;
    auto formula = layer.isGroup() ? write(layer.group, prime) : write(layer.pattern, prime);
    if (formula && layer.negated) return written(operations::negation.symbols, {*formula});
    return formula;
  }

  Written write(const PatternUse& use, const std::string& prime) const {
    const Written formula = patternFormula(patternOf(use.kind), use, head_, prime);
    if (use.inner.empty()) return formula;
    const auto inner = write(use.inner, prime + "′");
    return inner ? joined(formula, *inner, Combine::all) : formula;
  }

  /// Only painted cells and cells from files can leave others undecided.
  static std::string where(const Layer& layer) {
    return std::string(layer.isGroup() ? "" : patternOf(layer.pattern.kind).where);
  }

  Index head_, kvHead_, sequence_;
};

}  // namespace

Written patternFormula(const Pattern& pattern, const PatternUse& use, Index head, const std::string& prime) {
  return PatternFormula(pattern.info, use, head, prime).write(pattern.visible(query(), key()).node);
}

std::string maskFormula(const MaskLayers& layers, Index head, Index kvHead, Index sequence) {
  const auto formula = MaskFormulaWriter(head, kvHead, sequence).write(layers, "");
  return formula ? formula->text : "true";
}

}  // namespace headscope::attention
