import type { Answer } from './answer.ts'
import { type Block, heading, type Line, text } from './block.ts'
import { checkKeys } from './checks.ts'
import { isSilent, whySilent } from './lists.ts'
import { reasonOf, statusOf } from './status.ts'
import { CHECKS } from './words.ts'

/** Everything that could not be told, each by name and with its reason. */
export function unknownBlocks(answer: Answer): readonly Block[] {
  const items = [...checks(answer), ...hosts(answer), ...silentLists(answer)]
  const leftOut = answer.blacklist_summary?.left_out ?? 0
  if (leftOut > 0) items.push([`${leftOut} addresses of mail servers were not asked about.`])
  const title = heading(2, 'What could not be told', 'unknowns')
  if (items.length === 0) return [title, text('Nothing: every question was answered.')]
  return [title, text('None of this counts as good or as bad.'), { kind: 'list', items }]
}

const checks = (answer: Answer): Line[] =>
  checkKeys(answer)
    .filter((key) => statusOf(answer, key) === 'unknown')
    .map((key) => [
      { link: `#${key}`, text: CHECKS[key]?.name ?? key },
      `: ${reasonOf(answer, key) ?? 'no reason is given'}`,
    ])

const hosts = (answer: Answer): Line[] =>
  answer.mx.flatMap(({ host, reason, addresses }) => [
    ...(reason === undefined ? [] : [[{ code: host }, `: ${reason}`]]),
    ...addresses
      .filter((one) => one.forward_confirmed === null)
      .map(({ address }): Line => ['Whether the name of ', { code: address }, ' leads back.']),
  ])

/** A list that is silent about several addresses for one reason is one line. */
function silentLists(answer: Answer): Line[] {
  const reasons = new Map<string, string[]>()
  for (const { ip, results } of answer.blacklists ?? [])
    for (const entry of results.filter(isSilent)) {
      const key = `${entry.blacklist}: ${whySilent(entry)}`
      reasons.set(key, [...(reasons.get(key) ?? []), ip])
    }
  const all = answer.blacklists?.length ?? 0
  return [...reasons].map(
    ([words, addresses]): Line => [words, addresses.length === all ? '' : ` (asked about ${addresses.join(', ')})`],
  )
}
