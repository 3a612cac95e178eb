import type { PlanRecord } from '../answers/plan.ts'
import { firstOf } from '../base/text.ts'
import type { DnsRecord } from '../checks/check.ts'
import type { DmarcRecord, Policy } from '../checks/dmarc/index.ts'
import type { CheckKey } from '../checks/run.ts'
import { unpasted } from '../net/dns/pasted.ts'
import { textKind } from '../net/dns/text-kind.ts'
import type { Stage } from './ladder.ts'

/**
 * What a step is called, by its check; `isNew`: nothing of the kind is published. `today`: the policy of the name's own
 * DMARC record.
 */
export function titleOf(
  key: CheckKey,
  id: string,
  { value, rtype }: DnsRecord,
  { isNew, today }: { readonly isNew: boolean; readonly today?: Policy | undefined },
): string {
  if (key === 'mx') return value === '0 .' ? 'Declare that the domain accepts no mail' : MX[isNew ? 0 : 1]
  if (key === 'dmarc') return dmarcTitle(value, id, isNew || id === 'dmarc.no_record', today)
  const title = TITLES[key]
  return title ? title[isNew ? 0 : 1] : `Correct the ${rtype} record`
}

type Pair = readonly [added: string, corrected: string]
const MX: Pair = ['Publish an MX record', 'Correct the MX records']
const TITLES: Readonly<Partial<Record<CheckKey, Pair>>> = {
  spf: ['Publish an SPF record', 'Correct the SPF record'],
  dkim: ['Correct the DKIM record', 'Correct the DKIM record'],
  mta_sts: ['Correct the MTA-STS record', 'Correct the MTA-STS record'],
  tls_rpt: ['Ask for TLS reports', 'Correct the record for TLS reports'],
  bimi: ['Correct the BIMI record', 'Correct the BIMI record'],
}

function dmarcTitle(value: string, id: string, isNew: boolean, today: Policy | undefined): string {
  const policy = /(?:^|;)\s*p=(none|quarantine|reject)/.exec(value)?.[1]
  const hasAddress = value.includes('rua=')
  if (policy !== today && policy !== 'none') return `DMARC: ${policy}`
  if (isNew) return hasAddress ? 'Start DMARC with reports' : 'Start DMARC'
  return REPORTS.has(id) && hasAddress ? 'DMARC: an address that gets the reports' : 'Correct the DMARC record'
}

/** Findings that an address for reports resolves. */
const REPORTS: ReadonlySet<string> = new Set(['dmarc.no_rua', 'dmarc.report_unauthorized', 'dmarc.rua_unreachable'])

/** What the step is called that resolves a finding about DKIM by a key of the mail provider. */
export const keyTitle = (id: string): string => KEY_TITLES.get(id) ?? 'Sign with DKIM'

const KEY_TITLES: ReadonlyMap<string, string> = new Map([
  ['dkim.dangling', 'Turn on DKIM signing'],
  ['dkim.none_found', 'Sign with DKIM, or give its selector'],
  ['dkim.mailbox_key_missing', 'Turn on DKIM at the mailbox provider'],
  ['dkim.parent_key', 'Sign with a DKIM key of its own'],
  ['dkim.only_revoked', 'Sign with a new DKIM key'],
  ['dkim.short_key', 'Sign with a longer DKIM key'],
  ['dkim.ed25519_only', 'Sign with an RSA key too'],
])

/** What a stage of DMARC is called. */
export function stageTitle({ kind, policy }: Pick<Stage, 'kind' | 'policy'>): string {
  if (kind === 'whole') return 'DMARC: quarantine for all mail'
  if (kind === 'subdomains') return `DMARC: ${policy} for subdomains`
  if (kind === 'missing') return `DMARC: ${policy} for names that do not exist`
  return `DMARC: ${policy}`
}

/** What a stage changes, in one line; `governs`: the record covers names below it (RFC 9989 §4.10.1). */
export function stageWhy(
  { kind, policy }: Stage,
  record: DmarcRecord | undefined,
  governs: boolean,
  below: readonly string[] = [],
): string {
  const shown = below.length > 0 ? ` Reports show mail of ${namedBelow(below)}.` : ''
  const does = (mail: string): string =>
    policy === 'reject' ? `Receivers refuse ${mail}.` : `Receivers put ${mail} into the junk folder.`
  if (kind === 'missing') return does('mail in the name of subdomains that do not exist')
  if (kind === 'subdomains') return `${does('forged mail of subdomains without a record of their own')}${shown}`
  const covers = !governs
    ? 'Names below it are not covered.'
    : record?.sp === undefined
      ? `It covers every subdomain without a record of its own.${shown}`
      : `Subdomains keep sp=${record.sp}.`
  return `${does('forged mail')} ${covers}`
}

/** Maximum number of names below a domain that a sentence names. */
const MAX_BELOW = 5
const namedBelow = (names: readonly string[]): string => firstOf(names, MAX_BELOW)

