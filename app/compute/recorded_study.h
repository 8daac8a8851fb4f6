#pragma once

#include "app/compute/model_study.h"

namespace headscope::app {

/// The same of attention that another program recorded: weights, labels and entropies, and nothing that only
/// a model could say. Errors: what can't be read of the file, more tokens than are shown, and what doesn't
/// fit into memory; "stopped".
attention::Result<ModelStudy> studyRecorded(const ModelQuestion& question, Resources& resources,
                                            const ModelRunner::OnLayer& onLayer, std::stop_token stop);

}  // namespace headscope::app
