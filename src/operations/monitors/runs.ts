import { z } from 'zod'
import {
  monitorChangesAnswer,
  monitorHistoryAnswer,
  monitorRunAnswer,
  monitorTestAnswer,
} from '../../answers/monitors.ts'
import { monitorChangesDocument, monitorHistoryDocument } from '../../documents/monitor-history.ts'
import { monitorRunDocument, monitorTestDocument } from '../../documents/monitors.ts'
import { ownerOf } from '../../names/owner.ts'
import { defineOperation, ok } from '../operation.ts'
import { cursorParam, limitParam, pageOf } from '../page.ts'
import { bodyFlagParam } from '../params.ts'
import { DEADLINE_MS, exampleMonitor, monitorExample, monitorIdParam } from './shared.ts'

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
  deadlineMs: DEADLINE_MS,
  uses: ['monitors'],
  run: async (ctx, { monitors }, { id, limit, cursor }) => {
    const page = { limit: limit + 1, ...(cursor !== undefined && { after: new Date(cursor) }) }
    const points = await (await monitors()).history(id, page, ownerOf(ctx))
    return ok(
      pageOf(
        points,
        limit,
        (one) => one,
        ({ time }) => time,
      ),
    )
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
  deadlineMs: DEADLINE_MS,
  uses: ['monitors'],
  run: async (ctx, { monitors }, { id, limit, cursor }) => {
    const page = { limit: limit + 1, ...(cursor !== undefined && { before: new Date(cursor) }) }
    const changes = await (await monitors()).changes(id, page, ownerOf(ctx))
    return ok(
      pageOf(
        changes,
        limit,
        (one) => one,
        ({ time }) => time,
      ),
    )
  },
})
