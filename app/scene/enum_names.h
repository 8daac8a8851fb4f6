#pragma once

#include <array>
#include <string_view>

#include "app/scene/scene.h"

namespace headscope::app {

// The names of enum values in scene files, in the order of the enums.

inline constexpr std::array<std::string_view, 3> kTokenizationNames{"words", "characters", "bytes"};
inline constexpr std::array<std::string_view, 2> kEmbeddingNames{"text", "table"};
inline constexpr std::array<std::string_view, 5> kPositionNames{"none", "sinusoidal", "rope", "alibi", "t5"};
inline constexpr std::array<std::string_view, 2> kScopeNames{"all", "one"};
inline constexpr std::array<std::string_view, 2> kHeadOffNames{"zero", "mean"};
inline constexpr std::array<std::string_view, 3> kWeightNames{"random", "planted", "file"};
inline constexpr std::array<std::string_view, 2> kWeightInitNames{"xavier", "normal"};
inline constexpr std::array<std::string_view, 8> kBehaviourNames{
    "offset", "first_token", "same_token", "local_band", "uniform", "separator", "random", "induction"};
inline constexpr std::array<std::string_view, 3> kQuantityNames{"weights", "scores", "after_dropout"};
inline constexpr std::array<std::string_view, 4> kRangeNames{"per_head", "shared", "unit", "logarithmic"};
inline constexpr std::array<std::string_view, 6> kColormapNames{"viridis", "cividis", "magma",
                                                                "blues",   "greys",   "diverging"};

inline constexpr std::array<std::string_view, 3> kMapSourceNames{"scene", "generated", "file"};
inline constexpr std::array<std::string_view, 2> kPoolingNames{"max", "mean"};
inline constexpr std::array<std::string_view, 5> kCacheViewNames{"growth", "shapes", "precision", "eviction",
                                                                 "paging"};
inline constexpr std::array<std::string_view, 2> kMemoryPlotNames{"cache", "matrices"};
inline constexpr std::array<std::string_view, 2> kWorkPlotNames{"prefill", "decode"};
inline constexpr std::array<std::string_view, 5> kModelViewNames{"heads", "patch", "attribution", "lens",
                                                                 "study"};
inline constexpr std::array<std::string_view, 3> kPictureMapNames{"query", "first", "rollout"};
inline constexpr std::array<std::string_view, 3> kShownTextNames{"a", "b", "difference"};
inline constexpr std::array<std::string_view, 3> kStudyShapeNames{"table", "map", "scatter"};
inline constexpr std::array<std::string_view, 7> kPieceNames{"stream",  "queries", "keys", "values",
                                                             "pattern", "head",    "mlp"};
inline constexpr std::array<std::string_view, 3> kTabNames{"mask", "biases", "compare"};

}  // namespace headscope::app
