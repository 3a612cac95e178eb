import type { Block, Document, Line } from '../block.ts'
import { heading } from '../block.ts'
import { reportsOfDomainBlocks } from '../reports.ts'
import type { Answer } from './answer.ts'
import { checkBlocks } from './checks.ts'
import { hostBlocks } from './hosts.ts'
import { ledgerBlocks } from './ledger.ts'
import { listBlocks, poolBlocks } from './lists.ts'
import { hasWay, improvementBlocks, nothingBlocks, optionalPlanBlocks, planBlocks, wayBlocks } from './path.ts'
import { unknownBlocks } from './unknowns.ts'
import { barBlocks, isAllOpen, isGone, leftThings, thingBlocks, verdictBlock } from './verdict.ts'
import { whoMaySendBlocks } from './who-may-send.ts'

/** The answer of a check or a report as a document: the verdict and what to do first, then the evidence. `version` is the program's. */
export function checkDocument(answer: Answer, version: string): Document {
  const map = isGone(answer) ? [] : hostBlocks(answer)
  const way = wayBlocks(answer)
  const things = thingBlocks(answer)
  const blocks: Block[] = [
    verdictBlock(answer),
    ...(map.length === 0 ? [] : [heading(2, 'Where mail goes', 'map'), ...map]),
    ...(way.length === 0 && things.length === 0 ? nothingBlocks(!isAllOpen(answer)) : []),
    ...(hasWay(answer) ? [...way, ...planBlocks(answer), ...things] : [...things, ...way]),
    ...optionalPlanBlocks(answer),
    ...improvementBlocks(answer, new Set(leftThings(answer).flatMap(({ title, also }) => [title, ...also]))),
    ...whoMaySendBlocks(answer),
    ...(answer.reports && !isGone(answer) ? reportsOfDomainBlocks(answer.reports) : []),
    ...(isGone(answer)
      ? []
      : [heading(2, 'All checks', 'checks'), ...barBlocks(answer), ...checkBlocks(answer), ...ledgerBlocks(answer)]),
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
    ...(answer.observed_at === undefined ? [] : [['Observed ', { time: answer.observed_at }, '.']]),
    [
      `mailsonde ${version} · score version ${answer.score_version}${lists === undefined ? '' : ` · blacklists ${lists}`}`,
    ],
  ]
}
