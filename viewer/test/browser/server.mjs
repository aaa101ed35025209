// `lithe view` as a process of its own.

import { spawn } from 'node:child_process';
import { kLithe } from './exports.mjs';
import { kPage } from './harness.mjs';

export class Server {
  // args: of lithe view, for example 'catapult', '--paused'
  static async start(...args) {
    const server = new Server();
    const child = spawn(kLithe, ['view', ...args, '--viewer', kPage], { stdio: ['ignore', 'pipe', 'pipe'] });
    server.child = child;
    server.ended = new Promise((done) => child.on('exit', (code, signal) => done(signal ?? code)));
    let [out, errors] = ['', ''];
    child.stderr.on('data', (data) => (errors += data));
    const address = await new Promise((done, fail) => {
      child.stdout.on('data', (data) => {
        out += data;
        const match = /http:\/\/127\.0\.0\.1:(\d+)\/\?token=(\S+)\s/.exec(out);
        if (match) done(match);
      });
      child.on('exit', (code) => fail(new Error(`lithe view ended with ${code}: ${errors || out}`)));
      setTimeout(() => fail(new Error(`lithe view printed no address: ${out}`)), 60_000).unref();
    });
    [server.address, server.port, server.token] = [address[0].trim(), Number(address[1]), address[2]];
    return server;
  }

  // Requests that a page of this server makes.
  get allow() {
    return (url) => new RegExp(`^(http|ws)://127\\.0\\.0\\.1:${this.port}/`).test(url);
  }

  get socket() {
    return `ws://127.0.0.1:${this.port}/live?token=${this.token}`;
  }

  // As Ctrl-C does, which may be ignored by what a background job starts. Returns what it ended with.
  async stop() {
    this.child.kill('SIGTERM');
    const late = setTimeout(() => this.child.kill('SIGKILL'), 60_000);
    const end = await this.ended;
    clearTimeout(late);
    return end;
  }
}
