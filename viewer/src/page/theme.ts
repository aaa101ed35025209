// Light or dark: as the system says until the user chooses.

import { kDark, kLight, type Theme } from '../stage/palette';
import { recall, remember } from './dom';

export class ThemeSwitch {
  private choice_: 'light' | 'dark' | null;
  private readonly system_ = window.matchMedia('(prefers-color-scheme: dark)');

  constructor(private readonly on_change_: (theme: Theme) => void) {
    const stored = recall('theme');
    this.choice_ = stored === 'light' || stored === 'dark' ? stored : null;
    this.system_.addEventListener('change', () => this.apply());
  }

  get theme(): Theme {
    return (this.choice_ ?? (this.system_.matches ? 'dark' : 'light')) === 'dark' ? kDark : kLight;
  }

  // The other one; choosing what the system says anyway follows the system again.
  toggle(): void {
    const next = this.theme.name === 'dark' ? 'light' : 'dark';
    this.choice_ = next === (this.system_.matches ? 'dark' : 'light') ? null : next;
    remember('theme', this.choice_ ?? '');
    this.apply();
  }

  apply(): void {
    document.documentElement.dataset.theme = this.theme.name;
    this.on_change_(this.theme);
  }
}
