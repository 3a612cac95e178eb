import { z } from 'zod'
import { type ReportSenderAnswer, reportSender, reportSendersAnswer, senderVerdict } from '../../answers/reports.ts'
import { atMost } from '../../base/at-most.ts'
import { within } from '../../base/deadline.ts'
import { parsed, problem } from '../../base/problem.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { lookupAddress } from '../../checks/ptr/index.ts'
import { checkHost } from '../../checks/spf/index.ts'
import type { Blacklists } from '../../dnsbl/blacklists.ts'
import { reportSenderDocument, reportSendersDocument } from '../../documents/reports.ts'
import { type Domain, parseDomain } from '../../names/domain.ts'
import { type Ip, parseIp } from '../../names/ip.ts'
import { ownerOf } from '../../names/owner.ts'
import { hasKeyAt } from '../../reports/facts.ts'
import { presentLeftOut, presentSender } from '../../reports/present.ts'
import type { Sender } from '../../reports/senders.ts'
import type { Ctx } from '../../world.ts'
import { defineOperation, ok } from '../operation.ts'
import { choiceParam, cursorParam, limitParam, lineParam, optional, pageOf, textParam } from '../params.ts'
import { reportsError } from '../problems.ts'
import { exampleSender, senderExample, wordExample } from './examples.ts'
import { periodOf, periodParams, seesDomain } from './shared.ts'

/** Characters of the id of a sender: a domain and a key. */
const MAX_ID = 700
/** Addresses of a sender that are asked about, those with most mail. */
const ASKED = 20
const KEYS = 10
/** Time limit for what is asked about a page, ms. */
const TODAY_MS = 8_000
const verdictParam = optional(
  textParam<ReportSenderAnswer['verdict']>(
    'invalid_parameter',
    (text) => {
      const choice = senderVerdict.safeParse(text)
      return choice.success
        ? parsed(choice.data)
        : problem(valueProblem('choice', { text, known: senderVerdict.options }))
    },
    { description: 'only senders with this verdict', example: 'needs_setup', choices: senderVerdict.options },
  ),
)

/** The senders behind the addresses, largest first. */
export const reportsSenders = defineOperation({
  name: 'reports senders',
  method: 'GET',
  path: '/v1/reports/senders',
  summary: 'List the senders of a domain with verdict, evidence and what to do',
  scope: 'reports',
  params: {
    ...periodParams,
    verdict: verdictParam,
    today: choiceParam(['true', 'false'], 'true', {
      description:
        'ask now about the 20 largest addresses of each sender that is shown: SPF, PTR, keys and the 29 blacklists',
    }),
    limit: limitParam({ max: 100, fallback: 20 }),
    cursor: cursorParam(z.string().max(MAX_ID)),
  },
  answer: reportSendersAnswer,
  document: reportSendersDocument,
  example: {
    input: { domain: 'example.org' },
    output: { data: [senderExample], has_more: false, next_cursor: null },
  },
  uses: ['reports', 'blacklists'],
  run: async (ctx, { reports, blacklists }, { verdict, today, limit, cursor, ...input }) => {
    const period = periodOf(ctx, input)
    const { senders, leftOut } = await (await reports()).senders(ctx, period)
    const wanted = senders.filter((one) => verdict === undefined || one.verdict === verdict)
    const from = cursor === undefined ? 0 : wanted.findIndex(({ id }) => id === cursor) + 1
    const page = pageOf(wanted.slice(from, from + limit + 1), limit, 'id')
    const asking = { ...ctx, signal: within(TODAY_MS, ctx.signal) }
    const data = await atMost(4, page.data, async (sender) => {
      const { to_do, said, ...facts } = presentSender(sender)
      return {
        ...facts,
        ...(today === 'true' && { today: await todayOf(asking, blacklists, period.domain, sender) }),
        ...(to_do !== undefined && { to_do }),
        ...(said && { said }),
      }
    })
    return ok({ ...page, data, ...presentLeftOut(leftOut) })
  },
})

const ofText = (text: 'true' | 'false' | 'null'): boolean | null => (text === 'null' ? null : text === 'true')

