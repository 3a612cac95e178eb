import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, describe } from 'vitest'
import { AppError } from '../../../src/base/errors.ts'
import { deliverer } from '../../../src/mail-in/deliver.ts'
import { envelopeOf } from '../../../src/reports/envelope.ts'
import { type ReportService, reportService } from '../../../src/reports/service.ts'
import type { Database } from '../../../src/store/postgres/connect.ts'
import type { WrittenZone } from '../../archetypes/cases.ts'
import { worldOf } from '../../archetypes/lab.ts'
import { runCases } from '../../archetypes/run.ts'
import { labApp, labDeps } from '../../lab/app.ts'
import { CORPORA, corpus } from '../../lab/corpora.ts'
import { labDatabase } from '../../lab/database.ts'
import { NO_REPORTS } from '../../lab/reports.ts'
import { UNBOUNDED } from '../../lab/storage.ts'

/** Files of reports as people have them, and what is to become of each: the cases of `mail/files`. */

const NOW = Date.UTC(2026, 10, 25, 12)
const KEEP_MS = 3_650 * 86_400_000

type Expect = {
  readonly status?: readonly number[]
  readonly messages?: number
  readonly passing?: number
  readonly tls?: { readonly successful: number; readonly failed: number }
  readonly refused?: string
  readonly code?: string
  readonly line?: true
  readonly refused_beside?: true
  readonly either?: true
  readonly authenticated?: readonly (boolean | null)[]
  readonly said?: string
  readonly never_kept?: string
  readonly foreign_rows?: number
  readonly exit?: number
  readonly stderr?: string
}
type Case = {
  readonly id: string
  readonly class: string
  readonly file: string
  readonly then?: readonly string[]
  readonly pipe?: readonly string[]
  readonly domain: string
  readonly between: readonly [from: string, to: string]
  readonly zone: WrittenZone
  readonly expect: Expect
  readonly why: string
}

let database: Database
beforeAll(async () => {
  database = await labDatabase()
})
const octetsOf = (file: string): Buffer => readFileSync(resolve(CORPORA, 'mail/files', file))
const pattern = (text: string): RegExp => new RegExp(text.replace(/^\(\?i\)/, ''), 'i')

async function installation({ domain, zone }: Case) {
  const world = {
    ...worldOf({ id: '', class: '', domain, zone, expect: {}, why: '' }, { hosts: {}, apex: {} }),
    now: () => NOW,
  }
  const service = reportService({
    ...{ heavy: world.heavy, storage: UNBOUNDED, open: async () => database },
    envelopeOf: (message, ask) => envelopeOf(message, world, [], ask),
    networkOf: async () => undefined,
    listedOn: async () => undefined,
    ...{ keepMs: KEEP_MS, maxOctets: 26_214_400, now: () => NOW, monotonic: () => performance.now(), log: world.log },
  })
  const deps = labDeps(world, {
    reports: async () => service,
    reportsHere: { ...NO_REPORTS, find: async () => service },
  })
  return { app: await labApp(world, { deps }), service }
}

async function faultsOf(row: Case): Promise<readonly string[]> {
  const { app, service } = await installation(row)
  try {
    return row.pipe ? await pipeFaults(row, service) : await uploadFaults(row, app)
  } finally {
    await app.close()
  }
}

/** `mailsonde reports import -` without its process: its exit status, and what it logs. */
async function pipeFaults({ file, expect }: Case, service: ReportService): Promise<readonly string[]> {
  const lines: string[] = []
  const log = (event: string, fields = {}): void => void lines.push(`${event} ${JSON.stringify(fields)}`)
  const settings = {
    reports: async () => service,
    accepts: async () => () => 'taken' as const,
    log: { info: log, warn: log },
    now: () => NOW,
  }
  const exit = await deliverer(settings)(octetsOf(file), 'pipe', AbortSignal.timeout(20_000)).then(
    () => 0,
    (error) => (error instanceof AppError ? 75 : 1),
  )
  return [
    ...(exit === expect.exit ? [] : [`exit ${exit}`]),
    ...(expect.stderr === undefined || pattern(expect.stderr).test(lines.join('\n')) ? [] : [`says ${lines}`]),
  ]
}

