#pragma once

/// All mask patterns, in the order they are shown. To add one, add a row here and a file in patterns/ that
/// defines patterns::name; PatternKind, the table and the declarations are generated from this list.
#define HEADSCOPE_PATTERNS(ROW) \
  ROW(full)                     \
  ROW(causal)                   \
  ROW(causalTopLeft)            \
  ROW(padding)                  \
  ROW(window)                   \
  ROW(windowBack)               \
  ROW(windowBoth)               \
  ROW(dilated)                  \
  ROW(sinks)                    \
  ROW(streaming)                \
  ROW(chunked)                  \
  ROW(globals)                  \
  ROW(longformer)               \
  ROW(strided)                  \
  ROW(fixed)                    \
  ROW(bigBird)                  \
  ROW(prefixLm)                 \
  ROW(documents)                \
  ROW(packed)                   \
  ROW(sharedPrefix)             \
  ROW(blockDiagonal)            \
  ROW(blockCausal)              \
  ROW(blockDiffusion)           \
  ROW(tree)                     \
  ROW(neighborhood)             \
  ROW(neighborhoodZ)            \
  ROW(image)                    \
  ROW(intervals)                \
  ROW(painted)                  \
  ROW(file)
