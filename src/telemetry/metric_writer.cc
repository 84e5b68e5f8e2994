// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metric_writer.h"

#include <charconv>
#include <unordered_set>

#include "base/utf8.h"

namespace nereid::telemetry {
namespace {

constexpr std::string_view kTotal = "_total";

std::string EscapeHelp(std::string_view help, Exposition exposition) {
  std::string escaped;
  for (const char c : base::ReplaceInvalidUtf8(help)) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == '\\' || (c == '"' && exposition == Exposition::kOpenMetrics)) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

/// Returns the unit that a family's name ends with; empty if that is none.
std::string_view UnitOf(std::string_view family) {
  for (const std::string_view unit : {"bytes", "us", "ms", "secs", "seconds"}) {
    if (family.size() <= unit.size() + 1 || !family.ends_with(unit)) continue;
    if (family[family.size() - unit.size() - 1] == '_') return unit;
  }
  return {};
}

/// The decimal text of a number, without an allocation.
class Decimal {
 public:
  explicit Decimal(uint64_t value) : end_(std::to_chars(text_, text_ + sizeof(text_), value).ptr) {}
  operator std::string_view() const { return text(); }  // NOLINT: implicit by design
  std::string_view text() const { return {text_, static_cast<size_t>(end_ - text_)}; }

 private:
  char text_[24];
  const char* const end_;
};

}  // namespace

void FamilyWriter::Line(std::string_view suffix, std::string_view labels,
                        std::string_view more_name, std::string_view more_value,
                        std::string_view value) {
  lines_.append(name_).append(suffix);
  if (!labels.empty() || !more_name.empty()) {
    lines_.append("{").append(labels);
    if (!more_name.empty()) {
      if (!labels.empty()) lines_ += ',';
      lines_.append(more_name).append("=\"").append(more_value).append("\"");
    }
    lines_ += '}';
  }
  lines_.append(" ").append(value).append("\n");
}

void FamilyWriter::CountAndSum(std::string_view labels, std::string_view count,
                               std::string_view sum) {
  Line("_count", labels, count);
  Line("_sum", labels, sum);
}

void FamilyWriter::Sample(const Labels& labels, uint64_t value) {
  if (Admit(labels)) Line("", labels.text(), Decimal(value));
}

void FamilyWriter::Sample(const LabelSeries& series, std::string_view label_value, uint64_t value) {
  series_text_.clear();
  series.AppendText(label_value, &series_text_);
  if (seen_.Add(series_text_)) Line("", series_text_, Decimal(value));
}

void FamilyWriter::Sample(const Labels& labels, double value) {
  if (Admit(labels)) Line("", labels.text(), FormatMetricValue(value));
}

void FamilyWriter::Sample(const Labels& labels, const Counter& counter) {
  if (counter.is_whole()) {
    Sample(labels, counter.whole());
  } else {
    Sample(labels, counter.value());
  }
}

void FamilyWriter::Bucket(const Labels& labels, std::string_view bound, uint64_t cumulative,
                          const HistogramSnapshot& histogram, size_t index) {
  Line("_bucket", labels.text(), "le", bound, Decimal(cumulative));
  const bool has_exemplar =
      index < histogram.exemplars.size() && !histogram.exemplars[index].empty();
  if (!has_exemplar || exposition_ != Exposition::kOpenMetrics) return;
  const Exemplar& exemplar = histogram.exemplars[index];
  lines_.pop_back();  // the end of the line
  lines_.append(" # {trace_id=\"").append(exemplar.trace_id).append("\"} ");
  lines_.append(FormatMetricValue(exemplar.value)).append(" ");
  lines_.append(Decimal(exemplar.wall_ms / 1000)).append(".");
  lines_.append(Decimal(1000 + exemplar.wall_ms % 1000).text().substr(1)).append("\n");
}

// OpenMetrics wants the count and the sum behind the buckets; Triton's library writes them first.
void FamilyWriter::Sample(const Labels& labels, const HistogramSnapshot& histogram) {
  if (!Admit(labels)) return;
  const Decimal total(histogram.TotalCount());
  const std::string sum = FormatMetricValue(histogram.sum);
  const bool is_open_metrics = exposition_ == Exposition::kOpenMetrics;
  if (!is_open_metrics) CountAndSum(labels.text(), total, sum);
  uint64_t cumulative = 0;
  for (size_t i = 0; i < histogram.bounds.size() && i < histogram.counts.size(); ++i) {
    cumulative += histogram.counts[i];
    Bucket(labels, FormatBound(histogram.bounds[i], exposition_), cumulative, histogram, i);
  }
  Bucket(labels, "+Inf", histogram.TotalCount(), histogram, histogram.bounds.size());
  if (is_open_metrics) CountAndSum(labels.text(), total, sum);
}

void FamilyWriter::Sample(const Labels& labels, const SummarySnapshot& summary) {
  if (!Admit(labels)) return;
  CountAndSum(labels.text(), Decimal(summary.count), Decimal(summary.sum));
  for (const auto& [quantile, value] : summary.quantiles) {
    Line("", labels.text(), "quantile", FormatBound(quantile, exposition_),
         FormatMetricValue(value));
  }
}

std::string_view FamilyWriter::FamilyName() const {
  std::string_view name = name_;
  if (exposition_ == Exposition::kOpenMetrics && FamilyType() == "counter") {
    name.remove_suffix(kTotal.size());
  }
  return name;
}

std::string_view FamilyWriter::FamilyType() const {
  const bool is_nameless =
      type_ == "counter" && (!name_.ends_with(kTotal) || name_.size() == kTotal.size());
  return exposition_ == Exposition::kOpenMetrics && is_nameless ? "unknown" : type_;
}

void FamilyWriter::AppendTo(std::string* page) const {
  const std::string_view family = FamilyName();
  if (!help_.empty()) {
    page->append("# HELP ").append(family).append(" ");
    page->append(EscapeHelp(help_, exposition_)).append("\n");
  }
  page->append("# TYPE ").append(family).append(" ").append(FamilyType()).append("\n");
  const std::string_view unit = UnitOf(family);
  if (exposition_ == Exposition::kOpenMetrics && !unit.empty()) {
    page->append("# UNIT ").append(family).append(" ").append(unit).append("\n");
  }
  page->append(lines_);
}

FamilyWriter& MetricWriter::FamilyOfType(std::string_view type, std::string_view name,
                                         std::string_view help) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second->type_ == type ? *found->second : dropped_;
  FamilyWriter& family =
      families_.emplace_back(FamilyWriter(exposition_, type, std::string(name), std::string(help)));
  by_name_.emplace(std::string(name), &family);
  return family;
}

std::string MetricWriter::Text() const {
  constexpr size_t kHeaderBytes = 256;
  size_t size = 0;
  for (const FamilyWriter& family : families_) size += kHeaderBytes + family.lines_.size();
  std::string text;
  text.reserve(size);
  std::unordered_set<std::string_view> names;
  for (const FamilyWriter& family : families_) {
    if (family.lines_.empty() || !names.insert(family.FamilyName()).second) continue;
    family.AppendTo(&text);
  }
  if (exposition_ == Exposition::kOpenMetrics) text.append("# EOF\n");
  return text;
}

}  // namespace nereid::telemetry
