import { expect, test } from 'vitest';
import { tick } from '../src/panel/plots';

test('numbers beside an axis are short', () => {
  expect([0, 0.01, -2.5, 250, 9999, 60000, -150000, 2.5e6, 1e-4, 3e12, null].map(tick))
    .toEqual(['0', '0.01', '-2.5', '250', '9999', '60k', '-150k', '2.5M', '1e-4', '3e+12', '']);
});
