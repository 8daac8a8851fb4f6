#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/masks/pattern.h"

namespace headscope::attention {

// A mask as people write and see it: an ordered list of layers, each joined to what the layers before it came
// to. The text form and this list say the same; the grammar stands in the README.

/// How a layer joins what stands before it (the first layer's is not asked).
enum class Combine {
  all,      ///< "&": visible where both are
  any,      ///< "|": visible where either is
  replace,  ///< "then": this layer decides, and what stands before it where this one does not
};

/// Some of the heads: heads(0-3, 6), heads(even), heads(odd), heads(kv 1).
struct HeadSet {
  enum class Kind { range, even, odd, kvHead };
  struct Item {
    Kind kind = Kind::range;
    Index first = 0, last = 0;  ///< range: both inside; kvHead: first alone
    bool operator==(const Item&) const = default;
  };
  std::vector<Item> items;
  bool contains(Index head, Index kvHead) const;
  bool operator==(const HeadSet&) const = default;
};

/// What one parameter was given. count: one value, or one per head; positions, parents: as written; spans:
/// first and last position of each in turn; name, path, convention: text.
struct Argument {
  std::vector<Index> values;
  std::string text;
  bool operator==(const Argument&) const = default;
};

struct Layer;

/// A pattern with its arguments, one for each parameter of the table. Those from the text may be empty.
struct PatternUse {
  PatternKind kind = PatternKind::full;
  std::vector<std::optional<Argument>> arguments;
  std::vector<Layer> inner;  ///< of documents(…): a mask over positions inside the document; empty = full
  bool operator==(const PatternUse&) const;
};

/// A pattern or, in brackets, a list of layers, with what is said about it.
struct Layer {
  Combine combine = Combine::all;
  std::string name;              ///< "name": …
  bool on = true;                ///< off: … stays in the list and is left out
  std::optional<HeadSet> heads;  ///< heads(…): … for other heads it is left out
  std::optional<HeadSet>
      sequences;         ///< sequences(…): … ranges of the batch's lines; for others it is left out
  bool negated = false;  ///< !…
  PatternUse pattern;    ///< asked when group is empty
  std::vector<Layer> group;
  bool isGroup() const { return !group.empty(); }
  bool operator==(const Layer&) const = default;
};

using MaskLayers = std::vector<Layer>;

/// A use of `kind` with the table's standard arguments; those from the text are left out.
PatternUse standardUse(PatternKind kind);

/// Why a text is no mask, and the byte where that shows.
struct MaskTextError {
  std::string message;
  std::size_t offset = 0;
};

struct ParsedMask {
  MaskLayers layers;                   ///< empty for an empty text: everything is visible
  std::optional<MaskTextError> error;  ///< then there are no layers
};

/// Reads the text form. "&" binds tighter than "|", that tighter than "then"; all join from the left. Counts
/// outside their limits, unknown names, more than 64 brackets deep, more than 4,096 layers or 1 MiB of text
/// are errors. Left out arguments that don't come from the text get the table's standard.
ParsedMask parseMask(std::string_view text);

/// The text form: parseMask gives back the same layers (a group that opens a list and about which nothing is
/// said is the same as its layers).
std::string maskText(const MaskLayers& layers);
std::string layerText(const Layer& layer);

/// Two lines: the text (long ones cut around the place) and a caret under the place.
std::string caretText(std::string_view text, std::size_t offset);

/// The mask in symbols with its numbers, for one head: "j ≤ i ∧ (0 ≤ i − j < 128 ∨ j < 4)".
std::string maskFormula(const MaskLayers& layers, Index head, Index kvHead, Index sequence);

/// The first thing that cannot be on `heads` heads: a heads(…) that names one beyond them.
Status checkHeads(const MaskLayers& layers, Index heads, Index kvHeads);

}  // namespace headscope::attention
