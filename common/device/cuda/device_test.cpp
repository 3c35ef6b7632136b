// SPDX-License-Identifier: MIT
/// @file
/// Errors of a GPU are blamed on the launch that made them. Each case runs in a process of its own,
/// since a kernel that the GPU stopped takes its context with it.
#include "common/device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/device/cuda/faulty_kernels.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/require_device.hpp"

TEST_CASE("the GPU says what it is") {
  workshop::require_device();
  const simt::DeviceInfo info = simt::device_info();
  CHECK(info.kind == simt::DeviceKind::gpu);
  CHECK_FALSE(info.name.empty());
  CHECK_THAT(info.description, ContainsSubstring("compute capability"));
}

TEST_CASE(
    "a compute capability that the GPU lacks is refused with what it has and what is needed") {
  workshop::require_device();
  CHECK_NOTHROW(simt::require_compute_capability(75));
  CHECK_THROWS_AS(simt::require_compute_capability(999), simt::NoDevice);
  CHECK_THROWS_WITH(simt::require_compute_capability(999),
                    ContainsSubstring(simt::device_info().name + " has compute capability") &&
                        ContainsSubstring("this kernel needs 99.9 or higher"));
}

TEST_CASE("a buffer on the GPU keeps what is put into it, and is aligned") {
  workshop::require_device();
  simt::Buffer buffer(1000);
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 16 == 0);
  std::vector<unsigned char> in(1000), out(1000);
  buffer.fill(0xff);
  buffer.download(out.data());
  CHECK(out == std::vector<unsigned char>(1000, 0xff));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7);
  buffer.upload(in.data());
  buffer.download(out.data());
  CHECK(out == in);
  CHECK(buffer.guards_intact());
}

TEST_CASE("a store before or behind a buffer on the GPU is seen") {
  workshop::require_device();
  for (const std::ptrdiff_t offset : {-1, -1024, 16, 1039}) {
    simt::Buffer buffer(16 * sizeof(float));
    simt::cuda::launch_store(static_cast<float*>(buffer.data()) + offset);
    simt::synchronize();
    CHECK_FALSE(buffer.guards_intact());
  }
  simt::Buffer buffer(16 * sizeof(float));
  simt::cuda::launch_store(static_cast<float*>(buffer.data()) + 15);
  simt::synchronize();
  CHECK(buffer.guards_intact());
}

TEST_CASE("launches that are timed in a row are recorded once and made each time") {
  workshop::require_device();
  simt::Buffer buffer(sizeof(float));
  const auto store = [&](simt::Stream stream) {
    simt::cuda::launch_store(static_cast<float*>(buffer.data()), stream);
  };
  store(nullptr);  // the first launch of a process also loads the kernel
  for (const int launches : {1, 2, 20, 1001}) {
    buffer.fill(0xff);
    const double ms = simt::time_ms(store, launches);
    CHECK(ms > 0.0002);  // a launch cannot end sooner
    CHECK(ms < 1);
    float stored = 0;
    buffer.download(&stored);
    CHECK(stored == 1);
  }
}

TEST_CASE("a kernel that the GPU stops while launches are timed is blamed at its launch") {
  workshop::require_device();
  const auto store = [](simt::Stream stream) { simt::cuda::launch_store(nullptr, stream); };
  CHECK_THROWS_WITH(simt::time_ms(store, 40), ContainsSubstring("faulty_kernels.cu:"));
}

TEST_CASE("a launch that the GPU refuses while it is recorded is named, and the next one works") {
  workshop::require_device();
  const auto refused = [](simt::Stream stream) { simt::cuda::launch_too_many_threads(stream); };
  CHECK_THROWS_WITH(simt::time_ms(refused, 40), ContainsSubstring("faulty_kernels.cu:"));
  simt::Buffer buffer(sizeof(float));
  simt::cuda::launch_store(static_cast<float*>(buffer.data()));
  CHECK_NOTHROW(simt::synchronize());
}

TEST_CASE("a kernel that the GPU stops is blamed at its launch") {
  workshop::require_device();
  simt::cuda::launch_store(nullptr);
  CHECK_THROWS_AS(simt::synchronize(), simt::KernelFault);
}

TEST_CASE("the report of a stopped kernel names the file of its launch") {
  workshop::require_device();
  simt::cuda::launch_store(nullptr);
  CHECK_THROWS_WITH(simt::synchronize(), ContainsSubstring("faulty_kernels.cu:"));
}

TEST_CASE("a launch that the GPU refuses is named, and the next one works") {
  workshop::require_device();
  CHECK_THROWS_AS(simt::cuda::launch_too_many_threads(), simt::DeviceError);
  CHECK_THROWS_WITH(simt::cuda::launch_too_many_threads(),
                    ContainsSubstring("faulty_kernels.cu:") && !ContainsSubstring("shared memory"));
  CHECK_THROWS_WITH(simt::cuda::launch_too_much_shared_memory(),
                    ContainsSubstring("faulty_kernels.cu:") && ContainsSubstring("shared memory"));
  simt::Buffer buffer(sizeof(float));
  simt::cuda::launch_store(static_cast<float*>(buffer.data()));
  CHECK_NOTHROW(simt::synchronize());
}
