import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, vi } from 'vitest'
import type { MessageResult } from '../../../src/answers/message.ts'
import { AppError, ERRORS } from '../../../src/base/errors.ts'
import { message } from '../../../src/operations/message/message.ts'
import type { WrittenZone } from '../../archetypes/cases.ts'
import { worldOf } from '../../archetypes/lab.ts'
import { runCases } from '../../archetypes/run.ts'
import { labDeps, labExecutor } from '../../lab/app.ts'
import { CORPORA, corpus } from '../../lab/corpora.ts'

/** Messages as people have them, with the answer that an expert gives: the cases of `mail/messages`. */
vi.setConfig({ testTimeout: 60_000 })

const KNOWN_FAILURES: Readonly<Record<string, string>> = {}

const NOW = Date.UTC(2026, 10, 25, 12)

type Words = { readonly says?: readonly string[]; readonly never_says?: readonly string[] }
type Recipient = Words & {
  readonly address?: string
  readonly action?: string
  readonly status?: string
  readonly code?: number
  readonly permanent?: boolean
  readonly about?: readonly string[]
}
type Case = {
  readonly id: string
  readonly file?: string
  readonly repeat?: { readonly text: string; readonly line: string; readonly times: number }
  readonly type?: string
  readonly zone: WrittenZone
  readonly query: Readonly<Record<string, string>>
  readonly expect: {
    readonly status?: readonly number[]
    readonly code?: string
    readonly input?: { readonly kind?: readonly string[]; readonly notes?: string }
    readonly results?: {
      readonly spf?: readonly string[]
      readonly dmarc?: readonly string[]
      readonly arc?: readonly string[]
      readonly dkim?: readonly (readonly string[])[]
      readonly ip?: readonly string[]
      readonly known_from?: readonly string[]
      readonly from?: readonly string[]
      readonly trusted?: Readonly<Record<string, boolean>>
    }
    readonly verdict?: readonly string[]
    readonly cause?: Words & { readonly code?: readonly string[] }
    readonly advice?: Words & { readonly says_anywhere?: readonly string[] }
    readonly bounce?: Words & {
      readonly recipients: readonly Recipient[]
      readonly returned?: Readonly<Record<string, string>>
    }
    readonly receivers?: { readonly hosts: readonly string[] }
    readonly rule?: { readonly id: string; readonly status: readonly string[] }
  }
  readonly why: string
}
type Refused = { readonly status: number; readonly code: string; readonly detail: string }

async function posted({ file, repeat, type = 'message/rfc822', zone, query }: Case): Promise<MessageResult | Refused> {
  const row = { id: '', class: '', domain: '', zone, expect: {}, why: '' }
  const world = { ...worldOf(row, { hosts: {}, apex: {} }), now: () => NOW }
  const octets = repeat
    ? Buffer.from(repeat.text + repeat.line.repeat(repeat.times), 'latin1')
    : readFileSync(join(CORPORA, 'mail/messages', file!))
  const upload = {
    octets: (async function* () {
      yield octets
    })(),
    contentType: type,
  }
  try {
    const { answer } = await labExecutor(world, labDeps(world))(message, query, { upload })
    return answer as MessageResult
  } catch (error) {
    if (error instanceof AppError) return { status: ERRORS[error.code].status, code: error.code, detail: error.message }
    throw error
  }
}

function pattern(text: string): RegExp {
  const [, flags = '', rest = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(text)!
  return new RegExp(rest, flags)
}
const unsaid = ({ says = [] }: Words, text: string): readonly string[] =>
  says.filter((one) => !pattern(one).test(text)).map((one) => `does not say ${one}: ${text.slice(0, 1_500)}`)
const saidWrongly = ({ never_says = [] }: Words, text: string): readonly string[] =>
  never_says.filter((one) => pattern(one).test(text)).map((one) => `says ${pattern(one).exec(text)?.[0]}`)

const textsOf = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsOf)
      : []

/** What is said about what happened, and what to do. */
function wordsOf(answer: MessageResult): { readonly happened: string; readonly toDo: string } {
  const { summary, input } = answer
  if ('bounce' in answer) {
    const toDo = answer.bounce.recipients.map(({ meaning, to_do = '' }) => `${meaning} ${to_do}`)
    return { happened: [summary, ...input.notes].join('\n'), toDo: toDo.join('\n') }
  }
  const { findings, spf, dmarc, dkim, bulk_sender } = answer
  const happened = [
    ...[summary, ...input.notes, spf.because, dmarc.because, ...dkim.map(({ because }) => because)],
    ...findings.map(({ title, detail, evidence = '' }) => `${title}: ${detail} ${evidence}`),
    ...bulk_sender.rules.filter(({ status }) => status === 'not_met').map(({ because }) => because),
  ]
  const toDo = findings.map(({ repair = '', fix }) => [repair, ...textsOf(fix)].join(' '))
  return { happened: happened.join('\n'), toDo: toDo.join('\n') }
}

