import { z } from 'zod'
import {
  type MonitorAnswer,
  monitorAnswer,
  monitorChangesAnswer,
  monitorHistoryAnswer,
  monitorKind,
  monitorListAnswer,
  monitorRunAnswer,
  monitorTestAnswer,
} from '../../answers/monitors.ts'
import { csvLine } from '../../base/csv.ts'
import { within } from '../../base/deadline.ts'
import { AppError } from '../../base/errors.ts'
import {
  monitorChangesDocument,
  monitorDocument,
  monitorHistoryDocument,
  monitorListDocument,
  monitorRunDocument,
  monitorTestDocument,
} from '../../documents/monitors.ts'
import type { MonitorService } from '../../monitors/service.ts'
import { ownerOf } from '../../names/owner.ts'
import { MONITOR_SORTS, type MonitorPlace } from '../../store/postgres/portfolio.ts'
import { formatParam } from '../documents.ts'
import { defineOperation, ok, type TextStream } from '../operation.ts'
import { bodyFlagParam, bodySwitchParam, choiceParam, cursorParam, limitParam, lineParam, pageOf } from '../params.ts'
import { filterOf, filterParams } from './portfolio.ts'
import {
  checkKind,
  EVERY_MS,
  exampleMonitor,
  labelsOf,
  monitorExample,
  monitorIdParam,
  readNotify,
  readOptions,
  readOwner,
  readTarget,
  settingParams,
  usualConditions,
} from './shared.ts'

