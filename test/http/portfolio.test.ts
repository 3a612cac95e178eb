import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkAnswer } from '../../src/answers/check.ts'
import { monitorImportAnswer, monitorListAnswer, monitorSummaryAnswer } from '../../src/answers/monitors.ts'
import { sleep } from '../../src/base/deadline.ts'
import example from '../../src/operations/examples/check.json' with { type: 'json' }
import type { OwnProfiles } from '../../src/profiles/domain.ts'
import { parseOwnProfile } from '../../src/profiles/profile.ts'
import { monitorsOf } from '../../src/store/postgres/monitors.ts'
import { labApp, labDeps, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { labMonitorServices } from '../lab/monitor-services.ts'
import { labWorld } from '../lab/world.ts'

/** Many domains as one portfolio: import, filters, counts, changes of many and export, over a real database. */

const DAY_MS = 86_400_000
let nowMs = Date.UTC(2026, 0, 10, 12)
const world = labWorld({}, { now: () => nowMs })
const keys = [labKey('mine', ['jobs', 'reports']), labKey('other', ['jobs']), labKey('admin', ['admin'])]
const answer = checkAnswer.parse(example)

function ownProfile(text: string): OwnProfiles[number] {
  const read = parseOwnProfile(text)
  if (!read.ok) throw new Error(read.problem.text)
  return read.value
}

/** What a check of a domain answers, by the first label of its name without its number. */
const KINDS = {
  reject: { grade: 'A', score: 96, dmarc: { ...answer.dmarc, policy: 'reject', effective_policy: 'reject' } },
  watch: { grade: 'C', score: 71, dmarc: { ...answer.dmarc, policy: 'none', effective_policy: 'none' } },
  parked: { grade: 'A+', score: 100, domain_role: { name: 'parked', because: '' } },
  child: { grade: 'A', score: 95, dmarc: { ...answer.dmarc, inherited: true } },

  open: {
    grade: null,
    score: 40,
    findings: [],
    dmarc: { ...answer.dmarc, policy: 'reject', effective_policy: 'reject' },
  },
} as const
type Kind = keyof typeof KINDS
/** An operator's own profile: met by those at p=reject. */
const OWN = ownProfile(
  JSON.stringify({ name: 'ours', rules: [{ id: 'reject', text: 'reject', field: 'dmarc.policy', in: ['reject'] }] }),
)
let later: Partial<Record<string, Kind>> = {}
const kindOf = (domain: string): Kind => later[domain] ?? (/^[a-z]+/.exec(domain)?.[0] as Kind)

let app: FastifyInstance
let stop: () => Promise<void>
let database: Awaited<ReturnType<typeof labDatabase>>
beforeAll(async () => {
  database = await labDatabase()
  const { services, deps } = labMonitorServices(world, database, {
    runOnce: async (_kind, domain) => ({ ...answer, domain, ...KINDS[kindOf(domain)] }),
    profiles: [OWN],
  })
  stop = services.stop
  app = await labApp(world, { deps: labDeps(world, deps), keys: () => keys })
})
afterAll(async () => {
  await app.close()
  await stop()
})

const auth = (key: string) => ({ authorization: `Bearer ${key}` })
async function send(
  payload: string | Buffer,
  { query = 'kind=check', type = 'text/csv', key = 'mine', path = '/v1/monitors' } = {},
) {
  return app.inject({
    method: 'POST',
    url: `${path}?${query}`,
    headers: { ...auth(key), 'content-type': type },
    payload,
  })
}
const imported = async (...args: Parameters<typeof send>) => {
  const response = await send(...args)
  expect([response.statusCode, response.body]).toEqual([200, expect.any(String)])
  return monitorImportAnswer.parse(response.json())
}
const get = async (url: string, key = 'mine') => app.inject({ method: 'GET', url, headers: auth(key) })
const targetsOf = async (query: string): Promise<string[]> => {
  const response = await get(`/v1/monitors?limit=200&${query}`)
  expect([response.statusCode, response.body]).toEqual([200, expect.any(String)])
  return monitorListAnswer.parse(response.json()).data.map(({ target }) => target)
}
const summary = async (query = '') => monitorSummaryAnswer.parse((await get(`/v1/monitors/summary?${query}`)).json())
async function haveRun(): Promise<void> {
  for (let n = 0; n < 600; n++) {
    const { rows } = await sql<{ open: number }>`
      SELECT count(*)::int AS open FROM mailsonde.monitors WHERE enabled AND next_run <= ${new Date(nowMs)}`.execute(
      database.db,
    )
    if (rows[0]?.open === 0) return
    await sleep(50, AbortSignal.timeout(5_000))
  }
  throw new Error('the monitors did not run')
}

const LIST = [
  'domain;labels;owner;note',
  ...Array.from({ length: 12 }, (_, n) => `reject${n}.example;law, faculty;dean@law.example;first <b>`),
  ...Array.from({ length: 8 }, (_, n) => `watch${n}.example;law, faculty|x;;=1+1`),
  ...Array.from({ length: 5 }, (_, n) => `parked${n}.example;"parked;old";;`),
  ...Array.from({ length: 3 }, (_, n) => `child.org${n}.example;;;`),
  'open0.example;;;',
].join('\n')

describe('an import', () => {
  it('that is only tried tells what it would do, and stores nothing', async () => {
    const { changes, ...counts } = await imported(LIST, { query: 'kind=check&dry_run=true' })
    expect(counts).toEqual({ created: 29, updated: 0, unchanged: 0, bad_rows: [], dry_run: true })
    expect(changes?.[0]).toEqual({ line: 2, target: 'reject0.example', change: 'create' })
    expect(await targetsOf('')).toEqual([])
  })
  it('names the columns that it does not store', async () => {
    const told = await imported('Domain;Lables;owner\nreject0.example;law;', { query: 'dry_run=true' })
    expect(told).toMatchObject({ created: 1, ignored_columns: ['lables'] })
  })
  it('creates monitors, and again changes nothing', async () => {
    expect(await imported(LIST)).toMatchObject({ created: 29, updated: 0, unchanged: 0 })
    expect(await imported(LIST)).toMatchObject({ created: 0, updated: 0, unchanged: 29 })
  })
  it('changes what a row says, and leaves what no column names', async () => {
    const changed = await imported('{"domain": "watch0.example", "labels": ["law, faculty", "x"], "every": "12h"}\n', {
      type: 'application/x-ndjson',
    })
    expect(changed).toMatchObject({ created: 0, updated: 1 })
    const [monitor] = monitorListAnswer.parse((await get('/v1/monitors?q=watch0')).json()).data
    expect(monitor).toMatchObject({ labels: ['law, faculty', 'x'], every: '12h', note: '=1+1' })
    await imported('domain;labels\nwatch0.example;law, faculty|x')
  })
  it.each<[what: string, row: string, reason: RegExp]>([
    ['no domain', 'not a domain;;;', /domain/],
    ['an owner that is no address', 'a.example;;dean;', /address|@/],
    ['a label that is too long', `a.example;${'l'.repeat(1_000)};;`, /20 labels, each one line of at most 60/],
    ['21 labels', `a.example;"${Array.from({ length: 21 }, (_, n) => n).join(';')}";;`, /at most 20 labels/],
    ['a note that is too long', `a.example;;;${'n'.repeat(501)}`, /note/],
    ['a cell too many and no domain', 'the dean;;;;', /column/],
  ])('tells of %s by its line, and takes the others', async (_, row, reason) => {
    const told = await imported(
      `domain;labels;owner;note\n${row}\nreject0.example;"law, faculty";dean@law.example;first <b>`,
    )
    expect(told).toMatchObject({ created: 0, unchanged: 1, bad_rows: [{ line: 2 }] })
    expect(told.bad_rows[0]?.reason).toMatch(reason)
  })
  it.each<[encoding: BufferEncoding, list: string]>([
    ['utf16le', '\ufeffdomain\tlabels\nreject0.example\tlaw, faculty\n'],
    ['utf8', '\ufeffdomain,labels\r\nreject0.example,"law, faculty"\r\n'],
    ['latin1', 'domain|labels\nreject0.example|law, faculty\n'],
  ])('reads a list in %s as programs write it: %j', async (encoding, list) => {
    expect(await imported(Buffer.from(list, encoding))).toMatchObject({ created: 0, unchanged: 1, bad_rows: [] })
  })
  it.each([10_001, 100_000])('of %i rows stores nothing', async (count) => {
    const response = await send(['domain', ...Array.from({ length: count }, (_, n) => `d${n}.many.example`)].join('\n'))
    expect([response.statusCode, response.json().code]).toEqual([413, 'payload_too_large'])
    expect(await targetsOf('q=many.example')).toEqual([])
  })
  it('is of its key alone', async () => {
    expect(await imported('domain\nreject0.example\n', { key: 'other' })).toMatchObject({ created: 1, unchanged: 0 })
    expect(await targetsOf('q=reject0')).toEqual(['reject0.example'])
    expect(monitorListAnswer.parse((await get('/v1/monitors?q=reject0', 'admin')).json()).data).toHaveLength(2)
  })
})

describe('a portfolio', () => {
  beforeAll(haveRun, 60_000)
  it.each<[query: string, count: number]>([
    ['label=law,%20faculty', 12],
    ['owner=DEAN@law.example', 12],
    ['grade=A%2B', 5],
    ['grade=unknown', 1],
    ['phase=monitoring', 8],
    ['phase=parked', 5],
    ['phase=inherited', 3],
    ['policy=reject&label=law,%20faculty', 12],
    ['policy=reject,none', 29],
    ['policy=none,absent', 16],
    ['grade=A,A%2B&phase=enforced,parked', 17],
    ['state=ok,bad,unknown', 29],
    ['role=parked', 5],
    ['state=unknown', 0],
    ['q=%25', 0],
    ['q=FACULTY', 20],
    ['no_reports=true', 29],
    ['changed_since=2026-01-01', 0],
    [`finding=${answer.findings.find(({ severity }) => severity !== 'info')?.id}`, 28],
  ])('?%s has %i', async (query, count) => {
    const targets = await targetsOf(query)
    expect(targets).toHaveLength(count)
    expect((await summary(query)).total).toBe(count)
    expect((await get(`/v1/monitors?format=csv&${query}`)).body.trim().split('\r\n')).toHaveLength(count + 1)
    expect((await get(`/v1/monitors?format=ndjson&${query}`)).body.split('\n')).toHaveLength(count + 1)
  })
  it.each<[query: string, code: string]>([
    ['grade=Z', 'invalid_parameter'],
    ['colour=red', 'unknown_parameter'],
    ['policy=none,nothing', 'invalid_parameter'],
    ['changed_since=yesterday', 'invalid_parameter'],
    ['finding=dmarc.no_recrod', 'invalid_parameter'],
  ])('?%s is %s', async (query, code) => expect((await get(`/v1/monitors?${query}`)).json().code).toBe(code))

  it('is counted by profiles as SQL counts it, and each count is a filter', async () => {
    const { total, profiles } = await summary()
    expect(profiles.map(({ name }) => name)).toContain('bulk-sender')
    for (const { name, met, not_met: unmet, unknown } of profiles) {
      const { rows } = await sql<{ status: string; count: number }>`
        SELECT coalesce(facts -> 'profiles' ->> ${name}, 'unknown') AS status, count(*)::int AS count
        FROM mailsonde.monitors WHERE owner = 'id-of-mine' GROUP BY 1`.execute(database.db)
      const of = (status: string) => rows.find((row) => row.status === status)?.count ?? 0
      expect([met, unmet, unknown]).toEqual([of('met'), of('not_met'), of('unknown')])
      expect(met + unmet + unknown).toBe(total)
      expect(await targetsOf(`profile_not_met=${name}`)).toHaveLength(unmet)
    }
    expect((await get('/v1/monitors?profile_not_met=nobody')).statusCode).toBe(400)
  })
  it('is counted as SQL counts it', async () => {
    const { rows } = await sql<{ phase: string; count: number }>`
      SELECT coalesce(facts ->> 'phase', 'unknown') AS phase, count(*)::int AS count FROM mailsonde.monitors
      WHERE owner = (SELECT owner FROM mailsonde.monitors WHERE target = 'open0.example') GROUP BY 1 ORDER BY 2 DESC, 1`.execute(
      database.db,
    )
    const { phase, grade } = await summary()
    expect(phase.map(({ value, count }) => ({ phase: value, count }))).toEqual(rows)
    expect(grade.map(({ value, count }) => [value, count])).toEqual([
      ['A', 15],
      ['C', 8],
      ['A+', 5],
      ['unknown', 1],
    ])
  })
  it('is sorted, a page at a time', async () => {
    for (const [sort, first] of [
      ['score', 'watch0.example'],
      ['name', 'child.org0.example'],
      ['newest', 'open0.example'],
    ] as const) {
      const all = await targetsOf(`sort=${sort}`)
      expect(all[0]).toBe(first)
      const paged: string[] = []
      for (let cursor = ''; cursor !== 'end'; ) {
        const page = monitorListAnswer.parse((await get(`/v1/monitors?limit=7&sort=${sort}${cursor}`)).json())
        paged.push(...page.data.map(({ target }) => target))
        cursor = page.next_cursor === null ? 'end' : `&cursor=${page.next_cursor}`
      }
      expect(paged).toEqual(all)
    }
  })
  it('exports what can be imported again, without a formula', async () => {
    const { body } = await get('/v1/monitors?format=csv&sort=name')
    expect(body.split('\r\n')[0]).toBe(
      'domain,name,labels,owner,every,kind,note,state,score,grade,below,phase,inherited_phase,policy,provider,role,worst,accepted,changed_at,id',
    )
    expect(body).toContain(",'=1+1,")
    expect(await imported(body, { query: 'kind=check&dry_run=true' })).toMatchObject({
      created: 0,
      unchanged: 21,
      updated: 8,
    })
  })
  it('shows two dates side by side, and what changed', async () => {
    nowMs += 8 * DAY_MS
    later = { 'watch0.example': 'reject' }
    await haveRun()
    const { phase } = await summary('compare=2026-01-10')
    expect(phase.find(({ value }) => value === 'monitoring')).toEqual({
      ...{ value: 'monitoring', count: 7, compared: 8 },
      ...{ change_7_days: -1, change_28_days: 7 },
    })
    expect(await targetsOf('changed_since=2026-01-18')).toEqual(['watch0.example'])
    expect((await targetsOf('sort=changed'))[0]).toBe('watch0.example')
  })
})

describe('an own profile', () => {
  it('is counted and filtered by, and shown by the badge', async () => {
    const targets = await targetsOf('policy=none,quarantine,absent')
    expect(await targetsOf('profile_not_met=ours')).toEqual(targets)
    const { total, profiles } = await summary()
    const ours = profiles.find(({ name }) => name === 'ours')
    expect(ours).toMatchObject({ met: total - targets.length, not_met: targets.length, unknown: 0 })
    await sql`UPDATE mailsonde.monitors SET is_public = true`.execute(database.db)
    const [one] = monitorListAnswer.parse((await get('/v1/monitors?q=reject0')).json()).data
    const badge = async (name: string) => (await get(`/v1/badge/${one!.id}.json?profile=${name}`)).json()
    expect(await badge('ours')).toMatchObject({ label: 'ours reject0.example', message: 'met' })
    expect(await badge('theirs')).toMatchObject({ code: 'invalid_parameter', detail: expect.stringContaining('ours') })
  })
})

describe('a change of many', () => {
  const patch = async (query: string, set: object) =>
    app.inject({ method: 'PATCH', url: `/v1/monitors?${query}`, headers: auth('mine'), payload: { set } })
  const post = async (path: string) =>
    app.inject({ method: 'POST', url: `/v1/monitors/${path}`, headers: auth('mine') })

  it('of all at once is refused', async () => {
    expect((await patch('', { note: 'x' })).json().code).toBe('missing_parameter')
    expect((await post('pause')).json().code).toBe('missing_parameter')
  })
  it('changes labels, owner and interval of those that the filter selects', async () => {
    const set = { add_labels: ['checked'], remove_labels: ['law, faculty'], owner: 'it@law.example', every: '12h' }
    expect((await patch('label=law,%20faculty', set)).json()).toEqual({ changed: 12 })
    expect(await targetsOf('label=checked')).toHaveLength(12)
    expect(await targetsOf('label=law,%20faculty')).toEqual([])
    expect(await targetsOf('owner=it@law.example')).toHaveLength(12)
  })
  it('pauses and resumes them, and runs them at most once a minute', async () => {
    expect((await post('pause?label=checked')).json()).toEqual({ changed: 12 })
    expect((await post('pause?label=checked')).json()).toEqual({ changed: 0 })
    expect((await post('resume?label=checked')).json()).toEqual({ changed: 12 })
    await haveRun()
    expect((await post('run?label=checked')).json()).toEqual({ changed: 0 })
    nowMs += 61_000
    expect((await post('run?label=checked')).json()).toEqual({ changed: 12 })
  })
  it('reaches no monitor of another key', async () => {
    expect((await patch('q=reject', { note: 'mine' })).json()).toEqual({ changed: 12 })
    expect(monitorListAnswer.parse((await get('/v1/monitors', 'other')).json()).data.map(({ note }) => note)).toEqual([
      '',
    ])
  })
})

describe('a clock that steps back', () => {
  it('delays no first run', async () => {
    await sql`UPDATE mailsonde.monitors SET enabled = false`.execute(database.db)
    await imported('domain\nparked90.example')
    await haveRun()
    // as if it was made two hours ahead of the clock as it is now
    const ahead = new Date(nowMs + 2 * 3_600_000)
    const of = sql`target = 'parked90.example'`
    await sql`UPDATE mailsonde.monitors SET created_at = ${ahead}, next_run = ${ahead}, ran_at = NULL WHERE ${of}`.execute(
      database.db,
    )
    await monitorsOf(database.db).mendTimes(new Date(nowMs))
    await haveRun()
    const { rows } = await sql`SELECT FROM mailsonde.monitors WHERE ${of} AND ran_at IS NULL`.execute(database.db)
    expect(rows).toEqual([])
    await sql`UPDATE mailsonde.monitors SET enabled = true`.execute(database.db)
  })
})

describe('names below a domain', () => {
  it('follow their domain, say what governs them, and are counted once', async () => {
    const list = ['b.children.test', 'children.test', 'a.children.test', 'zzz.test', 'aaa.test', 'x.y.childre.test']
    await imported(`domain;labels\n${list.map((one) => `${one};family`).join('\n')}`)
    await haveRun()
    expect(await targetsOf('label=family&sort=domain')).toEqual([
      'aaa.test',
      'x.y.childre.test',
      'children.test',
      'a.children.test',
      'b.children.test',
      'zzz.test',
    ])
    const paged: string[] = []
    for (let cursor = ''; ; ) {
      const { data, next_cursor: next } = monitorListAnswer.parse(
        (await get(`/v1/monitors?label=family&sort=domain&limit=2${cursor}`)).json(),
      )
      paged.push(...data.map(({ target }) => target))
      if (next === null) break
      cursor = `&cursor=${next}`
    }
    expect(paged).toEqual(await targetsOf('label=family&sort=domain'))
    expect(await targetsOf('organization=children.test')).toHaveLength(3)
    expect(await summary('label=family')).toMatchObject({ total: 6, organizations: 4, below: 3 })
    const { data } = monitorListAnswer.parse((await get('/v1/monitors?label=family&sort=domain')).json())
    expect(data.map(({ below }) => below)).toEqual([null, 'childre.test', null, 'children.test', 'children.test', null])
  })
})
