import { randomFillSync } from 'node:crypto'

const WORDS = 2_048
const pool = new Uint32Array(WORDS)
let next = WORDS

/** 32 unpredictable bits (RFC 5452 §9.2: ids, and the case of letters), read from the system 8 KiB at a time. */
export function random32(): number {
  if (next === WORDS) {
    randomFillSync(pool)
    next = 0
  }
  return pool[next++]!
}
