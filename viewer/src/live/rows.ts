// Rows of numbers that grow at the end and are dropped at the start. Both are amortised: the memory doubles when it is
// full of rows that count, else what counts moves to its front.

type Numbers = Float32Array | Float64Array | Uint32Array;

export class Rows<A extends Numbers> {
  private data_: A;
  private first_ = 0; // row
  private end_ = 0;

  // make: an array of so many numbers
  constructor(readonly width: number, private readonly make_: (count: number) => A, capacity = 256) {
    this.data_ = make_(capacity * width);
  }

  get count(): number {
    return this.end_ - this.first_;
  }

  // The rows that count: count × width, in the same memory.
  get view(): A {
    return this.data_.subarray(this.first_ * this.width, this.end_ * this.width) as A;
  }

  // The same with the `dropped` rows before them that memory still holds: numbers of rows in it change only when an
  // append moves the rows to the front.
  get whole(): A {
    return this.data_.subarray(0, this.end_ * this.width) as A;
  }

  get dropped(): number {
    return this.first_;
  }

  // values: one row or more.
  append(values: ArrayLike<number>): void {
    const count = this.width === 0 ? 0 : values.length / this.width;
    this.make_room(count);
    this.data_.set(values, this.end_ * this.width);
    this.end_ += count;
  }

  private make_room(count: number): void {
    const capacity = this.width === 0 ? 0 : this.data_.length / this.width;
    if (this.end_ + count <= capacity) return;
    const { view } = this;
    if (2 * (this.count + count) > capacity) this.data_ = this.make_(Math.max(2 * capacity, 2 * (this.count + count)) * this.width);
    this.data_.set(view, 0); // as memmove, where it is the same memory
    this.end_ = this.count;
    this.first_ = 0;
  }

  pop(count: number): void {
    this.end_ = Math.max(this.first_, this.end_ - count);
  }

  drop(count: number): void {
    this.first_ = Math.min(this.end_, this.first_ + count);
  }

  clear(): void {
    this.first_ = this.end_ = 0;
  }
}
