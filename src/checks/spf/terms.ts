import type { Cidr } from '../../names/cidr.ts'

/** The result of a directive if its mechanism matches (RFC 7208 §4.6.2). */
export type Qualifier = '+' | '-' | '~' | '?'

/** One piece of a macro string (RFC 7208 §7.1). `%%`, `%_` and `%-` are kept as written. */
export type MacroPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'escape'; readonly char: '%' | '_' | '-' }
  | {
      readonly kind: 'macro'
      /** Lower case. */
      readonly letter: string
      /** Written in upper case: the value is URL-escaped (§7.3). */
      readonly urlEscape: boolean
      /** How many right-hand parts are kept; absent: all. */
      readonly digits?: number
      readonly reverse: boolean
      /** Empty: the dot. */
      readonly delimiters: string
    }
export type MacroString = readonly MacroPart[]

/** Prefix lengths of `a` and `mx` (RFC 7208 §5.3); an absent one means a single address. */
export type DualCidr = { readonly ip4?: number; readonly ip6?: number }

export type Mechanism =
  | { readonly kind: 'all' }
  | { readonly kind: 'include'; readonly domain: MacroString }
  | { readonly kind: 'exists'; readonly domain: MacroString }
  | { readonly kind: 'a' | 'mx'; readonly domain?: MacroString; readonly cidr: DualCidr }
  | { readonly kind: 'ptr'; readonly domain?: MacroString }
  | { readonly kind: 'ip4' | 'ip6'; readonly network: Cidr }

export type Directive = { readonly qualifier: Qualifier; readonly mechanism: Mechanism }

/** An unknown modifier; it has no effect (RFC 7208 §6). */
export type UnknownModifier = { readonly name: string; readonly value: MacroString }

/** Whether a modifier has the name of a mechanism, so that a colon was meant. */
export const isMechanism = ({ name }: UnknownModifier): boolean =>
  ['include', 'exists', 'ip4', 'ip6', 'a', 'mx', 'ptr'].includes(name.toLowerCase())

/**
 * A parsed SPF record (RFC 7208 §4.6.1): directives in their order, modifiers separately, because their position means
 * nothing.
 */
export type SpfRecord = {
  readonly directives: readonly Directive[]
  readonly redirect?: MacroString
  readonly exp?: MacroString
  readonly unknown: readonly UnknownModifier[]
}

/** Whether a mechanism costs one of the ten lookups (RFC 7208 §4.6.4). */
export const asksDns = (mechanism: Mechanism): boolean => !['all', 'ip4', 'ip6'].includes(mechanism.kind)

/** The directives that can be reached: those before `all`, and `all` itself (RFC 7208 §5.1). */
export function reachable(record: SpfRecord): readonly Directive[] {
  const all = record.directives.findIndex(({ mechanism }) => mechanism.kind === 'all')
  return all < 0 ? record.directives : record.directives.slice(0, all + 1)
}

/** The `all` directive that takes effect, if there is one. */
export const allOf = (record: SpfRecord): Directive | undefined =>
  record.directives.find(({ mechanism }) => mechanism.kind === 'all')

/** Formats a record so that parsing it returns an equal value: one space between terms, modifiers last, without `+`. */
export function formatSpf(record: SpfRecord): string {
  const terms = [
    'v=spf1',
    ...record.directives.map(formatDirective),
    ...(record.redirect ? [`redirect=${formatMacroString(record.redirect)}`] : []),
    ...(record.exp ? [`exp=${formatMacroString(record.exp)}`] : []),
    ...record.unknown.map(({ name, value }) => `${name}=${formatMacroString(value)}`),
  ]
  return terms.join(' ')
}

/** `-all`, `include:example.org`; a `+` is omitted. */
export const formatDirective = ({ qualifier, mechanism }: Directive): string =>
  `${qualifier === '+' ? '' : qualifier}${formatMechanism(mechanism)}`

/** A mechanism without its qualifier. */
function formatMechanism(mechanism: Mechanism): string {
  switch (mechanism.kind) {
    case 'all':
      return 'all'
    case 'ip4':
    case 'ip6': {
      const { base, prefix } = mechanism.network
      const whole = mechanism.kind === 'ip4' ? 32 : 128
      return `${mechanism.kind}:${base}${prefix === whole ? '' : `/${prefix}`}`
    }
    case 'a':
    case 'mx':
      return `${mechanism.kind}${formatTarget(mechanism.domain)}${formatCidr(mechanism.cidr)}`
    case 'ptr':
    case 'include':
    case 'exists':
      return `${mechanism.kind}${formatTarget(mechanism.domain)}`
    default: {
      const never: never = mechanism
      return never
    }
  }
}

export const formatMacroString = (parts: MacroString): string => parts.map(formatPart).join('')

const formatTarget = (domain: MacroString | undefined): string => (domain ? `:${formatMacroString(domain)}` : '')

const formatCidr = ({ ip4, ip6 }: DualCidr): string =>
  `${ip4 === undefined ? '' : `/${ip4}`}${ip6 === undefined ? '' : `//${ip6}`}`

function formatPart(part: MacroPart): string {
  if (part.kind === 'literal') return part.text
  if (part.kind === 'escape') return `%${part.char}`
  const letter = part.urlEscape ? part.letter.toUpperCase() : part.letter
  return `%{${letter}${part.digits ?? ''}${part.reverse ? 'r' : ''}${part.delimiters}}`
}
