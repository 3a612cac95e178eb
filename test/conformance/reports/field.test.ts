import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { envelopeOf } from '../../../src/reports/envelope.ts'
import { importReports } from '../../../src/reports/import.ts'
import { BOUNDS } from '../../../src/reports/parse/containers.ts'
import type { NewReport } from '../../../src/store/postgres/reports.ts'
import { CORPORA, corpus } from '../../lab/corpora.ts'
import { labDns } from '../../lab/dns.ts'
import { heavyHere } from '../../lab/heavy.ts'

// biome-ignore lint/suspicious/noExplicitAny: the shape is the corpus's own
const data: any = corpus('field/reports/expected.json')
type Wanted = {
  readonly messages?: number
  readonly domain?: string
  readonly kind?: string
  readonly begin?: string
  readonly end?: string
  readonly passing?: number
  readonly refuse?: string
  readonly any?: readonly Wanted[]
}
type Case = { readonly id: string; readonly group: string; readonly expect: Wanted }

/** What comes of a file: the reports, and why the rest was refused. */
async function imported(path: string) {
  const reports: NewReport[] = []
  const { resolve } = labDns(data.zone)
  const now = () => Date.UTC(2026, 10, 24)
  const settings = {
    ...{ heavy: heavyHere, newId: () => 'rep_1', now, keepMs: 400 * 86_400_000, bounds: BOUNDS },
    admitMail: async () => {},
    onFault: (how: string) => {
      throw new Error(how)
    },
    intake: async () => ({
      add: async () => {},
      commit: async (report: NewReport) => {
        reports.push(report)
        return {
          id: report.id,
          duplicate: false,
          differs: false,
          counts: true,
          messages: report.messages,
          foreignRows: 0,
        }
      },
      abort: async () => {},
    }),
    envelopeOf: async (message: Uint8Array, ask: Parameters<typeof envelopeOf>[3]) =>
      envelopeOf(message, { resolve, heavy: heavyHere, now }, [], ask),
  }
  const request = {
    name: path,
    way: 'file',
    accepts: () => 'taken' as const,
    owner: '',
    signal: AbortSignal.timeout(10_000),
  } as const
  const octets = readFileSync(join(CORPORA, 'field/reports', path))
  const { refused, otherIs } = await importReports(settings, octets, request)
  const told = refused.map(({ detail, line }) => `${detail}${line === undefined ? '' : ` line ${line}`}`)
  return { reports, refused: [...told, ...(otherIs ? [otherIs.text] : [])] }
}

function holds(
  { any, refuse, passing: _, ...fields }: Wanted,
  { reports, refused }: Awaited<ReturnType<typeof imported>>,
): boolean {
  if (any) return any.some((one) => holds(one, { reports, refused }))
  if (refuse !== undefined) return reports.length === 0 && refused.some((text) => new RegExp(refuse, 'i').test(text))
  const [one] = reports
  const day = (ms: number | undefined): string => new Date(ms ?? 0).toISOString().slice(0, 10)
  const got: Record<string, unknown> = {
    ...one,
    begin: day(one?.beginMs),
    end: day(one?.endMs),
    messages: reports.reduce((sum, { messages }) => sum + messages, 0),
  }
  return reports.length > 0 && Object.entries(fields).every(([key, value]) => got[key] === value)
}

describe.runIf(data)('reports with small faults', () => {
  const cases: readonly Case[] = (data?.cases ?? []).filter(({ group }: Case) => group === 'report')
  it.each(cases.map((one) => [one.id, one] as const))('%s', async (id, one) => {
    const got = await imported(id)
    expect(holds(one.expect, got) ? one.expect : { reports: got.reports, refused: got.refused }).toEqual(one.expect)
  })
})
