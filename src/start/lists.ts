import { AppError, invalidFlag } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { type Blacklists, createBlacklists } from '../dnsbl/blacklists.ts'
import { DOMAIN_SET } from '../dnsbl/domain-zones.ts'
import { parseListKey } from '../dnsbl/query.ts'
import type { ListKeys, ListSet } from '../dnsbl/zone-type.ts'
import { BUILT_IN } from '../dnsbl/zones.ts'
import type { Resolve } from '../net/dns/resolver.ts'
import { optionFile } from './option-file.ts'
import { startProblem } from './problems.ts'
import type { Outside } from './world.ts'

/** The blacklists, as configured. Throws AppError for an option or file that cannot be used. */
export async function openLists(config: Config, { world, uncached }: Outside): Promise<Blacklists> {
  const blacklists = createBlacklists({
    now: world.monotonic,
    set: await listSet(config),
    keys: listKeys(config),
    noCourtesy: config.noCourtesy,
  })
  return askingWith(uncached, blacklists)
}

/** Answers of lists are cached by their own rules (docs/blacklists.md), so no other cache may be in between. */
const askingWith = (resolve: Resolve, blacklists: Blacklists): Blacklists => ({
  ...blacklists,
  lookup: (ctx, address, options) => blacklists.lookup({ ...ctx, resolve }, address, options),
  test: (ctx) => blacklists.test({ ...ctx, resolve }),
})

function listKeys(config: Config): ListKeys {
  const key = (text: string | undefined, option: string): string | undefined => {
    if (text === undefined) return undefined
    const parsed = parseListKey(text, option)
    if (!parsed.ok) throw new AppError('invalid_parameter', parsed.problem)
    return parsed.value
  }
  const [dqs, spamrats] = [key(config.dqsKey, '--dqs-key'), key(config.spamratsKey, '--spamrats-key')]
  return { ...(dqs ? { dqs } : {}), ...(spamrats ? { spamrats } : {}) }
}

async function listSet(config: Config): Promise<ListSet> {
  const { dnsblLists: path } = config
  if (path === undefined) return BUILT_IN
  const text = optionFile('dnsbl-lists', path)
  const { parseLists } = await import('../dnsbl/parse-lists.ts')
  const lists = parseLists(text)
  if (!lists.ok) throw invalidFlag('dnsbl-lists', startProblem('invalid_file', { path, why: lists.problem }))
  return lists.value
}

export const openDomainLists = (config: Config, { world, uncached }: Outside): Blacklists =>
  askingWith(
    uncached,
    createBlacklists({
      now: world.monotonic,
      set: DOMAIN_SET,
      noCourtesy: config.noCourtesy,
    }),
  )
