#pragma once

#include "app/compute/layer/snapshot.h"
#include "app/compute/model/model_study.h"

namespace headscope::app {

/// Studies attention recorded by another program: weights, labels and entropies, and nothing that needs a
/// model. Returns an Error if the file can't be read, has more tokens than can be shown, or doesn't fit into
/// memory, or "stopped" if `stop` is requested.
attention::Result<ModelStudy> studyRecorded(const ModelQuestion& question, Resources& resources,
                                            const ModelRunner::OnLayer& onLayer, std::stop_token stop);

/// What was assumed or left out when the recording was opened, and how its weights differ from a softmax's, a
/// sentence each. Reads all weights.
std::vector<std::string> recordedNotes(const attention::RecordedAttention& file);

/// Returns the scene's layer of recorded attention, for pictures and files: weights, what heads do, and q, k,
/// v and the heads' outputs if the file has them. Scores aren't recorded: they are 0, or −inf where the mask
/// hides the key. Its pictures mark values that are no weights. Its error is studyRecorded()'s.
Snapshot recordedSnapshot(const Setup& setup, Resources& resources, std::stop_token stop = {});

}  // namespace headscope::app