async function uploadFaults(
  { file, then = [], domain, between: [from, to], expect }: Case,
  app: Awaited<ReturnType<typeof labApp>>,
): Promise<readonly string[]> {
  // biome-ignore lint/suspicious/noExplicitAny: any answer
  const answers: any[] = []
  for (const one of [file, ...then]) {
    const response = await app.inject({
      method: 'POST',
      url: '/v1/reports',
      payload: octetsOf(one),
      headers: { 'content-type': 'application/octet-stream' },
    })
    answers.push({ status: response.statusCode, ...response.json() })
  }
  const get = async (path: string) =>
    (await app.inject({ url: `/v1/reports${path}?domain=${domain}&from=${from}&to=${to}` })).json()
  const [shown, tls] = [await get(''), await get('/tls')]
  const [first] = answers
  const { reports = [], refused = [] } = first
  const told = JSON.stringify(answers)
  const faults: string[] = []
  const fault = (isWrong: boolean, text: string): void => void (isWrong && faults.push(text))
  const reasons = [
    first.detail,
    first.code,
    ...refused.flatMap((one: { code: string; detail: string }) => [one.code, one.detail]),
  ]
  if (expect.either && reports.length === 0) {
    fault(reasons.filter(Boolean).length === 0, 'refused without a reason')
    return faults
  }
  fault(expect.status !== undefined && !expect.status.includes(first.status), `status ${first.status}: ${first.detail}`)
  fault(
    expect.messages !== undefined && shown.messages !== expect.messages,
    `${shown.messages} messages: ${told.slice(0, 300)}`,
  )
  fault(expect.passing !== undefined && shown.passing !== expect.passing, `${shown.passing} pass`)
  if (expect.tls) {
    const sum = (of: 'successful' | 'failed'): number =>
      (tls.policies ?? []).reduce((n: number, one: Record<string, number>) => n + (one[of] ?? 0), 0)
    const [successful, failed] = [sum('successful'), sum('failed')]
    fault(
      successful !== expect.tls.successful || failed !== expect.tls.failed,
      `${successful}, ${failed}: ${told.slice(0, 300)}`,
    )
  }
  if (expect.refused !== undefined) {
    fault(reports.length > 0, 'is taken')
    fault(!reasons.some((one) => one !== undefined && pattern(expect.refused!).test(one)), `says ${reasons}`)
  }
  fault(expect.code !== undefined && !reasons.includes(expect.code), `code ${reasons}`)
  fault(expect.line === true && !/"line":\d|line \d/.test(told), `names no line: ${reasons}`)
  fault(expect.refused_beside === true && refused.length === 0, 'refuses nothing')
  const proven = reports.map((one: { authenticated: boolean | null }) => one.authenticated)
  fault(
    expect.authenticated !== undefined && String(proven) !== String(expect.authenticated),
    `authenticated: ${proven}`,
  )
  fault(expect.said !== undefined && !pattern(expect.said).test(told), `does not say that it does not count: ${told}`)
  fault(
    expect.foreign_rows !== undefined && first.foreign_rows !== expect.foreign_rows,
    `foreign rows: ${first.foreign_rows}`,
  )
  fault(expect.never_kept !== undefined && JSON.stringify([told, shown]).includes(expect.never_kept), 'is kept')
  return faults
}

const cases: readonly Omit<Case, 'class'>[] = corpus('mail/files/index.json')?.cases ?? []
describe.runIf(cases.length > 0)('files', () =>
  runCases(
    'files',
    cases.map((one) => ({ ...one, class: 'files' })),
    faultsOf,
    {},
  ),
)
