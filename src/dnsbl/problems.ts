import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'

type Max = { max: number }
type Text = { text: string }

/** What is wrong with the addresses of a bulk question. */
export const targetsProblem = problemsOf('targets', {
  none: () => 'no address was given',
  too_many: ({ max }: Max) => `more than ${max} addresses: give at most ${max} addresses, or one /24, per request`,
  /** `index` counts from 1. */
  at: ({ index, why }: { index: number; why: Problem }, say) => `address ${index}: ${say(why)}`,
  ipv6_network: ({ text }: Text) => `${quoted(text)} is an IPv6 network: give single IPv6 addresses`,
  large_network: ({ text }: Text) => `${quoted(text)} is too large: give a network of at most a /24`,
})

const NEVER = {
  dead: 'is dead',
  everybody: 'lists every address that is not registered',
  allow: 'is an allow list',
  domains: 'lists domains, not addresses',
} as const

/** Why a zone is never used as a blacklist. */
export type NeverReason = keyof typeof NEVER

/** What is wrong with an operator's file of lists, or with a key for a list. */
export const listFileProblem = problemsOf('list_file', {
  too_large: ({ max }: Max) => `the file is larger than ${max} KiB`,
  not_json: ({ reason }: { reason: string }) => `the file is not JSON: ${shown(reason)}`,
  /** `faults` are places with what is wrong there. */
  faults: ({ faults, more }: { faults: readonly string[]; more: number }) =>
    shown(`${faults.join('; ')}${more > 0 ? `; and ${more} more` : ''}`, 900),
  never: ({ zone, why }: { zone: string; why: NeverReason }) => `${shown(zone)} ${NEVER[why]}`,
  control: () => 'the text contains control characters',
  allowance: () => 'give {"perSecond": n} or {"perDay": n}',
  https: () => 'the URL is not an https address',
  key_zone: () => 'write the zone with {key} as its first label',
  day: () => 'the date is not a day such as 2026-01-31',
  count: ({ count }: { count: number }) => `the file must have ${count} lists: replace lists, do not remove any`,
  twice: ({ text }: Text) => `${quoted(text)} occurs twice`,
  code_range: ({ text }: Text) => `${quoted(text, 40)} is not a range of codes (such as 127.0.0.4-7)`,
  code: ({ text }: Text) => `${quoted(text, 40)} is not a code: write 127.0.0.2, 127.0.0.4-7 or 127.0.1.0/24`,
  key: ({ name }: { name: string }) =>
    `${shown(name, 60)} is not a key: a key has up to 63 letters, digits and hyphens`,
})
