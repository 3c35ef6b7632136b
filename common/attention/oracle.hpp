// SPDX-License-Identifier: MIT
/// @file
/// The oracle: dense attention in FP64, straight from the formula, with mask code of its own.
/// Readable before any CUDA; all that the workshop calls right is measured against it.
#pragma once

#include <vector>

#include "common/attention/matrix.hpp"
#include "common/attention/problem.hpp"

namespace workshop {

/// P[q_row][*] = softmax over the keys that `q_row` may see; 0 for the others.
/// @param q,k  [N][D]
/// @returns [number of keys]
std::vector<double> attention_weights(const Matrix<double>& q, const Matrix<double>& k, int q_row,
                                      Mask mask);

/// O = softmax(Q K^T / sqrt(D)) V.
/// @param q    [M][D]
/// @param k,v  [N][D]; the mask `causal` needs M = N
/// @returns [M][D]
Matrix<double> attention_oracle(const Matrix<double>& q, const Matrix<double>& k,
                                const Matrix<double>& v, Mask mask);

}  // namespace workshop
