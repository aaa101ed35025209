import { App } from './app';
import { h } from './page/dom';
import './styles.css';
import './live.css';

const root = document.getElementById('app')!;

function start(): void {
  try {
    const app = new App(root);
    app.start(document.getElementById('lithe-show')?.textContent ?? 'null');
    // For tests and for pictures made by a command.
    Object.assign(window, { lithe_viewer: app });
  } catch (error) {
    // Most likely a browser without WebGL: say so instead of an empty page.
    const reason = error instanceof Error ? error.message : String(error);
    root.replaceChildren(h('section', { class: 'empty', role: 'alert' }, h('h1', {}, 'The viewer could not start'), h('p', {}, reason)));
  }
  document.getElementById('loading')?.remove();
}

// The page is painted before the slow part, making the 3D context and its shaders, begins.
requestAnimationFrame(() => setTimeout(start));
