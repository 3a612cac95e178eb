import { met, notMet, notObservable, type Profile, type Rule, type Ruling, unknown } from './profile.ts'

/** The facts about a message that the rules for bulk senders need; what is undefined is not known. */
export type BulkSenderFacts = {
  readonly domain?: string
  readonly spf?: 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror'
  readonly dkim: readonly {
    readonly domain: string
    readonly result: string
    readonly aligned: boolean | null
    readonly keyBits?: number
    readonly keyType?: string
    /** Lower case. */
    readonly signedFields: readonly string[]
  }[]
  readonly dmarc: {
    readonly result: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror' | 'unknown'
    readonly policy?: string
  }
  /** The address of the connection has a PTR name that resolves back to it; null: not known. */
  readonly forwardConfirmed: boolean | null
  readonly tls: boolean | null
  /** The ids of findings that say that the message is not formatted as RFC 5322 §3.6 asks. */
  readonly formatFindings: readonly string[]
  /** Signs of bulk mail in the header section, as written: List-Unsubscribe, List-Id, Feedback-ID, Precedence. */
  readonly bulkSigns: readonly string[]
  readonly listUnsubscribe: readonly string[]
  readonly listUnsubscribePost: readonly string[]
  /** The author's domain is one of Gmail's. */
  readonly fromGmail: boolean
}

export const GOOGLE = 'https://support.google.com/a/answer/81126'
export const YAHOO = 'https://senders.yahooinc.com/best-practices/'
export const MICROSOFT =
  'https://techcommunity.microsoft.com/blog/microsoftdefenderforoffice365blog/strengthening-email-ecosystem-outlook%E2%80%99s-new-requirements-for-high%E2%80%90volume-senders/4399730'
const ALL = ['Google', 'Yahoo', 'Microsoft'] as const

const hidden = (because: string) => (): Ruling => notObservable(because)

const NOT_BULK = 'needed for marketing and subscribed mail; the message has no sign of it'

const RULES: readonly Rule<BulkSenderFacts>[] = [
  {
    id: 'spf',
    text: 'SPF passes',
    by: ALL,
    reference: GOOGLE,
    judge: ({ spf }) => {
      if (spf === undefined) return unknown('the address of the connection is not known')
      if (spf === 'temperror') return unknown('a lookup had no answer')
      return spf === 'pass' ? met('SPF passes') : notMet(`the result of SPF is ${spf}`, 'message.spf_failed')
    },
  },
  {
    id: 'dkim',
    text: 'DKIM passes',
    by: ALL,
    reference: GOOGLE,
    judge: ({ dkim }) => {
      const passing = dkim.find(({ result }) => result === 'pass')
      if (passing) return met(`the signature of ${passing.domain} passes`)
      if (dkim.length === 0) return notMet('the message has no signature', 'message.not_signed')
      if (dkim.some(({ result }) => result === 'temperror'))
        return unknown('the key of a signature could not be looked up')
      if (dkim.some(({ result }) => result === 'unknown'))
        return unknown('a signature cannot be verified without the body')
      return notMet('no signature passes', 'message.dkim_failed')
    },
  },
  {
    id: 'dkim_key',
    text: 'The DKIM key has at least 1,024 bits',
    by: ['Google'],
    reference: GOOGLE,
    judge: ({ dkim }) => {
      const keys = dkim.filter(({ keyBits }) => keyBits !== undefined)
      if (keys.length === 0) return unknown('no key of a signature is known')
      const short = keys.find(({ keyType, keyBits }) => keyType === 'rsa' && keyBits! < 1_024)
      return short ? notMet(`the key of ${short.domain} has ${short.keyBits} bits`) : met('every key is long enough')
    },
  },
  {
    id: 'dmarc',
    text: 'The domain of the author has a DMARC record, at least p=none',
    by: ALL,
    reference: GOOGLE,
    judge: ({ dmarc, domain }) => {
      if (dmarc.result === 'temperror' && dmarc.policy === undefined)
        return unknown('the record could not be looked up')
      if (dmarc.policy !== undefined) return met(`the policy of ${domain} is ${dmarc.policy}`)
      return notMet(
        domain === undefined
          ? 'the message has no single author domain'
          : `${domain} has no DMARC record that can be used`,
        'message.no_dmarc_record',
      )
    },
  },
  {
    id: 'alignment',
    text: 'The domain of the author is aligned with a domain that passes SPF or DKIM',
    by: ALL,
    reference: GOOGLE,
    judge: ({ dmarc, spf, dkim }) => {
      if (dmarc.result === 'pass') return met('DMARC passes')
      if (dmarc.result === 'fail')
        return notMet('nothing that passes is aligned with the domain of the author', 'message.dmarc_failed')
      if (dmarc.result === 'none' && dkim.some((one) => one.result === 'pass' && one.aligned === true))
        return met('a signature of the domain passes')
      if (
        dmarc.result === 'none' &&
        spf !== undefined &&
        spf !== 'pass' &&
        spf !== 'temperror' &&
        dkim.every((one) => one.result !== 'temperror' && one.result !== 'unknown')
      )
        return notMet('neither SPF nor DKIM passes for the domain of the author')
      return unknown('it could not be found out whether SPF or DKIM passes for the domain')
    },
  },
  {
    id: 'ptr',
    text: 'The sending address has a PTR record whose name resolves back to it',
    by: ['Google', 'Yahoo'],
    reference: GOOGLE,
    judge: ({ forwardConfirmed }) => {
      if (forwardConfirmed === null) return unknown('the address of the connection or its names are not known')
      return forwardConfirmed
        ? met('the name of the address resolves back to it')
        : notMet('no name of the address resolves back to it', 'message.ptr_not_confirmed')
    },
  },
  {
    id: 'tls',
    text: 'The message is sent over TLS',
    by: ['Google'],
    reference: GOOGLE,
    judge: ({ tls }) => {
      if (tls === null) return unknown('it is not known how the message was handed over')
      return tls ? met('the message came over TLS') : notMet('the message came without TLS', 'message.no_tls')
    },
  },
  {
    id: 'format',
    text: 'The message has the format of RFC 5322',
    by: ['Google', 'Yahoo'],
    reference: GOOGLE,
    judge: ({ formatFindings: [first] }) =>
      first === undefined ? met('no fault in the format was found') : notMet('the format has a fault', first),
  },
  {
    id: 'impersonation',
    text: 'The author does not use an address of Gmail that is not his',
    by: ['Google'],
    reference: GOOGLE,
    judge: ({ fromGmail, dmarc }) => {
      if (!fromGmail) return met('the author is not at Gmail')
      if (dmarc.result === 'pass') return met('the message comes from Gmail')
      return dmarc.result === 'fail'
        ? notMet('the author is at Gmail, but DMARC fails', 'message.dmarc_failed')
        : unknown('DMARC could not be evaluated')
    },
  },
  {
    id: 'one_click',
    text: 'Marketing and subscribed mail can be unsubscribed with one click (RFC 8058)',
    by: ['Google', 'Yahoo'],
    reference: `${GOOGLE}, RFC 8058 §3.1`,
    judge: oneClick,
  },
  {
    id: 'unsubscribe',
    text: 'Bulk mail has a way to unsubscribe',
    by: ['Microsoft'],
    reference: MICROSOFT,
    judge: ({ bulkSigns, listUnsubscribe }) => {
      if (listUnsubscribe.length > 0) return met('the message has the field List-Unsubscribe')
      return bulkSigns.length === 0
        ? unknown(NOT_BULK)
        : unknown('the message has no field List-Unsubscribe; links in its text are not called')
    },
  },
  {
    id: 'complaints',
    text: 'The complaint rate is below 0.3%',
    by: ['Google', 'Yahoo'],
    reference: YAHOO,
    judge: hidden('only the providers know it: see Google Postmaster Tools and the Yahoo Sender Hub'),
  },
  {
    id: 'unsubscribe_honored',
    text: 'A request to unsubscribe is honored within two days',
    by: ['Google', 'Yahoo'],
    reference: YAHOO,
    judge: hidden('an unsubscribe address is never called'),
  },
]

