// SPDX-License-Identifier: MIT
/// @file
/// Tensor-core and copy instructions against what they should give, on either device. All numbers are
/// small integers, so every order of summation gives the same bits.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/device/device.hpp"
#include "common/device/instruction_kernels.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/require_device.hpp"

namespace {

using workshop::ElementType;

constexpr int kNeeded = 80;  // compute capability
constexpr ElementType kTypes[] = {ElementType::fp16, ElementType::bf16};

/// A vector that lives on the device, too.
template <typename T>
class Shared {
 public:
  explicit Shared(std::vector<T> values) : values_(std::move(values)), buffer_(bytes()) {
    buffer_.upload(values_.data());
  }

  T* data() { return static_cast<T*>(buffer_.data()); }
  const std::vector<T>& values() const { return values_; }

  const std::vector<T>& download() {
    simt::synchronize();
    CHECK(buffer_.guards_intact());
    buffer_.download(values_.data());
    return values_;
  }

 private:
  std::size_t bytes() const { return values_.size() * sizeof(T); }

  std::vector<T> values_;
  simt::Buffer buffer_;
};

/// Integers of at most `limit`, no two rows or columns alike.
int integer(int i, int limit) {
  return int((unsigned(i) * 2654435761u >> 12) % unsigned(2 * limit + 1)) - limit;
}

std::vector<std::uint16_t> integer_matrix(ElementType type, int count, int seed) {
  std::vector<std::uint16_t> bits;
  for (int i = 0; i < count; ++i) {
    bits.push_back(workshop::round_to(type, float(integer(seed + i, 16))));
  }
  return bits;
}

std::vector<std::uint32_t> words(int count) {
  std::vector<std::uint32_t> values;
  for (int i = 0; i < count; ++i) values.push_back(std::uint32_t(i) * 2654435761u);
  return values;
}

}  // namespace

TEST_CASE("mma multiplies the matrices whose elements lie where CuTe's layouts say") {
  workshop::require_device(kNeeded);
  for (const ElementType type : kTypes) {
    Shared a(integer_matrix(type, 16 * 16, 0));
    Shared b(integer_matrix(type, 16 * 8, 1000));
    std::vector<float> start;
    for (int i = 0; i < 16 * 8; ++i) start.push_back(float(integer(2000 + i, 500)));
    Shared d(start);
    instruction_kernels::multiply(type, a.data(), b.data(), d.data());
    const std::vector<float>& got = d.download();
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 8; ++n) {
        float sum = start[m + 16 * n];
        for (int k = 0; k < 16; ++k) {
          sum += workshop::to_float(type, a.values()[m + 16 * k]) *
                 workshop::to_float(type, b.values()[n + 8 * k]);
        }
        INFO(workshop::name_of(type) << ", row " << m << ", column " << n);
        CHECK(got[m + 16 * n] == sum);
      }
    }
  }
}

TEST_CASE("ldmatrix gives each lane the elements that CuTe's layouts say, transposed or not") {
  workshop::require_device(kNeeded);
  std::vector<std::uint16_t> elements;
  for (int i = 0; i < 32 * 8; ++i) elements.push_back(std::uint16_t(i));
  std::vector<int> row_of_lane;
  for (int lane = 0; lane < 32; ++lane) row_of_lane.push_back((lane * 5 + 3) % 32);
  Shared rows(elements);
  Shared lanes(row_of_lane);
  for (const bool transposed : {false, true}) {
    Shared out(std::vector<unsigned>(32 * 4));
    instruction_kernels::load_matrices(transposed, rows.data(), lanes.data(), out.data());
    const std::vector<unsigned>& got = out.download();
    for (int lane = 0; lane < 32; ++lane) {
      for (int reg = 0; reg < 4; ++reg) {
        for (int half = 0; half < 2; ++half) {
          // SM75_U32x4_LDSM_N and SM75_U16x8_LDSM_T, in elements.
          const int place = transposed ? lane % 4 * 16 + lane / 4 + half * 8 : lane * 2 + half;
          const int right = row_of_lane[reg * 8 + place / 8] * 8 + place % 8;
          INFO("transposed " << transposed << ", lane " << lane << ", register " << reg);
          CHECK(int(got[lane * 4 + reg] >> 16 * half & 0xffffu) == right);
        }
      }
    }
  }
}

TEST_CASE("cp.async copies what is valid and fills the rest with zeros") {
  workshop::require_device(kNeeded);
  for (const int count : {0, 1, 33, 64}) {
    Shared in(words(count * 4));  // behind it are guard words, which are not to be read
    Shared out(std::vector<std::uint32_t>(64 * 4, 1));
    instruction_kernels::copy_through_shared(in.data(), count, out.data());
    const std::vector<std::uint32_t>& got = out.download();
    for (int thread = 0; thread < 64; ++thread) {
      for (int word = 0; word < 4; ++word) {
        const int source = (63 - thread) * 4 + word;
        INFO(count << " valid, thread " << thread << ", word " << word);
        CHECK(got[thread * 4 + word] == (source < count * 4 ? in.values()[source] : 0));
      }
    }
  }
}

TEST_CASE("cp.async with two groups under way brings each tile before it is read") {
  workshop::require_device(kNeeded);
  for (const int tiles : {1, 2, 7}) {
    Shared in(words(tiles * 64 * 4));
    Shared sums(std::vector<std::uint32_t>(64));
    instruction_kernels::copy_in_two_groups(in.data(), tiles, sums.data());
    const std::vector<std::uint32_t>& got = sums.download();
    for (int thread = 0; thread < 64; ++thread) {
      std::uint32_t sum = 0;
      for (int tile = 0; tile < tiles; ++tile) {
        for (int word = 0; word < 4; ++word) {
          sum += in.values()[(tile * 64 + (thread ^ 1)) * 4 + word];
        }
      }
      INFO(tiles << " tiles, thread " << thread);
      CHECK(got[thread] == sum);
    }
  }
}

TEST_CASE("pack rounds as element.hpp does and puts the first element into the lower half") {
  workshop::require_device();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> floats = {
      0,         -0.0f,      1,       -2.5f,   0x1.002p0f, 0x1.006p0f, 0x1.01p0f, 0x1.03p0f,
      65504,     65519.9f,   65520,   -1e30f,  0x1p-14f,   0x1.8p-24f, 0x1p-25f,  0x1.2p-25f,
      0x1p-133f, -0x1p-134f, 3.3e38f, 3.4e38f, kInfinity,  -kInfinity, kNan,      1.0f / 3};
  const int count = int(floats.size() / 2);
  for (const ElementType type : kTypes) {
    Shared in(floats);
    Shared out(std::vector<unsigned>(2 * floats.size() / 2));
    instruction_kernels::pack_pairs(type, in.data(), count, out.data());
    const std::vector<unsigned>& got = out.download();
    for (int i = 0; i < count; ++i) {
      const unsigned lo = workshop::round_to(type, floats[2 * i]);
      const unsigned hi = workshop::round_to(type, floats[2 * i + 1]);
      INFO(workshop::name_of(type) << ", " << floats[2 * i] << " and " << floats[2 * i + 1]);
      CHECK(got[i] == (lo | hi << 16));
      CHECK(got[count + i] == (lo | hi << 16));
    }
  }
}
