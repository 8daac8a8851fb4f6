#pragma once

#include "app/compute/layer/snapshot.h"
#include "app/compute/model/model_study.h"

namespace headscope::app {

/// The same of attention that another program recorded: weights, labels and entropies, and nothing that only
/// a model could say. Errors: what can't be read of the file, more tokens than are shown, and what doesn't
/// fit into memory; "stopped".
attention::Result<ModelStudy> studyRecorded(const ModelQuestion& question, Resources& resources,
                                            const ModelRunner::OnLayer& onLayer, std::stop_token stop);

/// The layer of it that the scene shows, for pictures and files: weights, what heads do, and q, k, v and the
/// heads' outputs where the file has them. It has no scores: they hold nothing but 0 and −inf where the mask
/// is seen to be. Its error is studyRecorded()'s.
Snapshot recordedSnapshot(const Setup& setup, Resources& resources, std::stop_token stop = {});

}  // namespace headscope::app
