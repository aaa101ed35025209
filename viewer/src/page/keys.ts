// Keyboard: which key does what, for the handler and for the help overlay alike.

export type Action =
  | 'play' | 'step_back' | 'step_forward' | 'jump_back' | 'jump_forward' | 'to_start' | 'to_end'
  | 'slower' | 'faster' | 'loop' | 'reset' | 'push' | 'reset_view' | 'follow' | 'collision' | 'contacts' | 'joints' | 'centre_of_mass'
  | 'traces' | 'gradients' | 'plots' | 'compare' | 'panel' | 'theme' | 'open' | 'help' | 'close';

export interface Binding {
  keys: readonly string[]; // KeyboardEvent.key, letters in lower case; "shift+" where it matters
  label: string; // how help shows the key
  action: Action;
  text: string;
  group: 'Time' | 'View' | 'Show';
  live?: string | false; // what it does to a live simulation, if not the same
  recorded?: false; // it does nothing to a recording
}

export const kBindings: readonly Binding[] = [
  { keys: [' '], label: 'Space', action: 'play', text: 'Play or pause', group: 'Time', live: 'Run or pause the simulation' },
  { keys: ['arrowleft'], label: '←', action: 'step_back', text: 'One frame back', group: 'Time' },
  { keys: ['arrowright'], label: '→', action: 'step_forward', text: 'One frame on', group: 'Time', live: 'One step on' },
  { keys: ['shift+arrowleft'], label: 'Shift ←', action: 'jump_back', text: 'Ten frames back', group: 'Time' },
  { keys: ['shift+arrowright'], label: 'Shift →', action: 'jump_forward', text: 'Ten frames on', group: 'Time', live: 'Ten steps on' },
  { keys: ['home'], label: 'Home', action: 'to_start', text: 'To the start', group: 'Time', live: 'As far back as is remembered' },
  { keys: ['end'], label: 'End', action: 'to_end', text: 'To the end', group: 'Time', live: 'Back to now' },
  { keys: ['0', 'backspace'], label: '0', action: 'reset', text: 'Reset the simulation', group: 'Time', recorded: false },
  { keys: ['['], label: '[', action: 'slower', text: 'Slower', group: 'Time' },
  { keys: [']'], label: ']', action: 'faster', text: 'Faster', group: 'Time' },
  { keys: ['l'], label: 'L', action: 'loop', text: 'Loop', group: 'Time', live: false },
  { keys: ['r'], label: 'R', action: 'reset_view', text: 'Reset the camera', group: 'View' },
  { keys: ['f'], label: 'F', action: 'follow', text: 'Follow a body', group: 'View' },
  { keys: ['b'], label: 'B', action: 'compare', text: 'Compare: next way', group: 'View', live: false },
  { keys: ['h'], label: 'H', action: 'push', text: 'Dragging a body pushes it, or orbits', group: 'View', recorded: false },
  { keys: ['v'], label: 'V', action: 'panel', text: 'Panel', group: 'View' },
  { keys: ['d'], label: 'D', action: 'theme', text: 'Light or dark', group: 'View' },
  { keys: ['o'], label: 'O', action: 'open', text: 'Open a document', group: 'View', live: false },
  { keys: ['?', '/'], label: '?', action: 'help', text: 'All keys', group: 'View' },
  { keys: ['escape'], label: 'Esc', action: 'close', text: 'Close', group: 'View' },
  { keys: ['c'], label: 'C', action: 'collision', text: 'Collision shapes', group: 'Show' },
  { keys: ['n'], label: 'N', action: 'contacts', text: 'Contacts and forces', group: 'Show' },
  { keys: ['j'], label: 'J', action: 'joints', text: 'Joint axes', group: 'Show' },
  { keys: ['m'], label: 'M', action: 'centre_of_mass', text: 'Centre of mass', group: 'Show' },
  { keys: ['t'], label: 'T', action: 'traces', text: 'Traces', group: 'Show' },
  { keys: ['g'], label: 'G', action: 'gradients', text: 'Gradients', group: 'Show' },
  { keys: ['p'], label: 'P', action: 'plots', text: 'Plots', group: 'Show' },
];

// The bindings that do something, with what they do.
export function bindings_for(live: boolean): Binding[] {
  return kBindings.filter((b) => (live ? b.live !== false : b.recorded !== false)).map((b) => ({ ...b, text: (live && b.live) || b.text }));
}

interface KeyLike {
  key: string;
  shiftKey?: boolean;
  ctrlKey?: boolean;
  metaKey?: boolean;
  altKey?: boolean;
}

export function action_of(event: KeyLike): Action | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null; // the browser's own
  const key = event.key.toLowerCase();
  const shifted = event.shiftKey ? `shift+${key}` : null;
  const exact = shifted === null ? undefined : kBindings.find((b) => b.keys.includes(shifted));
  return (exact ?? kBindings.find((b) => b.keys.includes(key)))?.action ?? null;
}

// Keys that a focused control needs for itself: text and choices keep all but Escape, buttons keep Space and Enter,
// sliders (but for the scrubber, which steps by frames) keep the arrows, Home and End.
export function belongs_to_control(key: string, tag: string, type: string, is_scrubber: boolean): boolean {
  const name = key.toLowerCase();
  if (name === 'escape' || is_scrubber) return false;
  const element = tag.toLowerCase();
  if (element === 'textarea' || element === 'select') return true;
  if (element === 'button' || element === 'summary' || element === 'a') return name === ' ' || name === 'enter';
  if (element !== 'input') return false;
  if (type === 'checkbox' || type === 'radio') return name === ' ' || (type === 'radio' && name.startsWith('arrow'));
  if (type === 'range') return name.startsWith('arrow') || name === 'home' || name === 'end';
  return true;
}
