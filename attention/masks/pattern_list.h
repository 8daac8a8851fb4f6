#pragma once

/// Every mask pattern, in the order people are shown them. A new pattern is a row here and a file in
/// patterns/ that defines patterns::name; PatternKind, the table and the declarations all come from this
/// list.
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
