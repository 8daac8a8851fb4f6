#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compute/layer/snapshot.h"
#include "app/kit/motion.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// What the places of a wiring depend on.
struct WiringSizes {
  ImRect area;
  float unit = 1;  ///< pixels per layout unit
  Index heads = 1, kvHeads = 1;
  bool merged = false;  ///< heads have a line for their drift
};

/// The places of everything in a wiring, in pixels. Only blocks lie over something else, the slots.
struct WiringLayout {
  bool dots = false;            ///< heads are too narrow for pictures
  bool numbered = false;        ///< each head has room for its number and drift
  std::vector<ImRect> numbers;  ///< [heads]
  std::vector<ImRect> heads;    ///< [heads] their pictures, or dots
  std::vector<ImRect> drift;    ///< [heads]; empty if not merged
  std::vector<ImRect> slots;    ///< [heads] where a kv head for each head would be
  std::vector<ImRect> blocks;   ///< [kvHeads] K above V
  std::vector<ImRect> notes;    ///< [kvHeads] under the slots of the kv head's heads
  ImRect bytes, bytesText;      ///< a bar as long as the cache of MHA, and the words after it
  float left = 0;               ///< right end of the labels
};
WiringLayout layWiring(const WiringSizes& sizes);

/// The least height of a wiring, in layout units.
inline constexpr float kLeastWiring = 140;

/// What a wiring shows: which kv head each head reads.
struct WiringSubject {
  const Snapshot& snapshot;
  const SequenceSnapshot& sequence;
  const Look& look;
  const EasedTextures& heads;  ///< their pictures, `factor` × `factor` cells pooled into one
  int factor = 1;
  const EasedTextures& cache;  ///< K and V of each kv head, as cachePicture() draws them
  render::Tint key, value;     ///< for numbers from −1 to 1
  Index head = 0;              ///< the selected one
  Index tokens = 0;            ///< in the cache
  std::string note = "";       ///< a short sentence below, if there is room for it
};

/// The pointer over a wiring.
struct WiringHit {
  std::optional<Index> head;
  bool clicked = false;
};

/// Draws the heads above, K and V of the kv heads below, and a line for each head to the one it reads; how
/// far merging moved each head's weight, what each kv head is the mean of, and the bytes of the cache next to
/// those of MHA. When a click changes the kv heads, blocks slide from their old places to the new ones. Tests
/// find the parts as wiring.head.N, wiring.kv.N and wiring.bytes.
WiringHit wiring(View& view, Motion& motion, const WiringSubject& subject, const ImRect& area);

}  // namespace headscope::app
