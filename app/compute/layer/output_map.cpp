#include "app/compute/layer/output_map.h"

#include "app/scene/models/open_model.h"
#include "attention/models/checkpoint/weight_slices.h"

namespace headscope::app {

using attention::Matrix;
using attention::Stack;

OutputMap outputMapOf(const LayerParts& layer) {
  const Index dim = layer.config().valueSize();
  OutputMap map;
  if (const attention::Projections* made = layer.projections.get()) {
    map.columns = [made, dim](Index head) -> Matrix { return made->o.weight.middleCols(head * dim, dim); };
    map.bias = made->o.bias;
    map.apply = [made](const Stack& heads, std::stop_token stop) {
      return made->o.apply(attention::mergeHeads(heads), std::move(stop));
    };
    return map;
  }
  const SubjectSetup& subject = layer.question.snapshot->setup.subject;
  const attention::MappedLinear& o =
      subject.opened->model->weights().layers[static_cast<std::size_t>(subject.layer)].o;
  map.columns = [&o, dim](Index head) { return attention::weightColumns(o, head * dim, dim); };
  map.bias = o.bias;
  map.apply = [&o](const Stack& heads, std::stop_token stop) {
    return o.apply(attention::mergeHeads(heads), stop);
  };
  return map;
}

}  // namespace headscope::app
