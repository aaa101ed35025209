#include "lithe/plot/svg_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/plot/internal/legend.h"
#include "tests/support/constants.h"

namespace lithe::test {

using namespace internal;
using namespace plot;
namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The value of each such attribute of each such element, in the file's order.
std::vector<std::string> attributes(const std::string& text, const std::string& element, const std::string& name) {
  std::vector<std::string> out;
  for (std::size_t at = text.find("<" + element + " "); at != std::string::npos;
       at = text.find("<" + element + " ", at + 1)) {
    const std::string tag = text.substr(at, text.find('>', at) - at);
    const std::size_t start = tag.find(" " + name + "=\"");
    if (start == std::string::npos) continue;
    const std::size_t value = start + name.size() + 3;
    out.push_back(tag.substr(value, tag.find('"', value) - value));
  }
  return out;
}

struct Point {
  double x, y;
};

std::vector<Point> points(const std::string& text) {
  std::vector<Point> out;
  std::istringstream stream(text);
  char comma = 0;
  for (Point p = {}; stream >> p.x >> comma >> p.y;) out.push_back(p);
  return out;
}

// Tags close in the order in which they opened, and quotes come in pairs.
bool well_formed(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (tag.empty() || tag.find('<') != std::string::npos || count(tag, "\"") % 2 != 0) return false;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}

Figure figure_of(Curve curve) { return {.panels = {{.curves = {std::move(curve)}}}}; }

TEST(SvgPlot, ALineGoesThroughItsPoints) {
  const std::string text = svg(figure_of({.x = {0, 1, 3}, .y = {0, 2, 1}}));
  ASSERT_TRUE(well_formed(text));
  const std::vector<std::string> lines = attributes(text, "polyline", "points");
  ASSERT_EQ(lines.size(), 1u);
  const std::vector<Point> p = points(lines[0]);
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(p[0].x, 0);                                       // lines may start on the frame
  EXPECT_NEAR(p[1].x - p[0].x, (p[2].x - p[0].x) / 3, 0.02);  // to a hundredth of a pixel
  EXPECT_NEAR(p[0].y - p[2].y, (p[0].y - p[1].y) / 2, 0.02);
  EXPECT_GT(p[0].y, p[1].y);  // up is less
}

TEST(SvgPlot, LogarithmicAxesSpaceDecadesEvenly) {
  Figure figure = figure_of({.x = {0, 1, 2}, .y = {0.01, 1, 100}});
  figure.panels[0].y.scale = AxisScale::log;
  const std::vector<Point> p = points(attributes(svg(figure), "polyline", "points").at(0));
  ASSERT_EQ(p.size(), 3u);
  EXPECT_NEAR(p[0].y - p[1].y, p[1].y - p[2].y, 0.02);
}

TEST(SvgPlot, NumbersWithoutAPlaceBreakTheLine) {
  for (const double hole : {test::kNan, kInfinity, -kInfinity}) {
    const std::string text = svg(figure_of({.x = {0, 1, 2, 3, 4}, .y = {1, 2, hole, 3, 4}}));
    EXPECT_EQ(count(text, "<polyline"), 2) << hole;
    EXPECT_FALSE(has(text, "nan") || has(text, "inf"));
  }
  Figure log = figure_of({.x = {0, 1, 2, 3, 4}, .y = {1, 2, -1, 3, 4}});
  EXPECT_EQ(count(svg(log), "<polyline"), 1);
  log.panels[0].y.scale = AxisScale::log;
  EXPECT_EQ(count(svg(log), "<polyline"), 2);
}

TEST(SvgPlot, ALonelyPointShows) {
  EXPECT_EQ(count(svg(figure_of({.x = {0, 1, 2, 3}, .y = {1, test::kNan, 2, 3}})), "<circle"), 1);
}

TEST(SvgPlot, StairsHoldEachValueUntilTheNext) {
  const std::string text = svg(figure_of({.x = {0, 1, 2}, .y = {1, 3, 2}, .stairs = true}));
  const std::vector<Point> p = points(attributes(text, "polyline", "points").at(0));
  ASSERT_EQ(p.size(), 5u);
  EXPECT_EQ(p[1].x, p[2].x);
  EXPECT_EQ(p[1].y, p[0].y);
  EXPECT_EQ(p[3].y, p[2].y);
}

TEST(SvgPlot, NothingToShowIsSaid) {
  EXPECT_TRUE(has(svg({.panels = {{.title = "Empty"}}}), ">no data<"));
  EXPECT_TRUE(has(svg(figure_of({.x = {0, 1}, .y = {test::kNan, test::kNan}})), ">no data: nothing that is finite<"));
  Figure log = figure_of({.x = {0, 1}, .y = {0, -1}});
  log.panels[0].y.scale = AxisScale::log;
  EXPECT_TRUE(has(svg(log), ">no data: nothing that is finite and positive<"));
  EXPECT_TRUE(well_formed(svg({})));
}

TEST(SvgPlot, TextIsEscaped) {
  const std::string hostile = "a<b> & \"c\" 'd'</svg>\x01\n";
  Figure figure = figure_of({.label = hostile, .x = {0, 1}, .y = {0, 1}});
  figure.title = hostile;
  Panel& panel = figure.panels[0];
  panel.title = hostile;
  panel.x = {.label = hostile, .unit = hostile};
  panel.y = {.label = hostile};
  panel.bands = {{.label = hostile, .x = {0, 1}, .lower = {0, 0}, .upper = {1, 1}}};
  panel.targets = {{0.5, hostile}};
  const std::string text = svg(figure);
  EXPECT_TRUE(well_formed(text));
  // In <title>, and as the figure's, the panel's, the axes', the legend's (two) and the target's (with its halo).
  EXPECT_EQ(count(text, "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;&lt;/svg&gt;? "), 1 + 1 + 1 + 3 + 2 + 2);
  EXPECT_FALSE(has(text, "\x01"));
}

TEST(SvgPlot, AxesHaveTheirUnits) {
  Figure figure = figure_of({.x = {0, 1}, .y = {0, 1}});
  figure.panels[0].x = {.label = "Time", .unit = "s"};
  figure.panels[0].y = {.label = "Cost"};
  const std::string text = svg(figure);
  EXPECT_TRUE(has(text, ">Time (s)<"));
  EXPECT_TRUE(has(text, ">Cost<"));
}

TEST(SvgPlot, CurvesDifferInColourAndDashes) {
  Figure figure = {.panels = {{}}};
  for (int i = 0; i < 7; ++i) figure.panels[0].curves.push_back({.x = {0, 1}, .y = {0.0 + i, 1.0 + i}});
  const std::string text = svg(figure);
  const std::vector<std::string> colours = attributes(text, "polyline", "stroke");
  EXPECT_EQ(colours.size(), 7u);
  EXPECT_EQ(std::set(colours.begin(), colours.end()).size(), 7u);
  const std::vector<std::string> dashes = attributes(text, "polyline", "stroke-dasharray");
  EXPECT_EQ(dashes.size(), 6u);  // the first is a full line
  EXPECT_EQ(std::set(dashes.begin(), dashes.end()).size(), 6u);
}

TEST(SvgPlot, AStyleCanBeShared) {
  Figure figure = {
      .panels = {{.curves = {{.x = {0, 1}, .y = {0, 1}, .style = 3}, {.x = {0, 1}, .y = {1, 0}, .style = 3}}}}};
  const std::vector<std::string> colours = attributes(svg(figure), "polyline", "stroke");
  ASSERT_EQ(colours.size(), 2u);
  EXPECT_EQ(colours[0], colours[1]);
}

TEST(SvgPlot, TheLegendHasTheLabelledCurvesOnly) {
  Figure figure = {
      .panels = {{.curves = {{.label = "first", .x = {0, 1}, .y = {0, 0.1}}, {.x = {0, 1}, .y = {0, 0.2}}}}}};
  const std::string text = svg(figure);
  EXPECT_EQ(count(text, ">first<"), 1);
  EXPECT_EQ(attributes(text, "polyline", "points").size(), 2u);
  const int without = count(svg(figure_of({.x = {0, 1}, .y = {0, 0.1}})), "<line");
  EXPECT_EQ(count(svg(figure_of({.label = "first", .x = {0, 1}, .y = {0, 0.1}})), "<line"), without + 1);
}

TEST(SvgPlot, TheLegendAvoidsTheCurves) {
  const PlotLegend legend({{.label = "one"}, {.label = "two"}});
  const auto corner = [&](const std::vector<CanvasPoint>& taken) { return legend.free_corner(500, 200, taken); };
  const auto free = corner({});
  ASSERT_TRUE(free);
  EXPECT_GT(free->x, 250);  // upper right, if it is free
  EXPECT_LT(free->y, 100);
  const auto below = corner({{480, 20}});
  ASSERT_TRUE(below);
  EXPECT_GT(below->x, 250);
  EXPECT_GT(below->y, 100);
  const auto left = corner({{480, 20}, {480, 180}});
  ASSERT_TRUE(left);
  EXPECT_LT(left->x, 250);
  EXPECT_FALSE(corner({{480, 20}, {480, 180}, {20, 20}, {20, 180}}));
  EXPECT_FALSE(legend.free_corner(40, 30, {}));  // too small for it
}

TEST(SvgPlot, BandsMarkersAndTargetsAreDrawn) {
  Figure figure = figure_of({.label = "mean", .x = {0, 1, 2}, .y = {1, 2, 3}, .markers = true});
  figure.panels[0].bands = {{.label = "spread", .x = {0, 1, 2}, .lower = {0, 1, 2}, .upper = {2, 3, 4}, .style = 0}};
  figure.panels[0].targets = {{10, "target"}};
  const std::string text = svg(figure);
  EXPECT_TRUE(well_formed(text));
  const std::vector<std::string> bands = attributes(text, "polygon", "points");
  ASSERT_EQ(bands.size(), 1u);
  EXPECT_EQ(points(bands[0]).size(), 6u);
  EXPECT_EQ(count(text, "<circle"), 3 + 1);  // and one in the legend
  EXPECT_EQ(count(text, ">target<"), 2);     // with its halo
  EXPECT_TRUE(has(text, ">10<"));            // the axis reaches it
}

TEST(SvgPlot, PanelsStandSideBySideOrStacked) {
  const Panel panel = {.curves = {{.x = {0, 1}, .y = {0, 1}}}};
  const std::string stacked = svg({.panels = {panel, panel}, .width = 600, .panel_height = 200});
  const std::string beside = svg({.panels = {panel, panel}, .columns = 2, .width = 600, .panel_height = 200});
  const auto windows = [](const std::string& text, const char* name) {
    std::vector<double> out;
    for (const std::string& value : attributes(text, "svg", name)) out.push_back(std::stod(value));
    return out;
  };
  ASSERT_EQ(windows(stacked, "x").size(), 2u);
  ASSERT_EQ(windows(beside, "x").size(), 2u);
  EXPECT_EQ(windows(stacked, "x")[0], windows(stacked, "x")[1]);
  EXPECT_GT(windows(stacked, "y")[1], windows(stacked, "y")[0] + 199);
  EXPECT_EQ(windows(beside, "y")[0], windows(beside, "y")[1]);
  EXPECT_NEAR(windows(beside, "x")[1], windows(beside, "x")[0] + 300, 1);
  EXPECT_EQ(windows(stacked, "width")[0], 600);
  EXPECT_GT(windows(stacked, "height")[0], windows(beside, "height")[0] + 199);
}

TEST(SvgPlot, FramesAboveOneAnotherLineUp) {
  const Panel narrow = {.curves = {{.x = {0, 1}, .y = {0, 1}}}};
  const Panel wide = {.y = {.label = "Force"}, .curves = {{.x = {0, 1}, .y = {0, 12345}}}};
  const std::vector<std::string> left = attributes(svg({.panels = {narrow, wide}}), "svg", "x");
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0], left[1]);
}

