import { type Heavy, LaneError, type LaneReason } from '../../src/lane/heavy.ts'

/** Does the work in this thread, without walls: for tests of readers. */
export const heavyHere: Heavy = async (kind, octets, input, { signal, onBatch }) => {
  signal.throwIfAborted()
  return kind.work(octets, input, { emit: async (batch) => onBatch?.(batch) })
}

/** The lane, which an input that says `ends-the-lane: REASON` ends. */
export const labHeavy: Heavy = async (kind, octets, input, ask) => {
  const reason = /ends-the-lane: (\w+)/.exec(Buffer.from(octets).toString('latin1'))?.[1]
  if (reason !== undefined) throw new LaneError(reason as LaneReason)
  return heavyHere(kind, octets, input, ask)
}
