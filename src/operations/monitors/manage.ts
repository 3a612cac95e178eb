import { z } from 'zod'
import { monitorAnswer, monitorKind, monitorListAnswer } from '../../answers/monitors.ts'
import { monitorDocument, monitorListDocument } from '../../documents/monitors.ts'
import { ownerOf } from '../../names/owner.ts'
import { formatParam } from '../documents.ts'
import { defineOperation, ok } from '../operation.ts'
import { cursorParam, limitParam, pageOf } from '../page.ts'
import { bodySwitchParam, choiceParam, lineParam } from '../params.ts'
import { checkKind, readNotify, readOptions, readTarget, settingParams, usualConditions } from './input.ts'
import { DEADLINE_MS, exampleMonitor, monitorExample, monitorIdParam } from './shared.ts'

const EVERY_MS = 86_400_000

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
    },
    output: {
      ...monitorExample,
      notify: [{ ...monitorExample.notify[0], secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
    },
  },
  deadlineMs: DEADLINE_MS,
  uses: ['monitors', 'mayCall'],
  run: async (ctx, deps, input) => {
    const { kind, target, every, options, notify = [], quiet_hours: quiet, name = '' } = input
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
    }
    return { status: 201, answer: await (await deps.monitors()).create(about, ownerOf(ctx), ctx.seed) }
  },
})

export const monitorList = defineOperation({
  name: 'monitors list',
  method: 'GET',
  path: '/v1/monitors',
  summary: 'List your monitors, newest first (all with scope admin)',
  scope: 'jobs',
  params: { limit: limitParam({ max: 200, fallback: 50 }), cursor: cursorParam(z.int()), format: formatParam },
  answer: monitorListAnswer,
  document: monitorListDocument,
  example: { input: {}, output: { data: [monitorExample], has_more: false, next_cursor: null } },
  deadlineMs: DEADLINE_MS,
  uses: ['monitors'],
  run: async (ctx, { monitors }, { limit, cursor }) => {
    const page = { limit: limit + 1, ...(cursor !== undefined && { before: cursor }) }
    const rows = await (await monitors()).list(page, ownerOf(ctx))
    return ok(
      pageOf(
        rows,
        limit,
        ({ number: _, ...monitor }) => monitor,
        ({ number }) => number,
      ),
    )
  },
})

export const monitorShow = defineOperation({
  name: 'monitors show',
  method: 'GET',
  path: '/v1/monitors/{id}',
  summary: 'Show a monitor with its state and last run',
  scope: 'jobs',
  params: { id: monitorIdParam, format: formatParam },
  answer: monitorAnswer,
  document: monitorDocument,
  example: { input: exampleMonitor, output: monitorExample },
  deadlineMs: DEADLINE_MS,
  uses: ['monitors'],
  run: async (ctx, { monitors }, { id }) => ok(await (await monitors()).show(id, ownerOf(ctx))),
})

/** Omitted fields stay unchanged. */
const { public: _public, ...otherSettings } = settingParams
export const monitorChange = defineOperation({
  name: 'monitors change',
  method: 'PATCH',
  path: '/v1/monitors/{id}',
  summary: 'Change a monitor',
  scope: 'jobs',
  params: {
    id: monitorIdParam,
    ...otherSettings,
    quiet_hours: { ...otherSettings.quiet_hours, schema: otherSettings.quiet_hours.schema.nullable() },
    public: bodySwitchParam('make its badge public', 'answer'),
  },
  answer: monitorAnswer,
  document: monitorDocument,
  example: { input: { ...exampleMonitor, every: '12h' }, output: monitorExample },
  deadlineMs: DEADLINE_MS,
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
    }
    return ok(await monitors.change(id, patch, owner))
  },
})

const turnOf = <const Action extends 'pause' | 'resume'>(action: Action, summary: string) =>
  defineOperation({
    name: `monitors ${action}`,
    method: 'POST',
    path: `/v1/monitors/{id}/${action}` as const,
    summary,
    scope: 'jobs',
    params: { id: monitorIdParam },
    answer: monitorAnswer,
    document: monitorDocument,
    example: { input: exampleMonitor, output: { ...monitorExample, enabled: action === 'resume' } },
    deadlineMs: DEADLINE_MS,
    uses: ['monitors'],
    run: async (ctx, { monitors }, { id }) =>
      ok(await (await monitors()).change(id, { enabled: action === 'resume' }, ownerOf(ctx))),
  })

export const monitorPause = turnOf('pause', 'Pause a monitor')
export const monitorResume = turnOf('resume', 'Resume a paused monitor; it runs at once')

export const monitorDelete = defineOperation({
  name: 'monitors delete',
  method: 'DELETE',
  path: '/v1/monitors/{id}',
  summary: 'Delete a monitor with its history',
  scope: 'jobs',
  params: { id: monitorIdParam },
  answer: monitorAnswer,
  document: monitorDocument,
  example: { input: exampleMonitor, output: monitorExample },
  deadlineMs: DEADLINE_MS,
  uses: ['monitors'],
  run: async (ctx, { monitors }, { id }) => ok(await (await monitors()).remove(id, ownerOf(ctx))),
})
