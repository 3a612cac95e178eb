import { z } from 'zod'
import { type MonitorDigestAnswer, monitorDigestAnswer } from '../../answers/monitors.ts'
import { monitorDigestDocument } from '../../documents/monitors.ts'
import type { MonitorService } from '../../monitors/service.ts'
import { ownerOf } from '../../names/owner.ts'
import { formatParam } from '../documents.ts'
import { type Call, defineOperation, ok } from '../operation.ts'
import { choiceParam, cursorParam, limitParam, lineParam, optional, pageOf } from '../params.ts'
import { readOwner } from './shared.ts'

const example: MonitorDigestAnswer = {
  ...{ every: 'week', next_at: '2026-11-30T06:00:00.000Z', owners: 2, without_owner: 0 },
  data: [
    { address: 'ann@example.org', monitors: 12, changed: 1, state: 'ready' },
    { address: 'bob@example.net', monitors: 1, changed: 0, state: 'asked', foreign: true },
  ],
  ...{ has_more: false, next_cursor: null },
  preview: {
    to: 'ann@example.org',
    subject: 'Mail checks: shop.example.org changed',
    text: '1 of your 12 targets changed since the last digest.\n\nshop.example.org, now A, 92 of 100\n  2026-11-18: DMARC: policy quarantine instead of none\n',
  },
}

/** Who gets digests, and what one says now. */
export const monitorsDigest = defineOperation({
  name: 'monitors digest',
  method: 'GET',
  path: '/v1/monitors/digest',
  summary: 'Show who gets a digest of changes, and a preview of one',
  scope: 'jobs',
  params: {
    owner: optional(lineParam('preview of the digest to this address', 320)),
    limit: limitParam({ max: 500, fallback: 100 }),
    cursor: cursorParam(z.string().max(400)),
    format: formatParam,
  },
  answer: monitorDigestAnswer,
  document: monitorDigestDocument,
  example: { input: {}, output: example },
  uses: ['monitors'],
  run: async (ctx, { monitors }, { owner, limit, cursor }) =>
    ok(await shown(ctx, await monitors(), { limit, cursor, of: owner })),
})

/** Turns digests to owners on or off. */
export const monitorsDigestSet = defineOperation({
  name: 'monitors digest-set',
  method: 'PUT',
  path: '/v1/monitors/digest',
  summary: 'Send each owner of monitors a digest of what changed, every week or day, or not any more',
  scope: 'jobs',
  params: {
    every: choiceParam(['week', 'day', 'off'], 'week', {
      description: 'week: Mondays at 06:00 UTC; day: at 06:00 UTC; off: no digests',
      group: 'question',
    }),
  },
  answer: monitorDigestAnswer,
  document: monitorDigestDocument,
  example: { input: { every: 'week' }, output: example },
  uses: ['monitors'],
  run: async (ctx, { monitors }, { every }) => {
    const service = await monitors()
    await service.digests.set(every, ownerOf(ctx))
    return ok(await shown(ctx, service, { limit: 100 }))
  },
})

async function shown(
  ctx: Call,
  { digests }: MonitorService,
  {
    limit,
    cursor,
    of,
  }: { readonly limit: number; readonly cursor?: string | undefined; readonly of?: string | undefined },
): Promise<MonitorDigestAnswer> {
  const { data, preview, ...answer } = await digests.show(ownerOf(ctx), {
    limit: limit + 1,
    ...(cursor !== undefined && { after: cursor }),
    ...(of !== undefined && { of: readOwner(of).toLowerCase() }),
  })
  return { ...answer, ...pageOf(data, limit, 'address'), preview }
}
