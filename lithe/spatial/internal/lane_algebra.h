#pragma once

#include "lithe/simd/lanes.h"

namespace lithe::internal {

// Spatial algebra for four DoFs at once (or for one, T = double): what the dynamics kernels are written in.
//
// Angular part first, everything in world axes about the tree's origin (docs/conventions.md). T is a Pack or
// a double; there is no other use of these templates, and no derivative ever flows through T.

template <class T>
struct Vector3 {
  T x, y, z;
};

template <class T>
LITHE_INLINE Vector3<T> operator+(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
LITHE_INLINE Vector3<T> operator-(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
LITHE_INLINE Vector3<T> operator*(T s, const Vector3<T>& a) {
  return {s * a.x, s * a.y, s * a.z};
}
template <class T>
LITHE_INLINE Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
LITHE_INLINE T dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// V = [ω; v₀].
template <class T>
struct Motion {
  Vector3<T> w, v;
};

// F = [n₀; f].
template <class T>
struct Force {
  Vector3<T> n, f;
};

template <class T>
LITHE_INLINE Motion<T> operator+(const Motion<T>& a, const Motion<T>& b) {
  return {a.w + b.w, a.v + b.v};
}
template <class T>
LITHE_INLINE Motion<T> operator-(const Motion<T>& a, const Motion<T>& b) {
  return {a.w - b.w, a.v - b.v};
}
template <class T>
LITHE_INLINE Motion<T> operator*(T s, const Motion<T>& a) {
  return {s * a.w, s * a.v};
}
template <class T>
LITHE_INLINE Force<T> operator+(const Force<T>& a, const Force<T>& b) {
  return {a.n + b.n, a.f + b.f};
}
template <class T>
LITHE_INLINE Force<T> operator-(const Force<T>& a, const Force<T>& b) {
  return {a.n - b.n, a.f - b.f};
}
template <class T>
LITHE_INLINE Force<T> operator*(T s, const Force<T>& a) {
  return {s * a.n, s * a.f};
}

// V × m: the rate of a motion vector m that is carried along with velocity V.
template <class T>
LITHE_INLINE Motion<T> cross(const Motion<T>& V, const Motion<T>& m) {
  return {cross(V.w, m.w), cross(V.w, m.v) + cross(V.v, m.w)};
}

// V ×* F: the rate of a force vector F that is carried along with velocity V.
template <class T>
LITHE_INLINE Force<T> cross(const Motion<T>& V, const Force<T>& F) {
  return {cross(V.w, F.n) + cross(V.v, F.f), cross(V.w, F.f)};
}

template <class T>
LITHE_INLINE T dot(const Motion<T>& m, const Force<T>& F) {
  return dot(m.w, F.n) + dot(m.v, F.f);
}

// A rigid body's (or a subtree's) inertia as ten numbers: mass, h = m·c, and I about the origin.
template <class T>
struct Inertia10 {
  T m;
  Vector3<T> h;
  T xx, xy, xz, yy, yz, zz;
};

// I·V = [I ω + h × v; m v − h × ω].
template <class T>
LITHE_INLINE Force<T> operator*(const Inertia10<T>& I, const Motion<T>& V) {
  const Vector3<T>& w = V.w;
  const Vector3<T> Iw = {I.xx * w.x + I.xy * w.y + I.xz * w.z, I.xy * w.x + I.yy * w.y + I.yz * w.z,
                         I.xz * w.x + I.yz * w.y + I.zz * w.z};
  return {Iw + cross(I.h, V.v), I.m * V.v - cross(I.h, w)};
}

// How these sit in Lanes: rows in the order of the members above.

template <int Rows>
LITHE_INLINE Vector3<Pack> load_vector(const Lanes<Rows>& lanes, int slot, int row = 0) {
  return {lanes.pack(row, slot), lanes.pack(row + 1, slot), lanes.pack(row + 2, slot)};
}
template <int Rows>
LITHE_INLINE void store_vector(Lanes<Rows>& lanes, int slot, const Vector3<Pack>& a, int row = 0) {
  lanes.pack(row, slot) = a.x;
  lanes.pack(row + 1, slot) = a.y;
  lanes.pack(row + 2, slot) = a.z;
}
LITHE_INLINE Motion<Pack> load_motion(const Lanes<6>& lanes, int slot) {
  return {load_vector(lanes, slot), load_vector(lanes, slot, 3)};
}
LITHE_INLINE Force<Pack> load_force(const Lanes<6>& lanes, int slot) {
  return {load_vector(lanes, slot), load_vector(lanes, slot, 3)};
}
LITHE_INLINE void store(Lanes<6>& lanes, int slot, const Motion<Pack>& m) {
  store_vector(lanes, slot, m.w);
  store_vector(lanes, slot, m.v, 3);
}
LITHE_INLINE void store(Lanes<6>& lanes, int slot, const Force<Pack>& F) {
  store_vector(lanes, slot, F.n);
  store_vector(lanes, slot, F.f, 3);
}
LITHE_INLINE Inertia10<Pack> load_inertia(const Lanes<10>& lanes, int slot) {
  return {lanes.pack(0, slot), load_vector(lanes, slot, 1), lanes.pack(4, slot), lanes.pack(5, slot),
          lanes.pack(6, slot), lanes.pack(7, slot),         lanes.pack(8, slot), lanes.pack(9, slot)};
}

}  // namespace lithe::internal
