#pragma once

#include "attention/models/config/config_reader.h"
#include "attention/models/config/layer_plan.h"

namespace headscope::attention {

// Parts of reading a config.json's shape that only some models have.

/// The model's type as the file gives it, for messages.
std::string architectureOf(const ConfigReader& json);

/// Refuses fields of layers that cache something other than keys and values. If an unknown type has them, its
/// other fields can't tell what it caches.
void refuseForeignLayers(const ConfigReader& json);

/// Whether the text model reads all tokens at once and decodes nothing, by the class that the file names
/// (whatever the family) or because its attention sees later tokens. `json` is the text model's part of
/// `root`.
bool isEncoder(const ConfigReader& root, const ConfigReader& json);

/// The tokens of a picture in as many tiles as Llama 3.2 Vision takes.
Index pictureTokens(const ConfigReader& root);

/// Adds Zamba2's blocks of attention and MLP beside some of its layers (Glorioso et al. 2024, section 2), and
/// sets repeatedParameters: what is stored once and used in several layers, as in ALBERT (Lan et al. 2020,
/// section 3.1).
void addSharedBlocks(const ConfigReader& json, const ModelType* type, ModelShape& shape);

/// Sets mtpParameters and notes what a reader of the figures has to know.
void addNotes(const ConfigReader& root, const ConfigReader& json, const ModelType* type, ModelShape& shape);

}  // namespace headscope::attention
