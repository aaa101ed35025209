// Where the pictures lie in the window: one pane, or two beside each other (above each other when they get much larger so).
// Free: the part of a pane that panel and bar leave; the camera centres there, and the picture continues below them.

export interface Insets {
  right: number;
  bottom: number;
  top: number;
}

export interface Pane {
  x: number; // left, from the window's left, px
  y: number; // top, from the window's top, px
  width: number;
  height: number;
  free_x: number;
  free_y: number;
  free_width: number;
  free_height: number;
}

const kGain = 1.35; // in size, before panes lie above each other in a wide window

// aspect: width over height of what is shown
export function split_panes(width: number, height: number, insets: Insets, count: number, aspect = 1): Pane[] {
  const free_width = Math.max(80, width - insets.right);
  const free_height = Math.max(80, height - insets.bottom - insets.top);
  const top = insets.top;
  if (count <= 1)
    return [{ x: 0, y: 0, width, height, free_x: 0, free_y: top, free_width, free_height }];
  const beside = Math.min(free_width / 2 / aspect, free_height);
  const above = Math.min(free_width / aspect, free_height / 2);
  if (free_width >= free_height && above < kGain * beside) {
    const half = Math.floor(free_width / 2);
    return [
      { x: 0, y: 0, width: half, height, free_x: 0, free_y: top, free_width: half, free_height },
      { x: half, y: 0, width: width - half, height, free_x: half, free_y: top, free_width: half, free_height },
    ];
  }
  const half = Math.floor(free_height / 2);
  return [
    { x: 0, y: 0, width, height: top + half, free_x: 0, free_y: top, free_width, free_height: half },
    { x: 0, y: top + half, width, height: height - half - top, free_x: 0, free_y: top + half, free_width, free_height: half },
  ];
}
