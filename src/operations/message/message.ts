import { type BounceAnswer, messageResult } from '../../answers/message.ts'
import { AppError } from '../../base/errors.ts'
import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { resultDocument } from '../../documents/message.ts'
import type { HeavyAsk } from '../../lane/heavy.ts'
import { readingError } from '../../lane/problems.ts'
import type { Returned } from '../../message/bounce.ts'
import type { GivenEnvelope } from '../../message/envelope.ts'
import { type Form, form, isPlain } from '../../message/form.ts'
import { formProblem } from '../../message/problems.ts'
import { parseDomain } from '../../names/domain.ts'
import { ownerOf } from '../../names/owner.ts'
import { judgeProfile } from '../../profiles/profile.ts'
import { formatParam } from '../documents.ts'
import example from '../examples/message.json' with { type: 'json' }
import { type Call, defineOperation, ok, type Upload } from '../operation.ts'
import { ipParam, optional, textParam, timeoutParam } from '../params.ts'
import { messageError, paramProblem } from '../problems.ts'
import { jsonOf, profileParamOf, profileVerdict } from '../profile.ts'
import { aboutMessage, saveParams } from '../saving.ts'
import { parseHelo, parseSender } from '../spf.ts'
import { ANALYSIS_DEPS, analyseMessage, todayOf } from './analysis.ts'
import { bounceOf, pastedBounce, presentBounce } from './bounce.ts'

const DEADLINE_MS = 30_000
/** The name of the shipped profile. */
const BULK = 'bulk-sender'
/** Maximum number of names of `received_by`. */
const MAX_HOSTS = 20

/** Takes a message apart: who touched it, what verifies, what does not and why. */
export const message = defineOperation({
  name: 'message',
  method: 'POST',
  path: '/v1/message',
  summary: 'Analyse a message: SPF, DKIM, DMARC, ARC, its way and its form',
  scope: 'read',
  uploads: 'message',
  refuseType,
  params: {
    ip: optional(ipParam('address of the host that sent the message to its receiver')),
    helo: optional(
      textParam('invalid_parameter', parseHelo, {
        description: 'HELO or EHLO name of that host',
        example: 'mail.example.org',
      }),
    ),
    mail_from: optional(
      textParam('invalid_parameter', parseMailFrom, {
        description: 'envelope sender (MAIL FROM); empty for a bounce',
        example: 'joe@example.org',
      }),
    ),
    received_by: optional(
      textParam<readonly string[]>('invalid_domain', parseHosts, {
        description: 'names of the receiving hosts, whose Received fields are believed: a,b',
        bounds: { max: String(MAX_HOSTS) },
        unit: 'items',
        example: 'mx.example.net',
      }),
    ),
    at: optional(
      textParam<number>('invalid_parameter', parseTime, {
        description: 'time at which the expiry of signatures is judged (RFC 3339); default now',
        example: '2026-01-31T12:00:00Z',
      }),
    ),
    profile: profileParamOf(new Map([[BULK, BULK]] as const)),
    timeout: timeoutParam('time limit of the analysis', DEADLINE_MS),
    format: formatParam,
    ...saveParams,
  },
  answer: messageResult,
  document: resultDocument,
  example: { input: { ip: '192.0.2.1' }, output: example },
  deadlineMs: DEADLINE_MS,
  graceMs: 2_000,
  uses: ANALYSIS_DEPS,
  run: async (ctx, deps, { ip, helo, mail_from, received_by, at, profile }) => {
    const given = await readMessage(ctx, deps.messages.maxBytes)
    const by = { caller: ownerOf(ctx).id }
    const pasted = pastedBounce(given)
    const form = pasted === undefined ? await formOf(ctx, given, by) : undefined
    const raw = form?.octets ?? given
    const bounce = pasted ?? (await bounceOf(ctx, raw, by))
    if (bounce) {
      const { returned } = bounce
      const analysis = returned
        ? await analyseMessage(ctx, deps, returned.octets, { by }, formOfReturned(returned))
        : null
      const ours = bounce.recipients.find(({ about }) => about === 'sender_domain')
      const today = ours ? await todayOf(ctx, deps, returned?.from, ours.text) : ''
      return ok(presentBounce(bounce, analysis, today, ctx.now()))
    }
    const about = {
      by,
      ...(received_by && { receivedBy: received_by }),
      ...(at !== undefined && { at }),
      ...envelopeOf(ip, helo, mail_from),
    }
    const answer = await analyseMessage(ctx, deps, raw, about, form)
    if (profile === undefined) return ok(answer)
    const judged = profile === BULK ? answer.bulk_sender : judgeProfile(profile, jsonOf(answer))
    return ok({ ...answer, profile: judged })
  },
  saves: {
    kind: 'message',
    about: aboutMessage,
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  // A profile decides instead of the findings.
  verdict: (answer) => {
    if ('bounce' in answer) return verdictOfBounce(answer.bounce)
    const { verdict, profile } = answer
    const judged = profileVerdict(profile)
    if (judged) return judged
    return verdict === 'passes' ? 'good' : verdict === 'unknown' ? 'unclear' : 'bad'
  },
})

/** Bad: something failed for good; good: all of it arrived. */
function verdictOfBounce({ recipients }: BounceAnswer['bounce']): 'good' | 'bad' | 'unclear' {
  if (recipients.some(({ action, permanent }) => action === 'failed' && permanent)) return 'bad'
  return recipients.every(({ action }) => action === 'delivered' || action === 'relayed') ? 'good' : 'unclear'
}

/** A reverse-path is an address, in whatever form, or nothing (RFC 5321 §4.1.2). */
function parseMailFrom(text: string): Parsed<string> {
  const sender = parseSender(text)
  if (!sender.ok || sender.value === '') return sender
  const at = sender.value.lastIndexOf('@')
  return at > 0 && at < sender.value.length - 1 ? sender : problem(paramProblem('reverse_path', { text }))
}

type Given = Omit<GivenEnvelope, 'from' | 'hop'>

function envelopeOf(
  ip: Given['ip'],
  helo: string | undefined,
  mailFrom: string | undefined,
): { readonly envelope?: GivenEnvelope } {
  if (ip === undefined && helo === undefined && mailFrom === undefined) return {}
  const given = {
    ...(ip !== undefined && { ip }),
    ...(helo !== undefined && { helo }),
    ...(mailFrom !== undefined && { mailFrom }),
  }
  return { envelope: { ...given, from: 'parameter' } }
}

function parseHosts(text: string) {
  const names = text.split(',').map((name) => name.trim())
  if (names.length > MAX_HOSTS) return problem(paramProblem('items', { max: MAX_HOSTS }))
  const hosts: string[] = []
  for (const name of names) {
    const host = parseDomain(name)
    if (!host.ok) return host
    hosts.push(host.value)
  }
  return parsed(hosts)
}

function parseTime(text: string) {
  const isTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text)
  const at = isTime ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? problem(paramProblem('time', { text })) : parsed(at)
}

