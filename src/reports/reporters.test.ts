import { describe, expect, it } from 'vitest'
import { registrableDomain } from '../names/suffix.ts'
import { type Envelope, REPORTERS, type ReportSignature, reporterOf } from './reporters.ts'

const AUTHOR = 'noreply-dmarc-support@google.com'
const signature = (over: Partial<ReportSignature> = {}): ReportSignature => ({
  ...{ domain: 'google.com', result: 'pass', signsFrom: true, isPartial: false },
  ...over,
})
const envelope = (over: Partial<Envelope> = {}): Envelope => ({
  from: [AUTHOR],
  signatures: [signature()],
  isTrusted: false,
  ...over,
})
/** A signed message of an organization. */
const ofItself = (domain: string, sender = `a@${domain}`): Envelope =>
  envelope({ from: [sender], signatures: [signature({ domain })] })

/** `known`: proven, and a sender of the table. */
type Judged = 'known' | boolean | null | 'unanswered'

it.each<[string, 'dmarc' | 'tls', string | null, Envelope, Judged]>([
  ['a signature of From, which is the author', 'dmarc', AUTHOR, envelope(), 'known'],
  [
    'From below the organizational domain',
    'dmarc',
    'a@dmarc.yahoo.com',
    envelope({ from: ['noreply@dmarc.yahoo.com'], signatures: [signature({ domain: 'yahoo.com' })] }),
    'known',
  ],
  [
    'an organization that reports for the author',
    'dmarc',
    'a@aol.com',
    envelope({ from: ['dmarchelp@yahooinc.com'], signatures: [signature({ domain: 'yahooinc.com' })] }),
    'known',
  ],
  [
    'a signature of somebody else',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ domain: 'evil.example' })] }),
    false,
  ],
  ['From of somebody else, signed', 'dmarc', AUTHOR, ofItself('evil.example'), false],
  [
    'a signature that does not cover From',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ signsFrom: false })] }),
    false,
  ],
  ['a signature with l=', 'dmarc', AUTHOR, envelope({ signatures: [signature({ isPartial: true })] }), false],
  ['two authors in From', 'dmarc', AUTHOR, envelope({ from: [AUTHOR, AUTHOR] }), false],
  ['no address in the report', 'dmarc', null, envelope(), false],
  [
    'a TLS report by a key for these',
    'tls',
    AUTHOR,
    envelope({ signatures: [signature({ isOfTlsReports: true })] }),
    'known',
  ],
  [
    '… which proves no DMARC report',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ isOfTlsReports: true })] }),
    false,
  ],
  ['a broken signature', 'dmarc', AUTHOR, envelope({ signatures: [signature({ result: 'fail' })] }), false],
  ['no signature', 'dmarc', AUTHOR, envelope({ signatures: [] }), false],
  [
    'a key that is gone, an expired signature',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ result: 'unknown' })] }),
    null,
  ],
  [
    'a DNS that does not answer',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ result: 'unanswered' })] }),
    'unanswered',
  ],
  [
    '… beside one that passes',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ result: 'unanswered' }), signature()] }),
    'known',
  ],
  ['a trusted host says dmarc=pass', 'dmarc', AUTHOR, envelope({ signatures: [], isTrusted: true }), 'known'],
  [
    '… of another From',
    'dmarc',
    AUTHOR,
    envelope({ from: ['a@evil.example'], signatures: [], isTrusted: true }),
    false,
  ],
  [
    'a TLS report needs a signature (RFC 8460 §3)',
    'tls',
    'a@google.com',
    envelope({ signatures: [], isTrusted: true }),
    false,
  ],
  ['a signed TLS report', 'tls', 'mailto:a@google.com', envelope(), 'known'],
  [
    'another address of a domain whose exact sender is known: somebody of the organization',
    'dmarc',
    AUTHOR,
    envelope({ from: ['anybody@google.com'] }),
    true,
  ],
  ['an organization that is not in the table, for itself', 'dmarc', 'a@small.example', ofItself('small.example'), true],
  ['… for another one', 'dmarc', AUTHOR, ofItself('small.example'), false],
  ['… in the name of one in the table', 'dmarc', 'a@small.example', ofItself('small.example'), true],
  [
    'the exact sender, signed by a domain beside it',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ domain: 'shop.google.com' })] }),
    false,
  ],
  [
    'a host where nobody else has a mailbox',
    'dmarc',
    'a@us-1.mimecastreport.com',
    ofItself('mimecastreport.com', 'no-reply@us-1.mimecastreport.com'),
    'known',
  ],
])('%s', (_, kind, contact, given, expected) => {
  const { authenticated, isKnown } = reporterOf({ kind, contact, organization: null }, given)
  expect(isKnown && authenticated === true ? 'known' : authenticated).toBe(expected)
})

describe('somebody with a mailbox at a provider proves nothing', () => {
  const FREE = 'gmail.com yahoo.com outlook.com gmx.net mail.ru yandex.ru zoho.com fastmail.com proton.me icloud.com'
  const providers = [
    ...FREE.split(' '),
    'seznam.cz',
    'comcast.net',
    'aol.com',
    'web.de',
    'hotmail.com',
    '163.com',
    'wp.pl',
  ]
  const authors = [...new Set(REPORTERS.flatMap(({ writesFor }) => writesFor))]
  it.each(providers)('at %s, for whomever the report speaks', (provider) => {
    for (const author of [provider, ...authors])
      expect(
        reporterOf(
          { kind: 'dmarc', organization: 'google.com', contact: `noreply-dmarc-support@${author}` },
          ofItself(provider, `dmarc77@${provider}`),
        ),
      ).toMatchObject({ authenticated: false, isKnown: false })
  })
})

it.each([
  ['its contact', { contact: AUTHOR, organization: null }, 'google.com', true],
  ['its name', { contact: null, organization: 'google.com' }, 'google.com', true],
  ['a contact that nobody knows', { contact: 'a@small.example', organization: 'google.com' }, 'small.example', false],
])('a file is of whom it says: %s', (_, author, name, isKnown) =>
  expect(reporterOf({ kind: 'dmarc', ...author })).toEqual({ name, isKnown, authenticated: null }),
)

it.each(REPORTERS.map((one) => [`${one.name} ${one.from}`, one] as const))('the row %s', (_, { from, writesFor }) => {
  for (const domain of writesFor) expect(domain).toBe(registrableDomain(domain))
  if (from === null) return
  const host = from.slice(from.lastIndexOf('@') + 1).replace(/^\./, 'x.')
  const sender = from.startsWith('@') ? `a@${host}` : from
  const judged = reporterOf({ kind: 'dmarc', organization: null, contact: `a@${writesFor[0]}` }, ofItself(host, sender))
  expect(judged).toEqual({ name: writesFor[0], isKnown: true, authenticated: true })
})