/** What a domain without mail keeps for names below it as which mail passes. */
export const keptBelow = (names: readonly string[]): string =>
  `Reports show mail of ${namedBelow(names)}: sp keeps for names below the domain what applies to them today.`

/** What to wait for before a stage; `today`: the policy (`p`) of the record that it replaces. */
export function waitWords(
  { kind, policy }: Pick<Stage, 'kind' | 'policy'>,
  { canReport, isNext, today }: { readonly canReport: boolean; readonly isNext: boolean; readonly today: Policy },
): string {
  const evidence = canReport ? 'aggregate reports' : 'your own logs, since no reports can come,'
  const whose = kind === 'subdomains' ? 'of your subdomains' : 'that you send'
  const isPartial = kind === 'whole' || (kind === 'reject' && today === 'reject')
  const tag = kind === 'subdomains' ? 'sp' : 'p'
  const before = isPartial ? ' at this stage' : policy === 'reject' ? ` at ${tag}=quarantine` : ''
  const complaints = policy === 'reject' ? ', and with no complaint about mail in junk folders' : ''
  const already = isNext ? ', unless it has been so for a month already' : ''
  return `At least a month${before} in which ${evidence} show that all mail ${whose} passes DMARC${complaints}${already}: correct SPF and DKIM of every sender first.`
}

/** What to wait for before an SPF record that passes fewer, while a DMARC policy is enforced. */
export const SPF_WAIT =
  'At least a month in which reports or your own logs show that every sender passes by DKIM, or is named in the record: receivers act on what fails.'

/** What to find out where it is not known whether an alias that leads nowhere stands at its name. */
export const aliasFirst = (name: string, target: string): string =>
  `Look first whether the alias (CNAME) of ${target} stands at ${name} itself: then remove it, because no record can stand beside it (RFC 1034 §3.6.2). One that a wildcard gives the name needs no removal.`

/** Why a record was not tried. */
export const stoppedAt = (trials: number): string =>
  `Not tried: one plan tries ${trials} changes. Publish its steps, and make the plan again.`

/** Why a policy is not raised by two levels at once. */
export const STEEP =
  'Not at once: the domain may have senders. Name them in the SPF record, publish p=none with a rua, and make the plan again.'

/** Why no policy is raised while the SPF record is not known. */
export const SPF_UNKNOWN =
  'Not yet: whether the mail of the domain can pass is not known, because the SPF record could not be looked up.'

/** Why mail is not refused while SPF helps nobody. */
export const SPF_FIRST =
  'Not yet: receivers cannot evaluate the SPF record, so all mail depends on its DKIM signature. Repair SPF first.'

/** Where a record is safe only behind what somebody else has to do. */
export const AFTER_OTHERS =
  'Not yet: the record is safe only after the step of somebody else has been done. Check again then.'

/** What `p=reject` does. */
export const ABOUT_REJECT =
  'Optional. Receivers then refuse mail that fails, also what mailing lists changed on the way (RFC 9989 §7.4); with quarantine it goes to the junk folder.'

/** The choice of an organizational domain with an address that nothing else says anything about. */
export const NO_MAIL_CHOICE = {
  question: 'Does anything accept or send mail as this name?',
  no: 'No: declare that it has no mail',
  yes: 'Yes: set it up for mail',
  title: 'Declare that the domain has no mail',
  why: 'Nobody can send as the domain, and senders learn at once that it accepts nothing.',
  before: 'Does anything accept or send mail as this name? If so, take the other option.',
} as const

/** The step of an organizational domain that is an alias of a live name. */
export const aliasReplaced = (target: string) => ({
  title: 'Replace the alias at the domain by addresses',
  why: 'Beside an alias (CNAME) neither an MX nor an SPF record can stand (RFC 1034 §3.6.2).',
  instructions: `Replace the alias by the addresses of ${target}: ask whoever runs it which ones to use. If your DNS provider offers ALIAS, ANAME or CNAME flattening, use that instead: it follows when they change.`,
})

/** What comes before a record of its own for a name that sends. */
export const coveredAbove = (organization: string): string =>
  `The plan of ${organization} covers this name too: publish a record here only if its policy is to rise before that of ${organization}.`

/** Why the policy of a public suffix has no stage. */
export const GOVERNS_OTHERS =
  'No stage is proposed: the record governs names that belong to others, who must be ready for a stricter policy.'

/** The step of a domain that does not exist. */
export const REGISTRATION = {
  title: 'Register the domain, or repair its delegation',
  why: 'The domain does not exist',
  instructions:
    'Check the spelling first. At the registrar, register or renew the domain, and name the servers that have its zone. Then make the plan again; a POST request with the providers of the domain makes the records of a new one.',
} as const

/** What to know before an organizational domain without mail asks to reject everything. */
export const SILENT_ORGANIZATION = 'Names below it that send mail need a DMARC record of their own first.'

/** What to know before records say that nobody sends as a name which has none of its own. */
export const nothingSends = (domain: string): string =>
  `Make sure that nothing sends mail as ${domain}, also no form or script of a website.`

