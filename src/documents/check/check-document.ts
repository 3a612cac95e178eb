import type { Block, Document, Line } from '../block.ts'
import { heading } from '../block.ts'
import type { Answer } from './answer.ts'
import { checkBlocks } from './checks.ts'
import { ledgerBlocks } from './ledger.ts'
import { listBlocks, poolBlocks } from './lists.ts'
import { unknownBlocks } from './unknowns.ts'
import { verdictBlocks } from './verdict.ts'

/** The answer of a check or a report as a document: the verdict and what to do first, then the evidence. `version` is the program's. */
export function checkDocument(answer: Answer, version: string): Document {
  const blocks: Block[] = [
    ...verdictBlocks(answer),
    ...ledgerBlocks(answer),
    heading(2, 'All checks', 'checks'),
    ...checkBlocks(answer),
    ...listBlocks(answer),
    ...poolBlocks(answer),
    ...unknownBlocks(answer),
  ]
  return {
    title: `${answer.blacklists ? 'Mail report' : 'Mail check'}: ${answer.domain}`,
    blocks,
    footer: footer(answer, version),
  }
}

function footer(answer: Answer, version: string): Line[] {
  const lists = answer.blacklists?.[0]?.list_version
  return [
    ...(answer.observed_at === undefined ? [] : [[`Observed ${inWords(answer.observed_at)}.`]]),
    [
      `mailsonde ${version} · score version ${answer.score_version}${lists === undefined ? '' : ` · blacklists ${lists}`}`,
    ],
  ]
}

/** `2026-01-02T03:04:05.000Z` as `2026-01-02 03:04 UTC`; anything else unchanged. */
const inWords = (time: string): string =>
  time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d{1,9})?Z$/, '$1 $2 UTC')
