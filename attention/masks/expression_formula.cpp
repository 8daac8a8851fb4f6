#include <algorithm>

#include "attention/masks/expression.h"

namespace headscope::attention {
namespace {

/// How tightly a formula holds together.
enum class Bond { atom, all, any, then };

struct Formula {
  std::string text;
  Bond bond = Bond::atom;
};

/// The formula as a part of one of bond `around`; a looser one needs brackets.
std::string inside(const Formula& formula, Bond around) {
  return formula.bond > around ? "(" + formula.text + ")" : formula.text;
}

Formula joined(const Formula& a, const Formula& b, Bond bond) {
  return {inside(a, bond) + (bond == Bond::all ? " ∧ " : " ∨ ") + inside(b, bond), bond};
}
Formula both(const Formula& a, const Formula& b) {
  return joined(a, b, Bond::all);
}
Formula either(const Formula& a, const Formula& b) {
  return joined(a, b, Bond::any);
}

std::string number(Index value) {
  return value < 0 ? "−" + std::to_string(-value) : std::to_string(value);
}

/// "{0, 11}"; long lists are cut. Spans count as one.
std::string listText(const std::vector<Index>& values, bool spans) {
  constexpr std::size_t kMost = 8;
  const std::size_t step = spans ? 2 : 1;
  std::string text = "{";
  for (std::size_t i = 0; i + step <= values.size(); i += step) {
    if (i / step == kMost) return text + ", …}";
    text += (i == 0 ? "" : ", ") + number(values[i]);
    if (spans && values[i] != values[i + 1]) text += "–" + number(values[i + 1]);
  }
  return text + "}";
}

/// Writes the formula of one pattern for one head.
class PatternFormula {
 public:
  /// `prime` marks positions counted inside a document.
  PatternFormula(const PatternUse& use, Index head, const std::string& prime)
      : use_(use), head_(head), i_("i" + prime), j_("j" + prime) {}

  Formula write() const {
    switch (use_.kind) {
      case PatternKind::full:
        return {"true"};
      case PatternKind::causal:
        return causal();
      case PatternKind::causalTopLeft:
        return {j_ + " ≤ " + i_ + " − C"};
      case PatternKind::padding:
        return {j_ + " < " + count(0, "L")};
      case PatternKind::window:
        return {"0 ≤ " + distance() + " < " + count(0)};
      case PatternKind::windowBack:
        return {"0 ≤ " + distance() + " ≤ " + count(0)};
      case PatternKind::windowBoth:
        return {"|" + distance() + "| < " + count(0)};
      case PatternKind::dilated:
        return both({"|" + distance() + "| ≤ " + count(0)}, every(1));
      case PatternKind::sinks:
        return {j_ + " < " + count(0)};
      case PatternKind::streaming:
        return both(causal(), either({j_ + " < " + count(0)}, {distance() + " < " + count(1)}));
      case PatternKind::chunked:
        return both(sameBlock(count(0)), causal());
      case PatternKind::globals:
        return global(0);
      case PatternKind::longformer:
        return either({"|" + distance() + "| < " + count(0)}, global(1));
      case PatternKind::strided:
        return both(causal(), either({distance() + " < " + count(0)}, every(0)));
      case PatternKind::fixed:
        return both(causal(), either(sameBlock(count(0)),
                                     {j_ + " mod " + count(0) + " ≥ " + count(0) + " − " + count(1)}));
      default:
        return writeStructured();
    }
  }

 private:
  Formula writeStructured() const {
    switch (use_.kind) {
      case PatternKind::bigBird:
        return bigBird();
      case PatternKind::prefixLm:
        return either({j_ + " < " + count(0, "P")}, causal());
      case PatternKind::documents:
        return sameDocument();
      case PatternKind::packed:
        return both(causal(), sameDocument());
      case PatternKind::sharedPrefix:
        return both(causal(), either(sameDocument(), {"doc(" + j_ + ") = 0"}));
      case PatternKind::blockDiagonal:
        return sameBlock(count(0));
      case PatternKind::blockCausal:
        return {block(j_, count(0)) + " ≤ " + block(i_, count(0))};
      case PatternKind::blockDiffusion:
        return blockDiffusion();
      case PatternKind::tree:
        return tree();
      case PatternKind::neighborhood:
      case PatternKind::neighborhoodZ:
        return {j_ + " in the " + count(2) + " × " + count(2) + " square of " + i_ + " on " +
                count(0, "height") + " × " + count(1, "width") +
                (use_.kind == PatternKind::neighborhoodZ ? ", Z-order" : "")};
      case PatternKind::image:
        return either(causal(), {i_ + ", " + j_ + " in the same image" + given(0, " of ", true)});
      case PatternKind::intervals:
        return {j_ + " in the interval" + given(1, " of ", true) + " of the part" +
                given(0, " from ", false) + " that " + i_ + " is in"};
      case PatternKind::painted:
        return {"painted “" + text(0) + "”"};
      default:
        return {"file “" + text(0) + "”"};
    }
  }

