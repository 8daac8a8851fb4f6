#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/compute/heads/word_study.h"
#include "app/kit/word_mix.h"
#include "app/widgets/controls.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// What a head reads at the word, which can be made another word.
struct WordReading {
  Index head = 0;
  std::vector<Index> keys;      ///< that the word sees
  std::vector<Choice> choices;  ///< the same, in words
  int chosen = 0;               ///< the key with the largest weight
  bool busy = false;            ///< a vector for another key is being sought
};

/// What the card of a word shows: its vector, the words near it, and all words on a plane.
struct WordCardSubject {
  const WordStudy& study;
  const attention::Matrix& values;      ///< [words, dim] as they are now; the study may be a moment older
  std::span<const std::string> names;   ///< [words]
  std::shared_ptr<const void> version;  ///< another one for other values
  Index word = 0;                       ///< a row
  const Eigen::RowVectorXf& before;     ///< [dim] the word's vector when its card was opened
  const WordReading& reading;           ///< of the selected head
  float x = -1;  ///< the middle of the word above the card, in pixels; −1 = not drawn

  auto now() const { return values.row(word); }
  bool changed() const { return now() != before; }
  bool fixed() const { return !study.fixed.empty(); }
};

/// What a card keeps between frames.
struct WordCardState {
  Index firstDim = -1;  ///< of the opened window of dimensions; −1 = the word's first
  float extent = 0;     ///< of the map; 0 = not known yet
  std::string problem;  ///< what was wrong with what was typed, in a sentence

  struct Drag {
    enum class Kind { none, bar, dot } kind = Kind::none;
    Index dim = 0;
    ImVec2 from;                     ///< the pointer when it began
    Eigen::RowVectorXf vector;       ///< and the word's vector
    Eigen::RowVector2f place{0, 0};  ///< and its place on the map
    bool moved = false;
  } drag;
  /// The number that is being typed; dim −1 = none.
  struct Typing {
    Index dim = -1;
    std::string text, was;
    bool opened = false;
  } typing;
  /// The field of the mixture. Its text follows the vector unless it is being typed in.
  struct Mix {
    std::string text;
    bool active = false, refused = false;  ///< being typed in; kept since it can't be read
  } mix;

  /// What is derived from the values, kept until they change.
  struct Derived {
    std::shared_ptr<const void> of;
    Index word = -1;
    std::vector<MixTerm> mix;
    std::vector<NearWord> nearest;
  } derived;
};

/// What a person did on a card in this frame.
struct WordCardEdit {
  std::optional<Eigen::RowVectorXf> vector = {};  ///< the word's new vector
  std::string drag = {};  ///< the control whose drag it belongs to, one undo step; "" = a step by itself
  bool back = false, all = false, close = false;   ///< buttons
  std::optional<Index> hovered = {}, chosen = {};  ///< a word on the map
  std::optional<Index> aimed = {};                 ///< the key that the head is to read
};

/// The places on a card, in pixels. What there is no room for is empty.
struct WordCardLayout {
  ImRect head;          ///< the word and the card's controls
  ImRect strip, bars;   ///< all numbers, and a window of them
  ImRect cells, dims;   ///< the numbers of that window, and which they are
  ImRect nearest, map;  ///< the nearest words; all words
  ImRect foot;          ///< what to do, or what went wrong
  Index shown = 1;      ///< dimensions in the window
};

/// The height of a card in layout units, on a page `room` units high: a compact one if the page is low.
float wordCardHeight(const View& view, float room);
/// Places a card of `dims` numbers; `unit`: pixels per layout unit. Without `hands` it has no controls.
WordCardLayout layWordCard(const ImRect& area, float unit, Index dims, bool hands);

/// Draws the card. While presenting it has no controls but what is dragged. Tests find its parts as
/// word.card, word.strip, word.bar.DIM, word.cell.DIM, word.typed, word.mix, word.back, word.all, word.close,
/// word.map, word.dot.WORD and word.reads.
WordCardEdit wordCard(View& view, WordCardState& state, const WordCardSubject& subject, const ImRect& area);
/// Draws a card without content that says why.
WordCardEdit emptyWordCard(View& view, const std::string& why, const ImRect& area);

// Its parts.

void wordNumbers(View& view, WordCardState& state, const WordCardSubject& subject,
                 const WordCardLayout& layout, WordCardEdit& edit);
void wordMap(View& view, WordCardState& state, const WordCardSubject& subject, const ImRect& area,
             WordCardEdit& edit);

}  // namespace headscope::app
