// SPDX-License-Identifier: MIT
/// @file
/// A host-side matrix: the shape travels with the numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace workshop {

/// Row-major, contiguous [rows][cols].
template <typename T>
struct Matrix {
  int rows = 0;
  int cols = 0;
  std::vector<T> values;  // [rows][cols]

  Matrix() = default;
  Matrix(int row_count, int col_count, T value = {})
      : rows(row_count), cols(col_count), values(std::size_t(row_count) * col_count, value) {}

  T& operator()(int row, int col) { return values[std::size_t(row) * cols + col]; }
  const T& operator()(int row, int col) const { return values[std::size_t(row) * cols + col]; }

  std::span<T> row(int index) {
    return {values.data() + std::size_t(index) * cols, std::size_t(cols)};
  }
  std::span<const T> row(int index) const {
    return {values.data() + std::size_t(index) * cols, std::size_t(cols)};
  }

  bool operator==(const Matrix&) const = default;
};

}  // namespace workshop
