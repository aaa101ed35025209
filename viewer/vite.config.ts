import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

// The libraries inside ask that their licences go with them.
function licences(): string {
  const texts = ['three', 'uplot'].map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}`);
  return `<!--\nThis page contains:\n\n${texts.join('\n\n').replace(/--/g, '- -')}\n-->\n`;
}

// Puts the bundle's script and style sheet into the page itself, so that dist/viewer.html is the whole viewer:
// it opens from disk, loads nothing, and an exporter only has to replace the document's placeholder.
function single_file(): Plugin {
  return {
    name: 'single-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['index.html'];
      if (page?.type !== 'asset') throw new Error('the build made no index.html');
      let html = String(page.source);
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === 'chunk') {
          // "</script" in a string of the code would end the element; "<!--" would change how the parser reads on.
          const code = item.code.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
          const tag = new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`);
          html = html.replace(tag, '').replace('</body>', () => `<script type="module">${code}</script>\n</body>`);
          delete bundle[name];
        } else if (name.endsWith('.css')) {
          const tag = new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`);
          html = html.replace(tag, () => `<style>${String(item.source)}</style>`);
          delete bundle[name];
        }
      }
      page.source = html.replace('<head>', () => `<head>\n${licences()}`);
      page.fileName = 'viewer.html';
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [single_file()],
  build: {
    target: 'es2022',
    cssCodeSplit: false,
    assetsInlineLimit: 1_000_000,
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
  test: { include: ['test/**/*.test.ts'], environment: 'node' },
} as Parameters<typeof defineConfig>[0]);
