import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BounceAnswer, MessageResult } from '../../../src/answers/message.ts'
import { AppError } from '../../../src/base/errors.ts'
import { message } from '../../../src/operations/message/message.ts'
import { labZone } from '../../archetypes/lab.ts'
import { labDeps, labExecutor } from '../../lab/app.ts'
import { CORPORA, corpus } from '../../lab/corpora.ts'
import { labWorld } from '../../lab/world.ts'

// biome-ignore lint/suspicious/noExplicitAny: the shape is the corpus's own
const data: any = corpus('field/messages/expected.json')
type Wanted = {
  readonly any?: readonly Wanted[]
  readonly status?: number
  readonly code?: string
  readonly says?: string
  readonly never?: string
  readonly kind?: string | readonly string[]
  readonly notes?: string
  readonly from?: string
  readonly verdict?: readonly string[]
  readonly spf?: readonly string[]
  readonly dmarc?: readonly string[]
  readonly dkim?: readonly { readonly domain: string; readonly result: readonly string[]; readonly because?: string }[]
  readonly ip?: string | null
  readonly sure?: boolean | null
  readonly candidates?: readonly string[]
  readonly never_ip?: readonly string[]
  readonly bounce?: {
    readonly recipients: readonly Recipient[]
    readonly returned?: { readonly from?: string; readonly subject?: string; readonly analysis?: string }
  }
  readonly no_bounce?: true
}
type Recipient = {
  readonly address?: string
  readonly action?: readonly string[]
  readonly about?: readonly string[]
  readonly permanent?: boolean
  readonly status?: string
  readonly code?: number
  readonly remote?: string
  readonly says?: string
}
type Case = {
  readonly id: string
  readonly group: string
  readonly media?: string
  readonly query?: string
  readonly expect: Wanted
}
type Got = { readonly answer: MessageResult } | { readonly code: string; readonly detail: string }

async function given({ id, media = 'message/rfc822', query = '' }: Case): Promise<Got> {
  const world = { ...labWorld(labZone(data.zone)), now: () => Date.parse(data.at) }
  const octets = readFileSync(join(CORPORA, 'field/messages', id))
  const upload = {
    octets: (async function* () {
      yield octets
    })(),
    contentType: media,
  }
  try {
    const input = Object.fromEntries(new URLSearchParams(query.replace(/^&/, '')))
    const { answer } = await labExecutor(world, labDeps(world))(message, input, { upload })
    return { answer: answer as MessageResult }
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, detail: error.message }
    throw error
  }
}

const is = (pattern: string, text: string): boolean => new RegExp(pattern.replace(/^\(\?[is]+\)/, ''), 'is').test(text)

function bounceFaults(wanted: Wanted, { recipients, returned }: NonNullable<Wanted['bounce']>, got: BounceAnswer) {
  const { bounce, summary, input } = got
  const faults: string[] = []
  if (recipients.length !== bounce.recipients.length) faults.push(`${bounce.recipients.length} recipients`)
  for (const one of recipients) {
    const told =
      one.address === undefined
        ? bounce.recipients[0]
        : bounce.recipients.find(({ address }) => address === one.address)
    if (!told) {
      faults.push(`${one.address} is not there`)
      continue
    }
    const { action, about, permanent, status, code, remote, says } = one
    if (action && !action.includes(told.action)) faults.push(`action ${told.action}`)
    if (about && !about.includes(told.about)) faults.push(`about ${told.about}`)
    if (permanent !== undefined && permanent !== told.permanent) faults.push(`permanent ${told.permanent}`)
    if (status !== undefined && status !== told.status) faults.push(`status ${told.status}`)
    if (code !== undefined && code !== told.code) faults.push(`code ${told.code}`)
    if (remote !== undefined && !is(remote, told.remote_mta ?? '')) faults.push(`remote ${told.remote_mta}`)
    if (says !== undefined && !is(says, `${told.meaning} ${told.to_do}`)) faults.push(`says ${told.meaning}`)
  }
  if (returned?.from !== undefined && !bounce.returned?.from.includes(returned.from)) faults.push('returned from')
  if (returned?.subject !== undefined && bounce.returned?.subject !== returned.subject) faults.push('returned subject')
  if (returned?.analysis !== undefined && bounce.returned?.analysis?.input.kind !== returned.analysis)
    faults.push(`analysis ${bounce.returned?.analysis?.input.kind}`)
  const words = [summary, ...input.notes, ...bounce.recipients.map(({ meaning }) => meaning)].join('\n')
  if (wanted.says !== undefined && !is(wanted.says, words)) faults.push(`does not say ${wanted.says}`)
  return faults
}

