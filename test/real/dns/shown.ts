import { ED25519, RSA_1024, RSA_2048 } from './keys.ts'
import { txt } from './zone.ts'

/** A domain that shows one finding of the scored checks: what differs from a domain that is well kept. */
export type Shown = {
  readonly id: string
  /** The domain that is asked, where it is not the one of the row. */
  readonly at?: string
  /** Absent where a domain of another table shows it. */
  readonly zone?: readonly string[]
  readonly pointers?: readonly (readonly [address: string, name: string])[]
  /** The finding has a fix; published, it takes the finding away. */
  readonly fixed?: true
}

/** Parts of a zone in place of those of a well kept domain. */
export type Parts = {
  readonly mx?: readonly string[]
  readonly spf?: readonly string[]
  readonly dkim?: readonly string[]
  readonly dmarc?: readonly string[]
  readonly more?: readonly string[]
}

/**
 * A domain at which one name is delegated to a server that does not know it: SERVFAIL there, and answers everywhere
 * else.
 */
export const lameAt = (name: string): string => `${name} NS ns2.disagree.test.`

/** The name of the domain that shows a finding. */
export const domainOf = (id: string): string => `${id.replaceAll(/[._]/g, '-')}.test`

/** A well kept domain but for these parts. */
export function zoneOf({ mx, spf, dkim, dmarc, more }: Parts): readonly string[] {
  return [
    ...(mx ?? ['@ MX 10 mx.accept.test.', '@ MX 20 mx.dual.test.']),
    ...(spf ?? ['v=spf1 mx -all']).map((text) => `@ TXT ${txt(text)}`),
    ...(dkim ?? [`s1._domainkey TXT ${txt(GOOD_KEY)}`]),
    ...(dmarc ?? ['v=DMARC1; p=reject; rua=mailto:dmarc@lab.test']).map((text) => `_dmarc TXT ${txt(text)}`),
    ...(more ?? []),
  ]
}

export const GOOD_KEY = `v=DKIM1; k=rsa; p=${RSA_2048}`
const key = (text: string, selector = 's1'): string => `${selector}._domainkey TXT ${txt(text)}`
export const record = (name: string, text: string): string => `${name} TXT ${txt(text)}`
export const numbered = <T = string>(count: number, line: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => line(n + 1))

const dkim = (id: string, lines: readonly string[], more: Partial<Shown> = {}): Shown => ({
  id,
  zone: zoneOf({ dkim: lines }),
  ...more,
})

/** What shows each finding of DKIM. */
export const dkimShown: readonly Shown[] = [
  { id: 'dkim.proven_absent', at: 'abandoned.test' },
  dkim('dkim.doubled_name', [record('s1._domainkey.dkim-doubled-name.test', GOOD_KEY)], { fixed: true }),
  { id: 'dkim.none_found', at: 'ent.test' },
  dkim('dkim.not_asked', [key(GOOD_KEY), lameAt('default._domainkey')]),
  { id: 'dkim.wildcard', at: 'wildcard.test' },
  dkim('dkim.wildcard_revoked', [key(GOOD_KEY), key('v=DKIM1; p=', '*')]),
  { id: 'dkim.no_key', at: 'healthy.test?selector=nobody' },
  dkim('dkim.dangling', [key(GOOD_KEY), 's2._domainkey CNAME gone.dkim-dangling.test.']),
  dkim('dkim.broken_key', [key('v=DKIM1; p=AAAA')], { fixed: true }),
  dkim('dkim.short_key', [key(`v=DKIM1; p=${RSA_1024}`)]),
  { id: 'dkim.long_key', at: 'hugekey.test' },
  dkim('dkim.revoked_key', [key(GOOD_KEY), key('v=DKIM1; p=', 's2')]),
  dkim('dkim.reports_key', [key(GOOD_KEY), key(`${GOOD_KEY}; s=tlsrpt`, 's2')]),
  dkim('dkim.only_revoked', [key('v=DKIM1; p=')]),
  dkim('dkim.testing', [key(`v=DKIM1; t=y; p=${RSA_2048}`)], { fixed: true }),
  dkim('dkim.ed25519_only', [key(`v=DKIM1; k=ed25519; p=${ED25519}`)]),
  dkim('dkim.several_records', [key(GOOD_KEY), key('v=DKIM1; p=')], { fixed: true }),
]
