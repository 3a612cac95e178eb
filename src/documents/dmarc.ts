import type { Destination, DmarcFields } from '../answers/checks.ts'
import type { DmarcAnswer } from '../answers/questions.ts'
import {
  type Block,
  blocksOf,
  code,
  conclude,
  type Document,
  facts,
  heading,
  type Inline,
  type Line,
  type Parts,
  type TreeNode,
  text,
} from './block.ts'
import { findingBlock } from './check/findings.ts'
import { documentOf, STATUS_MARKS, statusWord, wordsFor } from './words.ts'

/** The DMARC policy of a domain: what receivers do, the findings and repairs, and the queried names. */
export function dmarcDocument(answer: DmarcAnswer, version: string): Document {
  const { domain, status, findings, found_at } = answer
  return documentOf(
    `DMARC: ${domain}`,
    version,
    conclude(
      domain,
      STATUS_MARKS[status],
      statusWord(status, findings),
      wordsOf(answer),
      answer.exists === false ? [['The domain does not exist.']] : [],
    ),
    findings.length > 0 && heading(2, 'What was found', 'findings'),
    findings.map((one) => findingBlock(one, { level: 3 })),
    heading(2, 'The record', 'evidence'),
    dmarcBlocks({ ...answer, domain: found_at }),
    walkTree(answer),
    legacyParts(answer),
  )
}

/** What receivers do with mail that fails DMARC (RFC 9989 §4.7). */
const POLICIES: Readonly<Record<string, string>> = {
  reject: 'Receivers refuse mail that fails DMARC.',
  quarantine: 'Receivers treat mail that fails DMARC as suspicious (junk folder).',
  none: 'Receivers treat mail that fails DMARC like any other.',
}

function wordsOf({ status, reason, valid, effective_policy }: DmarcAnswer): string {
  if (status === 'unknown') return `The policy could not be looked up: ${reason ?? 'no reason was given'}.`
  if (!valid) return 'There is no valid DMARC record, so forged mail is treated like any other.'
  return wordsFor(POLICIES, effective_policy) ?? `The effective policy is ${effective_policy}.`
}

const DECISIONS: Readonly<Record<string, string>> = {
  record: 'kept',
  no_record: '',
  discarded_several: 'several records at one name: none is used',
  discarded_malformed: 'not a valid record',
  boundary_psd_n: 'psd=n: the walk ends here',
  boundary_psd_y: 'psd=y: a public suffix, the walk ends here',
  unanswered: '',
}
const ANSWERS: Readonly<Record<string, string>> = {
  found: 'found',
  nodata: 'no record (NODATA)',
  nxdomain: 'no such name (NXDOMAIN)',
  unknown: 'no answer',
}

const said = (decision: string): Line => {
  const words = wordsFor(DECISIONS, decision) ?? decision.replaceAll('_', ' ')
  return words === '' ? [] : [` · ${words}`]
}

/** The queried names, each below the one before it (DNS tree walk, RFC 9989 §4.10). */
function walkTree({ steps, found_at, domain }: DmarcAnswer): Block {
  const nodes = steps.map(
    ({ name, answer, reason, records, record_count, decision }): TreeNode => ({
      line: [
        code(name),
        ': ',
        answer === 'unknown'
          ? { mark: 'open', text: reason ?? ANSWERS.unknown! }
          : record_count > 0
            ? {
                mark: name === `_dmarc.${found_at}` ? 'good' : 'none',
                text: record_count === 1 ? 'a record' : `${record_count} records`,
              }
            : { mark: 'none', text: ANSWERS[answer]! },
        ...said(decision),
      ],
      ...(records[0] === undefined ? {} : { seen: records.join(' | ') }),
    }),
  )
  return { kind: 'tree', tree: { label: 'Names that were queried', root: { line: [code(domain)], children: nodes } } }
}

const legacyParts = ({ legacy, organizational_domain, found_at }: DmarcAnswer): Parts => [
  facts(
    ['Record of', found_at === '' ? '–' : code(found_at)],
    ['Organizational domain', organizational_domain === '' ? '–' : code(organizational_domain)],
  ),
  legacy &&
    text(
      { strong: 'Older receivers (RFC 7489) ' },
      'read it differently: the record of ',
      code(legacy.found_at),
      `, policy ${legacy.policy === '' ? 'none' : legacy.policy}`,
      legacy.pct === undefined ? '' : `, pct ${legacy.pct}`,
      ', organizational domain ',
      code(legacy.organizational_domain),
      '.',
    ),
]

type Dmarc = Omit<DmarcFields, 'status' | 'reason'>

/** The DMARC record and its meaning: the policies, and the destinations of reports. */
export function dmarcBlocks(fields: Dmarc & { readonly domain?: string | undefined }): readonly Block[] {
  const { record, valid, policy, effective_policy, domain, psd, rua, ruf } = fields
  return blocksOf([
    record !== undefined && { kind: 'seen', label: 'Record', text: record },
    valid &&
      facts(
        fields.inherited && domain !== undefined && ['Inherited from', code(domain)],
        ['Policy', policyOf(policy)],
        effective_policy !== policy && ['In effect here', policyOf(effective_policy)],
        ['Subdomains', policyOf(fields.subdomain_policy)],
        ['Names that do not exist', policyOf(fields.np)],
        fields.testing && ['Test mode', 'yes (t=y): the policy is not applied'],
        fields.pct !== undefined && ['Share', `pct=${fields.pct}`],
        psd !== 'u' && psd !== '' && ['Public suffix', `psd=${psd}`],
        ['Aggregate reports', destinations(rua)],
        ruf.length > 0 && ['Failure reports', destinations(ruf)],
      ),
  ])
}

const policyOf = (policy: string): string => (policy === '' ? '–' : policy)

const destinations = (all: readonly Destination[]): Line =>
  all.length === 0
    ? ['none']
    : all.flatMap(({ uri, authorized, reason }, i): Inline[] => [
        i === 0 ? '' : ', ',
        code(uri),
        ...(authorized === null
          ? []
          : [
              ' ',
              {
                mark: authorized ? 'good' : 'bad',
                text: authorized ? 'has agreed to receive them' : (reason ?? 'has not agreed to receive them'),
              } as const,
            ]),
      ])
