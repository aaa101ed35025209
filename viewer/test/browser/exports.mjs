// What the command line makes: recordings of scenes, exported as pages and documents. $LITHE names it, else build/lithe.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { kPage } from './harness.mjs';

export const kLithe = resolve(process.env.LITHE ?? '../build/lithe');
const folder = resolve('out/browser');

export function lithe(...args) {
  try {
    return execFileSync(kLithe, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`lithe ${args.join(' ')} failed: ${error.stderr || error.message}`);
  }
}

function export_page(name, recording, ...options) {
  const html = `${folder}/${name}.html`;
  const json = `${folder}/${name}.json`;
  lithe('export', recording, '--html', html, '--json', json, '--viewer', kPage, ...options);
  return { html, json, document: () => JSON.parse(readFileSync(json, 'utf8')) };
}

function simulate(scene, steps, file, ...options) {
  const recording = `${folder}/${file}.lithe`;
  lithe('simulate', scene, '--steps', String(steps), '--out', recording, '--quiet', ...options);
  return recording;
}

// A robot of three links of which the outer two overlap in all poses.
function write_compact_robot() {
  const inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>';
  const collision = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>';
  const links = ['base', 'yoke', 'head'].map((name) => `<link name="${name}">${inertial}${collision}</link>`);
  const joints = [['base', 'yoke'], ['yoke', 'head']].map(([parent, child]) =>
    `<joint name="${child} joint" type="continuous"><parent link="${parent}"/><child link="${child}"/></joint>`);
  const file = `${folder}/compact_robot.urdf`;
  writeFileSync(file, `<robot name="compact">${[...links, ...joints].join('\n')}</robot>`);
  return file;
}

export function make_exports() {
  for (const needed of [kLithe, kPage])
    if (!existsSync(needed)) throw new Error(`${needed} is not there: run make viewer-test, which builds it`);
  mkdirSync(folder, { recursive: true });
  const before = simulate('catapult', 500, 'before');
  const after = `${folder}/after.lithe`;
  lithe('optimize', 'catapult', '--iterations', '40', '--record', after);
  const robot = write_compact_robot();
  return {
    catapult: export_page('catapult', after, '--compare', before, '--every', '2'),
    after: { recording: after },
    stack: export_page('stack', simulate('stack:3', 300, 'stack'), '--every', '3'),
    sliding: export_page('sliding', simulate('sliding_cube', 300, 'sliding'), '--every', '3'),
    humanoid: export_page('humanoid', simulate('humanoid', 600, 'humanoid'), '--every', '4'),
    many: export_page('many', simulate('pile:50', 600, 'many'), '--every', '2'),
    compact: { robot, ...export_page('compact', simulate(robot, 100, 'compact', '--floating-base'), '--floating-base') },
    small: export_page('small', simulate('stack:2', 40, 'small'), '--every', '8'),
  };
}
