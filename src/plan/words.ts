import type { DnsRecord } from '../checks/check.ts'
import type { CheckKey } from '../checks/run.ts'

/** What a step is called, by its check; `isNew`: nothing of the kind is published. */
export function titleOf(key: CheckKey, id: string, { value, rtype }: DnsRecord, isNew: boolean): string {
  if (key === 'mx') return value === '0 .' ? 'Declare that the domain accepts no mail' : MX[isNew ? 0 : 1]
  if (key === 'dmarc') return dmarcTitle(value, isNew || id === 'dmarc.no_record')
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

function dmarcTitle(value: string, isNew: boolean): string {
  const policy = /(?:^|;)\s*p=(none|quarantine|reject)/.exec(value)?.[1]
  if (policy === 'reject') return 'DMARC: reject'
  if (policy === 'quarantine') return 'DMARC: quarantine'
  return isNew ? 'Start DMARC with reports' : 'Correct the DMARC record'
}

/** What the step is called that resolves a finding about DKIM by a key of the mail provider. */
export const keyTitle = (id: string): string => KEY_TITLES.get(id) ?? 'Sign with DKIM'

const KEY_TITLES: ReadonlyMap<string, string> = new Map([
  ['dkim.none_found', 'Sign with DKIM, or give its selector'],
  ['dkim.only_revoked', 'Sign with a new DKIM key'],
  ['dkim.short_key', 'Sign with a longer DKIM key'],
  ['dkim.ed25519_only', 'Sign with an RSA key too'],
])
