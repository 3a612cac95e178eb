import type { AddressLists } from '../../answers/report.ts'
import { type Block, heading, type Line, text } from '../block.ts'
import { isSilent, whySilent } from '../listings.ts'
import type { Answer } from './answer.ts'
import { sectionsOf } from './status.ts'

/** Everything that could not be determined, each by name and with its reason. */
export function unknownBlocks(answer: Answer): readonly Block[] {
  const items = [...checks(answer), ...hosts(answer), ...tlsHosts(answer), ...silentLists(answer)]
  const leftOut = answer.blacklist_summary?.left_out ?? 0
  if (leftOut > 0) items.push([`${leftOut} addresses of mail servers were not looked up.`])
  if (items.length === 0 && answer.complete) return [] // said at the top
  const title = heading(2, 'What could not be determined', 'unknowns')
  if (items.length === 0) return [title, text('Every check has an answer; the part that is missing is named there.')]
  return [title, text('None of this counts as a pass or a fail.'), { kind: 'list', items }]
}

const checks = (answer: Answer): Line[] =>
  sectionsOf(answer)
    .filter(({ status }) => status === 'unknown')
    .map(({ key, name, reason }) => [{ link: `#${key}`, text: name }, `: ${reason ?? 'no reason is given'}`])

const hosts = (answer: Answer): Line[] =>
  answer.mx.flatMap(({ host, reason, addresses }) => [
    ...(reason === undefined ? [] : [[{ code: host }, `: ${reason}`]]),
    ...addresses
      .filter((one) => one.forward_confirmed === null)
      .map(({ address }): Line => ['Whether the name of ', { code: address }, ' resolves back to it.']),
  ])

/** Hosts whose TLS is not known, where the check of the others has a result. */
const tlsHosts = ({ starttls }: Answer): Line[] =>
  starttls === undefined || starttls.status === 'unknown'
    ? []
    : starttls.hosts
        .filter(({ reason }) => reason !== undefined)
        .map(({ host, address, reason }) => [
          { link: '#starttls', text: 'STARTTLS' },
          ' at ',
          { code: address === null ? host : `${host} (${address})` },
          `: ${reason}`,
        ])

/** Lists without an answer for the same reason and addresses are one line. */
function silentLists(answer: Answer): Line[] {
  const asked = answer.blacklists ?? []
  const names = [...new Set(asked.flatMap(({ results }) => results.filter(isSilent).map(({ blacklist }) => blacklist)))]
  const lines = new Map<string, string[]>()
  for (const name of names) {
    for (const [reason, addresses] of silence(asked, name)) {
      const about = addresses.length === asked.length ? '' : ` (queried for ${addresses.join(', ')})`
      lines.set(`${reason}${about}`, [...(lines.get(`${reason}${about}`) ?? []), name])
    }
  }
  for (const { blacklist, ...entry } of (answer.domain_blacklists?.results ?? []).filter(isSilent)) {
    const why = whySilent({ blacklist, ...entry })
    lines.set(why, [...(lines.get(why) ?? []), blacklist])
  }
  return [...lines].map(([why, lists]): Line => [{ strong: lists.join(', ') }, `: ${why}`])
}

/** Why a list gave no answer, and about which addresses. */
function silence(asked: readonly AddressLists[], name: string): ReadonlyMap<string, readonly string[]> {
  const reasons = new Map<string, string[]>()
  for (const { ip, results } of asked) {
    const entry = results.find(({ blacklist }) => blacklist === name)
    if (entry && isSilent(entry)) reasons.set(whySilent(entry), [...(reasons.get(whySilent(entry)) ?? []), ip])
  }
  return reasons
}
