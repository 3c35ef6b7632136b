// SPDX-License-Identifier: MIT
/// @file
/// What a launcher refuses, in one sentence each.

#include "common/attention/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/attention/stages.hpp"

namespace workshop {
namespace {

constexpr std::uintptr_t kAlignment = 16;  // bytes: the widest load a kernel makes

/// "; stage3_masking takes ..." for the first later stage whose promise is enough, or nothing.
template <typename Predicate>
std::string later_stage(const Stage& stage, Predicate is_enough, std::string_view takes) {
  const auto found = std::ranges::find_if(kStages, [&](const Stage& later) {
    return std::pair(later.number, later.step) > std::pair(stage.number, stage.step) &&
           is_enough(later.promise);
  });
  return found == std::end(kStages) ? "" : fmt::format("; {} {}", found->name, takes);
}

bool has_tile(const Promise& promise, int block_n) {
  return std::ranges::find(promise.block_n, block_n) != promise.block_n.end();
}

void require_kernel(ElementType type, int block_n, const Stage& stage) {
  if (type != ElementType::fp16 && type != ElementType::bf16) {
    throw Refusal(fmt::format("type = {}: the element types are {} ({}) and {} ({})", int(type),
                              name_of(ElementType::fp16), int(ElementType::fp16),
                              name_of(ElementType::bf16), int(ElementType::bf16)));
  }
  if (!has_tile(stage.promise, block_n)) {
    throw Refusal(
        fmt::format("block_n = {}: {} has tiles of {} keys{}", block_n, stage.name,
                    fmt::join(stage.promise.block_n, " or "),
                    later_stage(
                        stage, [&](const Promise& later) { return has_tile(later, block_n); },
                        "has this width")));
  }
}

void require_array(std::string_view name, const void* data) {
  if (data == nullptr) {
    throw Refusal(fmt::format("{} is a null pointer: q, k, v and o must be device arrays", name));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % kAlignment != 0) {
    throw Refusal(fmt::format("{} starts at address {}: it must be a multiple of {} bytes", name,
                              fmt::ptr(data), kAlignment));
  }
}

template <typename Pointer>
void require_shape_of_q(std::string_view name, const DeviceTensor<Pointer>& tensor,
                        const DeviceTensor<const void*>& q) {
  if (tensor.rows != q.rows) {
    throw Refusal(fmt::format(
        "N = {} in q, but {} in {}: the lengths must be equal, since otherwise the two causal "
        "alignments (to the first key, or to the last) would be ambiguous",
        q.rows, tensor.rows, name));
  }
  if (tensor.cols != q.cols) {
    throw Refusal(fmt::format("D = {} in q, but {} in {}: the head dimensions must be equal",
                              q.cols, tensor.cols, name));
  }
}

void require_arrays(const AttentionProblem& problem) {
  require_array("q", problem.q.data);
  require_array("k", problem.k.data);
  require_array("v", problem.v.data);
  require_array("o", problem.o.data);
  require_shape_of_q("k", problem.k, problem.q);
  require_shape_of_q("v", problem.v, problem.q);
  require_shape_of_q("o", problem.o, problem.q);
}

void require_sizes(Mask mask, std::int64_t seq_len, std::int64_t head_dim, int block_n,
                   const Stage& stage) {
  if (std::ranges::find(kHeadDims, head_dim) == std::end(kHeadDims)) {
    throw Refusal(
        fmt::format("D = {}: the head dimensions are {}", head_dim, fmt::join(kHeadDims, ", ")));
  }
  if (seq_len < 1 || seq_len > kMaxSeqLen) {
    throw Refusal(fmt::format("N = {}: the lengths are 1 to {}", seq_len, kMaxSeqLen));
  }
  if (!stage.promise.any_length && seq_len % block_n != 0) {
    throw Refusal(fmt::format("N = {}: {} takes multiples of {}{}", seq_len, stage.name, block_n,
                              later_stage(
                                  stage, [](const Promise& later) { return later.any_length; },
                                  fmt::format("takes every N from 1 to {}", kMaxSeqLen))));
  }
  if (mask == Mask::causal && !stage.promise.causal) {
    throw Refusal(fmt::format(
        "mask = causal: {} takes no mask{}", stage.name,
        later_stage(
            stage, [](const Promise& later) { return later.causal; }, "takes none or causal")));
  }
}

}  // namespace

void require_promised(const AttentionProblem& problem, const Stage& stage) {
  require_kernel(problem.type, problem.block_n, stage);
  require_arrays(problem);
  require_sizes(problem.mask, problem.q.rows, problem.q.cols, problem.block_n, stage);
}

void require_promised(ElementType type, Mask mask, std::int64_t seq_len, std::int64_t head_dim,
                      int block_n, const Stage& stage) {
  require_kernel(type, block_n, stage);
  require_sizes(mask, seq_len, head_dim, block_n, stage);
}

}  // namespace workshop