TEST(SvgPlot, WhatMakesNoSenseIsRefused) {
  EXPECT_THROW(svg(figure_of({.x = {0, 1}, .y = {0}})), Error);
  EXPECT_THROW(svg({.panels = {{.bands = {{.x = {0}, .lower = {}, .upper = {1}}}}}}), Error);
  EXPECT_THROW(svg({.panels = {{.x = {.range = AxisRange{1, 1}}}}}), Error);
  EXPECT_THROW(svg({.panels = {{.y = {.scale = AxisScale::log, .range = AxisRange{0, 1}}}}}), Error);
  EXPECT_THROW(svg({.panels = {{}}, .columns = 0}), Error);
  EXPECT_THROW(svg({.panels = {{}}, .width = 10}), Error);
}

TEST(SvgPlot, ExtremeNumbersStayOnThePage) {
  for (const double huge : {1e300, 1e150, 1e-300, 1e-310}) {
    const std::string text = svg(figure_of({.x = {0, 1}, .y = {-huge, huge}}));
    EXPECT_TRUE(well_formed(text));
    EXPECT_FALSE(has(text, "nan") || has(text, "inf")) << huge;
  }
  Figure figure = figure_of({.x = {0, 1, 2}, .y = {0, 1e200, 1}});
  figure.panels[0].y.range = AxisRange{0, 1};
  for (const Point& p : points(attributes(svg(figure), "polyline", "points").at(0))) EXPECT_LT(std::abs(p.y), 1e6);
}

TEST(SvgPlot, FilesHoldTheTextAndFailuresAreErrors) {
  const Figure figure = figure_of({.x = {0, 1}, .y = {0, 1}});
  const std::string path = testing::TempDir() + "lithe_svg_plot_test.svg";
  write_svg(figure, path);
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_EQ(content.str(), svg(figure));
  std::remove(path.c_str());
  EXPECT_THROW(write_svg(figure, testing::TempDir() + "no/such/folder.svg"), Error);
}

}  // namespace
}  // namespace lithe::test
