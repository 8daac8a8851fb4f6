#pragma once

#include <span>

#include "app/kit/sentence.h"

namespace headscope::app {

// The parts of a sentence other than its words.

/// ".03", "1": a weight in little space.
std::string briefShare(float weight);

/// Draws a hatch and the reason under words that the mask hides from the query, around the vertical middle y.
void paintHidden(const View& view, const SentenceSubject& subject, const SentenceWords& keys, float y);

/// Draws a single row of cells; if there are more than pixels, each shows the largest it covers.
void paintPooledRow(const View& view, Canvas list, const ImRect& area, const attention::Matrix& row,
                    render::Colormap colormap);

/// Words on an arc.
struct ArcTag {
  ImVec2 middle;
  std::string text;
  std::uint32_t color;
};

/// Draws the arcs of other heads, in the hue of their kv heads. Returns each head's name on its thickest arc.
std::vector<ArcTag> paintCompared(const View& view, const SentenceSubject& subject,
                                  std::span<const Index> heads, const SentenceWords& queries,
                                  const SentenceWords& keys, float top);
/// Draws them one below the other where they would overlap.
void paintTags(const View& view, const std::vector<ArcTag>& tags);

/// Draws the band that leaves the selected query and splits over the keys it reads, and the hovered cell's
/// arc, dashed with its weight. `top`: the upper edge of the room for arcs.
void paintBand(const View& view, const SentenceSubject& subject, const SentenceWords& queries,
               const SentenceWords& keys, float top);

/// The key that each head reads most for the selected query; −1 if it reads all evenly, or none.
std::vector<Index> readMost(const SentenceSubject& subject);

/// Draws a dot for each head, under the word that it reads most.
void headDots(View& view, SentenceState& state, const SentenceSubject& subject, const ImRect& area,
              SentenceHit& hit);

}  // namespace headscope::app
