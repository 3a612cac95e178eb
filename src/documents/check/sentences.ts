import type { CheckAnswer } from '../../answers/check.ts'
import type { FindingAnswer, Severity } from '../../answers/finding.ts'
import { keysOf } from '../../base/json.ts'
import { counted, firstOf } from '../../base/text.ts'
import type { CheckName } from '../words.ts'
import { type Answer, statusOf } from './answer.ts'

const RANK: Readonly<Record<Severity, number>> = { critical: 4, high: 3, medium: 2, low: 1, info: 0 }
/** Maximum number of findings named in one sentence. */
const NAMED = 2

/** A check in one sentence: what is published, then what is wrong with it; or why nothing can be said. */
export function sentenceOf(answer: Answer, key: string): string {
  const name = NAMES.find((one) => one === key)
  const status = name && statusOf(answer, name)
  const fields = name && name !== 'mx' ? answer[name] : undefined
  const reason = name === 'mx' ? answer.mx_reason : fields?.reason
  if (status === 'unknown' && reason !== undefined) return withoutQuestion(reason)
  const { domain_role: role } = answer
  if (status === 'not_applicable' && role && reason?.includes(role.because)) return '' // the verdict says it
  if (status === 'not_applicable' && key === 'ptr') return reason ?? '' // addresses that do not send
  const facts = name ? FACTS[name](answer) : ''
  const faults = faultsOf(answer, key).filter(({ id }) => facts === '' || !IN_FACTS.has(id))
  if (faults.length === 0) return facts === '' ? (reason ?? '') : facts
  const named = faults.map(({ title }, i) => (i === 0 || /^[A-Z]{2}/.test(title) ? title : lower(title)))
  return [facts, firstOf(named, NAMED)].filter((part) => part !== '').join('. ')
}

/** Why a lookup failed, without its name, type and server, which the row of a check has inside. */
export const withoutQuestion = (reason: string): string =>
  reason.replace(/(?:^|(?<=: ))\S*\.\S* [A-Z]{1,10}(?: at \S+)?: /, '')

/** The different findings of a check of severity low and more, the most severe first. */
export function faultsOf({ findings }: Pick<Answer, 'findings'>, key: string): readonly FindingAnswer[] {
  const own = findings.filter(({ id, severity }) => id.startsWith(`${key}.`) && RANK[severity] > 0)
  return [...new Map(own.map((one) => [one.id, one])).values()].toSorted((a, b) => RANK[b.severity] - RANK[a.severity])
}

/** A check whose record is optional, and not published. */
export const isUnused = ({ findings }: Pick<Answer, 'findings'>, key: string): boolean =>
  findings.some(({ id }) => id.startsWith(`${key}.`) && UNUSED.has(id))
const UNUSED: ReadonlySet<string> = new Set(['dane.none', 'bimi.no_record'])

/** Findings whose title would repeat the facts before it. */
const IN_FACTS: ReadonlySet<string> = new Set(['mx.implicit', 'dmarc.policy_none', 'dmarc.no_rua', 'dmarc.pct_partial'])

const lower = (text: string): string => text.replace(/^./, (first) => first.toLowerCase())

const ALL: Readonly<Record<string, string>> = { '-': '-all', '~': '~all', '?': '?all', '+': '+all' }

const FACTS: Readonly<Record<CheckName, (answer: Answer) => string>> = {
  spf: ({ spf: { record, records, lookups, all } }) =>
    record === undefined || records.length > 1
      ? ''
      : [
          lookups === undefined ? 'published' : `${lookups} of 10 lookups`,
          ...(all === undefined ? [] : [ALL[all] ?? '']),
        ].join(', '),
  dkim: ({ dkim: { keys } }) => {
    const usable = keys.filter(({ usable: can }) => can)
    if (usable.length === 0) return ''
    return `${counted(usable.length, 'key')}: ${usable
      .slice(0, 3)
      .map(
        ({ selector, key_type, key_bits }) =>
          `${selector} (${key_type.toUpperCase()}${key_bits === null ? '' : ` ${key_bits}`})`,
      )
      .join(', ')}${usable.length > 3 ? ' …' : ''}`
  },
  dmarc: ({ dmarc }) => dmarcFacts(dmarc),
  mx: ({ mx, mx_kind }) =>
    mx_kind === 'null'
      ? 'accepts no mail (null MX)'
      : mx_kind === 'implicit'
        ? 'no MX record, mail goes to the address of the domain'
        : mx.length === 0
          ? ''
          : counted(mx.length, 'host'),
  ptr: ({ ptr: { addresses } }) =>
    addresses.length === 0
      ? ''
      : `${addresses.filter(({ forward_confirmed }) => forward_confirmed).length} of ${counted(addresses.length, 'address', 'addresses')} confirmed`,
  starttls: ({ starttls }) =>
    starttls === undefined || starttls.hosts.length === 0
      ? ''
      : `offered by ${starttls.hosts.filter(({ offered }) => offered).length} of ${counted(starttls.hosts.length, 'address', 'addresses')}`,
  mta_sts: ({ mta_sts: { policy } }) => (policy ? `mode ${policy.mode}` : ''),
  tls_rpt: ({ tls_rpt: { rua, valid } }) => (valid ? `reports to ${rua[0] ?? ''}` : ''),
  dane: ({ dane: { hosts } }) => {
    const secured = hosts.filter(({ records }) => records.length > 0).length
    return secured === 0 ? '' : `TLSA records of ${secured} of ${counted(hosts.length, 'host')}`
  },
  dnssec: ({ dnssec: { signed, validated } }) => (signed ? (validated ? 'signed and validated' : 'signed') : ''),
  ns: ({ ns: { servers } }) => (servers.length === 0 ? '' : counted(servers.length, 'name server')),
  soa: ({ soa: { primary } }) => (primary ? `primary ${primary}` : ''),
  caa: ({ caa: { records } }) => (records.length === 0 ? '' : counted(records.length, 'record')),
  bimi: ({ bimi: { logo } }) => (logo === '' ? '' : 'logo published'),
}
const NAMES = keysOf(FACTS)

function dmarcFacts({
  record,
  policy,
  effective_policy: effective,
  pct,
  inherited,
  domain,
  rua,
  valid,
}: CheckAnswer['dmarc']): string {
  if (record === undefined || !valid) return ''
  const isShare = pct !== undefined && pct < 100 && policy !== 'none'
  const share = !isShare ? '' : pct === 0 ? ' (older receivers: one step lower)' : ` for ${pct} % of the mail`
  return [
    `p=${policy}${effective !== policy ? ` (in effect: ${effective})` : ''}${share}`,
    rua.length === 0 ? 'no reports' : 'with reports',
    ...(inherited && domain !== undefined ? [`inherited from ${domain}`] : []),
  ].join(', ')
}