/** What to know before a domain names its own address as its mail host. */
export const OWN_MAIL_HOST =
  'Make sure that a mail server answers at this address. If the mailboxes are at a provider, publish the MX records that it shows in place of this one.'

/** What to do about reports where no address at the domain can take mail. */
export const reportsElsewhere = (domain: string): string =>
  `No address at ${domain} can take reports. Choose one in a domain that accepts mail, add it to the record as rua=mailto:, and publish the TXT record "v=DMARC1" at ${domain}._report._dmarc. followed by that domain (RFC 9990 §4).`

/** What to know before a policy rises for a domain with a usable key, whose SPF record names nobody. */
export const KEY_WITHOUT_SENDER =
  'Find out whether mail is still sent with the DKIM key of the domain: its SPF record says that nobody sends.'

/**
 * What must be known or done before records are published that resolve findings; `takesMail`: whether an MX host of
 * today can take mail.
 */
export function beforeRecords(
  domain: string,
  records: readonly PlanRecord[],
  takesMail: (host: string) => boolean,
  findings: readonly string[],
): readonly string[] {
  return records.flatMap(({ name, type, action, value, was }) => {
    if (action === 'keep') return []
    if (action === 'remove') return goneBefore(name, type, value, takesMail)
    if (type !== 'TXT') return []
    const kind = textKind(name, value)
    // Below the domain, what leads back into a loop is still in the records above it.
    if (kind === 'spf') return name !== domain && findings.includes('spf.loop') ? [] : spfBefore(domain, value, was)
    if (kind !== 'dmarc' && kind !== 'tls-rpt') return []
    const known = was.join(' ').toLowerCase()
    return [...value.matchAll(/mailto:([^,;!\s]+)/g)].flatMap(([, address = '']) =>
      address.endsWith(`@${domain}`) && !known.includes(address.toLowerCase())
        ? [`Create the mailbox ${address}, or put one that exists in its place.`]
        : [],
    )
  })
}

/** What else may depend on a record that goes; of several records of one kind nobody uses the second. */
function goneBefore(
  name: string,
  type: string,
  value: string,
  takesMail: (host: string) => boolean,
): readonly string[] {
  if (type === 'TXT' || type === 'TLSA') return []
  const host = type === 'MX' ? (value.split(' ')[1]?.replace(/\.$/, '') ?? '') : ''
  if (type === 'MX') return takesMail(host) ? [`Make sure that no mail comes in by way of ${host}.`] : []
  return [`Make sure that nothing else uses ${type} ${value} at ${name}.`]
}

/** A term that lets half of the addresses or more pass. */
const LETS_EVERYBODY = /^\+?(?:all|ip4:[\d.]+\/[0-3]|ip6:[\da-f:.]+\/[0-5]|(?:a|mx)(?::[^/]*)?\/[0-3](?:\/.*)?)$/i
/** A term by which nobody passes, the version and the modifiers that name no sender. */
const NAMES_NONE = /^(?:[-~?\u2010-\u2015]|\+?all$|v\W|exp=|r[apr]=)/i
/** Maximum number of terms that are compared, and of those that are named. */
const MAX_TERMS = 200
const MAX_NAMED = 5

/**
 * Whoever the record does not name would no longer pass. A term whose target is still in the record was only written in
 * another way.
 */
function spfBefore(domain: string, value: string, was: readonly string[]): readonly string[] {
  if (/^v=spf1 -all$/i.test(value)) return []
  const [_version, ...terms] = value.toLowerCase().split(' ')
  const targets = new Set(terms.slice(0, MAX_TERMS).map(targetOf))
  const before = was.map((text) => unpasted(text, /v ?= ?spf ?1/i))
  const dropped = [...new Set(before.flatMap((text) => text.split(/[\s"]+/)))].slice(0, MAX_TERMS).filter((term) => {
    const target = targetOf(term)
    if (NAMES_NONE.test(term) || LETS_EVERYBODY.test(term) || target === domain) return false
    return target !== '' && !targets.has(target) && ![...targets].some((one) => one.length > 3 && target.includes(one))
  })
  const isNew =
    was.length === 0 || before.some((text) => text.split(/[\s"]+/).some((term) => LETS_EVERYBODY.test(term)))
  return [
    ...(isNew ? ['Add every other service that sends as this domain to the record: name each host and provider.'] : []),
    ...(dropped.length > 0
      ? [`No longer in the record: ${dropped.slice(0, MAX_NAMED).join(', ')}. Make sure that none of it sends mail.`]
      : []),
  ]
}

/** What a term names: its target, else the mechanism. */
const targetOf = (term: string): string =>
  term
    .toLowerCase()
    .replace(/^[-~?+]?[a-z0-9]*[:=]+/, '')
    .replace(/^[+]|[;,.]+$|^https?:\/\/|\/[^/]*$/g, '')

/** What to do about a finding that is none once a step declares that the domain has no mail. */
export const onlyWithoutMail = (step: number, otherwise = ''): string =>
  `If the domain has no mail, step ${step} settles this.${otherwise && ` Otherwise: ${otherwise}`}`
