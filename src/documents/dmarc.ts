import type { DmarcAnswer } from '../answers/questions.ts'
import { type Block, code, type Document, heading, type Line, type TreeNode, text } from './block.ts'
import { dmarcBlocks } from './check/dmarc.ts'
import { findingBlock } from './check/findings.ts'
import { footerOf } from './footer.ts'
import { STATUS_MARKS } from './signs.ts'
import { STATUS_WORDS, wordsFor } from './words.ts'

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
      ...findings.map((one) => findingBlock(one, 3)),
      heading(2, 'The record', 'evidence'),
      ...dmarcBlocks({ ...answer, domain: found_at }),
      walkTree(answer),
      ...legacyBlocks(answer),
    ],
    footer: footerOf(version),
  }
}

/** What receivers do with mail that fails DMARC (RFC 9989 §4.7). */
export const POLICIES: Readonly<Record<string, string>> = {
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
