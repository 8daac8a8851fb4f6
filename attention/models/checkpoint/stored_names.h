#pragma once

#include <map>
#include <string>
#include <vector>

#include "attention/models/checkpoint/checkpoint.h"

namespace headscope::attention {

/// Adds the names that save_model() of safetensors dropped because several names shared one tensor: its
/// metadata map each of them to the name that was kept.
void addOtherNames(const std::map<std::string, std::string>& metadata,
                   std::map<std::string, TensorView>& tensors);

/// Removes from the tensors' names what programs that wrap a model add to them, such as "_orig_mod.", unless
/// the family's own names have it too. Returns what was removed, one sentence each.
std::vector<std::string> unwrapNames(std::map<std::string, TensorView>& tensors, const TensorNaming& naming);

/// Returns an Error if the tensors are changes to a model's weights that PEFT keeps apart (Hu et al. 2021,
/// LoRA), with or without the weights themselves.
Status refuseAdapters(const std::map<std::string, TensorView>& tensors, const std::filesystem::path& folder);

}  // namespace headscope::attention
