// Small helpers to make elements.

type Attributes = Record<string, string | number | boolean | null>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children);
  return element;
}

const kIcons = {
  play: '<path d="M7 4.5v15l12.5-7.5z" fill="currentColor" stroke="none"/>',
  pause: '<path d="M7 5h3.6v14H7zM13.4 5H17v14h-3.6z" fill="currentColor" stroke="none"/>',
  back: '<path d="M15 6l-7 6 7 6z" fill="currentColor"/><path d="M5.5 6v12"/>',
  forward: '<path d="M9 6l7 6-7 6z" fill="currentColor"/><path d="M18.5 6v12"/>',
  loop: '<path d="M4 11a6 6 0 0 1 6-5h8"/><path d="M15.5 3L18.5 6l-3 3"/><path d="M20 13a6 6 0 0 1-6 5H6"/><path d="M8.5 21L5.5 18l3-3"/>',
  panel: '<rect x="3.5" y="5" width="17" height="14" rx="2"/><path d="M14.5 5v14"/>',
  sun: '<circle cx="12" cy="12" r="4"/><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M18.4 5.6L17 7M7 17l-1.4 1.4"/>',
  help: '<circle cx="12" cy="12" r="8.5"/><path d="M9.6 9.6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.2.9-1.2 1.8"/><path d="M12 16.6v.1"/>',
  frame: '<path d="M4 9V5a1 1 0 0 1 1-1h4M15 4h4a1 1 0 0 1 1 1v4M20 15v4a1 1 0 0 1-1 1h-4M9 20H5a1 1 0 0 1-1-1v-4"/><circle cx="12" cy="12" r="2.2"/>',
  reset: '<path d="M5 5v5h5"/><path d="M5.6 10A7.2 7.2 0 1 1 4.8 13.5"/>',
  hand: '<path d="M8 13V6.2a1.4 1.4 0 0 1 2.8 0V11M10.8 11V4.6a1.4 1.4 0 0 1 2.8 0V11M13.6 11V6a1.4 1.4 0 0 1 2.8 0v6M16.4 12V8.6a1.4 1.4 0 0 1 2.8 0V14c0 4-2.2 6.5-5.8 6.5-3 0-4.4-1.3-5.9-4l-2-3.6c-.7-1.3 1-2.4 1.9-1.2L8 13"/>',
  open: '<path d="M4 19V6a1 1 0 0 1 1-1h4.5l2 2.5H19a1 1 0 0 1 1 1V19a0 0 0 0 1 0 0z"/>',
} as const;

export type Icon = keyof typeof kIcons;

export function set_icon(button: HTMLElement, icon: Icon): void {
  button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true">${kIcons[icon]}</svg>`;
}

export function icon_button(icon: Icon, label: string, on_click: (event: MouseEvent) => void): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'icon', 'aria-label': label, title: label });
  set_icon(button, icon);
  button.addEventListener('click', on_click);
  return button;
}

// Storage that may be missing (a page from disk, a private window): then nothing is remembered.
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`lithe.${key}`, value);
  } catch {
    // nothing is lost but the memory
  }
}

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(`lithe.${key}`);
  } catch {
    return null;
  }
}