/** RFC 8058 §3.1, §4: one https URI, exactly this value, and a valid signature that covers both fields. */
function oneClick({ bulkSigns, listUnsubscribe, listUnsubscribePost, dkim }: BulkSenderFacts): Ruling {
  if (bulkSigns.length === 0) return unknown(NOT_BULK)
  const failed = (because: string): Ruling => notMet(because, 'message.one_click')
  if (listUnsubscribe.length === 0) return failed('the field List-Unsubscribe is missing')
  if (listUnsubscribe.length > 1) return failed('the field List-Unsubscribe occurs more than once')
  if (listUnsubscribePost.length === 0) return failed('the field List-Unsubscribe-Post is missing')
  if (listUnsubscribePost.length > 1) return failed('the field List-Unsubscribe-Post occurs more than once')
  if (listUnsubscribePost[0] !== 'List-Unsubscribe=One-Click')
    return failed('List-Unsubscribe-Post is not exactly List-Unsubscribe=One-Click')
  const uris = [...listUnsubscribe[0]!.matchAll(/<\s*([^<>]{1,2000}?)\s*>/g)].map(([, uri]) => uri!.replace(/\s/g, ''))
  const secure = uris.filter((uri) => /^https:\/\//i.test(uri))
  if (secure.length !== 1)
    return failed(secure.length === 0 ? 'List-Unsubscribe has no https URI' : 'List-Unsubscribe has several https URIs')
  const covering = dkim.filter(
    ({ signedFields }) => signedFields.includes('list-unsubscribe') && signedFields.includes('list-unsubscribe-post'),
  )
  const valid = covering.filter(({ result }) => result === 'pass')
  if (valid.length > 0) {
    const isAligned = valid.some(({ aligned }) => aligned === true)
    return met(`the signature of ${valid[0]!.domain}, ${isAligned ? 'aligned' : 'not aligned'}, covers both fields`)
  }
  if (covering.some(({ result }) => result === 'temperror'))
    return unknown('the key of the signature could not be looked up')
  if (covering.some(({ result }) => result === 'unknown'))
    return unknown('the signature cannot be verified without the body')
  return failed('no valid signature covers both fields')
}

/** What Google, Yahoo and Microsoft ask of those who send bulk mail to their users. */
export const BULK_SENDER: Profile<BulkSenderFacts> = {
  name: 'bulk-sender',
  version: '2026.11',
  source: `${GOOGLE}, ${YAHOO}, ${MICROSOFT}`,
  seen: '2026-11-26',
  rules: RULES,
}
