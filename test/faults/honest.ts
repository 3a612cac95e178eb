import { CHECK_NAMES } from '../../src/documents/words.ts'

/** An answer as JSON. */
export type Json = Readonly<Record<string, unknown>>

/**
 * What is wrong with an answer that was given while something failed, beside the answer without the fault: nothing firm
 * may differ.
 */
export type Judge = (plain: Json, seen: Json, lasting: boolean) => readonly string[]

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
/** The objects of a list; none where it is no list. */
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(objectOf) : [])

/** An object with `status` (and `valid`): as without the fault, or unknown with a reason. */
function standing(name: string, plain: Json, seen: Json): string[] {
  if (seen.status === 'unknown') {
    const wrong = []
    if (plain.status !== 'unknown' && 'reason' in plain === false && !seen.reason && name !== 'answer')
      wrong.push(`${name} is unknown without a reason`)
    if (plain.valid === false && seen.valid === true) wrong.push(`${name} is valid by a fault`)
    return wrong
  }
  const wrong = []
  if (seen.status !== plain.status) wrong.push(`${name} is ${seen.status} and not ${plain.status}`)
  if (seen.valid !== plain.valid) wrong.push(`${name}.valid is ${seen.valid} and not ${plain.valid}, and firm`)
  return wrong
}

/** `mx` is a list in answers, and has its status beside it. */
const SECTIONS = CHECK_NAMES.filter((name) => name !== 'mx')

/**
 * An answer of check, what-if's halves and report: sections, score and findings. `told`: findings that say that
 * something could not be determined.
 */
export const checkJudge =
  (told: (id: string) => boolean): Judge =>
  (plain, seen, lasting) => {
    const wrong = SECTIONS.filter((key) => key in plain && !(key === 'starttls' && lasting)).flatMap((key) =>
      standing(key, objectOf(plain[key]), objectOf(seen[key])),
    )
    // Where SPF or MX is unknown, DMARC is judged as that of a domain that sends (docs/score.md, "Roles").
    const isRoleOpen = objectOf(seen.spf).status === 'unknown' || seen.mx_status === 'unknown'
    // A name server that answers over UDP and not over TCP is told as such: one lost answer looks the same.
    const isWithoutTcp = listOf(seen.findings).some(({ id }) => id === 'ns.no_tcp')
    const isExcused = (fault: string): boolean =>
      (isRoleOpen && fault === 'dmarc is warn and not pass') || (isWithoutTcp && fault === 'ns is warn and not pass')
    wrong.push(...standing('mx', { status: plain.mx_status }, { status: seen.mx_status, reason: seen.mx_reason }))
    const [least, most] = [Number(seen.score_min ?? seen.score), Number(seen.score_max ?? seen.score)]
    if (Number(plain.score) < least || Number(plain.score) > most)
      wrong.push(`the score ${plain.score} is not within ${least} to ${most}`)
    const known = new Set(listOf(plain.findings).map(({ id }) => id))
    for (const { id } of listOf(seen.findings)) {
      const isExplained =
        (isRoleOpen && id === 'dmarc.no_rua') ||
        // A host that cuts every handshake.
        (lasting && id === 'starttls.broken')
      if (!known.has(id) && !told(String(id)) && !isExplained) wrong.push(`a finding that is none: ${id}`)
    }
    wrong.push(...listOf(seen.blacklists).flatMap((one) => blacklistJudge(ofAddress(plain, one), one, lasting)))
    return wrong.filter((fault) => !isExcused(fault))
  }

const ofAddress = (plain: Json, { ip }: Json): Json => listOf(plain.blacklists).find((one) => one.ip === ip) ?? {}

export const blacklistJudge: Judge = (plain, seen) => {
  const wrong = []
  const results = listOf(plain.results)
  let isAnswered = true
  listOf(seen.results).forEach((entry, index) => {
    const { status, listed } = results[index] ?? {}
    const isFirm = entry.status === 'listed' || entry.status === 'not_listed'
    isAnswered &&= isFirm || entry.status === status
    if (isFirm && entry.status !== status) wrong.push(`${entry.blacklist} is ${entry.status} and not ${status}`)
    if (entry.listed === true && listed !== true) wrong.push(`${entry.blacklist}: listed by a fault`)
    if (!isFirm && entry.status !== status && !entry.reason)
      wrong.push(`${entry.blacklist}: ${entry.status} without a reason`)
  })
  if (seen.verdict === 'clean' && (plain.verdict !== 'clean' || !isAnswered)) wrong.push('clean by a fault')
  if (seen.verdict === 'listed' && plain.verdict !== 'listed') wrong.push('listed by a fault')
  return wrong
}

/** A verdict of a verification stands, or nothing is said of the mailbox. */
export const verifyJudge: Judge = (plain, seen) => {
  if (seen.result === plain.result && seen.deliverability === plain.deliverability) return []
  if (seen.deliverability === 'unknown' && ['unreachable', 'deferred', 'blocked'].includes(String(seen.result)))
    return []
  // A mailbox that was accepted, while whether all are could not be asked.
  if (seen.result === 'accepted' && seen.catch_all === null && ['accepted', 'catch_all'].includes(String(plain.result)))
    return []
  return [`${seen.result}/${seen.reason}/${seen.deliverability} and not ${plain.result}/${plain.reason}`]
}

export const spfJudge: Judge = (plain, seen) =>
  seen.result === plain.result || seen.result === 'temperror' ? [] : [`${seen.result} and not ${plain.result}`]

/** An answer that is one section. */
export const sectionJudge: Judge = (plain, seen) => standing('answer', plain, seen)

/** Fitness may be lost by a fault, and never won. */
export const doctorJudge: Judge = (plain, seen) => (seen.fit === true && plain.fit !== true ? ['fit by a fault'] : [])

/** An answer that no fault may change. */
export const sameJudge: Judge = (plain, seen) =>
  JSON.stringify(plain) === JSON.stringify(seen) ? [] : ['another answer than without the fault']

const TIMES = new Set([
  'observed_at',
  'duration_ms',
  'at_ms',
  'cached',
  'registered_at',
  'last_seen_at',
  'retry_after_ms',
  'tested_at',
  'attempts',
  'ip_used',
  'transcript',
  'history',
])

/** The answer without what differs from one time to the next. */
export const timeless = (answer: unknown): Json =>
  JSON.parse(JSON.stringify(answer, (key, value) => (TIMES.has(key) ? undefined : value))) as Json
