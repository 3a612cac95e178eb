import { providerOfAlias, providerOfInclude } from '../../providers/index.ts'
import { type Block, blocksOf, heading, type Inline, type Line, type Marked, quiet } from '../block.ts'
import { reportsOfDomainBlocks } from '../reports.ts'
import { type Answer, isGone, isReverse } from './answer.ts'
import { addressesOf, LOOKUPS } from './spf.ts'

/**
 * Who may send as the domain, and who does: the lookups of SPF as one bar, how DMARC aligns with SPF and DKIM, and the
 * senders that reports show.
 */
export function whoSendsBlocks(answer: Answer): readonly Block[] {
  const blocks = blocksOf([
    !isOpen(answer) && [lookupBlock(answer), alignmentBlock(answer)],
    answer.reports && !isGone(answer) && reportsOfDomainBlocks(answer.reports),
  ])
  return blocks.length === 0 ? [] : [heading(2, 'Who sends as this domain', 'senders'), ...blocks]
}

/** Who may send as the domain, in one line for the verdict. */
export function sendersNote(answer: Answer): Line[] {
  if (isOpen(answer)) return [['Who may send: not known, SPF could not be determined.']]
  return [[{ link: '#senders', text: 'Who may send' }, ': ', ...passingWords(answer), ...serviceWords(answer)]]
}

const isOpen = (answer: Answer): boolean => isGone(answer) || isReverse(answer) || answer.spf.status === 'unknown'

const isOpenToAll = ({ all, findings }: { readonly all: string | undefined } & Pick<Answer, 'findings'>): boolean =>
  all === '+' || findings.some(({ id }) => id === 'spf.everybody')

function passingWords({ spf: { valid, passing, all, records }, findings }: Answer): Inline[] {
  if (!valid)
    return records.length === 0
      ? [{ strong: 'no host is named' }, ', as there is no SPF record.']
      : [{ strong: 'no host passes' }, ', as receivers cannot use the SPF record.']
  if (isOpenToAll({ all, findings })) return [{ strong: 'everybody' }, ', by SPF.']
  if (!passing) return ['by SPF, see there.']
  const size = addressesOf(passing)
  if (size !== '')
    return [{ strong: size }, ` by SPF${passing.complete ? '' : ', at least: not everything could be read'}.`]
  return passing.complete
    ? [{ strong: 'nobody by SPF' }, '.']
    : [{ strong: 'nobody is known by SPF' }, ': not everything could be read.']
}

/** Maximum number of services that are named. */
const MAX_SERVICES = 20

/**
 * The services that are known by an include of the SPF record, or by the alias of a DKIM key; none is said only of a
 * domain from which somebody sends.
 */
function serviceWords({ spf, dkim }: Answer): Inline[] {
  const ways = new Map<string, string[]>()
  const add = (name: string | undefined, way: string): void => {
    if (name !== undefined) ways.set(name, [...new Set([...(ways.get(name) ?? []), way])])
  }
  for (const { term } of spf.valid ? spf.includes : [])
    add(providerOfInclude(term.replace(/^[-+?~]?include:|^redirect=/i, ''))?.name, 'SPF')
  for (const { cname, selector } of dkim.keys.filter(({ usable }) => usable))
    add(cname.flatMap((name) => providerOfAlias(name) ?? [])[0]?.name, `DKIM ${selector}`)
  if (ways.size === 0) return spf.valid && spf.passing?.by.length !== 0 ? [' Known services: none.'] : []
  const shown = [...ways].slice(0, MAX_SERVICES)
  const line = shown.flatMap(([name, by], i): Inline[] => [
    ...(i === 0 ? [] : [', ']),
    { strong: name },
    ` (${by.join(', ')})`,
  ])
  return [' Known services: ', ...line, ways.size > shown.length ? ' and others.' : '.']
}

function lookupBlock({ spf: { lookups = 0, includes, includes_left_out: leftOut } }: Answer): Block | undefined {
  if (lookups === 0) return undefined
  const parts = includes
    .filter(({ lookups: cost }) => cost > 0)
    .map(({ term, lookups: cost }) => ({ name: term, cost }))
  const rest = lookups - parts.reduce((sum, { cost }) => sum + cost, 0)
  const own = rest > 0 && leftOut === undefined ? [{ name: 'a, mx, ptr and exists', cost: rest }] : []
  return {
    kind: 'budget',
    budget: { label: 'DNS lookups of SPF', used: lookups, ...LOOKUPS, parts: [...parts, ...own] },
  }
}

function alignmentBlock(answer: Answer): Block {
  const { domain, spf, dkim, dmarc } = answer
  const isSpf = spf.valid && spf.passing?.by.length !== 0
  const isAll = spf.valid && isOpenToAll({ all: spf.all, findings: answer.findings })
  const policy = dmarc.effective_policy
  // A domain that sends nothing needs no key, and nobody should pass.
  const isSilent = dkim.status === 'not_applicable'
  if (!dmarc.valid && dmarc.status === 'unknown')
    return quiet('Whether DMARC protects the domain could not be determined.')
  const paths = [
    {
      name: 'SPF',
      domain,
      state: spfState(isAll, isSpf, isSilent && (spf.valid ? 'as the domain declares' : 'as there is no SPF record')),
    },
    { name: 'DKIM', domain: `d=${domain}`, state: dkimState(answer, isSilent) },
  ]
  const result: Marked = !dmarc.valid
    ? { mark: 'bad', text: 'No DMARC: receivers do not compare them' }
    : isAll
      ? { mark: 'bad', text: `Forged mail passes by SPF: the policy (${policy}) does not stop it` }
      : policy === 'none'
        ? { mark: 'warn', text: 'Mail that aligns with neither is delivered all the same (p=none)' }
        : enforced(policy, dmarc.pct)
  return { kind: 'alignment', alignment: { label: 'How DMARC aligns', from: domain, paths, result } }
}

function spfState(isAll: boolean, isSpf: boolean, whySilent: string | false): Marked {
  if (isAll) return { mark: 'bad', text: 'passes and aligns for everybody, forged mail too' }
  if (isSpf) return { mark: 'good', text: 'aligned when the envelope sender is this domain' }
  if (whySilent) return { mark: 'none', text: `no sender passes, ${whySilent}` }
  return { mark: 'bad', text: 'no sender can pass' }
}

function dkimState({ dkim: { keys, discovery }, findings }: Answer, isSilent: boolean): Marked {
  const key = keys.find(({ usable }) => usable)
  if (key) return { mark: 'good', text: `aligned when signed with a key found (${key.selector})` }
  if (isSilent) return { mark: 'none', text: 'not needed' }
  if (findings.some(({ id }) => id === 'dkim.parent_key'))
    return { mark: 'open', text: 'no key of its own found; mail signed with a key of the organization aligns' }
  return discovery === 'proven_absent' || discovery === 'found'
    ? { mark: 'bad', text: 'no usable key' }
    : { mark: 'open', text: 'no key found; one may exist under another selector' }
}

/** What receivers do under a policy; those of RFC 7489 apply `pct`. */
function enforced(policy: string | undefined, pct = 100): Marked {
  const done = `Mail that aligns with neither is ${policy === 'reject' ? 'refused' : 'set aside'} (${policy})`
  if (pct === 0)
    return {
      mark: 'warn',
      text: `${done}; older receivers ${policy === 'reject' ? 'set it aside' : 'deliver it'} (pct=0)`,
    }
  return pct < 100
    ? { mark: 'warn', text: `${done}, by older receivers only ${pct} % of it (pct=${pct})` }
    : { mark: 'good', text: done }
}
