#pragma once

#include "attention/models/config/config_reader.h"

namespace headscope::attention {

/// The part of a config.json that describes the text model, and what else the file describes.
struct TextModel {
  ConfigReader json;
  bool nested = false;      ///< not the whole file, so the file may leave out what its type has by default
  std::string others = {};  ///< "vision and audio" for vision_config and audio_config
};
/// Returns the file itself, or an object such as text_config, which may be inside another (thinker_config).
TextModel textPart(const ConfigReader& root);

/// Returns the fields whose names speak of attention, heads, layers, caches, windows, groups or sharing, and
/// that nobody has asked `json` for, as a list in quotes; "" if there are none. Leaves out those that don't
/// change how much is stored or computed.
std::string unreadOfAttention(const ConfigReader& json);

/// Returns the default sizes of a nested type, as JSON.
std::string_view nestedDefaults(std::string_view type);

}  // namespace headscope::attention
