// SPDX-License-Identifier: MIT
/// @file
/// The contract of a kernel as a checked type: what a launcher is asked for, and when it says no.
///
/// O = softmax(Q K^T / sqrt(D)) V, one head; Q, K, V, O row-major and contiguous [N][D], O in the
/// type of the inputs; 1 <= N <= 2048; D 16, 32 or 64; no mask, or causal (k_col <= q_row).
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "common/attention/element.hpp"

namespace workshop {

/// Which keys a row sees: all of them, or those up to its own, the diagonal included.
enum class Mask { none, causal };

/// The name in tables and results.
constexpr std::string_view name_of(Mask mask) { return mask == Mask::none ? "none" : "causal"; }

inline constexpr int kMaxSeqLen = 2048;
inline constexpr int kHeadDims[] = {16, 32, 64};

/// A request that is not carried out: one sentence with the parameter, the value given and the
/// values allowed. Whoever throws it has launched nothing and written nothing.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An array in the memory of the device: [rows][cols], row-major, contiguous, 16-bit elements.
template <typename Pointer>
struct DeviceTensor {
  Pointer data = nullptr;
  std::int64_t rows = 0;  // N
  std::int64_t cols = 0;  // D
};

/// One head of attention. Lengths stand in each tensor, so that a mismatch can be seen and named.
struct AttentionProblem {
  DeviceTensor<const void*> q;  // [N][D]
  DeviceTensor<const void*> k;  // [N][D]
  DeviceTensor<const void*> v;  // [N][D]
  DeviceTensor<void*> o;        // [N][D]
  ElementType type = ElementType::fp16;
  Mask mask = Mask::none;
  int block_n = 32;  // keys a tile holds

  int seq_len() const { return int(q.rows); }
  int head_dim() const { return int(q.cols); }
  bool causal() const { return mask == Mask::causal; }

  /// 1 / sqrt(D), rounded once to FP32.
  float softmax_scale() const { return float(1.0 / std::sqrt(double(head_dim()))); }
};

struct Stage;

/// Checks all that a launcher can see: sizes, types, pointers, alignment, and what `stage` promises.
/// @throws Refusal naming the parameter, the value given and the values allowed, and, where another
///         stage would do it, that stage
void require_promised(const AttentionProblem& problem, const Stage& stage);

/// The part of it that needs no arrays, for command lines: asked before anything is allocated.
/// @param seq_len,head_dim  N and D, as given: any number
/// @throws Refusal as above
void require_promised(ElementType type, Mask mask, std::int64_t seq_len, std::int64_t head_dim,
                      int block_n, const Stage& stage);

}  // namespace workshop
