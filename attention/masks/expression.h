#pragma once

#include <optional>
#include <vector>

#include "attention/core/result.h"
#include "attention/masks/pattern.h"
#include "attention/text/lexer.h"

namespace headscope::attention {

// A mask as people write and see it: an ordered list of layers, each joined to the result of the layers
// before it. The text form and this list are equivalent; assets/manual/masks.md has the grammar.

/// How a layer is joined to the layers before it (ignored for the first layer).
enum class Combine {
  all,      ///< "&": visible if both are
  any,      ///< "|": visible if either is
  replace,  ///< "then": this layer decides; cells it leaves undecided keep their value
};

/// A set of heads: heads(0-3, 6), heads(even), heads(odd), heads(kv 1).
struct HeadSet {
  enum class Kind { range, even, odd, kvHead };
  struct Item {
    Kind kind = Kind::range;
    Index first = 0, last = 0;  ///< range: both inclusive; kvHead: only `first`
    bool operator==(const Item&) const = default;
  };
  std::vector<Item> items;
  bool contains(Index head, Index kvHead) const;
  bool operator==(const HeadSet&) const = default;
};

/// The argument for one parameter. count: one value, or one per head; positions, parents: as written; spans:
/// first and last position of each span; name, path, convention: text.
struct Argument {
  std::vector<Index> values;
  std::string text;
  bool operator==(const Argument&) const = default;
};

struct Layer;

/// A pattern with its arguments, one per parameter of the table. Those taken from the text may be empty.
struct PatternUse {
  PatternKind kind = PatternKind::full;
  std::vector<std::optional<Argument>> arguments;
  std::vector<Layer> inner;  ///< of documents(…): a mask over positions inside the document; empty = full
  bool operator==(const PatternUse&) const;
};

/// A pattern or, in brackets, a list of layers, with its prefixes.
struct Layer {
  Combine combine = Combine::all;
  std::string name;                  ///< "name": …
  bool on = true;                    ///< off: … the layer stays in the list but doesn't apply
  std::optional<HeadSet> heads;      ///< heads(…): … the layer applies only to these heads
  std::optional<HeadSet> sequences;  ///< sequences(…): … the layer applies only to these lines of the batch
  bool negated = false;              ///< !…
  PatternUse pattern;                ///< used if group is empty
  std::vector<Layer> group;
  bool isGroup() const { return !group.empty(); }
  /// Whether the layer applies to this head of this line of the batch. Sequences have no kv heads.
  bool appliesTo(Index head, Index kvHead, Index sequence) const {
    return on && (!heads || heads->contains(head, kvHead)) &&
           (!sequences || sequences->contains(sequence, -1));
  }
  bool operator==(const Layer&) const = default;
};

using MaskLayers = std::vector<Layer>;

/// Returns a use of `kind` with the table's default arguments; those taken from the text are empty.
PatternUse defaultUse(PatternKind kind);

struct ParsedMask {
  MaskLayers layers;                 ///< empty for an empty text: everything is visible
  std::optional<SyntaxError> error;  ///< if set, there are no layers
};

/// Parses the text form. "&" binds tighter than "|", which binds tighter than "then"; all group from the
/// left. Errors are counts outside their limits, unknown names, brackets nested more than 64 deep, and more
/// than 4,096 layers or 1 MiB of text. Omitted arguments get the table's default, except those taken from the
/// text.
ParsedMask parseMask(std::string_view text);

/// Returns the text form. parseMask() restores the same layers, except that a group without prefixes at the
/// start of a list is replaced by its layers.
std::string maskText(const MaskLayers& layers);
std::string layerText(const Layer& layer);

/// Returns two lines: the text, cut around `offset` if it is long, and a caret under that place.
std::string caretText(std::string_view text, std::size_t offset);

/// Returns one head's mask in symbols: "j ≤ i ∧ (0 ≤ i − j < 128 ∨ j < 4)".
std::string maskFormula(const MaskLayers& layers, Index head, Index kvHead, Index sequence);

/// Returns an Error if a heads(…) of a layer that is on names a head or kv head that doesn't exist.
Status checkHeads(const MaskLayers& layers, Index heads, Index kvHeads);

}  // namespace headscope::attention
