// Sends messages at most every so many milliseconds. Of messages with the same key only the latest waits; the first
// goes at once and the last is never lost.

export class Throttle {
  private readonly waiting_ = new Map<string, string>();
  private timer_: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly interval_: number, private readonly send_: (message: string) => void) {}

  put(key: string, message: string): void {
    this.waiting_.set(key, message);
    if (this.timer_ === undefined) this.next();
  }

  private next(): void {
    const first = this.waiting_.entries().next();
    if (first.done) {
      this.timer_ = undefined;
      return;
    }
    const [key, message] = first.value;
    this.waiting_.delete(key);
    this.timer_ = setTimeout(() => this.next(), this.interval_);
    this.send_(message);
  }

  // What waits is not sent any more.
  cancel(): void {
    this.waiting_.clear();
  }
}
