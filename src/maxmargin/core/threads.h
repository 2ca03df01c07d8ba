// Threads that live for one call: nothing is kept between calls, so fork, signals and nested pools cannot meet a stale pool.
#pragma once
#include <cstdint>
#include <thread>
#include <vector>

namespace maxmargin {

// Calls work(begin, end) on disjoint ranges that cover [0, count); every range but the last is a multiple of `grain` long.
template <class Work>
void parallel(int threads, int64_t count, int64_t grain, const Work& work) {
  const int64_t pieces = (count + grain - 1) / grain;
  if (threads > pieces) threads = int(pieces);
  if (threads <= 1) {
    if (count > 0) work(int64_t(0), count);
    return;
  }
  auto bound = [&](int t) { return t == threads ? count : pieces * t / threads * grain; };
  std::vector<std::thread> others;
  others.reserve(size_t(threads - 1));
  for (int t = 1; t < threads; ++t) others.emplace_back([&, t] { work(bound(t), bound(t + 1)); });
  work(bound(0), bound(1));
  for (auto& thread : others) thread.join();
}

}  // namespace maxmargin
