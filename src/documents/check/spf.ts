import type { CheckAnswer } from '../../answers/check.ts'
import type { SpfInclude } from '../../answers/checks.ts'
import { counted } from '../../base/text.ts'
import {
  type Block,
  blocksOf,
  code,
  grouped,
  type Line,
  type Parts,
  quiet,
  seen,
  type TreeNode,
  table,
  text,
} from '../block.ts'
import { wordsFor } from '../words.ts'

type Spf = CheckAnswer['spf']

/** Maximum number of DNS lookups of a record (RFC 7208 §4.6.4). */
export const LOOKUPS = { one: 'lookup', many: 'lookups', limit: 10 } as const

const ALL: Readonly<Record<string, string>> = {
  '-': 'fails (-all)',
  '~': 'fails softly (~all)',
  '?': 'is neutral (?all)',
  '+': 'passes too (+all)',
}
/** Why there is no usable record at a name. */
const STATES: Readonly<Record<string, string>> = {
  none: 'no SPF record',
  several: 'several SPF records',
  syntax: 'syntax error',
  too_long: 'too long to be read',
  loop: 'loop: includes a name above it',
  malformed: 'not a valid name',
  macro: 'depends on the message',
  not_asked: 'not followed',
  not_read: 'not followed',
  void: 'nothing found',
  unknown: 'could not be checked',
}

/** Records as published, of `total`. */
export const recordBlocks = (records: readonly string[], total = records.length): readonly Block[] =>
  records.map((one, i) => seen(records.length === 1 ? 'Record' : `Record ${i + 1} of ${total}`, one))

/** The SPF record: its result for all other senders, its cost, and who may pass. */
export function spfBlocks(
  { record, records, records_left_out = 0, all, void_lookups = 0, includes, lookups, ...spf }: Spf,
  domain: string,
): readonly Block[] {
  const shown = records.length > 0 ? records : record === undefined ? [] : [record]
  const isIgnored = shown.length > 0 && !spf.valid && spf.status === 'fail'
  const other = all === undefined || isIgnored ? undefined : wordsFor(ALL, all)
  return blocksOf([
    recordBlocks(shown, shown.length + records_left_out),
    isIgnored && text('Receivers ', { strong: 'ignore' }, ' the record: it cannot be evaluated (permerror).'),
    other !== undefined && text('Any other host ', { strong: other }, '.'),
    void_lookups > 0 && text(`${counted(void_lookups, 'lookup')} found nothing; 2 are allowed.`),
    lookups !== undefined && lookups + includes.length > 0 && lookupTree({ ...spf, domain, includes, lookups }),
    (spf.valid || spf.passing?.by.length !== 0) && passingParts(spf.passing),
  ])
}

/** The include tree with the lookups of each branch. */
function lookupTree({
  domain,
  lookups,
  includes,
  includes_left_out,
}: Pick<Spf, 'includes' | 'includes_left_out'> & { readonly domain: string; readonly lookups: number }): Block {
  const below = includes.reduce((sum, one) => sum + one.lookups, 0)
  const rest = lookups - below
  const others: readonly TreeNode[] =
    rest > 0 && includes_left_out === undefined
      ? [{ line: ['a, mx, ptr and exists of the record itself'], cost: rest }]
      : []
  return {
    kind: 'tree',
    tree: {
      label: 'DNS lookups',
      cost: LOOKUPS,
      root: {
        line: [code(domain)],
        cost: lookups,
        children: [...includes.map((one) => includeNode(one, 1)), ...others],
        ...(includes_left_out === undefined ? {} : { leftOut: includes_left_out }),
      },
    },
  }
}

/** Maximum nesting of includes that is shown; ten lookups cannot reach deeper. */
const MAX_DEPTH = 12

function includeNode(
  { term, state, reason, lookups, void_lookups, all, record, includes, ...rest }: SpfInclude,
  depth: number,
): TreeNode {
  const problem = state === 'record' || state === 'found' ? undefined : (reason ?? wordsFor(STATES, state) ?? state)
  const line: Line = [
    code(term),
    ...(problem === undefined ? [] : [' ', { mark: state === 'unknown' ? 'open' : 'bad', text: problem } as const]),
    ...(void_lookups > 0 ? [`, ${counted(void_lookups, 'void lookup')}`] : []),
    ...(all === '+' ? [' ', { mark: 'bad', text: 'passes everybody' } as const] : []),
  ]
  return {
    line,
    cost: lookups,
    ...(record === undefined ? {} : { seen: record }),
    children: depth < MAX_DEPTH ? includes.map((one) => includeNode(one, depth + 1)) : [],
    ...(rest.includes_left_out === undefined ? {} : { leftOut: rest.includes_left_out }),
  }
}

/** Who may pass, in total and by each term. */
function passingParts(passing: Spf['passing']): Parts {
  if (passing === undefined) return []
  const { by, by_left_out = 0, complete } = passing
  return [
    text(
      { strong: 'Who may send: ' },
      addressesOf(passing) || 'no public address',
      complete ? '.' : ' at least; not everything could be read.',
    ),
    by.length > 1 &&
      table(
        'Who may send, by term',
        by,
        ['Term', ({ term }) => code(term)],
        ['IPv4 addresses', ({ ipv4 }) => ipv4 ?? '–', 'number'],
        ['IPv6 networks (/64)', ({ ipv6_prefixes }) => ipv6_prefixes ?? '–', 'number'],
        ['Note', ({ note }) => note ?? '–'],
      ),
    by_left_out > 0 && quiet(`${by_left_out} more terms are in the JSON.`),
  ]
}

/** The addresses that pass, in words; empty if there are none. */
export const addressesOf = ({ ipv4, ipv6_prefixes: ipv6 }: NonNullable<Spf['passing']>): string =>
  [
    ...(ipv4 === 0 ? [] : [`${grouped(ipv4)} IPv4 ${ipv4 === 1 ? 'address' : 'addresses'}`]),
    ...(ipv6 === 0 ? [] : [`${grouped(ipv6)} IPv6 ${ipv6 === 1 ? 'network' : 'networks'} of /64`]),
  ].join(' and ')
