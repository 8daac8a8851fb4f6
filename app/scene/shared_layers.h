#pragma once

#include "app/scene/shared_value.h"
#include "attention/masks/expression.h"

namespace headscope::app {

/// A mask's layers, up to thousands. Copies share them until one is edited, because every frame copies the
/// scene. Reads like a const list.
class SharedLayers : public SharedValue<attention::MaskLayers> {
 public:
  SharedLayers() = default;
  SharedLayers(attention::MaskLayers layers) : SharedValue(std::move(layers)) {}

  operator const attention::MaskLayers&() const { return **this; }
  bool empty() const { return (*this)->empty(); }
  std::size_t size() const { return (*this)->size(); }
  auto begin() const { return (*this)->begin(); }
  auto end() const { return (*this)->end(); }
  const attention::Layer& operator[](std::size_t at) const { return (**this)[at]; }

  bool operator==(const SharedLayers&) const = default;
};

}  // namespace headscope::app
