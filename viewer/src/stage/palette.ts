// Colours. Bodies: six muted hues of one lightness (OKLCH L 0.66, C ≤ 0.095), one per robot; static things grey.
// Physics: the same colour for the same quantity everywhere, stronger than any body's.

export const kRobotColors = ['#6a95cc', '#c67b71', '#68a271', '#9b85c4', '#aa8f49', '#6f9cae'] as const;
export const kStaticColor = '#9a9da3';

export interface Theme {
  name: 'light' | 'dark';
  background: string;
  grid: string;
  text: string;
  muted: string;
  normal: string;
  friction: string;
  gradient: string;
  joint_axis: string;
  shadow: number; // opacity of the ground's shadow
  series: readonly string[];
}

export const kLight: Theme = {
  name: 'light',
  background: '#f4f5f7',
  grid: '#8b919c',
  text: '#1c1f24',
  muted: '#565c66',
  normal: '#0a7f78',
  friction: '#d9660b',
  gradient: '#c2187f',
  joint_axis: '#3a3f47',
  shadow: 0.2,
  series: ['#2f64a8', '#a8483b', '#2f7a3f', '#6c4fa6', '#7a5f10', '#2b7186'],
};

export const kDark: Theme = {
  name: 'dark',
  background: '#14161a',
  grid: '#6d7480',
  text: '#e9ebef',
  muted: '#a3aab6',
  normal: '#2dc9bd',
  friction: '#ff9440',
  gradient: '#ff5fb8',
  joint_axis: '#dfe3ea',
  shadow: 0.5,
  series: ['#85b2ee', '#eb9a8e', '#85c891', '#bda6ec', '#d0b360', '#85c3d8'],
};

export function robot_color(robot: number, fixed = false): string {
  if (fixed || robot < 0) return kStaticColor;
  return kRobotColors[robot % kRobotColors.length];
}

// Relative luminance of #rrggbb (WCAG 2.2).
export function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

// a + (b − a) t per channel of #rrggbb: shades joints by the size of a gradient.
export function mix(a: string, b: string, t: number): string {
  const channel = (i: number) => {
    const [x, y] = [a, b].map((hex) => parseInt(hex.slice(i, i + 2), 16));
    return Math.round(x + (y - x) * Math.min(1, Math.max(0, t))).toString(16).padStart(2, '0');
  };
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}
