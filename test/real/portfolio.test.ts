import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { monitorSummaryAnswer } from '../../src/answers/monitors.ts'
import { domains, type WrittenNode } from '../archetypes/cases.ts'
import { zoneOf } from '../archetypes/lab.ts'
import { ARCHETYPE_RESOLVER } from './addresses.ts'
import { countConnections } from './count.ts'
import { serveRecords } from './dns/archetypes.ts'
import { type DebianPostgres, debianPostgres } from './postgres.ts'
import { type Clock, drivenClock, type Program, startProgram } from './program.ts'
import { listeners } from './smtp/listeners.ts'

/**
 * Hundreds of domains at a few mail hosts, as an agency has them: imported, run in full while the service is killed, the
 * clock steps and domains move between owners, and run again; each mail host is talked to once in a run.
 */
const NAMES = Number(process.env.PORTFOLIO_NAMES ?? 330)
const START = Date.parse('2026-03-04T12:00:00Z')
/** Mail hosts without faults, some with STARTTLS. */
const HOSTS = ['accept.test', 'tls.test', 'catchall.test', 'tlsexpired.test'].flatMap((domain, n) => {
  const found = listeners.find((one) => one.domain === domain)
  return found ? [{ name: `mx${n}.hosts.test`, address: found.address, hasTls: found.certificate !== undefined }] : []
})
const SPF = { TXT: ['v=spf1 mx -all'] }
const dmarc = (text: string) => ({ _dmarc: { TXT: [`v=DMARC1; ${text}`] } })
/** What a domain publishes, and the phase of its DMARC. */
const KINDS: readonly (readonly [phase: string, records: Readonly<Record<string, WrittenNode>>])[] = [
  ['none', {}],
  ['none', { _dmarc: { TXT: ['v=DMARC1; p=nothing'] } }],
  ['monitoring', dmarc('p=none')],
  ['monitoring', dmarc('p=quarantine; t=y; pct=0')],
  ['partial', dmarc('p=quarantine; pct=20')],
  ['partial', dmarc('p=quarantine; t=y')],
  ['enforced', dmarc('p=quarantine')],
  ['enforced', dmarc('p=reject')],
  ['enforced', dmarc('p=reject; pct=50')],
  ['parked', { '': { TXT: ['v=spf1 -all'], MX: [[0, '.']] }, ...dmarc('p=reject') }],
]
const kindOf = (n: number) => KINDS[n % KINDS.length]!
const names = Array.from({ length: NAMES }, (_, n) => `d${n}.test`)

const zone = (): Record<string, WrittenNode> =>
  Object.fromEntries([
    ...HOSTS.map(({ name, address }): [string, WrittenNode] => [name, { A: [address] }]),
    ...names.flatMap((domain, n) => {
      const mx = { ...SPF, MX: [[10, HOSTS[n % HOSTS.length]!.name]] }
      return Object.entries({ '': mx, ...kindOf(n)[1] }).map(([name, node]): [string, WrittenNode] => [
        name === '' ? domain : `${name}.${domain}`,
        node,
      ])
    }),
  ])

let endRecords: (() => Promise<void>) | undefined
let postgres: DebianPostgres
let database: Client
let clock: Clock
let program: Program
vi.setConfig({ testTimeout: 300_000 })
const start = () => startProgram(['--database-url', postgres.url, '--resolver', ARCHETYPE_RESOLVER], clock)
beforeAll(async () => {
  const { hosts, apex } = domains()
  const world = { id: '', class: '', zone: { ...hosts, ...zone() }, expect: {} }
  endRecords = await serveRecords(zoneOf(world, { hosts: {}, apex }))
  clock = drivenClock(START, { steps: true })
  postgres = await debianPostgres('45.53.3.93')
  database = new Client({ connectionString: postgres.url })
  await database.connect()
  program = await start()
}, 120_000)
afterAll(async () => {
  await program?.stop()
  await database?.end()
  await postgres?.kill()
  await endRecords?.()
})

const upload = (text: string, query = 'kind=report&every=1d') =>
  fetch(`${program.url}/v1/monitors?${query}`, { method: 'POST', headers: { 'content-type': 'text/csv' }, body: text })
const ran = async (): Promise<number> =>
  (
    await database.query(
      'SELECT count(*)::int AS n FROM mailsonde.monitors WHERE next_run > $1 AND ran_at IS NOT NULL',
      [new Date(nowMs)],
    )
  ).rows[0].n
let nowMs = START
const summary = async (query = '') =>
  monitorSummaryAnswer.parse((await program.get(`/v1/monitors/summary${query}`)).body)

it('a run is finished though the service is killed, the clock steps and domains move to another owner', async () => {
  const rows = names.map((name, n) => `${name},faculty-${n % 5},${n % 2 === 0 ? 'even' : 'odd'}@owner.test`)
  const imported = await upload(`domain,labels,owner\n${rows.join('\n')}\n`)
  expect(await imported.json()).toMatchObject({ created: NAMES, bad_rows: [] })
  await expect.poll(ran, { timeout: 120_000, interval: 20 }).toBeGreaterThan(20)
  process.kill(program.pid, 'SIGKILL')
  program = await start()
  // Two hours back, as a clock that is set right: nothing waits for them.
  nowMs -= 2 * 3_600_000
  await clock.set(nowMs)
  const moved = await upload(`domain,owner\n${names.map((name) => `${name},new@owner.test`).join('\n')}\n`)
  expect(await moved.json()).toMatchObject({ updated: NAMES, created: 0, bad_rows: [] })
  await expect.poll(ran, { timeout: 240_000, interval: 200 }).toBe(NAMES)
  const { phase, state } = await summary('?owner=new@owner.test')
  expect(Object.fromEntries(phase.map(({ value, count }) => [value, count]))).toEqual(
    Object.fromEntries([...Map.groupBy(names.keys(), (n) => kindOf(n)[0])].map(([name, all]) => [name, all.length])),
  )
  expect(state.reduce((sum, { count }) => sum + count, 0)).toBe(NAMES)
})

it('a full run talks to each mail host once', async () => {
  expect(HOSTS.map(({ hasTls }) => hasTls).toSorted()).toEqual([false, false, true, true])
  const began = performance.now()
  const { connections } = await countConnections(
    HOSTS.map(({ address }) => address),
    async () => {
      await database.query('UPDATE mailsonde.monitors SET next_run = $1', [new Date(nowMs)])
      await expect.poll(ran, { timeout: 240_000, interval: 50 }).toBe(NAMES)
    },
  )
  const seconds = (performance.now() - began) / 1_000
  console.log(
    `${NAMES} domains in ${seconds.toFixed(1)} s: ${(NAMES / seconds).toFixed(0)} a second; ${connections} connections to ${HOSTS.length} hosts`,
  )
  // One session; where STARTTLS is offered, one after it that offers only outdated TLS.
  expect(connections).toBe(HOSTS.reduce((sum, { hasTls }) => sum + (hasTls ? 2 : 1), 0))
})