/** The message in the octets that somebody gave. Throws AppError `bad_message`: they are something else. */
async function formOf(ctx: Call, octets: Buffer, by: Pick<HeavyAsk, 'caller'>): Promise<Form> {
  if (isPlain(octets)) return { kind: 'message', notes: [], octets }
  const found = await ctx.heavy(form, octets, null, { ...by, signal: ctx.signal }).catch((error) => {
    throw readingError(error, 'bad_message')
  })
  if ('is' in found) throw new AppError('bad_message', formProblem(found.is))
  return found
}

/** A header that came back may have lost fields on its way. */
const formOfReturned = ({ headerOnly }: Returned): Pick<Form, 'kind' | 'notes' | 'headerOnly'> => ({
  kind: headerOnly ? 'header_only' : 'message',
  notes: [],
  ...(headerOnly && { headerOnly: { intact: false } }),
})

/** The content types of messages (RFC 5322, RFC 6532 §3.7, RFC 4155), and what a text box or a program sends. */
const TYPES = [
  'message/rfc822',
  'message/global',
  'text/plain',
  'application/octet-stream',
  'application/mbox',
  'application/vnd.ms-outlook',
]

/** The whole message. Throws AppError: it has another type, it is larger than `max` octets, or there is none. */
async function readMessage({ upload, signal }: Call, max: number): Promise<Buffer> {
  if (upload === undefined) throw messageError('empty')
  refuseType(upload)
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of upload.octets) {
    signal.throwIfAborted()
    size += piece.length
    if (size > max) throw messageError('too_large', { max })
    pieces.push(piece)
  }
  if (size === 0) throw messageError('empty')
  return Buffer.concat(pieces, size)
}

function refuseType({ contentType }: Pick<Upload, 'contentType'>): void {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (!TYPES.includes(type)) throw messageError('type', { type })
}
