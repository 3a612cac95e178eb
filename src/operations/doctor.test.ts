import { describe, expect, it, vi } from 'vitest'
import { answerTo } from '../../test/lab/answer.ts'
import { labDeps, labPool } from '../../test/lab/app.ts'
import type { LabNode, LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { type MessageAnswer, messageAnswer } from '../answers/message.ts'
import { createBlacklists } from '../dnsbl/blacklists.ts'
import { BUILT_IN } from '../dnsbl/zones.ts'
import { domain } from '../names/domain.ts'
import { ip, reverseName } from '../names/ip.ts'
import { type Mail, MailError } from '../net/submit-mail.ts'
import { doctor } from './doctor.ts'
import messageExample from './examples/message.json' with { type: 'json' }

const US = ip('45.53.1.2')
const GOOD: LabZone = {
  [reverseName(US)]: { PTR: ['mail.a.example'] },
  'mail.a.example': { A: ['45.53.1.2'], TXT: ['v=spf1 ip4:45.53.1.2 -all'] },
}
const LISTED: LabNode = { A: ['127.0.0.2'], TXT: ['a spam source'] }
const ZEN = BUILT_IN.lists.find(({ name }) => name === 'Spamhaus ZEN')!
/** One list only, whose self-test passes: its test point is listed (RFC 5782 §5). */
const LISTS: LabZone = { '2.0.0.127.zen.spamhaus.org': { A: ['127.0.0.2', '127.0.0.4', '127.0.0.10'] } }

function examine(zone: LabZone, sources: readonly string[] = [US]) {
  const ctx = labCtx(zone)
  const blacklists = createBlacklists({ now: ctx.now, noCourtesy: true, set: { ...BUILT_IN, lists: [ZEN] } })
  const deps = labDeps(ctx, { blacklists, sourcePool: labPool(ctx, blacklists, sources) })
  return answerTo(doctor, ctx, deps, {})
}

describe('is this machine fit', () => {
  it.each<[name: string, zone: LabZone, fit: boolean, listings: unknown]>([
    ['not listed', { ...GOOD, ...LISTS }, true, []],
    [
      'listed',
      { ...GOOD, ...LISTS, '2.1.53.45.zen.spamhaus.org': LISTED },
      false,
      [expect.objectContaining({ blacklist: 'Spamhaus ZEN' })],
    ],
    ['not listed, without a PTR record', LISTS, false, []],
    [
      'no list answers: unknown is not fit',
      { ...GOOD, 'zen.spamhaus.org': 'TIMEOUT', '*.zen.spamhaus.org': 'TIMEOUT' },
      false,
      null,
    ],
  ])('%s', async (_, zone, fit, listings) => {
    const answer = await examine(zone)
    expect(answer).toMatchObject({ fit, sources: [{ address: US, listings }] })
    const repairs = JSON.stringify(answer.repairs)
    expect(repairs.includes('could not be determined whether 45.53.1.2 is listed')).toBe(listings === null)
  })
})

it('is not fit without a source', async () =>
  expect(await examine(LISTS, [])).toMatchObject({ fit: false, sources: [] }))

it('asks no blacklist while the resolver does not answer', async () => {
  const ctx = labCtx(GOOD)
  const lookup = vi.fn()
  const probes = { ...labDeps(ctx).probes, resolver: async () => 'it does not answer' }
  const deps = labDeps(ctx, { blacklists: { lookup } as never, probes, sourcePool: labPool(ctx, {} as never, []) })
  expect(await answerTo(doctor, ctx, deps, {})).toMatchObject({
    fit: false,
    resolver: { answers: false, reason: 'it does not answer' },
    lists: { total: 29, answering: 0, refusing: [] },
  })
  expect(lookup).not.toHaveBeenCalled()
})

describe('mail to owners', () => {
  const DKIM = messageAnswer.parse(messageExample).dkim[0]!
  const signed = (result: 'pass' | 'fail', ...signed_headers: readonly string[]): MessageAnswer => ({
    ...messageAnswer.parse(messageExample),
    dkim: [{ ...DKIM, result, signed_headers: [...signed_headers] }],
  })
  const BOTH = ['from', 'list-unsubscribe', 'list-unsubscribe-post']
  const ok = async (): Promise<void> => {}
  const away = async (): Promise<void> => {
    throw new MailError('connect ECONNREFUSED', false)
  }
  type Row = readonly [
    what: string,
    server: { readonly check?: typeof ok; readonly publicUrl?: string | undefined; readonly isReceiving?: false },
    came: MessageAnswer | undefined,
    told: object | null,
    repair: RegExp | undefined,
  ]
  it.each<Row>([
    ['is away', { check: away }, undefined, { ready: false, one_click: null }, /cannot be sent by mail: connect ECONN/],
    ['has no public URL', { publicUrl: undefined }, undefined, { ready: true, one_click: false }, /--public-url/],
    ['cannot be tried', { isReceiving: false }, undefined, { ready: true, one_click: null }, undefined],
    ['signs both fields', {}, signed('pass', ...BOTH), { ready: true, one_click: true }, undefined],
    ['signs one', {}, signed('pass', 'list-unsubscribe'), { ready: true, one_click: false }, /sign List-Unsubscribe/],
    ['signs wrongly', {}, signed('fail', ...BOTH), { ready: true, one_click: false }, /sign List-Unsubscribe/],
  ])('the server %s', async (_, { check = ok, isReceiving, ...more }, came, told, repair) => {
    const ctx = labCtx(GOOD)
    const deps = labDeps(ctx, { sourcePool: labPool(ctx, {} as never, []) })
    const { inbox } = deps.messages
    if (isReceiving !== false) inbox.open(domain('mail.a.example'))
    const publicUrl = 'publicUrl' in more ? more.publicUrl : 'https://watch.example'
    const sent: Mail[] = []
    const submission = async () => ({
      ...{ server: 'submit.example:587', from: 'watch@a.example', publicUrl, check, close: () => {} },
      send: async (mail: Mail) => {
        sent.push(mail)
        inbox.take(mail.to)?.(came)
      },
    })
    const answer = await answerTo(doctor, ctx, { ...deps, submission }, {})
    expect(answer.mail).toMatchObject({ server: 'submit.example:587', from: 'watch@a.example', ...told })
    expect(answer.repairs.filter((one) => /mail|unsubscribe/i.test(one) && repair?.test(one))).toHaveLength(
      repair ? 1 : 0,
    )
    if (came) expect(sent[0]?.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click')
    else expect(sent).toEqual([])
  })
})
