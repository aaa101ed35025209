// Plots of the motions' series over time, one per unit, and of the solver's curves. The cursor of the time plots is
// the scrubber: it moves with the clock, its values stand in the legend, and pressing in a plot seeks.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Curve, Motion, Series } from '../document/show';
import { h } from '../page/dom';
import type { Theme } from '../stage/palette';
import { frame_at } from '../stage/player';

const kHeight = 132; // px
export const kLiveSpan = 10; // s of a live motion that are plotted

interface Line {
  label: string;
  motion: Motion;
  series: Series;
  color: number;
  dashed: boolean;
}

// Series of the same unit share a plot; of two motions the first is dashed.
export function group_series(motions: readonly Motion[]): Map<string, Line[]> {
  const groups = new Map<string, Line[]>();
  motions.forEach((motion, m) => {
    motion.series.forEach((series) => {
      const lines = groups.get(series.unit) ?? [];
      const same = lines.find((l) => l.label.startsWith(series.name));
      const color = same ? same.color : new Set(lines.map((l) => l.color)).size;
      const label = motions.length > 1 ? `${series.name}, ${motion.name}` : series.name;
      lines.push({ label, motion, series, color, dashed: motions.length > 1 && m === 0 });
      groups.set(series.unit, lines);
    });
  });
  return groups;
}

// Frames [first, end) of a live motion to plot: the last ten seconds, or those around the time of the past that is shown.
export function plotted_frames(times: ArrayLike<number>, time: number): [number, number] {
  const last = times[times.length - 1];
  const end = Math.min(last, Math.max(time + kLiveSpan / 2, times[0] + kLiveSpan));
  return [frame_at(times, end - kLiveSpan), frame_at(times, end) + 1];
}

function format(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : Number(value.toPrecision(4)).toString();
}

// Numbers beside an axis are short, so that none is cut off: 0.01, 250, 60k, 1e-4.
export function tick(value: number | null): string {
  if (value === null) return '';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return Number(value.toPrecision(3)).toExponential();
  const [scale, unit] = size >= 1e6 ? [1e6, 'M'] : size >= 1e4 ? [1e3, 'k'] : [1, ''];
  return `${Number((value / scale).toPrecision(4))}${unit}`;
}

// Of a logarithmic axis, only the powers of ten have a line and a number.
const powers_of_ten: uPlot.Axis.Filter = (_plot, splits) => splits.map((v) => (Math.abs(Math.log10(v) % 1) < 1e-9 ? v : null));

function axis(theme: () => Theme, label: string): uPlot.Axis {
  return {
    values: (_plot, splits) => splits.map(tick),
    stroke: () => theme().muted,
    font: '11px system-ui, sans-serif',
    labelFont: '11px system-ui, sans-serif',
    grid: { stroke: () => `${theme().muted}30`, width: 1 },
    ticks: { stroke: () => `${theme().muted}50`, width: 1, size: 4 },
    ...(label ? { label, labelSize: 16, labelGap: 0 } : {}),
  };
}

export class Plots {
  readonly element = h('div', { class: 'plots' });
  private time_plots_: uPlot[] = [];
  private lines_: Line[][] = []; // of the time plots
  private curve_plots_: uPlot[] = [];
  private hovered_: uPlot | null = null;
  private time_ = 0;

