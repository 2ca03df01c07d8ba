// The binding of text formats.
#include "binding.h"
#include "svmlight.h"
#include "threads.h"

namespace maxmargin {
namespace {

constexpr int64_t least_piece = 1 << 18;  // bytes a thread parses at least

nb::object as_tuple(TextRows&& rows, int64_t before) {
  const int64_t least = rows.least == INT64_MAX ? -1 : rows.least;
  return nb::make_tuple(owned(std::move(rows.targets)), owned(std::move(rows.ends)),
                        owned(std::move(rows.indices), rows.entries),
                        owned(std::move(rows.values), rows.entries), owned(std::move(rows.queries)),
                        least, rows.greatest, rows.lines, int(rows.error), before + rows.error_at,
                        rows.error_column);
}

// Where pieces of about the same size begin, each after a line end; one more for the end.
std::vector<int64_t> pieces(const char* text, int64_t size, int64_t count) {
  std::vector<int64_t> begins(size_t(count) + 1, size);
  begins[0] = 0;
  for (int64_t k = 1; k < count; ++k) {
    const int64_t at = std::max(begins[size_t(k - 1)], size * k / count);
    const void* found = at < size ? std::memchr(text + at, '\n', size_t(size - at)) : nullptr;
    begins[size_t(k)] = found ? static_cast<const char*>(found) - text + 1 : size;
  }
  return begins;
}

// The rows of the pieces of a text, in order, up to the first that has an error.
nb::list parse_svmlight(Array<uint8_t> buffer, int64_t size, int64_t limit, int queries,
                        int threads) {
  require(limit >= 0 && limit <= INT32_MAX,
          "parse_svmlight: the limit of indices must fit 32 bits");
  require(size >= 0 && size + text_padding <= int64_t(buffer.size()),
          "parse_svmlight: bytes of padding must follow the text");
  const char* text = reinterpret_cast<const char*>(buffer.data());
  require(size == 0 || is_line_end(text[size - 1]),
          "parse_svmlight: the text must end with a line end");
  std::vector<TextRows> parts;
  std::vector<int64_t> begins;
  auto parse = [&](size_t k) {
    TextParser(text + begins[k], text + begins[k + 1], limit, queries, parts[k]).run();
  };
  {
    nb::gil_scoped_release release;
    const int64_t count = std::max<int64_t>(1, std::min<int64_t>(threads, size / least_piece));
    begins = pieces(text, size, count);
    parts.resize(size_t(count));
    parallel(int(count), count, 1, [&](int64_t from, int64_t to) {
      for (int64_t k = from; k < to; ++k) parse(size_t(k));
    });
    for (size_t k = 0; k < parts.size() && parts[k].error == TextError::none; ++k) {
      if (parts[k].targets.empty()) continue;
      const int here = !parts[k].queries.empty();
      if (queries < 0) queries = here;
      if (here == queries) continue;
      parts[k] = TextRows();  // the pieces before decide: its first line is wrong
      parse(k);
    }
  }
  nb::list found;
  for (size_t k = 0; k < parts.size(); ++k) {
    const bool last = parts[k].error != TextError::none;
    found.append(as_tuple(std::move(parts[k]), begins[k]));
    if (last) break;
  }
  return found;
}

nb::bytes format_svmlight(Array<double> targets, std::optional<Array<int64_t>> queries,
                          Array<int64_t> indptr, Array<int32_t> indices, Array<double> values,
                          int64_t base) {
  const size_t n = targets.size();
  require(indptr.size() == n + 1 && indices.size() == values.size() &&
              (!queries || queries->size() == n),
          "format_svmlight: lengths differ");
  const int64_t* ends = indptr.data();
  for (size_t i = 0; i < n; ++i) require(ends[i] <= ends[i + 1], "format_svmlight: indptr falls");
  require(ends[0] >= 0 && ends[n] <= int64_t(values.size()),
          "format_svmlight: indptr is out of range");
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
  m.attr("TEXT_PADDING") = text_padding;
  m.def("parse_svmlight", &parse_svmlight, nb::arg("buffer"), nb::arg("size"), nb::arg("limit"),
        nb::arg("queries"), nb::arg("threads"));
  m.def("format_svmlight", &format_svmlight, nb::arg("targets"), nb::arg("queries").none(),
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("base"));
}

}  // namespace maxmargin
