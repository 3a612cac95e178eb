import { z } from 'zod'
import { type MonitorFacts, monitorFacts, monitorKind } from '../../answers/monitors.ts'
import { change } from '../../answers/stored.ts'
import { inTurns } from '../../base/at-most.ts'
import type { DigestMonitor } from '../../store/postgres/digests.ts'
import { changeLines } from '../changes/changes.ts'

/** Targets of a digest, and lines of each. */
const MAX_TARGETS = 40
const MAX_LINES = 10
const MAX_WORST = 5

const count = z.int().min(0)

/** The stored body of a digest. It has nothing that a key could word, such as names of monitors or labels. */
export const digestEvent = z.strictObject({
  type: z.literal('mail.digest'),
  timestamp: z.iso.datetime(),
  data: z.strictObject({
    /** That of the link which ends them. */
    token: z.string(),
    targets: count,
    changed: count,
    changes: z.array(
      z.strictObject({
        kind: monitorKind,
        target: z.string(),
        now: z.string(),
        lines: z.array(z.string()),
        left_out: count,
      }),
    ),
    worst: z.array(z.strictObject({ target: z.string(), grade: z.string(), title: z.string() })),
  }),
})
export type DigestEvent = z.output<typeof digestEvent>

const point = z.strictObject({ at: z.coerce.date(), changes: z.array(change) })

/**
 * What changed at the targets of an owner, and the worst of them. `accepted`: findings that are not told, as `number
 * finding`. Others get their turn in between: one owner may have thousands.
 */
export async function digestOf(
  monitors: readonly DigestMonitor[],
  accepted: ReadonlySet<string>,
): Promise<Omit<DigestEvent['data'], 'token'>> {
  const read: (Omit<DigestMonitor, 'changes'> & { known: MonitorFacts | null; lines: readonly string[] })[] = []
  await inTurns(monitors, ({ changes, ...one }) => {
    const known = monitorFacts.nullable().safeParse(one.facts).data ?? null
    const lines = changes.flatMap((change) => {
      const run = point.safeParse(change).data // of an earlier version: not told
      return run ? changeLines(run.changes).map((line) => `${run.at.toISOString().slice(0, 10)}: ${line}`) : []
    })
    read.push({ ...one, known, lines })
  })
  const changed = read.filter(({ lines }) => lines.length > 0)
  const worst = read
    .flatMap(({ number, target, known }) =>
      known?.worst && known.grade !== null && !accepted.has(`${number} ${known.worst.finding}`)
        ? [{ target, score: known.score ?? 0, grade: known.grade, title: known.worst.title }]
        : [],
    )
    .toSorted((a, b) => a.score - b.score || (a.target < b.target ? -1 : 1))
  return {
    ...{ targets: monitors.length, changed: changed.length },
    changes: changed.slice(0, MAX_TARGETS).map(({ kind, target, state, known, lines }) => ({
      ...{ kind: monitorKind.parse(kind), target, lines: lines.slice(-MAX_LINES) },
      left_out: Math.max(0, lines.length - MAX_LINES),
      now: known?.grade ? `${known.grade}, ${known.score} of 100` : state,
    })),
    worst: worst.slice(0, MAX_WORST).map(({ target, grade, title }) => ({ target, grade, title })),
  }
}
