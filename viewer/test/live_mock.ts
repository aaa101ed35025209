// A server of the live protocol to try the viewer's page against where the real one is not at hand: the sample's box
// and double pendulum, simulated well enough to be pushed, and a scene of many bodies and controls.
// Run by vite-node; prints its address. Lines on stdin do what a real server rarely does: "solver 4", "diverge",
// "garbage" (twelve broken frames), "hang up", "token" (forgets the page's), "clients 3", "loss".

import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { put_document } from './export';
import { encode_live_frame } from './live_encode';
import { make_world, type World } from './live_world';

const kScenes = [
  { name: 'box', description: 'A box that slides and a double pendulum' },
  { name: 'many', description: 'Fifty balls and 27 controls' },
];
const page = put_document(readFileSync('dist/viewer.html', 'utf8'), '{"format":"lithe-live","version":1}');
let token = randomBytes(8).toString('hex');
let number = 0;
let playing = !process.argv.includes('--paused');
let speed = 1;
let solver = 0; // 0: as it comes
let others = 0; // clients that are only said to be there
let world: World = make_world('box', process.argv.includes('--loss'));
const sockets = new Set<Duplex>();

function send(socket: Duplex, data: string | Uint8Array): void {
  const body = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
  const head = body.length < 126 ? Buffer.from([0, body.length])
    : body.length < 65536 ? Buffer.from([0, 126, body.length >> 8, body.length & 255])
      : Buffer.from([0, 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((s) => (body.length >>> s) & 255)]);
  head[0] = 0x80 | (typeof data === 'string' ? 1 : 2);
  if (socket.writable) socket.write(Buffer.concat([head, body]));
}

const to_all = (data: string | Uint8Array) => sockets.forEach((s) => send(s, data));
const scene_text = () => JSON.stringify({ type: 'scene', number, show: world.show(), live: { scenes: kScenes, playing, speed, can_step: !process.argv.includes('--watch'), ...world.live() } });
const values_text = () => JSON.stringify({ type: 'values', ...world.values(), playing, speed, clients: sockets.size + others });
const frame = () => encode_live_frame({ ...world.frame(), scene: number, playing, solver: solver || world.frame().solver });

function change_scene(name: string, loss = false): void {
  world = make_world(name, loss);
  number++;
  to_all(scene_text());
}

function command(socket: Duplex, text: string): void {
  const [word, ...rest] = text.split(' ');
  const numbers = rest.map(Number);
  const refuse = (message: string) => send(socket, JSON.stringify({ type: 'error', message }));
  switch (word) {
    case 'play': playing = true; break;
    case 'pause': playing = false; break;
    case 'step': if (playing) refuse('step: pause first'); else { world.advance(numbers[0] * 0.001); to_all(frame()); } return;
    case 'reset': world.reset(); to_all(frame()); return;
    case 'speed': speed = numbers[0]; break;
    case 'control': case 'parameter': case 'defaults': world.set(word, numbers[0], numbers[1]); break;
    case 'push': world.push(numbers); return;
    case 'release': world.push(null); return;
    case 'scene': if (kScenes.some((s) => s.name === rest[0])) change_scene(rest[0]); else refuse(`scene: there is no ${rest[0]}`); return;
    default: refuse(`${word}: no such command`); return;
  }
  to_all(values_text());
}

// Text messages of a browser: masked, unfragmented, short.
function read(socket: Duplex, buffer: Buffer): Buffer {
  while (buffer.length >= 6) {
    const long = (buffer[1] & 127) === 126;
    const length = long ? buffer.readUInt16BE(2) : buffer[1] & 127;
    const at = long ? 4 : 2;
    if (buffer.length < at + 4 + length) break;
    const mask = buffer.subarray(at, at + 4);
    const text = Buffer.from(buffer.subarray(at + 4, at + 4 + length).map((b, i) => b ^ mask[i % 4])).toString();
    if ((buffer[0] & 15) === 1) command(socket, text);
    if ((buffer[0] & 15) === 8) socket.end();
    buffer = buffer.subarray(at + 4 + length);
  }
  return buffer;
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.searchParams.get('token') !== token) response.writeHead(403).end('wrong token');
  else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
});

server.on('upgrade', (request, socket: Duplex) => {
  socket.on('error', () => socket.destroy());
  if (new URL(request.url ?? '/', 'http://localhost').searchParams.get('token') !== token) {
    socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    return;
  }
  const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`);
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => (rest = read(socket, Buffer.concat([rest, data]))));
  socket.on('close', () => {
    sockets.delete(socket);
    to_all(values_text());
  });
  sockets.add(socket);
  send(socket, scene_text());
  to_all(values_text());
});

let before = performance.now();
setInterval(() => {
  const now = performance.now();
  const seconds = Math.min(0.05, (now - before) / 1000);
  before = now;
  if (!playing) return;
  world.advance(seconds * speed);
  to_all(frame());
}, 1000 / 60);

createInterface(process.stdin).on('line', (line) => {
  const [word, value] = line.split(' ');
  if (word === 'solver') solver = Number(value);
  else if (word === 'diverge') world.diverged = true;
  else if (word === 'garbage') for (let i = 0; i < 12; i++) to_all(frame().subarray(0, 40 + 4 * i));
  else if (word === 'hang') sockets.forEach((s) => s.destroy());
  else if (word === 'token') {
    token = randomBytes(8).toString('hex');
    sockets.forEach((s) => s.destroy());
  } else if (word === 'clients') {
    others = Number(value) - sockets.size;
    to_all(values_text());
  } else if (word === 'loss') change_scene('box', true);
  else if (word === 'state') console.log(JSON.stringify({ ...world.values(), playing, speed, sockets: sockets.size }));
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  console.log(`http://127.0.0.1:${port}/?token=${token}`);
});
