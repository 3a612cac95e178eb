import type { PlanRecord } from '../answers/plan.ts'
import type { DnsRecord } from '../checks/check.ts'
import type { DmarcRecord } from '../checks/dmarc/index.ts'
import type { CheckKey } from '../checks/run.ts'
import { textKind } from '../net/dns/text-kind.ts'
import type { Stage } from './ladder.ts'

/** What a step is called, by its check; `isNew`: nothing of the kind is published. */
export function titleOf(key: CheckKey, id: string, { value, rtype }: DnsRecord, isNew: boolean): string {
  if (key === 'mx') return value === '0 .' ? 'Declare that the domain accepts no mail' : MX[isNew ? 0 : 1]
  if (key === 'dmarc') return dmarcTitle(value, id, isNew || id === 'dmarc.no_record')
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

function dmarcTitle(value: string, id: string, isNew: boolean): string {
  const policy = /(?:^|;)\s*p=(none|quarantine|reject)/.exec(value)?.[1]
  if (policy === 'reject') return 'DMARC: reject'
  if (policy === 'quarantine') return 'DMARC: quarantine'
  if (isNew) return value.includes('rua=') ? 'Start DMARC with reports' : 'Start DMARC'
  return REPORTS.has(id) ? 'DMARC: an address that gets the reports' : 'Correct the DMARC record'
}

/** Findings that an address for reports resolves. */
const REPORTS: ReadonlySet<string> = new Set(['dmarc.no_rua', 'dmarc.report_unauthorized', 'dmarc.rua_unreachable'])

/** What the step is called that resolves a finding about DKIM by a key of the mail provider. */
export const keyTitle = (id: string): string => KEY_TITLES.get(id) ?? 'Sign with DKIM'

const KEY_TITLES: ReadonlyMap<string, string> = new Map([
  ['dkim.dangling', 'Turn on DKIM signing'],
  ['dkim.none_found', 'Sign with DKIM, or give its selector'],
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

/** What a stage changes, in one line. */
export function stageWhy({ kind, policy }: Stage, record: DmarcRecord | undefined): string {
  const does = (mail: string): string =>
    policy === 'reject' ? `Receivers refuse ${mail}.` : `Receivers put ${mail} into the junk folder.`
  if (kind === 'missing') return does('mail in the name of subdomains that do not exist')
  if (kind === 'subdomains') return does('forged mail of subdomains without a record of their own')
  const covers =
    record?.sp === undefined
      ? 'It covers every subdomain without a record of its own.'
      : `Subdomains keep sp=${record.sp}.`
  return `${does('forged mail')} ${covers}`
}

/** What to wait for before a stage. */
export function waitWords(
  { kind, policy }: Pick<Stage, 'kind' | 'policy'>,
  { canReport, isNext }: { readonly canReport: boolean; readonly isNext: boolean },
): string {
  const evidence = canReport ? 'aggregate reports' : 'your own logs, since no reports can come,'
  const whose = kind === 'subdomains' ? 'of your subdomains' : 'that you send'
  const before = policy === 'reject' ? ' at p=quarantine' : kind === 'whole' ? ' at this stage' : ''
  const complaints = policy === 'reject' ? ', and with no complaint about mail in junk folders' : ''
  const already = isNext ? ', unless it has been so for a month already' : ''
  return `At least a month${before} in which ${evidence} show that all mail ${whose} passes DMARC${complaints}${already}: correct SPF and DKIM of every sender first.`
}

/** What to wait for before an SPF record that passes fewer, while a DMARC policy is enforced. */
export const SPF_WAIT =
  'At least a month in which reports or your own logs show that every sender passes by DKIM, or is named in the record: receivers act on what fails.'

/** Why a policy is not raised by two levels at once. */
export const STEEP =
  'Not at once: the domain may have senders. Name them in the SPF record, publish p=none with a rua, and make the plan again.'

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

/** What to know before an organizational domain without mail asks to reject everything. */
export const SILENT_ORGANIZATION = 'Names below it that send mail need a DMARC record of their own first.'

/** What to know before a policy rises for a domain with a usable key, whose SPF record names nobody. */
export const KEY_WITHOUT_SENDER =
  'Find out whether mail is still sent with the DKIM key of the domain: its SPF record says that nobody sends.'

/** What must be known or done before records are published. */
export function beforeRecords(domain: string, records: readonly PlanRecord[]): readonly string[] {
  return records.flatMap(({ name, type, action, value, was }) => {
    if (action === 'keep') return []
    if (action === 'remove') return goneBefore(name, type, value)
    if (type !== 'TXT') return []
    const kind = textKind(name, value)
    if (kind === 'spf') return spfBefore(value, was)
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
function goneBefore(name: string, type: string, value: string): readonly string[] {
  if (type === 'TXT') return []
  if (type === 'MX') return [`Make sure that no mail comes in by way of ${value.split(' ')[1]?.replace(/\.$/, '')}.`]
  return [`Make sure that nothing else uses ${type} ${value} at ${name}.`]
}

/** Whoever the record does not name would no longer pass. */
function spfBefore(value: string, was: readonly string[]): readonly string[] {
  if (/^v=spf1 -all$/i.test(value)) return []
  const kept = new Set(value.toLowerCase().split(' '))
  const gone = was.flatMap((text) => text.split(' ')).filter((term) => term !== '' && !kept.has(term.toLowerCase()))
  const dropped = [...new Set(gone)].filter((term) => !/^[-~?+]?all$/i.test(term)).slice(0, 5)
  const isNew = was.length === 0 || was.some((text) => /(?:^| )\+?all(?: |$)/i.test(text))
  return [
    ...(isNew ? ['Add every other service that sends as this domain to the record: name each host and provider.'] : []),
    ...(dropped.length > 0
      ? [`No longer in the record: ${dropped.join(', ')}. Make sure that none of it sends mail.`]
      : []),
  ]
}
