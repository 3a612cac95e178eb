import { type Link, link } from './link.ts'
import { formatServer, type Server } from './system.ts'
import type { Handlers, Wait } from './wait.ts'

/** A server with the way to it and how it fares. */
export type Station<W extends Wait> = {
  readonly server: Server
  /** `address:port`. */
  readonly text: string
  readonly link: Link<W>
  /** Faults in a row. */
  faults: number
  /** Until then it is asked only when nobody else is left. */
  downUntilMs: number
}

/** Which servers a question has been to, as bits by their place. `out`: it said no, and is not asked again. */
export type Round = { tried: number; out: number }

/** Servers of one client at most. */
export const MAX_STATIONS = 16
const FAULTS_TO_DOWN = 3
const DOWN_MS = 2_000
const DOWN_MOST_MS = 30_000
/** While a server that was down is tried by one question, the others pass it by. */
const PROBE_MS = 2_000

export const station = <W extends Wait>(server: Server, on: Handlers<W>, now: () => number): Station<W> => ({
  server,
  text: formatServer(server),
  link: link(server, on, now),
  faults: 0,
  downUntilMs: 0,
})

export function fine(at: Station<never>): void {
  at.faults = 0
  at.downUntilMs = 0
}

/** After three faults in a row the server is passed by for 2 s, then 4 s … 30 s. */
export function faulty(at: Station<never>, nowMs: number): void {
  at.faults++
  if (at.faults < FAULTS_TO_DOWN || at.downUntilMs > nowMs) return
  const doubled = DOWN_MS * 2 ** Math.min(10, at.faults - FAULTS_TO_DOWN)
  at.downUntilMs = nowMs + Math.min(DOWN_MOST_MS, doubled)
}

/** The place of the next server to ask: the first that is up and was not asked yet, else the first that was not, else from the beginning; -1 when all said no. */
export function pick(stations: readonly Station<never>[], round: Round, nowMs: number): number {
  const everyone = (1 << stations.length) - 1
  if (round.out === everyone) return -1
  if ((round.tried | round.out) === everyone) round.tried = 0
  let second = -1
  for (let place = 0; place < stations.length; place++) {
    if (((round.tried | round.out) >> place) & 1) continue
    const at = stations[place]!
    if (at.downUntilMs <= nowMs) {
      if (at.faults >= FAULTS_TO_DOWN) at.downUntilMs = nowMs + PROBE_MS
      return place
    }
    if (second < 0) second = place
  }
  return second
}
