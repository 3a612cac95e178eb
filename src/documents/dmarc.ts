import type { Destination, DmarcFields } from '../answers/checks.ts'
import type { DmarcAnswer } from '../answers/questions.ts'
import { type Block, code, type Document, heading, type Inline, type Line, type TreeNode, text } from './block.ts'
import { findingBlock } from './check/findings.ts'
import { footerOf, STATUS_MARKS, STATUS_WORDS, wordsFor } from './words.ts'

/** The DMARC policy of a domain: what receivers do, the findings and repairs, and the queried names. */
export function dmarcDocument(answer: DmarcAnswer, version: string): Document {
  const { domain, status, findings, found_at } = answer
  return {
    title: `DMARC: ${domain}`,
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: domain,
          mark: STATUS_MARKS[status],
          badge: STATUS_WORDS[status],
          words: wordsOf(answer),
          notes: answer.exists === false ? [['The domain does not exist.']] : [],
        },
      },
      ...(findings.length === 0 ? [] : [heading(2, 'What was found', 'findings')]),
      ...findings.map((one) => findingBlock(one, { level: 3 })),
      heading(2, 'The record', 'evidence'),
      ...dmarcBlocks({ ...answer, domain: found_at }),
      walkTree(answer),
      ...legacyBlocks(answer),
    ],
    footer: footerOf(version),
  }
}

/** What receivers do with mail that fails DMARC (RFC 9989 §4.7). */
const POLICIES: Readonly<Record<string, string>> = {
  reject: 'Receivers refuse mail that fails DMARC.',
  quarantine: 'Receivers treat mail that fails DMARC as suspicious (spam folder).',
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

function legacyBlocks({ legacy, organizational_domain, found_at }: DmarcAnswer): Block[] {
  const own: (readonly [string, Line])[] = [
    ['Record of', [found_at === '' ? '–' : code(found_at)]],
    ['Organizational domain', [organizational_domain === '' ? '–' : code(organizational_domain)]],
  ]
  const facts: Block = { kind: 'facts', rows: own }
  if (legacy === undefined) return [facts]
  return [
    facts,
    text(
      { strong: 'Older receivers (RFC 7489) ' },
      'read it differently: the record of ',
      code(legacy.found_at),
      `, policy ${legacy.policy === '' ? 'none' : legacy.policy}`,
      ...(legacy.pct === undefined ? [] : [`, pct ${legacy.pct}`]),
      ', organizational domain ',
      code(legacy.organizational_domain),
      '.',
    ),
  ]
}

type Dmarc = Omit<DmarcFields, 'status' | 'reason'>

/** The DMARC record and its meaning: the policies, and the destinations of reports. */
export function dmarcBlocks(fields: Dmarc & { readonly domain?: string | undefined }): Block[] {
  const { record, valid } = fields
  return [
    ...(record === undefined ? [] : [{ kind: 'seen', label: 'Record', text: record } as const]),
    ...(valid ? [{ kind: 'facts', rows: factsOf(fields) } as const] : []),
  ]
}

function factsOf(fields: Dmarc & { readonly domain?: string | undefined }): (readonly [string, Line])[] {
  const { policy, effective_policy, subdomain_policy, np, inherited, domain, testing, pct, psd, rua, ruf } = fields
  return [
    ...(inherited && domain !== undefined ? [['Inherited from', [code(domain)]] as const] : []),
    ['Policy', [policyOf(policy)]],
    ...(effective_policy !== policy ? [['In effect here', [policyOf(effective_policy)]] as const] : []),
    ['Subdomains', [policyOf(subdomain_policy)]],
    ['Names that do not exist', [policyOf(np)]],
    ...(testing ? [['Test mode', ['yes (t=y): the policy is not applied']] as const] : []),
    ...(pct === undefined ? [] : [['Share', [`pct=${pct}`]] as const]),
    ...(psd === 'u' || psd === '' ? [] : [['Public suffix', [`psd=${psd}`]] as const]),
    ['Aggregate reports', destinations(rua)],
    ...(ruf.length === 0 ? [] : [['Failure reports', destinations(ruf)] as const]),
  ]
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
