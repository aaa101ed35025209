// The socket to the server, opened again and again when it is lost, with growing pauses. What a message means is the
// caller's business.

export type ConnectionState = 'connecting' | 'open' | 'lost' | 'refused';

export const kPauses = [500, 1000, 2000, 4000, 5000]; // ms before each new try; the last one stays

// The part of WebSocket that is used.
export interface SocketLike {
  binaryType: string;
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

export interface ConnectionParts {
  open_socket(): SocketLike;
  // Whether the server is there and does not know our token. A socket does not say why it was not opened.
  ask_refused(): Promise<boolean>;
  on_state(state: ConnectionState): void;
  on_text(text: string): void;
  on_binary(buffer: ArrayBuffer): void;
}

const kOpen = 1; // WebSocket.OPEN

export class LiveConnection {
  private state_: ConnectionState = 'connecting';
  private socket_: SocketLike | null = null;
  private tries_ = 0; // in a row that gave no message
  private timer_: ReturnType<typeof setTimeout> | undefined;
  private stopped_ = false;

  constructor(private readonly parts_: ConnectionParts) {}

  get state(): ConnectionState {
    return this.state_;
  }

  private set_state(state: ConnectionState): void {
    if (state === this.state_) return;
    this.state_ = state;
    this.parts_.on_state(state);
  }

  start(): void {
    if (this.stopped_) return;
    let opened = false;
    let socket: SocketLike;
    try {
      socket = this.parts_.open_socket();
    } catch {
      this.lost(false);
      return;
    }
    this.socket_ = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      opened = true;
      if (this.socket_ === socket) this.set_state('open');
    };
    socket.onmessage = (event: { data: unknown }) => {
      if (this.socket_ !== socket) return;
      this.tries_ = 0; // a server that accepts and hangs up at once is not asked every half second
      if (typeof event.data === 'string') this.parts_.on_text(event.data);
      else if (event.data instanceof ArrayBuffer) this.parts_.on_binary(event.data);
    };
    socket.onclose = () => {
      if (this.socket_ === socket) this.lost(opened);
    };
    socket.onerror = () => {}; // close follows
  }

  private lost(was_open: boolean): void {
    this.socket_ = null;
    if (this.stopped_) return;
    this.set_state('lost');
    const pause = kPauses[Math.min(this.tries_++, kPauses.length - 1)];
    this.timer_ = setTimeout(() => this.start(), pause);
    if (was_open) return;
    this.parts_.ask_refused().then((refused) => {
      if (!refused || this.stopped_ || this.state_ === 'open') return;
      this.stop(); // tokens are never used twice: no later try can succeed
      this.set_state('refused');
    }, () => {}); // nobody answers: the tries go on
  }

  // Whether the message went out.
  send(text: string): boolean {
    if (this.socket_?.readyState !== kOpen) return false;
    this.socket_.send(text);
    return true;
  }

  stop(): void {
    this.stopped_ = true;
    clearTimeout(this.timer_);
    this.socket_?.close();
    this.socket_ = null;
  }
}
