// SPDX-License-Identifier: Apache-2.0
// The latency-throughput plot, as text and as SVG.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/tools/bench/level_report.h"
#include "base/utf8.h"

namespace nereid::app::tools {
namespace {

constexpr double kPercents[] = {50, 99};

struct Point {
  double throughput = 0;
  double latency_ms[std::size(kPercents)] = {};
  std::string level;
};

/// The points and the ends of both axes, which begin at zero.
struct Plot {
  std::vector<Point> points;
  double most_throughput = 0, most_latency = 0;
};

/// Returns the next of 1, 2 or 5 times a power of ten that is not below `value`.
double RoundUp(double value) {
  const double power = std::pow(10, std::floor(std::log10(std::max(value, 1e-9))));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (value <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::string Number(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.4g", value);
  // Numbers from 10,000 on would have an exponent.
  if (value >= 10'000) std::snprintf(text, sizeof(text), "%.0f", value);
  return text;
}

Plot PlotOf(const std::vector<LevelResult>& results) {
  Plot plot;
  for (const LevelResult& result : results) {
    if (result.total.answers == 0) continue;
    Point& point = plot.points.emplace_back();
    point.throughput = result.total.Throughput() * static_cast<double>(result.batch);
    point.level = Number(result.level);
    for (size_t i = 0; i < std::size(kPercents); ++i) {
      const uint64_t ns = result.total.latencies.Quantile(kPercents[i] / 100);
      point.latency_ms[i] = static_cast<double>(ns) / 1e6;
      plot.most_latency = std::max(plot.most_latency, point.latency_ms[i]);
    }
    plot.most_throughput = std::max(plot.most_throughput, point.throughput);
  }
  plot.most_latency = RoundUp(plot.most_latency);
  plot.most_throughput = RoundUp(plot.most_throughput);
  return plot;
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : base::ReplaceInvalidUtf8(text)) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      default:
        // XML has no other control characters.
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

constexpr double kLeft = 80, kTop = 50, kWidth = 600, kHeight = 340;

double X(const Plot& plot, double throughput) {
  return kLeft + kWidth * throughput / plot.most_throughput;
}
double Y(const Plot& plot, double latency) {
  return kTop + kHeight * (1 - latency / plot.most_latency);
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" text-anchor=\"" + anchor + "\">" +
         Escaped(text) + "</text>\n";
}

std::string Grid(const Plot& plot) {
  std::string svg;
  constexpr int kLines = 5;
  for (int i = 0; i <= kLines; ++i) {
    const double throughput = plot.most_throughput * i / kLines;
    const double latency = plot.most_latency * i / kLines;
    const std::string x = Number(X(plot, throughput)), y = Number(Y(plot, latency));
    svg += "<path d=\"M" + x + " " + Number(kTop) + "V" + Number(kTop + kHeight) + "M" +
           Number(kLeft) + " " + y + "H" + Number(kLeft + kWidth) + "\" stroke=\"#ccc\"/>\n";
    svg += Text(X(plot, throughput), kTop + kHeight + 20, "middle", Number(throughput));
    svg += Text(kLeft - 8, Y(plot, latency) + 4, "end", Number(latency));
  }
  return svg;
}

std::string Curve(const Plot& plot, size_t percent, const std::string& color) {
  std::string line, marks;
  for (const Point& point : plot.points) {
    const std::string x = Number(X(plot, point.throughput));
    const std::string y = Number(Y(plot, point.latency_ms[percent]));
    line += (line.empty() ? "M" : "L") + x + " " + y;
    marks += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"4\" fill=\"" + color + "\"><title>" +
             point.level + ": " + Number(point.throughput) + "/s, " +
             Number(point.latency_ms[percent]) + " ms</title></circle>\n";
  }
  return "<path d=\"" + line + "\" fill=\"none\" stroke=\"" + color + "\" stroke-width=\"2\"/>\n" +
         marks;
}

}  // namespace

std::string LatencyPlot(const std::vector<LevelResult>& results) {
  const Plot plot = PlotOf(results);
  if (plot.points.size() < 2) return "";
  constexpr size_t kColumns = 60, kRows = 16;
  std::vector<std::string> rows(kRows, std::string(kColumns, ' '));
  // The 50th percentile is drawn last, so that it is seen where both are the same.
  for (size_t percent = std::size(kPercents); percent-- > 0;) {
    for (const Point& point : plot.points) {
      const double x = point.throughput / plot.most_throughput * (kColumns - 1);
      const double y = (1 - point.latency_ms[percent] / plot.most_latency) * (kRows - 1);
      rows[static_cast<size_t>(std::lround(y))][static_cast<size_t>(std::lround(x))] =
          percent == 0 ? 'o' : '*';
    }
  }
  std::string text = "latency in ms over inferences per second: o p50, * p99\n";
  for (size_t i = 0; i < kRows; ++i) {
    std::string label;
    const double latency = plot.most_latency * static_cast<double>(kRows - 1 - i) / (kRows - 1);
    if (i % 5 == 0) label = Number(latency);
    text += std::string(10 - std::min<size_t>(10, label.size()), ' ') + label + " |" + rows[i];
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  const std::string end = Number(plot.most_throughput);
  return text + std::string(11, ' ') + "+" + std::string(kColumns, '-') + "\n" +
         std::string(12, ' ') + "0" +
         std::string(kColumns - 1 - std::min(kColumns - 1, end.size()), ' ') + end + "\n";
}

std::string LatencySvg(const std::vector<LevelResult>& results, const std::string& title) {
  const Plot plot = PlotOf(results);
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 450\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"720\" height=\"450\" fill=\"#fff\"/>\n";
  svg += Text(kLeft, 30, "start", title);
  svg += Grid(plot);
  svg += Text(kLeft + kWidth / 2, kTop + kHeight + 45, "middle", "inferences per second");
  svg += Text(16, kTop - 8, "start", "latency in ms");
  svg += Curve(plot, 1, "#d62728") + Curve(plot, 0, "#1f77b4");
  svg += "<text x=\"" + Number(kLeft + kWidth) +
         "\" y=\"30\" text-anchor=\"end\"><tspan fill=\"#1f77b4\">p50</tspan> <tspan "
         "fill=\"#d62728\">p99</tspan></text>\n";
  return svg + "</svg>\n";
}

}  // namespace nereid::app::tools
