// Makes docs/gallery.md and its pictures, docs/gallery/*.webp: one of each scene and of each experiment, in the light theme.
//
//   node tools/gallery.mjs [only pictures whose name contains this]
//
// Needs build/lithe ($LITHE names another), the viewer's page and a Chromium ($CHROMIUM); `make gallery` provides them. Scenes are
// simulated. Experiments are taken from out/experiments if `make experiments` left its report there, else run anew in their short version.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launch } from '../viewer/test/browser/harness.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const lithe_program = resolve(process.env.LITHE ?? join(root, 'build/lithe'));
const viewer_page = resolve(process.env.LITHE_VIEWER ?? join(root, 'viewer/dist/viewer.html'));
const pictures = join(root, 'docs/gallery');
const kSize = { width: 640, height: 400 };
const kSharpness = 1.5; // pixels of a picture per pixel of the page
const kQuality = 0.86; // of WebP
const kColumns = 3;

// When a scene shows best what it is about: seconds to simulate, the time of the picture, and keys of the viewer to press
// (t: traces, n: no contacts). From where: by how many degrees the camera goes around and up from where it is at first, and how many times
// as far it is.
const kUsual = { seconds: 1, at: 0.5, keys: '', around: 0, up: 0, far: 1 };
const kScenes = {
  ball_and_wall: { seconds: 0.6, at: 0.6, keys: 't', around: -46, up: 4, far: 1 },
  bouncing_ball: { seconds: 1.6, at: 1.2, keys: 't' },
  boxes: { seconds: 0.1, at: 0.05 },
  cartpole: { seconds: 0.4, at: 0.1, keys: 't', far: 0.9 },
  catapult: { seconds: 0.5, at: 0.22, far: 1.2 },
  chain: { seconds: 0.9, at: 0.9, keys: 't', far: 0.8 },
  double_cartpole: { seconds: 0.1, at: 0 },
  double_pendulum: { seconds: 4, at: 4, keys: 't', far: 0.9 },
  drone: { seconds: 0.1, at: 0.05, far: 1.4 },
  equal_balls: { seconds: 1, at: 0.4, far: 0.8 },
  four_bar: { seconds: 2.1, at: 1.6, keys: 't', far: 0.9 },
  gripper: { seconds: 4, at: 4, around: 40, far: 0.85 },
  half_cheetah: { seconds: 1, at: 0.3 },
  humanoid: { seconds: 0.1, at: 0.05, around: 50, far: 0.9 },
  incline: { seconds: 1, at: 0.8, keys: 't', around: -10, far: 1.3 },
  jump_worm: { seconds: 0.4, at: 0.17, far: 1.2 },
  mass_ratio: { seconds: 0.2, at: 0.1 },
  pendulum: { seconds: 1, at: 0.8, keys: 't' },
  pile: { seconds: 1.2, at: 0.8, keys: 'n', up: 55, far: 0.6 },
  reflected_ball: { seconds: 1, at: 1, keys: 't' },
  rolling_sphere: { seconds: 0.5, at: 0.4, keys: 't', far: 1.4 },
  sliding_cube: { seconds: 0.3, at: 0.2, keys: 't', around: -40, far: 1.3 },
  stack: { seconds: 0.1, at: 0.05, keys: 'n', around: 15, far: 0.9 },
  tumbling_body: { seconds: 6, at: 5 },
  two_balls: { seconds: 1, at: 0.4, far: 0.8 },
  wall: { seconds: 0.1, at: 0.05, keys: 'n', around: 15, far: 0.9 },
};
const kExperiments = {
  cartpole: { at: 1.2, keys: 't', far: 0.9 },
  double_cartpole: { at: 4, keys: 't', far: 0.9 },
  catapult: { at: 0.45, keys: 't', far: 0.75 },
  jump_worm: { at: 0.4, keys: 't', far: 0.8 },
  drone: { at: 0.45, keys: 't', far: 0.9 },
  humanoid: { at: 0.55, keys: 'tn', around: 50, far: 0.9 },
};

const scratch = mkdtempSync(join(tmpdir(), 'lithe-gallery-'));

function lithe(...args) {
  try {
    return execFileSync(lithe_program, args, { encoding: 'utf8', cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`lithe ${args.join(' ')} failed: ${error.stderr || error.message}`);
  }
}

// What `lithe scenes` lists: name and description of each.
function scenes() {
  return lithe('scenes').trim().split('\n').map((line) => {
    const [, name, text] = /^\s*(\S+)\s+(.*)$/.exec(line);
    return { name, text };
  });
}

function simulated(scene) {
  const { seconds } = { ...kUsual, ...kScenes[scene] };
  const time_step = JSON.parse(lithe('simulate', scene, '--steps', '1', '--json')).time_step;
  const recording = join(scratch, `${scene}.lithe`);
  lithe('simulate', scene, '--steps', String(Math.round(seconds / time_step)), '--out', recording, '--quiet');
  return recording;
}

// The chapters of a report: title, and either a recording or a figure.
function experiments() {
  let folder = join(root, 'out/experiments');
  if (!existsSync(join(folder, 'report.md'))) {
    folder = join(scratch, 'experiments');
    console.log('experiments: running their short version');
    try {
      lithe('experiments', '--quick', '--out', folder);
    } catch (error) {
      if (!existsSync(join(folder, 'report.md'))) throw error; // a finding that was missed on a busy machine is no matter here
    }
  }
  const chapters = readFileSync(join(folder, 'report.md'), 'utf8').split(/^## /m).slice(1);
  return chapters.map((chapter) => {
    const title = chapter.split('\n')[0];
    const motion = /\]\((\w+)\.lithe\)/.exec(chapter)?.[1];
    const figure = /\]\((\w+)\.svg\)/.exec(chapter)?.[1];
    return { title, figure, motion, recording: motion && join(folder, `${motion}.lithe`) };
  });
}

