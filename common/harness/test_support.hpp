// SPDX-License-Identifier: MIT
/// @file
/// What several tests need: the words of a refusal, a folder for files, the distance of matrices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>

#include "common/attention/matrix.hpp"
#include "common/attention/problem.hpp"

namespace workshop {

/// What the Refusal that `action` throws says, or "not refused".
template <typename Action>
std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "not refused";
}

/// An empty folder that no other test sees (they run side by side), removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "workshop_test_XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no folder " + pattern);
    path = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path / name).string(); }
  auto count() const { return std::distance(std::filesystem::directory_iterator(path), {}); }

  std::filesystem::path path;
};

template <typename T>
Matrix<T> first_rows(const Matrix<T>& matrix, int rows) {
  Matrix<T> first(rows, matrix.cols);
  std::copy_n(matrix.values.begin(), first.values.size(), first.values.begin());
  return first;
}

/// The largest |a - b|; infinity if the shapes differ, or if any difference is no number.
template <typename A, typename B>
double largest_difference(const Matrix<A>& a, const Matrix<B>& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.rows != b.rows || a.cols != b.cols) return kInfinity;
  double largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double difference = std::abs(double(a.values[i]) - double(b.values[i]));
    if (!(difference <= largest)) largest = std::isnan(difference) ? kInfinity : difference;
  }
  return largest;
}

}  // namespace workshop
