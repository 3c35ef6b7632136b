// SPDX-License-Identifier: MIT
/// @file
/// For tests of the harness on the CPU device: host code in the place of a kernel, with a fault of
/// one's choice.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>

#include "common/attention/error_bound.hpp"
#include "common/attention/inputs.hpp"
#include "common/attention/problem.hpp"
#include "common/device/device.hpp"

namespace workshop {

/// What the kernel under test does to the right answer before it writes it, and how often it ran.
struct Plant {
  std::function<void(Matrix<double>& o, const Expectation&)> spoil_values = {};
  std::function<void(std::uint16_t* o, std::size_t count)> spoil_memory = {};
  int launches = 0;
};
inline Plant plant;

inline Matrix<std::uint16_t> stored(const DeviceTensor<const void*>& tensor) {
  Matrix<std::uint16_t> matrix(int(tensor.rows), int(tensor.cols));
  std::memcpy(matrix.values.data(), tensor.data, matrix.values.size() * sizeof(std::uint16_t));
  return matrix;
}

/// The oracle in the place of a kernel; F64 values are rounded once.
inline void planted_attention(const AttentionProblem& problem, simt::Stream) {
  ++plant.launches;
  const Inputs inputs{problem.type, stored(problem.q), stored(problem.k), stored(problem.v)};
  const Expectation expectation = expect(inputs, problem.mask);
  Matrix<double> values = expectation.o;
  if (plant.spoil_values) plant.spoil_values(values, expectation);
  const auto rounded = round_matrix(problem.type, values);
  auto* o = static_cast<std::uint16_t*>(problem.o.data);
  std::memcpy(o, rounded.values.data(), rounded.values.size() * sizeof(std::uint16_t));
  if (plant.spoil_memory) plant.spoil_memory(o, rounded.values.size());
}

}  // namespace workshop