function exported(recording, name) {
  const page = join(scratch, `${name}.html`);
  lithe('export', recording, '--html', page, '--viewer', viewer_page);
  return page;
}

// The stage alone, without anything around it.
const kBare = '.status, .tools, .panel, .bar, .legend, .labels { display: none !important; }';

// In the browser.
function place_camera({ around, up, far }) {
  const { camera, controls } = window.lithe_viewer.stage_;
  const { x, y, z } = camera.position.clone().sub(controls.target);
  const distance = far * Math.hypot(x, y, z);
  const azimuth = Math.atan2(y, x) + (around * Math.PI) / 180;
  const elevation = Math.min(Math.asin(z / Math.hypot(x, y, z)) + (up * Math.PI) / 180, 1.5);
  const level = distance * Math.cos(elevation);
  const { x: tx, y: ty, z: tz } = controls.target;
  camera.position.set(tx + level * Math.cos(azimuth), ty + level * Math.sin(azimuth), tz + distance * Math.sin(elevation));
  controls.update();
}

async function photograph(context, page_file, { at, keys, ...from }, out) {
  const page = await context.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(pathToFileURL(page_file).href);
  await page.waitForFunction(() => window.lithe_viewer?.session);
  await page.addStyleTag({ content: kBare });
  for (const key of keys) await page.keyboard.press(key);
  await page.evaluate((time) => {
    window.dispatchEvent(new Event('resize'));
    window.lithe_viewer.seek(time);
  }, at);
  await page.keyboard.press('r'); // the camera, now that the stage has all the room
  await page.evaluate(place_camera, from);
  await page.waitForTimeout(700);
  const png = await page.screenshot();
  const webp = await page.evaluate(as_webp, { url: `data:image/png;base64,${png.toString('base64')}`, quality: kQuality });
  await page.close();
  if (problems.length > 0) throw new Error(`${page_file}: ${problems.join('; ')}`);
  writeFileSync(out, Buffer.from(webp, 'base64'));
}

// In the browser, which has an encoder.
async function as_webp({ url, quality }) {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.toDataURL('image/webp', quality).split(',')[1];
}

// Cells of a table, kColumns side by side.
function table(cells) {
  const rows = [];
  for (let i = 0; i < cells.length; i += kColumns) {
    const row = cells.slice(i, i + kColumns);
    while (row.length < kColumns) row.push('');
    rows.push(`| ${row.join(' | ')} |`);
  }
  return [`|${' |'.repeat(kColumns)}`, `|${'---|'.repeat(kColumns)}`, ...rows].join('\n');
}

function markdown(listed, chapters) {
  const scene_cells = listed.map(({ name, text }) => `![${name}](gallery/${name}.webp)<br>**${name}**: ${text}`);
  const experiment_cells = chapters.map(({ title, motion, figure }) => {
    const picture = motion ? `gallery/experiment_${motion}.webp` : `experiments/${figure}.svg`;
    return `![${title}](${picture})<br>${title}`;
  });
  return `# Gallery

<!-- Written by tools/gallery.mjs: change that, or run \`make gallery\`. -->

Pictures of the viewer. Lines are the ways of bodies, teal and orange arrows the forces of contacts: normal and friction.

## Scenes

\`lithe view NAME\` shows one live, \`lithe simulate NAME --out FILE\` records it.

${table(scene_cells)}

## Experiments

Motions that solvers found; [experiments.md](experiments.md) has the whole story, \`make experiments\` makes them.

${table(experiment_cells)}
`;
}

async function make_pictures(listed, chapters, only) {
  const wanted = listed.map(({ name }) => ({ file: name, recording: () => simulated(name), view: kScenes[name] }));
  for (const { motion, recording } of chapters.filter((chapter) => chapter.motion))
    wanted.push({ file: `experiment_${motion}`, recording: () => recording, view: kExperiments[motion] });
  const browser = await launch();
  const context = await browser.newContext({ viewport: kSize, deviceScaleFactor: kSharpness, reducedMotion: 'reduce', colorScheme: 'light' });
  for (const { file, recording, view } of wanted) {
    if (!file.includes(only)) continue;
    if (!view) console.log(`${file}: tools/gallery.mjs does not say when it shows best; the picture is taken at ${kUsual.at} s`);
    await photograph(context, exported(recording(), file), { ...kUsual, ...view }, join(pictures, `${file}.webp`));
    console.log(`${file}.webp`);
  }
  await browser.close();
  const known = new Set(wanted.map(({ file }) => `${file}.webp`));
  for (const file of readdirSync(pictures)) if (!known.has(file)) rmSync(join(pictures, file));
}

for (const needed of [lithe_program, viewer_page]) {
  if (existsSync(needed)) continue;
  console.error(`gallery: error: there is no ${needed}: run make gallery, which builds it`);
  process.exit(1);
}
mkdirSync(pictures, { recursive: true });
try {
  const listed = scenes(), chapters = experiments();
  await make_pictures(listed, chapters, process.argv[2] ?? '');
  writeFileSync(join(root, 'docs/gallery.md'), markdown(listed, chapters));
} finally {
  rmSync(scratch, { recursive: true });
}