  constructor(private theme_: Theme, private readonly on_seek_: (time: number) => void) {
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  set_theme(theme: Theme): void {
    this.theme_ = theme;
    for (const plot of [...this.time_plots_, ...this.curve_plots_]) plot.redraw(false);
  }

  set_motions(motions: readonly Motion[], curves: readonly Curve[]): void {
    for (const plot of [...this.time_plots_, ...this.curve_plots_]) plot.destroy();
    this.element.replaceChildren();
    const groups = [...group_series(motions)];
    this.lines_ = groups.map(([, lines]) => lines);
    this.time_plots_ = groups.map(([unit, lines]) => this.make_time_plot(unit, lines));
    this.curve_plots_ = curves.map((curve) => this.make_curve_plot(curve));
    if (this.element.childElementCount === 0) this.element.append(h('p', { class: 'note' }, 'This document has no series to plot.'));
    this.set_time(this.time_);
  }

  private get width(): number {
    return Math.max(160, this.element.clientWidth || 280);
  }

  private figure(title: string): HTMLElement {
    const figure = h('figure', { 'aria-label': `Plot: ${title}` }, h('figcaption', {}, title));
    this.element.append(figure);
    return figure;
  }

  private series(line: Pick<Line, 'label' | 'color' | 'dashed'>): uPlot.Series {
    return {
      label: line.label,
      stroke: () => this.theme_.series[line.color % this.theme_.series.length],
      width: 1.5,
      dash: line.dashed ? [4, 4] : [],
      spanGaps: true,
      points: { show: false },
      value: (_plot, value) => format(value),
    };
  }

  private make_time_plot(unit: string, lines: Line[]): uPlot {
    const title = `${[...new Set(lines.map((l) => l.label.split(',')[0]))].join(', ')}${unit ? ` (${unit})` : ''}`;
    // Motions may have other times: joined tables have gaps, which the lines span.
    const data = uPlot.join(lines.map((l) => [Array.from(l.motion.times), Array.from(l.series.values)] as uPlot.AlignedData));
    const theme = () => this.theme_;
    const plot: uPlot = new uPlot({
      width: this.width,
      height: kHeight,
      padding: [8, 10, 0, 0],
      scales: { x: { time: false } },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      legend: { live: true },
      axes: [{ ...axis(theme, ''), size: 26 }, { ...axis(theme, ''), size: 44 }],
      series: [{ label: 'time', value: (_plot, value) => `${value === null ? '–' : value.toFixed(3)} s` }, ...lines.map((l) => this.series(l))],
    }, data, this.figure(title));
    const seek = (event: PointerEvent) => {
      const box = plot.over.getBoundingClientRect();
      this.on_seek_(plot.posToVal(event.clientX - box.left, 'x'));
    };
    plot.over.addEventListener('pointerdown', (event) => {
      plot.over.setPointerCapture(event.pointerId);
      seek(event);
    });
    plot.over.addEventListener('pointermove', (event) => {
      if (event.buttons & 1) seek(event);
    });
    plot.over.addEventListener('pointerenter', () => (this.hovered_ = plot));
    plot.over.addEventListener('pointerleave', () => {
      this.hovered_ = null;
      // uPlot hides its cursor when the pointer leaves; it goes back to the clock after that.
      requestAnimationFrame(() => this.set_time(this.time_));
    });
    return plot;
  }

  private make_curve_plot(curve: Curve): uPlot {
    const theme = () => this.theme_;
    const log = curve.log_y && curve.y.every((y) => y > 0);
    const y_axis = axis(theme, '');
    if (log) Object.assign(y_axis, { filter: powers_of_ten, grid: { ...y_axis.grid, filter: powers_of_ten }, ticks: { ...y_axis.ticks, filter: powers_of_ten } });
    return new uPlot({
      width: this.width,
      height: kHeight + 14,
      padding: [8, 10, 0, 0],
      scales: { x: { time: false }, y: { distr: log ? 3 : 1 } },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      axes: [{ ...axis(theme, curve.x_label), size: 26 }, { ...y_axis, size: 44 }],
      series: [{ label: curve.x_label || 'x', value: (_plot, value) => format(value) }, this.series({ label: curve.y_label || curve.name, color: 0, dashed: false })],
    }, [Array.from(curve.x), Array.from(curve.y)], this.figure(log ? `${curve.name} (log)` : curve.name));
  }

  // A live motion went on: plots what is around the time that is shown.
  follow(time: number): void {
    if (this.element.offsetParent === null) return; // closed
    this.time_plots_.forEach((plot, i) => {
      const { motion } = this.lines_[i][0];
      const [first, end] = plotted_frames(motion.times, time);
      plot.setData([motion.times.subarray(first, end), ...this.lines_[i].map((l) => l.series.values.subarray(first, end))] as uPlot.AlignedData);
    });
    this.set_time(time);
  }

  set_time(time: number): void {
    this.time_ = time;
    for (const plot of this.time_plots_) {
      if (plot === this.hovered_) continue;
      plot.setCursor({ left: plot.valToPos(time, 'x'), top: 0 }, false);
    }
  }

  resize(): void {
    const width = this.width;
    for (const plot of [...this.time_plots_, ...this.curve_plots_])
      if (plot.width !== width) plot.setSize({ width, height: plot.height });
    this.set_time(this.time_);
  }
}