async function faultsOf(row: Case): Promise<readonly string[]> {
  const { expect } = row
  const answer = await posted(row)
  if ('code' in answer) {
    const isRight = expect.status?.includes(answer.status) && (expect.code ?? answer.code) === answer.code
    return [...(isRight ? [] : [`refused: ${answer.detail}`]), ...unsaid(expect.cause ?? {}, answer.detail)]
  }
  if (expect.status && !expect.status.includes(200)) return ['taken']
  const { happened, toDo } = wordsOf(answer)
  const all = textsOf(answer).join('\n')
  const faults: string[] = []
  const check = (name: string, value: unknown, wanted: readonly unknown[] | undefined): void => {
    if (wanted && !wanted.includes(value)) faults.push(`${name} is ${value}`)
  }
  check('kind', answer.input.kind, expect.input?.kind)
  if (expect.input?.notes !== undefined)
    faults.push(...unsaid({ says: [expect.input.notes] }, answer.input.notes.join()))
  check('verdict', answer.verdict, expect.verdict)
  if (expect.cause) faults.push(...unsaid(expect.cause, happened), ...saidWrongly(expect.cause, happened))
  if (expect.advice) {
    faults.push(...unsaid(expect.advice, toDo), ...saidWrongly(expect.advice, all))
    faults.push(...unsaid({ says: expect.advice.says_anywhere ?? [] }, all))
  }
  if ('bounce' in answer) return [...faults, ...bounceFaults(expect.bounce, answer.bounce, all)]
  if (expect.bounce) return [...faults, 'no bounce']
  const { spf, dmarc, arc, dkim, envelope, from, authentication_results, bulk_sender } = answer
  const { results = {}, rule } = expect
  check('spf', spf.result, results.spf)
  check('dmarc', dmarc.result, results.dmarc)
  check('arc', arc.result, results.arc)
  check('ip', envelope.ip, results.ip)
  check('known_from', envelope.known_from, results.known_from)
  check('from', from.domain, results.from)
  if (results.dkim) check('signatures', dkim.length, [results.dkim.length])
  for (const [i, wanted] of (results.dkim ?? []).entries()) check('dkim', dkim[i]?.result, wanted)
  for (const [host, isTrusted] of Object.entries(results.trusted ?? {}))
    check(`trusted ${host}`, authentication_results.find((one) => one.host === host)?.trusted, [isTrusted])
  const { code } = expect.cause ?? {}
  if (code && !dkim.some(({ cause = '' }) => code.includes(cause)))
    faults.push(`causes ${dkim.map((one) => one.cause)}`)
  const receivers = answer.receivers ?? []
  for (const host of expect.receivers?.hosts ?? [])
    if (!receivers.some((one) => one.host === host && !one.chosen)) faults.push(`${host} is not offered`)
  if (rule) check(rule.id, bulk_sender.rules.find(({ id }) => id === rule.id)?.status, rule.status)
  return faults
}

type Bounced = Extract<MessageResult, { readonly bounce: unknown }>['bounce']

function bounceFaults(wanted: Case['expect']['bounce'], { recipients, returned }: Bounced, all: string): string[] {
  if (!wanted) return ['a bounce']
  const faults = [...unsaid(wanted, all), ...saidWrongly(wanted, all)]
  for (const [i, one] of wanted.recipients.entries()) {
    const got = one.address === undefined ? recipients[i] : recipients.find(({ address }) => address === one.address)
    if (!got) {
      faults.push(`${one.address} is not there`)
      continue
    }
    for (const name of ['action', 'status', 'code', 'permanent'] as const)
      if (one[name] !== undefined && one[name] !== got[name]) faults.push(`${name} is ${got[name]}`)
    if (one.about && !one.about.includes(got.about)) faults.push(`about ${got.about}`)
    faults.push(...unsaid(one, `${got.meaning} ${got.to_do ?? ''}`))
  }
  for (const [name, value] of Object.entries(wanted.returned ?? {}))
    if (returned?.[name as 'to'] !== value) faults.push(`returned ${name} ${returned?.[name as 'to']}`)
  return faults
}

const cases: readonly Case[] = corpus('mail/messages/index.json')?.cases ?? []
describe.runIf(cases.length > 0)('messages', () =>
  runCases(
    'messages',
    cases.map((one) => ({ ...one, class: 'messages' })),
    faultsOf,
    KNOWN_FAILURES,
  ),
)
