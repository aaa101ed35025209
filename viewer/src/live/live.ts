// A live simulation: the server's messages become the session's motion, the panel's sliders and the corner's status;
// what the user does becomes commands.

import type { Show } from '../document/show';
import type { LiveParts, Session } from '../stage/session';
import type { Stage } from '../stage/stage';
import { LiveConnection, type ConnectionState } from './connection';
import { LiveCorner } from './corner';
import { decode_frame, type LiveFrame } from './frame';
import { LiveMotion } from './history';
import { parse_message, socket_address, type LiveScene, type LiveValues, type Message } from './messages';
import { Notice } from './notice';
import { LivePanel } from './panel';
import { LivePlayer } from './player';
import { Push } from './push';
import { format_step_time, LastingBadge, slowness } from './status';

const kBadInARow = 10; // frames, before the user is told
const kCommandNotice = 6000; // ms that a refused command is on show

const kNotices = {
  connecting: 'Connecting…',
  lost: 'Connection lost. Trying again…',
  refused: 'The server does not know this address any more: it was started anew. Open the address that lithe view printed.',
};

// What the app does for it.
export interface LiveHost {
  canvas: HTMLCanvasElement;
  stage: Stage;
  session(): Session | null;
  // same: the scene is the one that was there, so the camera stays.
  open(show: Show, parts: LiveParts, scene: LiveScene, same: boolean): void;
  rescaled(): void; // the legend is to be written again
  redraw(): void;
}

export class Live {
  readonly notice = new Notice();
  readonly panel = new LivePanel((command) => void this.send(command));
  readonly corner = new LiveCorner();
  readonly push: Push;
  readonly counts = { frames: 0, dropped: 0, commands: 0 };
  scene: LiveScene | null = null;
  number = -1; // of the scene message
  motion: LiveMotion | null = null;
  player: LivePlayer | null = null;
  frame: LiveFrame | null = null; // the last one
  clients = 0;
  private readonly connection_: LiveConnection;
  private readonly badge_ = new LastingBadge();
  private bodies_ = ''; // names, to know a scene again
  private bad_in_a_row_ = 0;
  private command_timer_: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host_: LiveHost, page: Location) {
    this.push = new Push({
      canvas: host_.canvas,
      stage: host_.stage,
      view: () => this.pushable(),
      send: (command) => void this.send(command),
      changed: () => host_.redraw(),
    });
    this.connection_ = new LiveConnection({
      open_socket: () => new WebSocket(socket_address(page)),
      ask_refused: async () => {
        const answer = await fetch(`/${page.search}`, { cache: 'no-store' });
        void answer.body?.cancel();
        return answer.status === 403;
      },
      on_state: (state) => this.on_state(state),
      on_text: (text) => this.on_text(text),
      on_binary: (buffer) => this.on_binary(buffer),
    });
    this.notice.say('connection', kNotices.connecting);
    this.connection_.start();
  }

  get state(): ConnectionState {
    return this.connection_.state;
  }

  send(command: string): boolean {
    const sent = this.connection_.send(command);
    if (sent) this.counts.commands++;
    return sent;
  }

  private pushable() {
    const session = this.host_.session();
    if (!session || this.state !== 'open' || !this.player?.live || !this.player.can_step) return null;
    return { main: session.main, show: session.show };
  }

  private on_state(state: ConnectionState): void {
    if (state === 'open') return; // the scene, which comes at once, ends the notice
    this.clients = 0;
    this.notice.say('connection', kNotices[state]);
    this.push.release();
    this.player?.go_offline();
    this.host_.redraw();
  }

  private on_text(text: string): void {
    let message: Message;
    try {
      message = parse_message(text);
    } catch (error) {
      this.notice.say('scene', `The server sent what this page cannot read. ${(error as Error).message}`);
      return;
    }
    switch (message.type) {
      case 'scene':
        this.on_scene(message.number, message.show, message.live);
        break;
      case 'values':
        this.on_values(message.values);
        break;
      case 'error':
        this.on_refusal(message.message);
    }
  }

  private on_scene(number: number, show: Show, scene: LiveScene): void {
    this.push.release();
    const names = show.bodies.map((b) => b.name).join('\n');
    const same = this.scene?.scene === scene.scene && this.bodies_ === names;
    this.bodies_ = names;
    this.scene = scene;
    this.number = number;
    this.frame = null;
    this.bad_in_a_row_ = 0;
    this.badge_.clear();
    this.notice.clear('connection', 'scene', 'frames', 'diverged', 'command');
    this.motion = new LiveMotion(show.motions[0], show.bodies.length, show.joints.length, scene.loss);
    this.player = new LivePlayer(this.motion.times, scene.can_step, (command) => this.send(command));
    this.player.playing = scene.playing;
    this.player.speed = scene.speed;
    this.panel.set_scene(scene);
    this.host_.open({ ...show, title: scene.scene || show.title, motions: [this.motion] }, { motion: this.motion, player: this.player }, scene, same);
  }

  private on_values(values: LiveValues): void {
    // A simulation that began to run because this page came stops again where the system prefers no motion.
    const first = this.clients === 0 && values.clients === 1;
    if (first && values.playing && window.matchMedia('(prefers-reduced-motion: reduce)').matches) this.send('pause');
    this.clients = values.clients;
    this.panel.hear(values);
    this.player?.hear(values.playing, values.speed);
  }

  private on_refusal(message: string): void {
    this.notice.say('command', message);
    if (this.scene) this.panel.restore_scene(this.scene.scene);
    clearTimeout(this.command_timer_);
    this.command_timer_ = setTimeout(() => this.notice.clear('command'), kCommandNotice);
  }

  private on_binary(buffer: ArrayBuffer): void {
    const session = this.host_.session();
    if (!session || !this.motion || !this.player) return;
    const { bodies, shapes, joints } = session.show;
    const decoded = decode_frame(buffer, { bodies: bodies.length, shapes: shapes.length, joints: joints.length }, this.number);
    if (decoded === 'stale') return;
    const { epoch } = this.motion;
    const problem = 'problem' in decoded ? decoded.problem : this.motion.append(decoded.frame);
    if ('problem' in decoded || problem !== null) {
      this.on_bad_frame(problem!);
      return;
    }
    const { frame } = decoded;
    this.counts.frames++;
    this.bad_in_a_row_ = 0;
    this.notice.clear('frames');
    this.frame = frame;
    if (epoch !== null && epoch !== frame.epoch) {
      this.badge_.clear();
      this.player.restart(this.motion.times);
    } else {
      this.player.set_times(this.motion.times);
    }
    this.player.hear(frame.playing, null);
    this.badge_.hear(frame, performance.now());
    if (frame.diverged) this.notice.say('diverged', `The simulation diverged: its state is held.${this.player.can_step ? ' Press 0 to reset it.' : ''}`);
    else this.notice.clear('diverged');
    if (session.rescale()) this.host_.rescaled();
  }

  private on_bad_frame(problem: string): void {
    this.counts.dropped++;
    if (++this.bad_in_a_row_ >= kBadInARow)
      this.notice.say('frames', `The server sends frames that this page cannot read (${problem}). Reload the page.`);
  }

  // contacts: of the frame that is shown
  update_corner(contacts: number): void {
    const { frame, player } = this;
    this.corner.update({
      scene: this.scene?.scene ?? '',
      step_time: frame ? format_step_time(frame.step_time) : '',
      contacts,
      slow: (frame && player && slowness(frame, player.speed)) || '',
      clients: this.clients,
      badge: this.badge_.badge,
    });
  }
}
