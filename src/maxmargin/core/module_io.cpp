// The binding of text formats.
#include <nanobind/stl/string.h>

#include "binding.h"
#include "svmlight.h"
#include "threads.h"

namespace maxmargin {
namespace {

constexpr int64_t least_piece = 1 << 18;  // bytes a thread parses at least

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// The rows of the pieces of a text, one after the other; up to the first error.
TextRows joined(std::vector<TextRows>& parts, const std::vector<int64_t>& begins) {
  if (parts.size() == 1) return std::move(parts[0]);
  TextRows all;
  size_t rows = 0, entries = 0;
  for (const TextRows& part : parts) rows += part.targets.size(), entries += part.values.size();
  all.targets.reserve(rows), all.ends.reserve(rows), all.values.reserve(entries), all.indices.reserve(entries);
  for (size_t k = 0; k < parts.size(); ++k) {
    TextRows& part = parts[k];
    const int64_t before = int64_t(all.indices.size());
    if (part.error == TextError::none && !part.targets.empty() && !all.targets.empty() && part.queries.empty() != all.queries.empty()) {
      part.error = TextError::query_mixed, part.error_at = 0;
    }
    for (int64_t stop : part.ends) all.ends.push_back(before + stop);
    append(all.targets, part.targets), append(all.queries, part.queries), append(all.values, part.values), append(all.indices, part.indices);
    all.least = std::min(all.least, part.least), all.greatest = std::max(all.greatest, part.greatest);
    if (part.error != TextError::none) {
      all.error = part.error, all.error_at = begins[k] + part.error_at;
      break;
    }
    part = TextRows();
  }
  return all;
}

nb::object parse_svmlight(Array<uint8_t> text, int64_t limit, int threads) {
  require(limit >= 0 && limit <= INT32_MAX, "parse_svmlight: the limit of indices must fit 32 bits");
  const char* begin = reinterpret_cast<const char*>(text.data());
  const int64_t size = int64_t(text.size());
  TextRows rows;
  {
    nb::gil_scoped_release release;
    const int64_t count = std::max<int64_t>(1, std::min<int64_t>(threads, size / least_piece));
    std::vector<int64_t> begins(size_t(count) + 1, size);
    begins[0] = 0;
    for (int64_t k = 1; k < count; ++k) {
      int64_t at = std::max(begins[size_t(k - 1)], size * k / count);
      while (at < size && begin[at] != '\n') ++at;
      begins[size_t(k)] = std::min(size, at + 1);
    }
    std::vector<TextRows> parts(static_cast<size_t>(count));
    parallel(int(count), count, 1, [&](int64_t from, int64_t to) {
      for (int64_t k = from; k < to; ++k) TextParser(begin + begins[size_t(k)], begin + begins[size_t(k) + 1], limit, parts[size_t(k)]).run();
    });
    rows = joined(parts, begins);
  }
  const int64_t least = rows.least == INT64_MAX ? -1 : rows.least;
  return nb::make_tuple(owned(std::move(rows.targets)), owned(std::move(rows.ends)), owned(std::move(rows.indices)), owned(std::move(rows.values)),
                        owned(std::move(rows.queries)), least, rows.greatest, int(rows.error), rows.error_at);
}

nb::bytes format_svmlight(Array<double> targets, std::optional<Array<int64_t>> queries, Array<int64_t> indptr, Array<int32_t> indices,
                          Array<double> values, int64_t base) {
  const size_t n = targets.size();
  require(indptr.size() == n + 1 && indices.size() == values.size() && (!queries || queries->size() == n), "format_svmlight: lengths differ");
  const int64_t* ends = indptr.data();
  for (size_t i = 0; i < n; ++i) require(ends[i] <= ends[i + 1], "format_svmlight: indptr falls");
  require(ends[0] >= 0 && ends[n] <= int64_t(values.size()), "format_svmlight: indptr is out of range");
  TextWriter out;
  {
    nb::gil_scoped_release release;
    out.text.reserve(n * 8 + size_t(ends[n] - ends[0]) * 16);
    for (size_t i = 0; i < n; ++i) {
      out.number(targets.data()[i]);
      if (queries) out.text += " qid:", out.integer(queries->data()[i]);
      for (int64_t k = ends[i]; k < ends[i + 1]; ++k) {
        out.text += ' ';
        out.integer(int64_t(indices.data()[k]) + base);
        out.text += ':';
        out.number(values.data()[k]);
      }
      out.text += '\n';
    }
  }
  return nb::bytes(out.text.data(), out.text.size());
}

}  // namespace

void bind_io(nb::module_& m) {
  m.def("parse_svmlight", &parse_svmlight, nb::arg("text"), nb::arg("limit"), nb::arg("threads"));
  m.def("format_svmlight", &format_svmlight, nb::arg("targets"), nb::arg("queries").none(), nb::arg("indptr"), nb::arg("indices"),
        nb::arg("values"), nb::arg("base"));
}

}  // namespace maxmargin