/** Keeps what the owner of a domain says about one of its senders. */
export const reportsMine = defineOperation({
  name: 'reports mine',
  method: 'PUT',
  path: '/v1/reports/senders/{id}',
  summary: 'Say that a sender is yours, or not, or take that back',
  commands: {
    'reports mine': { summary: 'Say that a sender is yours', input: { ours: 'true' } },
    'reports not-mine': { summary: 'Say that a sender is not yours', input: { ours: 'false' } },
    'reports ask-again': { summary: 'Take back what was said about a sender', input: { ours: 'null' } },
  },
  scope: 'reports',
  params: {
    id: { ...lineParam('id of the sender, as in the list of senders', MAX_ID), example: exampleSender.id },
    ours: {
      kind: 'choice',
      description: 'true: it is yours; false: it is not; null: take back what was said',
      group: 'question',
      required: true,
      choices: ['true', 'false', 'null'],
      schema: z.union([z.boolean(), z.null(), z.enum(['true', 'false', 'null']).transform(ofText)]),
    },
    note: optional(lineParam('who or what it is; kept with the word', 200)),
  },
  answer: reportSender,
  document: reportSenderDocument,
  example: { input: { ...exampleSender, ours: true }, output: { ...senderExample, said: wordExample } },
  uses: ['reports'],
  run: async (ctx, { reports }, { id, ours, note }) => {
    const domain = parseDomain(id.slice(0, Math.max(0, id.indexOf(':'))))
    const by = ownerOf(ctx).id
    const sender =
      domain.ok && seesDomain(ctx.caller, domain.value)
        ? await (await reports()).say(ctx, { domain: domain.value, id, ours, note, by })
        : undefined
    if (!sender) throw reportsError('no_sender', { sender: id }, { parameter: 'id' })
    return ok(presentSender(sender))
  },
})

type Today = NonNullable<ReportSenderAnswer['today']>

/** What the DNS and the blacklists say now about the largest addresses of a sender. Never rejects because of them. */
async function todayOf(ctx: Ctx, blacklists: Blacklists, domain: Domain, sender: Sender): Promise<Today> {
  const asked = [...sender.addresses].slice(0, ASKED).flatMap(([text, messages]) => {
    const address = parseIp(text)
    return address.ok ? [{ address: address.value, messages }] : []
  })
  const [found, keys] = await Promise.all([
    atMost(ASKED, asked, async ({ address, messages }) => ({
      messages,
      ...(await aboutAddress(ctx, blacklists, domain, sender, address)),
    })),
    keysOf(ctx, sender),
  ])
  const all = found.reduce((sum, { messages }) => sum + messages, 0)
  const listed = new Map<string, { addresses: number; messages: number }>()
  for (const { messages, lists } of found)
    for (const name of lists.listed) {
      const known = listed.get(name) ?? { addresses: 0, messages: 0 }
      listed.set(name, { addresses: known.addresses + 1, messages: known.messages + messages })
    }
  return {
    spf: found.map(({ spf }) => spf),
    ptr: found.map(({ ptr }) => ptr),
    listed: [...listed].map(([blacklist, one]) => ({
      blacklist,
      addresses: one.addresses,
      share: all === 0 ? 0 : one.messages / all,
    })),
    keys,
    asked: asked.length,
    left_out: sender.addresses.size - asked.length,
    lists_answered: found.length === 0 ? 0 : Math.min(...found.map(({ lists }) => lists.answered)),
  }
}

async function aboutAddress(ctx: Ctx, blacklists: Blacklists, domain: Domain, sender: Sender, address: Ip) {
  const own = sender.envelopeDomains.find((name) => name === domain || name.endsWith(`.${domain}`)) ?? domain
  const [spf, ptr, lists] = await Promise.all([
    checkHost(ctx, { ip: address, sender: `postmaster@${own}`, helo: '' }),
    lookupAddress(ctx, address),
    blacklists.lookup(ctx, address),
  ])
  const back = ptr.forward.some(({ leads }) => leads === 'back')
  const open = ptr.error !== undefined || ptr.forward.some(({ leads }) => leads === 'unknown')
  const answered = lists.entries.filter(({ reading }) => reading.status === 'listed' || reading.status === 'not_listed')
  return {
    spf: { address, result: spf.result, ...(spf.mechanism !== undefined && { mechanism: spf.mechanism }) },
    ptr: { address, names: ptr.names.slice(0, 5), forward_confirmed: back ? true : open ? null : false },
    lists: {
      listed: answered.filter(({ reading }) => reading.status === 'listed').map(({ list }) => list.name),
      answered: answered.length,
    },
  }
}

async function keysOf(ctx: Pick<Ctx, 'resolve' | 'signal'>, sender: Sender): Promise<Today['keys']> {
  const pairs = new Map<string, { domain: string; selector: string }>()
  for (const { dkim_domain: domain, dkim_selector: selector } of sender.sources) {
    if (pairs.size >= KEYS) break
    if (selector !== '' && parseDomain(domain).ok) pairs.set(`${selector}._domainkey.${domain}`, { domain, selector })
  }
  return atMost(KEYS, [...pairs], async ([name, pair]) => {
    const isThere = await hasKeyAt(ctx, name)
    return { ...pair, status: isThere === undefined ? 'unknown' : isThere ? 'found' : 'missing' } as const
  })
}
