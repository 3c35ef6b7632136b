// SPDX-License-Identifier: MIT
/// @file
/// From a type, a head dimension and a tile width known at run time to a kernel's template arguments.
#pragma once

#include <stdexcept>

#include "common/attention/problem.hpp"

namespace workshop {

/// Calls `run.template operator()<Element, kHeadDim>()`, one of the 2 x 3 combinations of the
/// contract. The problem has been checked before (`require_promised`).
template <typename Run>
void dispatch(const AttentionProblem& problem, const Run& run) {
  const auto with_type = [&]<typename Element>() {
    switch (problem.head_dim()) {
      case 16:
        return run.template operator()<Element, 16>();
      case 32:
        return run.template operator()<Element, 32>();
      case 64:
        return run.template operator()<Element, 64>();
      default:
        throw std::logic_error("dispatch: require_promised was not called");
    }
  };
  if (problem.type == ElementType::fp16) {
    with_type.template operator()<Half>();
  } else {
    with_type.template operator()<BFloat16>();
  }
}

/// The same for a kernel with tiles of 32 and of 64 keys: `<Element, kHeadDim, kBlockN>()`.
template <typename Run>
void dispatch_width(const AttentionProblem& problem, const Run& run) {
  dispatch(problem, [&]<typename Element, int kHeadDim>() {
    switch (problem.block_n) {
      case 32:
        return run.template operator()<Element, kHeadDim, 32>();
      case 64:
        return run.template operator()<Element, kHeadDim, 64>();
      default:
        throw std::logic_error("dispatch_width: require_promised was not called");
    }
  });
}

}  // namespace workshop
