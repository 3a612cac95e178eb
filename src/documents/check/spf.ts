import type { CheckAnswer } from '../../answers/check.ts'
import type { SpfInclude } from '../../answers/checks.ts'
import { counted } from '../../base/text.ts'
import { type Block, code, grouped, type Line, quiet, type TreeNode, text } from '../block.ts'
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

/** The SPF record: its result for all other senders, its cost, and who may pass. */
export function spfBlocks(
  { record, records, records_left_out = 0, all, void_lookups, includes, ...spf }: Spf,
  domain: string,
): Block[] {
  const shown = records.length > 0 ? records : record === undefined ? [] : [record]
  const isIgnored = shown.length > 0 && !spf.valid && spf.status === 'fail'
  const other = all === undefined || isIgnored ? undefined : wordsFor(ALL, all)
  return [
    ...shown.map(
      (one, i): Block => ({
        kind: 'seen',
        label: shown.length === 1 ? 'Record' : `Record ${i + 1} of ${shown.length + records_left_out}`,
        text: one,
      }),
    ),
    ...(isIgnored
      ? [text('Receivers ', { strong: 'ignore' }, ' the record: it cannot be evaluated (permerror).')]
      : []),
    ...(other === undefined ? [] : [text('Any other host ', { strong: other }, '.')]),
    ...(void_lookups === undefined || void_lookups === 0
      ? []
      : [text(`${counted(void_lookups, 'lookup')} found nothing; 2 are allowed.`)]),
    ...(spf.lookups === undefined || (spf.lookups === 0 && includes.length === 0)
      ? []
      : [lookupTree({ ...spf, domain, includes, lookups: spf.lookups })]),
    ...(spf.valid || spf.passing?.by.length !== 0 ? passingBlocks(spf.passing) : []),
  ]
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
function passingBlocks(passing: Spf['passing']): Block[] {
  if (passing === undefined) return []
  const { ipv4, ipv6_prefixes, by, by_left_out = 0, complete } = passing
  const sum = sizeOf(ipv4, ipv6_prefixes)
  return [
    text(
      { strong: 'Who may send: ' },
      sum === '' ? 'no public address' : sum,
      complete ? '.' : ' at least; not everything could be read.',
    ),
    ...(by.length < 2
      ? []
      : [
          {
            kind: 'table',
            table: {
              caption: 'Who may send, by term',
              head: ['Term', 'IPv4 addresses', 'IPv6 networks (/64)', 'Note'],
              rows: by.map((one): Line[] => [
                [code(one.term)],
                [one.ipv4 === undefined ? '–' : grouped(one.ipv4)],
                [one.ipv6_prefixes === undefined ? '–' : grouped(one.ipv6_prefixes)],
                [one.note ?? '–'],
              ]),
              numeric: [1, 2],
            },
          } as const,
        ]),
    ...(by_left_out === 0 ? [] : [quiet(`${by_left_out} more terms are in the JSON.`)]),
  ]
}

const sizeOf = (ipv4: number, ipv6: number): string =>
  [
    ...(ipv4 === 0 ? [] : [`${grouped(ipv4)} IPv4 ${ipv4 === 1 ? 'address' : 'addresses'}`]),
    ...(ipv6 === 0 ? [] : [`${grouped(ipv6)} IPv6 ${ipv6 === 1 ? 'network' : 'networks'} of /64`]),
  ].join(' and ')