/** What is wrong with an answer; empty: nothing. */
function faultsOf(wanted: Wanted, got: Got): string[] {
  const { any } = wanted
  if (any) return any.some((one) => faultsOf(one, got).length === 0) ? [] : any.flatMap((one) => faultsOf(one, got))
  if ('code' in got) {
    if (wanted.status !== 400) return [`refused: ${got.detail}`]
    return is(wanted.says ?? '', got.detail) ? [] : [got.detail]
  }
  const { answer } = got
  if ('bounce' in answer) return wanted.bounce ? bounceFaults(wanted, wanted.bounce, answer) : ['a bounce']
  if (wanted.bounce) return ['no bounce']
  if (wanted.status === 400) return ['taken']
  const { input, from, verdict, spf, dmarc, dkim, findings, envelope, receivers = [] } = answer
  const told = findings.filter(({ severity }) => severity !== 'info')
  const words = [answer.summary, ...dkim.map((one) => one.because), ...told.map((one) => `${one.title} ${one.detail}`)]
  const all = [
    ...words,
    ...input.notes,
    ...findings.map(({ title, detail, repair = '' }) => `${title} ${detail} ${repair}`),
  ].join('\n')
  const faults: string[] = []
  const check = (name: string, value: string | null, one: string | readonly string[] | undefined): void => {
    if (one !== undefined && ![one].flat().includes(value ?? '')) faults.push(`${name} ${value}`)
  }
  check('kind', input.kind, wanted.kind)
  check('from', from.domain, wanted.from)
  check('verdict', verdict, wanted.verdict)
  check('spf', spf.result, wanted.spf)
  check('dmarc', dmarc.result, wanted.dmarc)
  const { ip, sure, candidates = [], never_ip: never = [] } = wanted
  const offered = receivers.map(({ address }) => address)
  const isOpen = sure === null && ip !== undefined && envelope.ip === null
  if (ip !== undefined && (isOpen ? ip !== null && !offered.includes(ip) : envelope.ip !== ip))
    faults.push(`ip ${envelope.ip}, offered ${offered}`)
  if (envelope.ip === null && candidates.some((one) => !offered.includes(one))) faults.push(`offered ${offered}`)
  if (envelope.ip !== null && never.includes(envelope.ip)) faults.push(`ip ${envelope.ip}`)
  if (wanted.notes !== undefined && !is(wanted.notes, input.notes.join('\n'))) faults.push(`notes ${input.notes}`)
  if (wanted.says !== undefined && !is(wanted.says, all)) faults.push(`does not say ${wanted.says}`)
  if (wanted.never !== undefined && is(wanted.never, words.join('\n'))) faults.push(`says ${wanted.never}`)
  for (const [i, one] of (wanted.dkim ?? []).entries()) {
    check('dkim', dkim[i]?.result ?? null, one.result)
    if (one.because !== undefined && !is(one.because, dkim[i]?.because ?? ''))
      faults.push(`because ${dkim[i]?.because}`)
  }
  return faults
}

/** What is not read yet, and why. */
const KNOWN_FAILURES: Readonly<Record<string, string>> = {}

describe.runIf(data)('messages as people have them', () => {
  const cases: readonly Case[] = data?.cases ?? []
  it.each(cases.map((one) => [one.id, one] as const))('%s', async (id, one) => {
    const faults = faultsOf(one.expect, await given(one))
    if (Object.hasOwn(KNOWN_FAILURES, id)) expect(faults).not.toEqual([])
    else expect(faults).toEqual([])
  })
})
