import { readFileSync } from 'node:fs'

/**
 * Loaded before the program (`--import`): its clock is off by what the file at LAB_CLOCK says, in ms, read anew every
 * 50 ms. Timers go on as ever. Time passes: the monotonic clock of the process goes along, unless LAB_CLOCK_STEPS is
 * set, which makes every change a step of the system's clock.
 */
const file = process.env.LAB_CLOCK
if (file === undefined) throw new Error('LAB_CLOCK names no file')
const RealDate = Date
const real = Date.now
let offset = 0
let readAt = Number.NEGATIVE_INFINITY
const now = (): number => {
  const at = real()
  if (Math.abs(at - readAt) > 50) {
    offset = Number(readFileSync(file, 'utf8'))
    readAt = at
  }
  return at + offset
}
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
})
if (process.env.LAB_CLOCK_STEPS === undefined) {
  const realPerformance = performance.now.bind(performance)
  performance.now = () => realPerformance() + now() - real()
}