  const Argument* argument(std::size_t index) const {
    const bool there = index < use_.arguments.size() && use_.arguments[index];
    return there ? &*use_.arguments[index] : nullptr;
  }
  /// This head's count; `symbol` where it comes from the text.
  std::string count(std::size_t index, const char* symbol = "") const {
    const Argument* given = argument(index);
    if (!given || given->values.empty()) return symbol;
    return number(given->values[static_cast<std::size_t>(head_) % given->values.size()]);
  }
  std::string text(std::size_t index) const { return argument(index) ? argument(index)->text : ""; }
  /// The list in its arguments behind `word`, or nothing where it comes from the text.
  std::string given(std::size_t index, const char* word, bool spans) const {
    const Argument* list = argument(index);
    return list ? word + listText(list->values, spans) : "";
  }

  std::string distance() const { return i_ + " − " + j_; }
  Formula causal() const { return {j_ + " ≤ " + i_}; }
  Formula every(std::size_t step) const { return {"(" + distance() + ") mod " + count(step) + " = 0"}; }
  static std::string block(const std::string& position, const std::string& size) {
    return "⌊" + position + "/" + size + "⌋";
  }
  Formula sameBlock(const std::string& size) const { return {block(i_, size) + " = " + block(j_, size)}; }
  Formula sameDocument() const { return {"doc(" + i_ + ") = doc(" + j_ + ")" + given(0, " from ", false)}; }
  Formula global(std::size_t index) const {
    const std::string set = argument(index) ? given(index, "", false) : "G";
    return either({i_ + " ∈ " + set}, {j_ + " ∈ " + set});
  }

  Formula bigBird() const {
    const std::string I = block(i_, count(0)), J = block(j_, count(0));
    return either(either({"|" + I + " − " + J + "| ≤ " + count(1)},
                         either({I + " < " + count(2)}, {J + " < " + count(2)})),
                  {J + " ∈ R(" + I + "), " + count(3) + " random of seed " + count(4)});
  }

  Formula blockDiffusion() const {
    const std::string half = count(1, "H"), size = count(0);
    const auto clean = [&](const std::string& position) {
      return "⌊(" + position + " − " + half + ")/" + size + "⌋";
    };
    const Formula noisedRow{i_ + " < " + half}, cleanRow{i_ + " ≥ " + half}, noisedKey{j_ + " < " + half},
        cleanKey{j_ + " ≥ " + half};
    const Formula own = both(both(noisedRow, noisedKey), sameBlock(size)),
                  before = both(both(noisedRow, cleanKey), {clean(j_) + " < " + block(i_, size)}),
                  causal = both(both(cleanRow, cleanKey), {clean(j_) + " ≤ " + clean(i_)});
    return either(either(own, before), causal);
  }

  Formula tree() const {
    const std::string prefix = count(0, "P");
    const Formula before = both({i_ + " < " + prefix}, causal());
    const Formula draft = both({i_ + " ≥ " + prefix},
                               either({j_ + " < " + prefix}, {j_ + " an ancestor of " + i_ + " or " + i_ +
                                                              " itself" + given(1, ", parents ", false)}));
    return either(before, draft);
  }

  const PatternUse& use_;
  Index head_;
  std::string i_, j_;
};

/// Which layers take part, and the formulas of lists of them.
class MaskFormulaWriter {
 public:
  MaskFormulaWriter(Index head, Index kvHead, Index sequence)
      : head_(head), kvHead_(kvHead), sequence_(sequence) {}

  /// Nothing where no layer takes part.
  std::optional<Formula> write(const MaskLayers& layers, const std::string& prime) const {
    std::optional<Formula> all;
    for (const Layer& layer : layers) {
      auto next = write(layer, prime);
      if (!next) continue;
      if (!all) {
        all = std::move(next);
      } else if (layer.combine == Combine::replace) {
        all = Formula{all->text + ", then " + inside(*next, Bond::any) + where(layer), Bond::then};
      } else {
        all = joined(*all, *next, layer.combine == Combine::all ? Bond::all : Bond::any);
      }
    }
    return all;
  }

 private:
  std::optional<Formula> write(const Layer& layer, const std::string& prime) const {
    const bool applies = layer.on && (!layer.heads || layer.heads->contains(head_, kvHead_)) &&
                         (!layer.sequences || layer.sequences->contains(sequence_, -1));
    if (!applies) return std::nullopt;
    auto formula = layer.isGroup() ? write(layer.group, prime) : write(layer.pattern, prime);
    if (formula && layer.negated) return Formula{"¬(" + formula->text + ")"};
    return formula;
  }

  Formula write(const PatternUse& use, const std::string& prime) const {
    const Formula formula = PatternFormula(use, head_, prime).write();
    if (use.inner.empty()) return formula;
    const auto inner = write(use.inner, prime + "′");
    return inner ? both(formula, *inner) : formula;
  }

  /// Only painted and read cells can leave others alone.
  static std::string where(const Layer& layer) {
    if (layer.isGroup()) return "";
    if (layer.pattern.kind == PatternKind::painted) return " where painted";
    return layer.pattern.kind == PatternKind::file ? " where the file says" : "";
  }

  Index head_, kvHead_, sequence_;
};

}  // namespace

std::string maskFormula(const MaskLayers& layers, Index head, Index kvHead, Index sequence) {
  const auto formula = MaskFormulaWriter(head, kvHead, sequence).write(layers, "");
  return formula ? formula->text : "true";
}

}  // namespace headscope::attention
