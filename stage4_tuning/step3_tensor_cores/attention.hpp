// SPDX-License-Identifier: MIT
/// @file
/// Stage 4, step 3 as the host calls it. What it promises stands in common/attention/stages.hpp.
#pragma once

#include "common/attention/problem.hpp"
#include "common/device/device.hpp"

namespace stage4_tuning_step3 {

/// O = softmax(Q K^T / sqrt(D)) V on the device; launches and does not wait.
/// @throws workshop::Refusal before anything is launched, if this step does not promise the problem
/// @throws simt::DeviceError if the device does not take the launch, or is older than 8.0
void attention(const workshop::AttentionProblem& problem, simt::Stream stream);

}  // namespace stage4_tuning_step3