/** Checks a domain, a mailbox or an address on a schedule, and sends messages when something changes. */
export const monitorCreate = defineOperation({
  name: 'monitors create',
  method: 'POST',
  path: '/v1/monitors',
  summary: 'Watch a domain, mailbox or IP address on a schedule',
  scope: 'jobs',
  idempotent: true,
  params: {
    kind: choiceParam(['check', 'report', 'verify', 'blacklist', 'reports'], 'report', {
      description: 'what each run does',
      group: 'question',
    }),
    target: {
      positional: true,
      ...lineParam('domain (check, report, reports), mailbox (verify) or IP address (blacklist)', 320),
      example: 'example.org',
    },
    ...settingParams,
    test: bodyFlagParam('send a test message to each URL in notify, and tell what comes back', 'notify'),
  },
  answer: monitorAnswer,
  document: monitorDocument,
  statuses: { 201: 'the monitor is created; its first run starts now' },
  example: {
    input: {
      kind: 'report',
      target: 'example.org',
      notify: [{ type: 'webhook', url: 'https://hooks.example.org/mail' }],
      when: ['changed', 'listed'],
      test: true,
    },
    output: {
      ...monitorExample,
      notify: [{ ...monitorExample.notify[0], secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
      tested: [{ type: 'webhook', to: 'https://hooks.example.org/mail', ok: true }],
    },
  },
  uses: ['monitors', 'mayCall'],
  run: async (ctx, deps, input) => {
    const {
      kind,
      target,
      every,
      options,
      notify = [],
      quiet_hours: quiet,
      name = '',
      labels = [],
      owner: contact = '',
    } = input
    const read = readTarget(kind, target, options ?? {})
    const { when = usualConditions(read.kind) } = input
    checkKind(ctx, read.kind, read.target, { when, isPublic: input.public })
    const targets = await readNotify(ctx, deps, notify)
    const about = {
      ...read,
      name,
      everyMs: every ?? EVERY_MS,
      notify: targets,
      when,
      quiet: quiet ?? null,
      isPublic: input.public,
      labels: labelsOf(labels),
      contact: readOwner(contact),
      note: input.note ?? '',
    }
    const monitors = await deps.monitors()
    const owner = ownerOf(ctx)
    const answer = await monitors.create(about, owner, ctx.seed)
    if (!input.test || targets.every(({ type }) => type === 'mail')) return { status: 201, answer }
    const tested = await monitors.test(answer.id, owner, within(TEST_MS, ctx.signal), 'urls').catch(refusedTest)
    return { status: 201, answer: { ...answer, ...(tested && { tested: tested.sent }) } }
  },
})

/**
 * Time limit for the test messages of a monitor that is created, ms: below the deadline, which must not pass after the
 * monitor was stored.
 */
const TEST_MS = 12_000
/** Time limit of a list: one that is exported is read in parts. */
const EXPORT_MS = 120_000

/** The monitor exists, whether or not its receivers could be tested. */
function refusedTest(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}

export const monitorList = defineOperation({
  name: 'monitors list',
  method: 'GET',
  path: '/v1/monitors',
  summary: 'List your monitors (all with scope admin)',
  scope: 'jobs',
  streams: ['csv', 'ndjson'],
  params: {
    ...filterParams,
    sort: choiceParam(MONITOR_SORTS, 'newest', {
      description:
        'newest first, by name, names below their organizational domain, lowest score first, most severe finding first, or last changed first',
    }),
    limit: limitParam({ max: 200, fallback: 50 }),
    cursor: cursorParam(z.tuple([z.union([z.string().max(400), z.number()]), z.int()])),
    format: choiceParam(['json', 'html', 'markdown', 'csv', 'ndjson'], 'json', {
      description: 'csv and ndjson: all monitors that the filter selects',
    }),
  },
  answer: monitorListAnswer,
  document: monitorListDocument,
  example: { input: {}, output: { data: [monitorExample], has_more: false, next_cursor: null } },
  deadlineMs: EXPORT_MS,
  uses: ['monitors'],
  run: async (ctx, { monitors }, { limit, cursor, sort, format, ...input }) => {
    const [service, filter, owner] = [await monitors(), filterOf(ctx, input), ownerOf(ctx)]
    if (format === 'csv' || format === 'ndjson') {
      const pages = exported((after) => service.list(filter, { sort, limit: PAGE, ...(after && { after }) }, owner))
      return { status: 200, stream: format === 'csv' ? csvOf(pages) : ndjsonOf(pages) }
    }
    const page = { sort, limit: limit + 1, ...(cursor !== undefined && { after: cursor }) }
    const rows = await service.list(filter, page, owner)
    return ok(pageOf(rows, limit, 'place', ({ monitor }) => monitor))
  },
})

/** Rows that an export reads at a time. */
const PAGE = 200
type Listed = Awaited<ReturnType<MonitorService['list']>>

async function* exported(read: (after?: MonitorPlace) => Promise<Listed>): AsyncIterable<Listed> {
  let after: MonitorPlace | undefined
  do {
    const rows = await read(after)
    yield rows
    after = rows.length === PAGE ? rows.at(-1)?.place : undefined
  } while (after !== undefined)
}

const COLUMNS: readonly (readonly [
  name: string,
  of: (monitor: MonitorAnswer) => string | number | null | undefined,
])[] = [
  ['domain', ({ target }) => target],
  ['name', ({ name }) => name],
  ['labels', ({ labels }) => labels.join(';')],
  ['owner', ({ owner }) => owner],
  ['every', ({ every }) => every],
  ['kind', ({ kind }) => kind],
  ['note', ({ note }) => note],
  ['state', ({ state }) => state],
  ['score', ({ facts }) => facts?.score],
  ['grade', ({ facts }) => facts?.grade ?? 'unknown'],
  ['below', ({ below }) => below],
  ['phase', ({ facts }) => facts?.phase ?? 'unknown'],
  ['inherited_phase', ({ facts }) => facts?.inherited_phase],
  ['policy', ({ facts }) => facts?.policy ?? 'unknown'],
  ['provider', ({ facts }) => facts?.provider ?? 'unknown'],
  ['role', ({ facts }) => facts?.role ?? 'unknown'],
  ['worst', ({ facts }) => facts?.worst?.finding],
  [
    'accepted',
    ({ accepted }) => accepted.map(({ finding, until }) => `${finding} until ${until.slice(0, 10)}`).join(';'),
  ],
  ['changed_at', (monitor) => monitor.changed_at],
  ['id', ({ id }) => id],
]

/** With the columns of an import first, so that an export can be changed and imported. No cell is a formula. */
function csvOf(pages: AsyncIterable<Listed>): TextStream {
  const line = csvLine(',', 'spreadsheet')
  async function* text(): AsyncIterable<string> {
    yield line(COLUMNS.map(([name]) => name))
    for await (const rows of pages)
      yield rows.map(({ monitor }) => line(COLUMNS.map(([, of]) => String(of(monitor) ?? '')))).join('')
  }
  return { contentType: 'text/csv; charset=utf-8', text: text() }
}

function ndjsonOf(pages: AsyncIterable<Listed>): TextStream {
  async function* text(): AsyncIterable<string> {
    for await (const rows of pages) yield rows.map(({ monitor }) => `${JSON.stringify(monitor)}\n`).join('')
  }
  return { contentType: 'application/x-ndjson', text: text() }
}

/** What all operations about one monitor have in common. */
const ofMonitor = {
  scope: 'jobs',
  params: { id: monitorIdParam },
  answer: monitorAnswer,
  document: monitorDocument,
  example: { input: exampleMonitor, output: monitorExample },
  uses: ['monitors'],
} as const

export const monitorShow = defineOperation({
  ...ofMonitor,
  name: 'monitors show',
  method: 'GET',
  path: '/v1/monitors/{id}',
  summary: 'Show a monitor with its state and last run',
  params: { id: monitorIdParam, format: formatParam },
  run: async (ctx, { monitors }, { id }) => ok(await (await monitors()).show(id, ownerOf(ctx))),
})

/** Omitted fields stay unchanged. */
const { public: _public, ...otherSettings } = settingParams
export const monitorChange = defineOperation({
  ...ofMonitor,
  name: 'monitors change',
  method: 'PATCH',
  path: '/v1/monitors/{id}',
  summary: 'Change a monitor',
  params: {
    id: monitorIdParam,
    ...otherSettings,
    quiet_hours: { ...otherSettings.quiet_hours, schema: otherSettings.quiet_hours.schema.nullable() },
    public: bodySwitchParam('make its badge public', 'answer'),
  },
  example: { input: { ...exampleMonitor, every: '12h' }, output: monitorExample },
  uses: ['monitors', 'mayCall'],
  run: async (ctx, deps, input) => {
    const { id, name, every, options, notify, when, quiet_hours: quiet } = input
    const owner = ownerOf(ctx)
    const monitors = await deps.monitors()
    const now = await monitors.show(id, owner)
    const kind = monitorKind.parse(now.kind)
    checkKind(ctx, kind, now.target, { ...(when && { when }), isPublic: input.public })
    const patch = {
      ...(name !== undefined && { name }),
      ...(every !== undefined && { everyMs: every }),
      ...(options && { options: readOptions(kind, now.target, options) }),
      ...(notify && { notify: await readNotify(ctx, deps, notify) }),
      ...(when && { when }),
      ...(quiet !== undefined && { quiet }),
      ...(input.public !== undefined && { isPublic: input.public }),
      ...(input.labels && { labels: labelsOf(input.labels) }),
      ...(input.owner !== undefined && { contact: readOwner(input.owner) }),
      ...(input.note !== undefined && { note: input.note }),
    }
    return ok(await monitors.change(id, patch, owner))
  },
})

const turnOf = <const Action extends 'pause' | 'resume'>(action: Action, summary: string) =>
  defineOperation({
    ...ofMonitor,
    name: `monitors ${action}`,
    method: 'POST',
    path: `/v1/monitors/{id}/${action}` as const,
    summary,
    example: { input: exampleMonitor, output: { ...monitorExample, enabled: action === 'resume' } },
    run: async (ctx, { monitors }, { id }) =>
      ok(await (await monitors()).change(id, { enabled: action === 'resume' }, ownerOf(ctx))),
  })

export const monitorPause = turnOf('pause', 'Pause a monitor')
export const monitorResume = turnOf('resume', 'Resume a paused monitor; it runs at once')

export const monitorDelete = defineOperation({
  ...ofMonitor,
  name: 'monitors delete',
  method: 'DELETE',
  path: '/v1/monitors/{id}',
  summary: 'Delete a monitor with its history',
  run: async (ctx, { monitors }, { id }) => ok(await (await monitors()).remove(id, ownerOf(ctx))),
})

/** A run may take as long as the question of its kind, and may have to wait for others. */
const WAIT_MS = 120_000
const point = monitorExample.last!

export const monitorRun = defineOperation({
  name: 'monitors run',
  method: 'POST',
  path: '/v1/monitors/{id}/run',
  summary: 'Run a monitor now (at most once a minute)',
  scope: 'jobs',
  params: { id: monitorIdParam, wait: bodyFlagParam('wait for the run and return it') },
  alsoInQuery: ['wait'],
  answer: monitorRunAnswer,
  document: monitorRunDocument,
  statuses: { 202: 'the run has started' },
  example: {
    input: exampleMonitor,
    output: { run: { monitor: exampleMonitor.id, state: 'waiting', point: null, lines: [] } },
  },
  deadlineMs: WAIT_MS,
  uses: ['monitors'],
  run: async (ctx, { monitors }, { id, wait }) => {
    const answer = await (await monitors()).run(id, wait, ownerOf(ctx), ctx.signal)
    return { status: wait ? 200 : 202, answer }
  },
})

export const monitorTest = defineOperation({
  name: 'monitors test',
  method: 'POST',
  path: '/v1/monitors/{id}/test',
  summary: 'Send a test message to all recipients of a monitor',
  scope: 'jobs',
  params: { id: monitorIdParam },
  answer: monitorTestAnswer,
  document: monitorTestDocument,
  example: {
    input: exampleMonitor,
    output: { sent: [{ type: 'webhook', to: 'https://hooks.example.org/mail', ok: true }] },
  },
  deadlineMs: 100_000,
  uses: ['monitors'],
  run: async (ctx, { monitors }, { id }) => ok(await (await monitors()).test(id, ownerOf(ctx), ctx.signal)),
  verdict: ({ sent }) => (sent.every((one) => one.ok) ? 'good' : 'bad'),
})

export const monitorHistory = defineOperation({
  name: 'monitors history',
  method: 'GET',
  path: '/v1/monitors/{id}/history',
  summary: 'Show the runs of a monitor, oldest first',
  scope: 'jobs',
  params: {
    id: monitorIdParam,
    limit: limitParam({ max: 5_000, fallback: 1_000 }),
    cursor: cursorParam(z.iso.datetime()),
  },
  answer: monitorHistoryAnswer,
  document: monitorHistoryDocument,
  example: { input: exampleMonitor, output: { data: [point], has_more: false, next_cursor: null } },
  uses: ['monitors'],
  run: async (ctx, { monitors }, { id, limit, cursor }) => {
    const page = { limit: limit + 1, ...(cursor !== undefined && { after: new Date(cursor) }) }
    const points = await (await monitors()).history(id, page, ownerOf(ctx))
    return ok(pageOf(points, limit, 'time'))
  },
})

export const monitorChanges = defineOperation({
  name: 'monitors changes',
  method: 'GET',
  path: '/v1/monitors/{id}/changes',
  summary: 'Show the changes that a monitor found, newest first',
  scope: 'jobs',
  params: {
    id: monitorIdParam,
    limit: limitParam({ max: 200, fallback: 50 }),
    cursor: cursorParam(z.iso.datetime()),
  },
  answer: monitorChangesAnswer,
  document: monitorChangesDocument,
  example: {
    input: exampleMonitor,
    output: {
      data: [
        {
          time: point.time,
          lines: ['DMARC: policy none instead of reject'],
          changes: [{ id: 'dmarc.policy', area: 'DMARC', effect: 'worse', text: 'policy none instead of reject' }],
        },
      ],
      has_more: false,
      next_cursor: null,
    },
  },
  uses: ['monitors'],
  run: async (ctx, { monitors }, { id, limit, cursor }) => {
    const page = { limit: limit + 1, ...(cursor !== undefined && { before: new Date(cursor) }) }
    const changes = await (await monitors()).changes(id, page, ownerOf(ctx))
    return ok(pageOf(changes, limit, 'time'))
  },
})
